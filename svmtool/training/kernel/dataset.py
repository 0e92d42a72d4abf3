"""The rows of a training set with their kernel, and the checks that a kernel needs."""

from __future__ import annotations

import math

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import RowsError, SvmtoolError
from svmtool.kernel_params import POLYNOMIAL, PRECOMPUTED, kernel_of
from svmtool.kernels.problems import Points
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Settings
from svmtool.training.reductions.base import DENSE_BELOW
from svmtool.training.used_features import on_used, used_features

SYMMETRIC = 1e-6  # relative difference of two kernel values that should be equal: text is rounded
LARGEST = 290  # decimal digits that sums may have at most
NO_SERIAL = "Wrong input format: first column must be 0:sample_serial_number"
BAD_SERIAL = "Wrong input format: sample_serial_number out of range"


class KernelSet:
    """n labelled rows as a Dataset, and a kernel.

    With a precomputed kernel a row holds its serial number, then all its kernel values: K(x_i, x_j) is the element of
    row i whose index is the serial number of row j.

    weights: f8[n] > 0, factors of the rows' costs, for problems that have costs; None: all 1.
    """

    def __init__(self, table: Dataset, kernel: Kernel, weights: np.ndarray | None = None):
        self.table, self.kernel, self.weights = table, kernel, weights

    def __len__(self) -> int:
        return len(self.table)

    @property
    def labels(self) -> np.ndarray:
        return self.table.labels

    def take(self, chosen: np.ndarray) -> KernelSet:
        """The rows `chosen` (i8), in that order."""
        weights = None if self.weights is None else self.weights[chosen]
        return KernelSet(self.table.take(chosen), self.kernel, weights)

    def labelled(self, labels: np.ndarray) -> KernelSet:
        """The same rows with other labels, f8[n]."""
        return KernelSet(self.table.with_labels(labels), self.kernel, self.weights)

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
        if self.kernel.kind != PRECOMPUTED:
            return self.table.csr(chosen)
        some = self.table.take(chosen)
        return np.arange(len(chosen) + 1), np.full(len(chosen), -1, np.int32), some.values[some.indptr[:-1]]


def kernel_set(table: Dataset, settings: Settings, file: str) -> KernelSet:
    """Return the training set of a table, with the default gamma if -g is not given.

    SvmtoolError if a precomputed kernel is incomplete.
    """
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
    refuse(NO_SERIAL, ~begun, "-t 4 wants rows that read label 0:serial 1:K(x,x_1) 2:K(x,x_2) ...")
    serial = table.values[heads]
    inside = (serial >= 1) & (serial <= table.n_features) & (np.trunc(serial) == serial)
    refuse(BAD_SERIAL, ~inside, f"the number behind 0: is a whole one from 1 to {table.n_features}")
    place = np.arange(len(table.indices)) - np.repeat(heads, lengths) - 1
    gaps = np.zeros(len(table), bool)
    gaps[np.repeat(np.arange(len(table)), lengths)[table.indices != place]] = True
    needed = int(serial.max(initial=0))
    refuse("Wrong input format", gaps | (lengths <= needed), f"-t 4 wants all kernel values from 1: to {needed}:")
    K = 0.25 * table.values[heads[:, None] + serial.astype(np.int64)]  # so that sums and differences do not overflow
    root = np.sqrt(np.abs(np.diag(K)))
    size = np.outer(root, root) + np.abs(K)
    uneven = np.abs(K - K.T) > SYMMETRIC * size
    refuse("Wrong input format", uneven.any(axis=1), "the kernel values are not symmetric: K(x,z) differs from K(z,x)")


COSTLESS = ("nu_svc", "one_class")  # words of models whose problems have no -c and no class weights


def refuse_overflow(data: KernelSet, settings: Settings) -> None:
    """Raise SvmtoolError if kernel values, or their sums with costs, would overflow."""
    table, kernel = data.table, data.kernel
    largest = float(np.abs(table.values).max(initial=1.0))
    longest = int(np.diff(table.indptr).max(initial=1))
    product = 2 * math.log10(largest) + math.log10(longest + 1)  # decimal digits of |x.z| at most
    digits = product
    if kernel.kind == PRECOMPUTED:
        digits = math.log10(largest)
    elif kernel.kind == POLYNOMIAL:
        inner = product + math.log10(kernel.gamma) if kernel.gamma > 0 else 0.0
        digits = kernel.degree * (max(inner, math.log10(abs(kernel.coef0) + 1.0)) + math.log10(2.0))
    s, row = settings.problem, settings.row
    cost = max(s.C, 1.0) * max((factor for _, factor in s.class_weights if factor > 1.0), default=1.0)
    if data.weights is not None:
        cost *= float(data.weights.max(initial=1.0))
    if row.word in COSTLESS:
        cost = 1.0
    labels = float(np.abs(table.labels).max(initial=1.0)) if row.task == "regression" else 1.0
    total = max(digits, product, math.log10(labels)) + 2 * (math.log10(cost) + math.log10(len(table) + 1))
    if total > LARGEST:
        raise RowsError(
            f"feature values up to {largest:g} at a cost of {cost:g} overflow in the kernel: "
            "scale the features (svm-scale) or choose a smaller -c, -g or -d"
        )
