"""Interior-point method for the dual of the Crammer-Singer problem (class_rows.py), for few rows.

    min over b of  1/2 sum_m a_m'K a_m + sum_i b_{i,y_i},   a_im = C_i [m = y_i] - b_im,   sum_m b_im = C_i,   b >= 0

Primal-dual steps with Mehrotra's predictor and corrector (SIAM J. Optimization 2 (1992) 575-601), t_i and z_im the
multipliers of sums and bounds.  Newton's system falls apart into one of the order of the rows for each class, K + D_m
with D_im = z_im / b_im, and one for the changes of t:

    (K + D_m) db_m + dt = r_m,   (sum_m (K + D_m)^-1) dt = sum_m (K + D_m)^-1 r_m - sum_m db_m

The number of steps depends little on costs, scales and the condition of K, on which that of passes and rounds does.
Each system is refined: where the answer is near, D_m has entries of any size.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.linalg.costs import INNER
from svmtool.linalg.gram import KernelCache
from svmtool.linalg.systems import Factored, inverse, mirror, reach
from svmtool.objectives.class_rows import ClassRows, ClassTask
from svmtool.objectives.power_interior import BACK, NEARER, REFINED, TINY

NUMBERS, OTHERS = 1 << 24, 6  # 128 MB: in the inverses of all classes, and in so many matrices of their order besides
# 300 rows of each of 16 sets with 3 to 56 classes, C = 1, 100 and 1e4, to a gap of 1e-6: 14 to 42 steps in the 40 of 48
# runs that rounding does not end (raw values besides: 48 to 60), each 0.6 to 0.9 of the time that INVERSE says
STEPS = 50
INVERSE, CALLS = 0.15, 2e5  # nanoseconds: a class's share of a step, per rows^3 and besides
CENTRE = 0.1  # of the largest z at first: the least; those 48 runs take 58 s, with 0.01 59 s, with 1 71 s
SOLVED = 1e-12  # of a system's right side: what refinement may leave; with 1e-9 57 s, with 1e-15 60 s


def cost(task: ClassTask) -> float:
    """About the nanoseconds that the steps take; infinite where the inverses are too large."""
    n, k = task.rows.n, task.k
    if (k + OTHERS) * n * n > NUMBERS:
        return np.inf
    return INNER * n * task.rows.nnz + STEPS * k * (CALLS + INVERSE * n**3)


class ClassInterior:
    """The iterates; after `measure` primal and dual values at w (flat W) and alpha, which is feasible.

    gradient: the largest residual of the scores; left: the mean product of b and z.
    """

    def __init__(self, task: ClassTask):
        self.task, self.rows, n, k = task, ClassRows(task.rows, task.k), task.rows.n, task.k
        self._own = np.arange(n), task.number
        _, K = KernelCache(task.rows).block(np.arange(n))
        self._K = mirror(K.T)
        self._b = np.repeat(task.cost[:, None] / k, k, axis=1)
        self._t, self._z = np.zeros(n), np.zeros((n, k))
        self.measure()
        slopes = self._residual  # of b, which t and z take up
        self._t = -slopes.min(axis=1)
        z = slopes + self._t[:, None]
        self._z = np.maximum(z, max(CENTRE * float(z.max()), TINY))

    def measure(self) -> None:
        """Values and residuals where the iterates are."""
        sums = self._b.sum(axis=1)
        alpha, linear = self._dual_point(self._b)
        self.alpha, self.w = alpha, self.rows.transpose_product(alpha)
        scores = np.empty(self.rows.n)
        self.rows.margins(self.w, np.ones(0), scores)
        scores = scores.reshape(-1, self.rows.wide)[:, : self.task.k]
        square = 0.5 * float(self.w @ self.w)
        G = scores + 1.0
        G[self._own] -= 1.0
        self.primal = square + float(self.task.cost @ (G.max(axis=1) - scores[self._own]))
        self.dual = linear - square
        self._residual = self._t[:, None] - scores - self._z
        self._residual[self._own] += 1.0
        self._missing = sums - self.task.cost
        self.gradient = float(np.abs(self._residual).max())
        self.left = float(np.mean(self._b * self._z))

    def settled(self) -> tuple[np.ndarray, float]:
        """The dual point, and its value, without the b_im that their multipliers show to be zero."""
        zero = self._b < NEARER * self._z * self.task.cost[:, None]
        zero[np.arange(len(zero)), np.argmax(self._b, axis=1)] = False  # a row's sum stays
        b = np.where(zero, 0.0, self._b)
        alpha, linear = self._dual_point(b)
        w = self.rows.transpose_product(alpha)
        return alpha, linear - 0.5 * float(w @ w)

    def _dual_point(self, b: np.ndarray) -> tuple[np.ndarray, float]:
        """The feasible alpha of b, `wide` numbers a row in f8[wide n], and the linear part of its dual value."""
        cost = self.task.cost
        b = b * (cost / np.maximum(b.sum(axis=1), TINY))[:, None]
        alpha = np.zeros((len(b), self.rows.wide))
        alpha[:, : self.task.k] = -b
        alpha[self._own] += cost
        return alpha.reshape(-1), float(np.sum(alpha[self._own]))

    def step(self) -> float:
        """Move the iterates; returns the step's length, <= 1."""
        b, z = self._b, self._z
        self._factorise(z / b)
        db, _, dz = self._direction(b * z)
        t = min(reach(b, db), reach(z, dz))
        after, before = float(np.mean((b + t * db) * (z + t * dz))), self.left
        centre = before * min(max(after / max(before, TINY), 0.0) ** 3, 1.0)
        db, dt, dz = self._direction(b * z + db * dz - centre)
        t = BACK * min(reach(b, db), reach(z, dz))
        self._b, self._t, self._z = b + t * db, self._t + t * dt, z + t * dz
        return t

    def _factorise(self, D: np.ndarray) -> None:
        """The inverses of K + D_m, and their sum factorised."""
        n, K, self._D = len(D), self._K, D
        self._inverses, whole = [], np.zeros((n, n))
        for scale in 1.0 / np.sqrt(D.T):
            limits.check()
            H = scale[:, None] * K * scale
            H.flat[:: n + 1] += 1.0
            inner = inverse(H)
            inner *= scale
            inner *= scale[:, None]
            whole += inner
            self._inverses.append(inner)
        self._sum = Factored(whole)

    def _direction(self, products: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Changes of b, t, z that take residuals to zero and b z by -products."""
        right = -self._residual - products / self._b
        db, dt, rest = np.zeros_like(right), np.zeros(len(right)), right
        for _ in range(1 + REFINED):
            limits.check()
            more = self._sum.solve(self._apply(rest).sum(axis=1) + self._missing + db.sum(axis=1))
            dt += more
            db += self._apply(rest - more[:, None])
            rest = right - (self._K @ db + self._D * db + dt[:, None])
            if float(np.abs(rest).max()) <= SOLVED * float(np.abs(right).max()):
                break
        return db, dt, -(products + self._z * db) / self._b

    def _apply(self, right: np.ndarray) -> np.ndarray:
        """(K + D_m)^-1 of each column."""
        return np.stack([inner @ column for inner, column in zip(self._inverses, right.T, strict=True)], axis=1)
