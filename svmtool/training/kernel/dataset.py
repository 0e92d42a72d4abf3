"""The rows of a training set with their kernel, also by pairs of classes, and the checks that a kernel needs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.data.labels import Classes
from svmtool.errors import RowsError, SvmtoolError
from svmtool.kernels.lp import LpSvc
from svmtool.kernels.problems import AnyProblem, CSvc, LeastSquaresSvc, NuSvc, Points
from svmtool.models.kernel_functions import Kernel
from svmtool.options import in_words
from svmtool.params import POLYNOMIAL, PRECOMPUTED, Settings, check_feasible, kernel_of
from svmtool.tolerances import DENSE_BELOW, MIB, SAME_RTOL
from svmtool.training.inputs import MAX_DIGITS, largest_cost, on_used, used_features, weights_named

NUMBER_BYTES = 16  # bytes that a number of a pair's rows takes: its value, its index, and its value in single precision
NO_SERIAL = "Wrong input format: first column must be 0:sample_serial_number"
BAD_SERIAL = "Wrong input format: sample_serial_number out of range"


class KernelSet:
    """n labelled rows as a Dataset, and a kernel.

    With a precomputed kernel a row holds its serial number, then all its kernel values: K(x_i, x_j) is the element of
    row i whose index is the serial number of row j.

    Rows of weight 0 or below take no part in a training: see `in_use`.
    """

    def __init__(self, table: Dataset, kernel: Kernel):
        self.table, self.kernel = table, kernel

    def __len__(self) -> int:
        return len(self.table)

    def take(self, chosen: np.ndarray) -> KernelSet:
        """The rows `chosen` (i8), in that order."""
        return KernelSet(self.table.take(chosen), self.kernel)

    def in_use(self) -> tuple[KernelSet, np.ndarray | None]:
        """The rows of positive weight and their indices, i8; None: all rows.  RowsError if there are none."""
        used = self.table.used()
        if used is not None and not len(used):
            raise RowsError("a fold leaves only rows of weight 0 or below to train on: choose fewer folds")
        return (self, None) if used is None else (self.take(used), used)

    def labelled(self, labels: np.ndarray) -> KernelSet:
        """The same rows with other labels, f8[n]."""
        return KernelSet(self.table.replace(labels=labels), self.kernel)

    def points(self) -> Points:
        """The rows for a solver."""
        t = self.table
        if self.kernel.kind == PRECOMPUTED:
            first = t.indptr[:-1]
            serial = t.values[first].astype(np.int64)
            return Points(self.kernel, None, t.values[first[:, None] + serial])
        used = used_features(t)
        t = t if used is None else on_used(t, used)  # features without nonzeros change no kernel value
        return Points(self.kernel, t.rows(-1.0, DENSE_BELOW), None)

    def support(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows `chosen` (i8) as CSR arrays for a model; with a precomputed kernel only their serial numbers."""
        some = self.table.take(chosen).as_sparse()
        if self.kernel.kind != PRECOMPUTED:
            return some.indptr, some.indices, some.values
        return np.arange(len(chosen) + 1), np.full(len(chosen), -1, np.int32), some.values[some.indptr[:-1]]


def kernel_set(table: Dataset, settings: Settings, file: str) -> KernelSet:
    """The training set of a table, with a default gamma without -g; SvmtoolError for an incomplete -t 4."""
    s = kernel_of(settings)
    if s.kernel_type == PRECOMPUTED:
        _check_serials(table, file)
    gamma = s.gamma or (1.0 / table.n_features if table.n_features else 0.0)
    return KernelSet(table, Kernel(s.kernel_type, gamma, s.degree, s.coef0))


def _check_serials(table: Dataset, file: str) -> None:
    """Check that each row is 0:serial 1:K(x, x_1) 2:K(x, x_2) ... up to the largest serial at least."""

    def refuse(sentence: str, wrong: np.ndarray, reason: str) -> None:
        if np.any(wrong):
            raise SvmtoolError(f"{sentence}: {file}, line {int(np.argmax(wrong)) + 1}: {reason}")

    lengths = np.diff(table.indptr)
    heads = np.where(lengths > 0, table.indptr[:-1], 0)
    begun = lengths > 0
    if len(table.indices):
        begun &= table.indices[heads] == -1
    refuse(NO_SERIAL, ~begun, "-t 4 needs rows of the form label 0:serial 1:K(x,x_1) 2:K(x,x_2) ...")
    serial = table.values[heads]
    inside = (serial >= 1) & (serial <= table.n_features) & (np.trunc(serial) == serial)
    refuse(BAD_SERIAL, ~inside, f"the number after 0: must be an integer from 1 to {table.n_features}")
    place = np.arange(len(table.indices)) - np.repeat(heads, lengths) - 1
    gaps = np.zeros(len(table), bool)
    gaps[np.repeat(np.arange(len(table)), lengths)[table.indices != place]] = True
    needed = int(serial.max(initial=0))
    refuse("Wrong input format", gaps | (lengths <= needed), f"-t 4 needs all kernel values from 1: to {needed}:")
    K = 0.25 * table.values[heads[:, None] + serial.astype(np.int64)]  # so that sums and differences do not overflow
    root = np.sqrt(np.abs(np.diag(K)))
    size = np.outer(root, root) + np.abs(K)
    uneven = np.abs(K - K.T) > SAME_RTOL * size
    refuse("Wrong input format", uneven.any(axis=1), "the kernel values are not symmetric: K(x,z) differs from K(z,x)")


def refuse_unusable(data: KernelSet, settings: Settings) -> None:
    """Raise SvmtoolError if kernel values would overflow, or -n is not feasible."""
    refuse_overflow(data, settings)
    if settings.row.word == "nu_svc":
        data, _ = data.in_use()
        classes = Classes(data.table.labels)
        check_feasible(settings, np.bincount(classes.number, data.table.weights, len(classes.labels)).tolist())


def refuse_overflow(data: KernelSet, settings: Settings) -> None:
    """Raise SvmtoolError if kernel values, or their sums with costs, would overflow."""
    table, kernel = data.table, data.kernel
    largest = float(np.abs(table.values).max(initial=1.0))
    ends = table.indptr
    longest = int((ends[1:] - ends[:-1]).max(initial=1))
    product = 2 * math.log10(largest) + math.log10(longest + 1)  # decimal digits of |x.z| at most
    digits = product
    if kernel.kind == PRECOMPUTED:
        digits = math.log10(largest)
    elif kernel.kind == POLYNOMIAL:
        inner = product + math.log10(kernel.gamma) if kernel.gamma > 0 else 0.0
        digits = kernel.degree * (max(inner, math.log10(abs(kernel.coef0) + 1.0)) + math.log10(2.0))
    s, row = settings.problem, settings.row
    without = not row.costs or s.C == math.inf
    own = (1.0, ()) if without else (max(s.C, 1.0), s.class_weights)
    cost = largest_cost(*own, data.table.weights)
    labels = float(np.abs(table.labels).max(initial=1.0)) if row.kind == "regression" else 1.0
    total = max(digits, product, math.log10(labels)) + 2 * (math.log10(cost) + math.log10(len(table) + 1))
    if total > MAX_DIGITS:
        raise RowsError(
            f"feature values up to {largest:g} at a cost of {cost:g} overflow in the kernel: "
            + weights_named(_advice(kernel, without), data.table.weights)
        )


def _advice(kernel: Kernel, without_costs: bool) -> str:
    """What makes kernel values and costs smaller."""
    able = [*([] if without_costs else ["-c"]), *(["-g", "-d"] if kernel.kind == POLYNOMIAL else [])]
    return "scale the features (svm-scale)" + (f" or choose a smaller {in_words(able)}" if able else "")


class ClassPairs:
    """The rows of a training set by class, and the problem of each pair of classes.

    Of pair (i, j), i < j, the rows of class i come first and are +1, those of j are -1.

    data, points  the rows, class after class
    order         i8[n]: where they stand in the training set
    classes       labels and counts; missing: labels of class weights that no row has
    ends          i8: class c has the rows from ends[c] to ends[c + 1]
    class_costs   cost of a row of each class
    pairs         i8 (pairs, 2): (i, j) in the order of `combinations`; counts: rows of either class
    starts        i8[pairs + 1]: where the rows of a pair are, if those of all pairs stand one after the other
    begins        i8 (classes, classes - 1): there, the first row of a class in its pair with each other class
    """

    def __init__(self, data: KernelSet, settings: Settings):
        self.settings, self.classes = settings, Classes(data.table.labels)
        factor, self.missing = self.classes.weights(settings.problem.class_weights)
        self.order = np.argsort(self.classes.number, kind="stable")
        self.data = data.take(self.order)
        self.points = self.data.points()
        sizes = self.classes.counts
        self.ends = np.concatenate(([0], sizes.cumsum()))
        self.class_costs = settings.problem.C * np.array(factor)
        place = np.arange(len(sizes))
        i, j = np.nonzero(place[:, None] < place)
        self.pairs = np.stack((i, j), axis=1)
        self.counts = sizes[self.pairs]
        self.starts = np.concatenate(([0], self.counts.sum(axis=1).cumsum()))
        self.begins = np.zeros((len(sizes), max(0, len(sizes) - 1)), np.int64)
        self.begins[i, j - 1], self.begins[j, i] = self.starts[:-1], self.starts[:-1] + self.counts[:, 0]

    def place(self, i: int, j: Any) -> Any:
        """The number of pair (i, j), i < j; of several pairs for an array of j."""
        return i * (2 * len(self.ends) - i - 3) // 2 + j - i - 1

    def label(self, k: int) -> str:
        """The name of pair k in records."""
        return " ".join(str(self.classes.labels[c]) for c in self.pairs[k])

    def by_column(self, values: np.ndarray) -> np.ndarray:
        """f8 (max(1, classes - 1), n) from values of the rows of all pairs, one pair after the other.

        The value of a row for the pair of its class with another is in the column of the other class, where the row's
        own class has no column: as the coefficients of a KernelModel.
        """
        found = np.zeros((max(1, len(self.begins) - 1), self.points.n))
        for begins, first, end in zip(self.begins, self.ends, self.ends[1:], strict=False):
            if len(begins):
                found[:, first:end] = values[begins[:, None] + np.arange(end - first)]
        return found

    def members(self, c: int) -> np.ndarray:
        """The rows of class c in `data`, i8."""
        return np.arange(self.ends[c], self.ends[c + 1])

    def rows(self, k: int) -> np.ndarray:
        """The rows of pair k in `data`, i8."""
        i, j = self.pairs[k]
        return np.concatenate((self.members(i), self.members(j)))

    def costs(self, k: int) -> tuple[float, float]:
        """What a row of either class of pair k costs."""
        first, second = self.class_costs[self.pairs[k]].tolist()
        return first, second

    def problem(self, points: Points, k: int) -> AnyProblem:
        """Pair k; points: its rows."""
        weights = None if self.data.table.weights is None else self.data.table.weights[self.rows(k)]
        first, second = self.counts[k].tolist()
        return pair_problem(points, self.settings, (first, second), self.costs(k), weights)

    @property
    def row_mb(self) -> float:
        """MB that a copy of a row takes in a solver."""
        rows = self.points.rows
        return 0.0 if rows is None else NUMBER_BYTES * rows.nnz / max(self.points.n, 1) / MIB


def pair_problem(
    points: Points, s: Settings, counts: tuple[int, int], costs: tuple[float, float], weights: np.ndarray | None = None
) -> AnyProblem:
    """The problem of one pair: counts[0] rows of +1, then counts[1] of -1.

    costs: of a row of either; weights: factors of these costs, f8[n].
    """
    (y, cost), row = np.array(((1.0, -1.0), costs)).repeat(counts, axis=1), s.row
    if weights is not None:
        cost = cost * weights
    if row.loss == "least squares":
        return LeastSquaresSvc(points, y, cost, row.free_bias)
    if row.regulariser == "|w|_1":
        return LpSvc(points, y, cost)
    return NuSvc(points, y, s.problem.nu, weights) if row.word == "nu_svc" else CSvc(points, y, cost)
