"""LP-SVM with a kernel: the linear LP-SVM of the rows K(x_i, .), with a free bias.

min over w, b of  sum_j |w_j| + sum_i C_i max(0, 1 - y_i (sum_j w_j K(x_j, x_i) + b))
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import CSvc
from svmtool.kernels.results import KernelResult
from svmtool.kernels.whole import whole_matrix
from svmtool.objectives.task import Task


class LpSvc(CSvc):
    """The problem of the module; of CSvc it has the points, signs, costs and the value at w = 0, which are the same.

    In a KernelResult alpha is y w, of any sign, the objective is the primal value, and `dual_point` holds the
    multipliers of the linear problem.
    """

    @cached_property
    def values(self) -> DenseRows:
        """The rows K(x_i, .) and the feature of the bias."""
        return DenseRows(whole_matrix(self.points, "take fewer rows"), 1.0)

    @cached_property
    def means(self) -> np.ndarray:
        """The mean of each column of the rows, f8[n]."""
        return np.mean(self.values.X, axis=0)

    @cached_property
    def task(self) -> Task:
        """The linear problem of columns with mean 0, with the same weights and multipliers and the bias b + w.means.

        Where all values of a column are large and nearly equal, their differences decide.
        """
        return Task(DenseRows(self.values.X - self.means, 1.0), self.y, self.upper, True, options=self.options)

    def result(
        self, w: np.ndarray, alpha: np.ndarray | None, objective: float, gap: float, iterations: int, status: Any
    ) -> KernelResult:
        """The result of a solver of the linear problem: weights f8[n + 1] and multipliers f8[n]."""
        at = -float(w[-1]), 0.0, objective, gap, iterations, status, np.zeros(self.n)
        found = KernelResult(self.y * w[:-1], *at)
        found.dual_point = None if alpha is None else KernelResult(alpha, *at)
        return found

    def report(self, coef: np.ndarray, result: KernelResult) -> str:
        """Nothing: LIBSVM has no such problem."""
        return ""
