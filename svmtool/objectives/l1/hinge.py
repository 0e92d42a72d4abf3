"""LP-SVM (hinge loss with an L1 norm): values over all columns.

    f(w) = |w|_1 + sum_i C_i max(0, target_i - y_i x_i.w)
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives.duality import balanced
from svmtool.objectives.task import Task


class L1Columns:
    """The LP-SVM of a task, for methods that work on some of its columns."""

    def __init__(self, task: Task):
        self.task, self.n, self.d = task, task.rows.n, task.rows.d
        self.m = task.rows.n_features if task.free_bias else task.rows.d
        self.target = np.ones(task.rows.n) if task.target is None else task.target

    def value_at_zero(self) -> float:
        """f(0)."""
        return float(self.task.cost @ np.maximum(self.target, 0.0))

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

    def feasible(self, a: np.ndarray, inside: np.ndarray | float = 0.0) -> tuple[np.ndarray, float, np.ndarray]:
        """Make a dual point a feasible.

        Returns the sums (f8[m]) of the balanced a; the larger of 1 and the largest |sum|; and a feasible point (f8[n])
        between a and `inside`, a dual point with zero sums.
        """
        a = feasible(self.task, a)
        column_sums = self.transpose_sums(a)
        largest = max(1.0, float(np.abs(column_sums).max(initial=0.0)))
        return column_sums, largest, inside + (a - inside) / largest


def feasible(task: Task, a: np.ndarray) -> np.ndarray:
    """Multipliers a, balanced if the bias is free."""
    return balanced(a, task.y) if task.free_bias else a
