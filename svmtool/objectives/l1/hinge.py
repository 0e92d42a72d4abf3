"""LP-SVM (hinge loss with an L1 norm) as a sequence of problems with a quadratic regulariser.

    f(w) = |w|_1 + sum_i C_i max(0, target_i - y_i x_i.w)

|w_j| = max(0, w_j) + max(0, -w_j) adds two hinges for each weight, and the proximal term rho/2 |w - v|^2 makes the
problem strongly convex.  Its centre v is updated with the multipliers beta (Rockafellar's proximal method of
multipliers).  In s = w - v, divided by rho, this is an Augmented problem with R = I over n + 2 m rows.
Columns are first scaled to equal size, x_ij / scale_j, w_j scale_j, because the proximal term depends on their units.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.row_storage import Rows
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.duality import balanced
from svmtool.objectives.task import Task

# Weight of the proximal term over sum C_i: at first (see `rise`), least, and its factor from stage to stage
RHO_FIRST, RHO_MIN, RHO_FACTOR = 1e-3, 1e-10, 0.5
MAX_RISE = 1e2  # beyond, rounding coarsens the dual point


class WeightRows(Rows):
    """The rows of `base`, followed by the rows e_j of the first m features, twice."""

    def __init__(self, base: Rows, m: int):
        self.base, self.m = base, m
        self.n, self.d, self.bias, self.nnz = base.n + 2 * m, base.d, base.bias, base.nnz + 2 * m

    def _twice(self, c: np.ndarray) -> np.ndarray:
        """The entries of c (f8[n]) for the rows e_j, summed over both."""
        return c[self.base.n :].reshape(2, self.m).sum(axis=0)

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        n = self.base.n
        self.base.margins(w, y[:n], z[:n])
        np.multiply(y[n:].reshape(2, self.m), w[: self.m], out=z[n:].reshape(2, self.m))

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        g = self.base.transpose_product(u[: self.base.n])
        g[: self.m] += self._twice(u)
        return g

    def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
        g = self.base.curvature_product(c[: self.base.n], v)
        g[: self.m] += self._twice(c) * v[: self.m]
        return g

    def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
        self.base.add_gram(c[: self.base.n], gram)
        gram.flat[: self.m * (self.d + 1) : self.d + 1] += self._twice(c)

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        g = self.base.diagonal(c[: self.base.n])
        g[: self.m] += self._twice(c)
        return g


class L1Hinge(Augmented):
    """The LP-SVM of a task with a proximal centre (f8[d], initially 0); see Augmented, whose w is w - centre here.

    After gradient() and certify(): answer (f8[d], with exact zeros); primal, f there; bound <= min f; alpha, whose
    balanced and scaled multiple has the dual value `bound`.
    """

    def __init__(self, task: Task):
        base, self.task, self.total = task.rows, task, float(np.sum(task.cost))
        self.rho = RHO_FIRST * self.total / rise(task)
        self.whole = L1Columns(task)
        self.m, target = self.whole.m, self.whole.target
        size = np.sqrt(base.diagonal(np.full(base.n, 1.0 / max(base.n, 1))))
        self.size = np.where(size > 0.0, size, 1.0)
        if base.bias >= 0:
            self.size[-1] = 1.0
        m = self.m
        weights = 1.0 / np.tile(self.size[:m], 2)
        super().__init__(
            WeightRows(base.divided(self.size), m),
            np.concatenate([task.y, -np.ones(m), np.ones(m)]),
            np.concatenate([task.cost, weights]) / self.rho,
            1.0,
            target=np.concatenate([target, np.zeros(2 * m)]),
        )
        self.centre = np.zeros(base.d)

    def no_dual_point(self) -> np.ndarray:
        return np.zeros(self.task.rows.n)

    def start_from(self, w: np.ndarray) -> None:
        """Make w (f8[d], in the task's units) the centre."""
        self.set_point(w * self.size)
        self._recentre()

    def _recentre(self) -> None:
        self.centre += self.w
        self.target -= self.z
        self.w[:] = 0.0
        self.z[:] = 0.0

    def accept(self) -> None:
        """Multiplier step; the centre moves to w, and the weight of the proximal term falls."""
        super().accept()
        self._recentre()
        rho = max(RHO_FACTOR * self.rho, RHO_MIN * self.total)
        for scaled in (self.cost, self.c, self.u, self._gram, self._pending):
            if scaled is not None:
                scaled *= self.rho / rho
        self.rho = rho

    def _dual_bound(self, g: np.ndarray, loss: float) -> float:
        return 0.0  # `certify` computes it

    def certify(self) -> None:
        """Compute answer, primal, alpha and bound, after gradient()."""
        task, n, m = self.task, self.task.rows.n, self.m
        # dual point: slopes of the rows, balanced and scaled so that |sum a_i y_i x_i|_inf <= 1
        self.alpha = -self.rho * self.u[:n] * task.y
        a = feasible(task, self.alpha)
        column_sums = np.abs(self.whole.transpose_sums(a))
        self.bound = float(self.whole.target @ a) / max(1.0, float(column_sums.max(initial=0.0)))
        # weights: zero where the next multiplier of |w_j| is between its bounds
        slopes = -self.u[n:] * self.rho * np.tile(self.size[:m], 2) * self.y[n:]
        between = np.abs(slopes[:m] - slopes[m:]) < 1.0 - 1e-12
        w = self.centre + self.w
        w[:m][between] = 0.0
        self.answer = w / self.size
        self.primal = self.whole.primal(self.answer)


class L1Columns:
    """Values over all columns of an LP-SVM, for methods that work on some of them."""

    def __init__(self, task: Task):
        self.task, self.n, self.d = task, task.rows.n, task.rows.d
        self.m = task.rows.n_features if task.free_bias else task.rows.d
        self.target = np.ones(task.rows.n) if task.target is None else task.target

    def no_dual_point(self) -> np.ndarray:
        """The dual point of value 0."""
        return np.zeros(self.n)

    def slack(self, w: np.ndarray) -> np.ndarray:
        """target_i - y_i x_i.w, f8[n]."""
        z = np.empty(self.task.rows.n)
        self.task.rows.margins(w, self.task.y, z)
        return self.target - z

    def primal(self, w: np.ndarray) -> float:
        """f(w)."""
        loss = float(self.task.cost @ np.maximum(self.slack(w), 0.0))
        return loss + float(np.sum(np.abs(w[: self.m])))

    def best_multiple(self, w: np.ndarray, slack: np.ndarray) -> float:
        """The t >= 0 that minimises f(t w); slack is that of w.

        The slope in t increases by C_i |x_i.w| at the breakpoint of row i.
        """
        z, cost = self.target - slack, self.task.cost
        with np.errstate(divide="ignore", invalid="ignore"):
            breakpoints = self.target / z
        short = (self.target > 0.0) | ((self.target == 0.0) & (z < 0.0))
        slope = float(np.sum(np.abs(w[: self.m]))) - float(cost[short] @ z[short])
        some = np.flatnonzero((breakpoints > 0.0) & (breakpoints < np.inf))
        if slope >= 0.0 or not len(some):
            return 0.0 if slope >= 0.0 else 1.0
        some = some[np.argsort(breakpoints[some], kind="stable")]
        k = int(np.searchsorted(np.cumsum(cost[some] * np.abs(z[some])), -slope))
        return float(breakpoints[some[min(k, len(some) - 1)]])

    def slopes(self, w: np.ndarray) -> np.ndarray:
        """C_i on rows with slack > 0, else 0, f8[n]; balanced with a free bias."""
        return feasible(self.task, np.where(self.slack(w) > 0.0, self.task.cost, 0.0))

    def transpose_sums(self, a: np.ndarray) -> np.ndarray:
        """sum_i a_i y_i x_i for the weights in |w|_1, f8[m]."""
        return self.task.rows.transpose_product(a * self.task.y)[: self.m]

    def feasible(self, a: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Make a dual point a feasible.

        Returns the sums (f8[m]) of the balanced a; the larger of 1 and the largest |sum|; and a feasible point, f8[n].
        """
        a = feasible(self.task, a)
        column_sums = self.transpose_sums(a)
        largest = max(1.0, float(np.abs(column_sums).max(initial=0.0)))
        return column_sums, largest, a / largest


def rise(task: Task) -> float:
    """The factor, 1 or more, by which a large C raises costs, and with them curvatures C_i sigma.

    Where classes are separable a_i stays the same as C grows, and so must the curvature.
    """
    return min(max(1.0, float(np.mean(task.cost)) if task.rows.n else 1.0), MAX_RISE)


def feasible(task: Task, a: np.ndarray) -> np.ndarray:
    """Multipliers a, balanced if the bias is free."""
    return balanced(a, task.y) if task.free_bias else a
