"""The rows of a data set with their labels."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from svmtool.compiled.loops.rows.array_loops import csr_of_dense
from svmtool.data import row_storage
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows, dense_is_faster, from_csr
from svmtool.data.row_storage import Rows
from svmtool.errors import SvmtoolError
from svmtool.tolerances import VALUES_AT_ONCE

if TYPE_CHECKING:
    from svmtool.data.label_sets import LabelSets
    from svmtool.data.mapped_arrays import MappedArrays

# Numbers from which dense rows of any width stay in place: indices would be 4 MB.  80 fits of noise, five shapes, eight
# solvers: 0.83 of the time of a copy in CSR form in the mean, 0.25 to 1.7
IN_PLACE_FROM = 1 << 20


def left_out(weights: np.ndarray | None, name: str) -> list[str]:
    """The warning about rows that negative weights (f8[n], `name` in messages) leave out, as 0 does, if there are any.

    Raises SvmtoolError if they leave out all.
    """
    if weights is None or not len(weights):
        return []
    if not np.any(weights > 0.0):
        raise SvmtoolError(f"{name}: all weights are 0 or negative: they leave out every row")
    negative = np.flatnonzero(weights < 0.0)
    if not len(negative):
        return []
    first = f"the first is weight {negative[0] + 1}, {weights[negative[0]]:g}"
    return [
        f"WARNING: {name}: {len(negative)} of {len(weights)} weights are negative ({first}): their rows are left out"
    ]


def _nonzeros(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of X that are not zero, as CSR; X itself where there is no zero."""
    n, d = X.shape
    kind = np.promote_types(X.dtype, np.float32)  # which holds smaller numbers exactly
    if X.all():
        indptr, indices = np.arange(n + 1, dtype=np.int64) * d, np.empty((n, d), np.int32)
        indices[:] = np.arange(d)
        return indptr, indices.reshape(-1), X.reshape(-1).astype(kind, copy=False)
    indptr, indices, values = np.zeros(n + 1, np.int64), np.empty(X.size, np.int32), np.empty(X.size, kind)
    count, step = 0, max(1, VALUES_AT_ONCE // max(d, 1))
    for a in range(0, n, step):  # integers become numbers of `kind` some at a time; what is not written needs no memory
        part, starts = X[a : a + step].astype(kind, copy=False), indptr[a : a + step + 1]
        found = csr_of_dense(part, starts, indices[count:], values[count:], d)
        starts[1:] += count
        count += found
    return indptr, indices[:count], values[:count]


def of_all_rows(values: np.ndarray, used: np.ndarray | None, n: int) -> np.ndarray:
    """The values of the rows `used` (i8; None: all) as those of n rows, 0 for the others; (rows, ...)."""
    if used is None:
        return values
    whole = np.zeros((n, *values.shape[1:]), values.dtype)
    whole[used] = values
    return whole


class Dataset:
    """The rows of a data set: labels, and features as sparse rows (CSR).

    Attributes
    ----------
    labels : f8[n]
    indptr : i8[n + 1]
    indices : i4[nnz], starting at 0 (the file's index less one), ascending in each row; i8 where the caller's are
    values : f8[nnz] or f4[nnz], including explicit zeros of a file
    n_features : the largest index in the file (starting at 1), 0 without features
    mapped : owner of indices and values if they are mapped from files and read-only (mapped_arrays.py), else None
    largest : the largest absolute value if known
    weights : f8[n], factors of the rows' costs; None: all 1
    sets : LabelSets of rows with several labels each, whose labels are 0; else None
    groups : i8[n], the query or group of each row, which folds do not divide; None: no row has one
    additions : of a block of lines of SVMlight's format, see formats/svmlight/additions.py; else None
    """

    __slots__ = (
        "labels", "indptr", "indices", "values", "n_features", "mapped", "largest", "weights", "groups", "sets",
        "additions",
    )  # fmt: skip

    def __init__(
        self, labels: np.ndarray, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, n_features: int,
        mapped: MappedArrays | None = None, weights: np.ndarray | None = None,
    ):  # fmt: skip
        self.labels, self.indptr, self.indices, self.values = labels, indptr, indices, values
        self.n_features, self.mapped, self.weights = n_features, mapped, weights
        self.largest: float | None = None
        self.groups: np.ndarray | None = None
        self.sets: LabelSets | None = None
        self.additions: Any = None

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, chosen: np.ndarray) -> Dataset:
        """Return the rows `chosen` (i8), in that order."""
        some = CsrRows(self.indptr, self.indices, self.values, self.n_features, mapped=self.mapped).take(chosen)
        found = Dataset(self.labels[chosen], some.indptr, some.indices, some.values, self.n_features, self.mapped)
        return self._of_rows(found, chosen)

    def _of_rows(self, found: Any, chosen: np.ndarray) -> Any:
        """`found`, the rows `chosen`, with their weights, groups and sets."""
        found.weights = None if self.weights is None else self.weights[chosen]
        found.groups = None if self.groups is None else self.groups[chosen]
        found.sets = None if self.sets is None else self.sets.take(chosen)
        return found

    def replace(self, **fields: Any) -> Dataset:
        """Return the same rows with other attributes: labels, weights, ..."""
        found = copy.copy(self)
        for name, values in fields.items():
            setattr(found, name, values)
        return found

    @property
    def factors(self) -> np.ndarray:
        """The weights, f8[n], ones where there are none."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def used(self) -> np.ndarray | None:
        """Indices (i8) of the rows of positive weight; None: of all rows."""
        return None if self.weights is None or np.all(self.weights > 0.0) else np.flatnonzero(self.weights > 0.0)

    def in_use(self) -> Dataset:
        """Return the rows of positive weight."""
        used = self.used()
        return self if used is None else self.take(used)

    def rows(self, bias: float, dense_below: int) -> Rows:
        """Return the features in the layout that is faster for solvers, see `from_csr`; bias < 0: no bias feature."""
        return from_csr(self.indptr, self.indices, self.values, self.n_features, bias, dense_below, self.mapped)

    def as_sparse(self) -> Dataset:
        """Return the rows as CSR arrays."""
        return self

    def as_double(self) -> Dataset:
        """Return the rows with values of float64, themselves where they have."""
        return self if self.values.dtype == np.float64 else self.replace(values=self.values.astype(np.float64))


class DenseDataset(Dataset):
    """A Dataset of dense rows X (n, features), C order, of float64 or of smaller numbers, see DenseRows.

    X is never changed.  It is copied where sparse rows are faster.
    """

    __slots__ = ("X",)

    def __init__(self, labels: np.ndarray, X: np.ndarray, weights: np.ndarray | None = None):
        self.labels, self.X, self.weights = labels, X, weights
        self.n_features, self.values = X.shape[1], X.reshape(-1)
        self.mapped = self.largest = self.groups = self.sets = self.additions = None

    def __copy__(self) -> DenseDataset:
        found = DenseDataset(self.labels, self.X, self.weights)
        found.groups, found.sets = self.groups, self.sets
        return found

    @property
    def indptr(self) -> np.ndarray:  # type: ignore[override]
        """indptr of CSR rows that store every value; computed at each call, as `indices` is."""
        return np.arange(len(self.X) + 1, dtype=np.int64) * self.n_features

    @property
    def indices(self) -> np.ndarray:  # type: ignore[override]
        return np.tile(np.arange(self.n_features, dtype=np.int32), len(self.X))

    def take(self, chosen: np.ndarray) -> DenseDataset:
        return self._of_rows(DenseDataset(self.labels[chosen], self.X[chosen]), chosen)

    def rows(self, bias: float, dense_below: int) -> Rows:
        """As of the same rows in a file, which has no zeros; large ones of which most are not zero are never copied.

        dense_below < 0: the solver visits single rows of CSR form, which are copied.
        """
        n, d = self.X.shape
        dense = self.X.size >= IN_PLACE_FROM and dense_below >= 0 or dense_is_faster(n, d, n * d, dense_below)
        if dense and np.count_nonzero(self.X) >= row_storage.MIN_DENSE_SHARE * self.X.size:
            return DenseRows(self.X, bias)
        return self.as_sparse().rows(bias, -1)

    def as_sparse(self) -> Dataset:
        """See Dataset; without zeros."""
        indptr, indices, values = _nonzeros(self.X)
        found = Dataset(self.labels, indptr, indices, values, self.n_features, weights=self.weights)
        found.largest, found.groups, found.sets = self.largest, self.groups, self.sets
        return found

    def products(self, W: np.ndarray, bias: float) -> np.ndarray:
        """Return X W; W f8 (features, columns), with a last row if bias >= 0."""
        known = min(self.n_features, len(W) - (bias >= 0))
        out = np.empty((len(self.X), W.shape[1]))
        for a, b, X in DenseRows(self.X).parts(0, len(out)):
            np.matmul(X[:, :known], W[:known], out=out[a:b])
        return out + bias * W[-1] if bias >= 0 else out

    def as_double(self) -> DenseDataset:
        """See Dataset."""
        if self.X.dtype == np.float64:
            return self
        found = self.__copy__()
        found.X, found.largest = self.X.astype(np.float64), self.largest
        found.values = found.X.reshape(-1)
        return found
