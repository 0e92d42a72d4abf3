"""Classification with kernels: one problem for each pair of classes.

Of pair (i, j), i < j, the rows of class i come first and are +1, those of j are -1.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from svmtool.data.labels import Classes
from svmtool.kernels.problems import CSvc, KernelProblem, LeastSquaresSvc, NuSvc, Points
from svmtool.params import Settings
from svmtool.tolerances import MIB
from svmtool.training.kernel.dataset import KernelSet

NUMBER = 16  # bytes that a number of a pair's rows takes: its value, its index, and its value in single precision


class ClassPairs:
    """The rows of a training set by class, and the problem of each pair of classes.

    data, points  the rows, class after class
    order         i8[n]: where they stand in the training set
    classes       labels and counts; missing: labels of class weights that no row has
    ends          i8: class c has the rows from ends[c] to ends[c + 1]
    class_costs   cost of a row of each class
    pairs         (i, j) in the order of `combinations`; counts: rows of either class
    labels        of the pairs, for records
    """

    def __init__(self, data: KernelSet, settings: Settings):
        self.settings, self.classes = settings, Classes(data.labels)
        factor, self.missing = self.classes.weights(settings.problem.class_weights)
        self.order = np.argsort(self.classes.number, kind="stable")
        self.data = data.take(self.order)
        self.points = self.data.points()
        self.ends = np.concatenate(([0], np.cumsum(self.classes.counts)))
        self.class_costs = [settings.problem.C * some for some in factor]
        self.pairs = list(combinations(range(len(self.ends) - 1), 2))
        sizes = np.diff(self.ends).tolist()
        self.counts = [(sizes[i], sizes[j]) for i, j in self.pairs]
        names = self.classes.labels
        self.labels = [f"{names[i]} {names[j]}" for i, j in self.pairs]

    def members(self, c: int) -> np.ndarray:
        """The rows of class c in `data`, i8."""
        return np.arange(self.ends[c], self.ends[c + 1])

    def rows(self, k: int) -> np.ndarray:
        """The rows of pair k in `data`, i8."""
        i, j = self.pairs[k]
        return np.concatenate((self.members(i), self.members(j)))

    def costs(self, k: int) -> tuple[float, float]:
        """What a row of either class of pair k costs."""
        i, j = self.pairs[k]
        return self.class_costs[i], self.class_costs[j]

    def problem(self, points: Points, k: int) -> KernelProblem | LeastSquaresSvc:
        """Pair k; points: its rows."""
        weights = None if self.data.weights is None else self.data.weights[self.rows(k)]
        return pair_problem(points, self.settings, self.counts[k], self.costs(k), weights)

    @property
    def row_mb(self) -> float:
        """MB that a copy of a row takes in a solver."""
        rows = self.points.rows
        return 0.0 if rows is None else NUMBER * rows.nnz / max(self.points.n, 1) / MIB


def pair_problem(
    points: Points, s: Settings, counts: tuple[int, int], costs: tuple[float, float],
    weights: np.ndarray | None = None,
) -> KernelProblem | LeastSquaresSvc:  # fmt: skip
    """The problem of one pair: counts[0] rows of +1, then counts[1] of -1, what a row of either costs, and factors of
    these costs (f8[n])."""
    y, cost = np.repeat((1.0, -1.0), counts), np.repeat(costs, counts)
    if weights is not None:
        cost = cost * weights
    if s.row.loss == "least squares":
        return LeastSquaresSvc(points, y, cost, s.row.free_bias)
    return NuSvc(points, y, s.problem.nu, weights) if s.row.word == "nu_svc" else CSvc(points, y, cost)
