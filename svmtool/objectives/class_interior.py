"""Interior-point method for the dual of the Crammer-Singer problem (class_rows.py), for few rows.

    min over b of  1/2 sum_m a_m'K a_m + sum_i b_{i,y_i},   a_im = C_i [m = y_i] - b_im,   sum_m b_im = C_i,   b >= 0

Primal-dual steps (engine/interior.py); t_i and z_im are the multipliers of the sums and bounds.  Newton's system
separates into an n x n system for each class, K + D_m with D_im = z_im / b_im, and one for the changes of t:

    (K + D_m) db_m + dt = r_m,   (sum_m (K + D_m)^-1) dt = sum_m (K + D_m)^-1 r_m - sum_m db_m

The number of steps depends little on costs, scales and the condition of K; that of coordinate descent and of multiplier
steps depends on them strongly.  Each system is refined, because near the solution the entries of D_m vary widely.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.engine.interior import BOUND_SHARE, REFINEMENTS, Path
from svmtool.linalg.systems import CALLS_NS, GRAM_NS, Factored, KernelCache, inverse, mirror
from svmtool.objectives.class_rows import ClassRows, ClassTask
from svmtool.objectives.duality import relative_gap
from svmtool.tolerances import MIN_POSITIVE

MAX_MATRIX_NUMBERS = 1 << 24  # 128 MB: in the inverses of all classes and OTHER_MATRICES more n x n matrices
OTHER_MATRICES = 6
# 300 rows of each of 16 sets with 3 to 56 classes, C = 1, 100 and 1e4, to a gap of 1e-6: 14 to 42 steps in the 40 of 48
# runs that do not end by round-off (unscaled values: 48 to 60), each 0.6 to 0.9 of the time that INVERSE_NS estimates
USUAL_CLASS_INTERIOR_STEPS = 50
INVERSE_NS = 0.15  # nanoseconds of one class in a step, per rows^3
MIN_START_SHARE = 0.1  # initial z is at least this share of the largest; the 48 runs take 58 s; 0.01: 59 s; 1: 71 s
CLASS_REFINED_RTOL = 1e-12  # residual after refinement over the right-hand side; with 1e-9 57 s, with 1e-15 60 s


def cost(task: ClassTask) -> float:
    """Approximate nanoseconds of all steps; infinite where the inverses are too large."""
    n, k = task.rows.n, task.k
    if (k + OTHER_MATRICES) * n * n > MAX_MATRIX_NUMBERS:
        return np.inf
    return GRAM_NS * n * task.rows.nnz + USUAL_CLASS_INTERIOR_STEPS * k * (CALLS_NS + INVERSE_NS * n**3)


class ClassInterior(Path):
    """The iterates.  After `measure`: primal and dual, the values at w (flat W) and at the feasible alpha.

    gradient: the largest dual residual.
    """

    def __init__(self, task: ClassTask):
        self.task, self.rows, n, k = task, ClassRows(task.rows, task.k), task.rows.n, task.k
        self._own = np.arange(n), task.number
        _, K = KernelCache(task.rows).block(np.arange(n))
        self._K = mirror(K.T)
        self._b = np.repeat(task.cost[:, None] / k, k, axis=1)
        self._t, self._z = np.zeros(n), np.zeros((n, k))
        self.measure()
        slopes = self._residual  # absorbed by t and z
        self._t = -slopes.min(axis=1)
        z = slopes + self._t[:, None]
        self._z = np.maximum(z, max(MIN_START_SHARE * float(z.max()), MIN_POSITIVE))
        super().__init__([self._b], [self._z], [self._t])

    def measure(self) -> None:
        """Compute values and residuals at the iterates."""
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
        self.gap = relative_gap(self.primal, self.dual)

    def dual_at_bounds(self) -> tuple[np.ndarray, float]:
        """The dual point and its value, with b_im = 0 where its multiplier shows that it is zero at the optimum."""
        zero = self._b < BOUND_SHARE * self._z * self.task.cost[:, None]
        zero[np.arange(len(zero)), np.argmax(self._b, axis=1)] = False  # keeps the sum of the row positive
        alpha, linear = self._dual_point(np.where(zero, 0.0, self._b))
        w = self.rows.transpose_product(alpha)
        return alpha, linear - 0.5 * float(w @ w)

    def _dual_point(self, b: np.ndarray) -> tuple[np.ndarray, float]:
        """The feasible alpha of b, f8[wide n], and the linear part of its dual value."""
        cost = self.task.cost
        b = b * (cost / np.maximum(b.sum(axis=1), MIN_POSITIVE))[:, None]
        alpha = np.zeros((len(b), self.rows.wide))
        alpha[:, : self.task.k] = -b
        alpha[self._own] += cost
        return alpha.reshape(-1), float(np.sum(alpha[self._own]))

    def factorise(self) -> None:
        """Compute the inverses of K + D_m and factorise their sum."""
        D = self._z / self._b
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

    def solve(self, changes: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        right = changes[0] / self._b - self._residual
        db, dt, rest = np.zeros_like(right), np.zeros(len(right)), right
        for _ in range(1 + REFINEMENTS):
            limits.check()
            more = self._sum.solve(self._apply(rest).sum(axis=1) + self._missing + db.sum(axis=1))
            dt += more
            db += self._apply(rest - more[:, None])
            rest = right - (self._K @ db + self._D * db + dt[:, None])
            if float(np.abs(rest).max()) <= CLASS_REFINED_RTOL * float(np.abs(right).max()):
                break
        return [db], [dt]

    def _apply(self, right: np.ndarray) -> np.ndarray:
        """(K + D_m)^-1 times column m, for each m."""
        return np.stack([inner @ column for inner, column in zip(self._inverses, right.T, strict=True)], axis=1)
