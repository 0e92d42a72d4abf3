"""Tiles of kernel values between two sets of rows, in single precision by the fastest accurate method.

BLAS computes products of dense rows, a compiled loop those of sparse rows; for RBF they become kernel values in the
same tile.  In single precision the exponent of RBF has an error of about 2^-24 gamma |x - c|^2, c the mean by which
dense rows are shifted.  Where that is too large, and for the other kernels, products are in double precision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.compiled.loops.kernel import kernel_row_loops as loops
from svmtool.compiled.loops.rows import row_loops
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.models.kernel_functions import LINEAR, RBF, Kernel
from svmtool.tolerances import VALUES_AT_ONCE

# gamma |x - c|^2 up to which RBF uses products in single precision: relative error about 4e-6
MAX_SINGLE_EXPONENT = 64.0
SINGLE = np.finfo(np.float32)
MAX_DENSE_FEATURES = 32  # features; with fewer, rows are always held dense
NONZERO_COST = 2.5  # cost of a nonzero of a sparse row, in features of a dense one


class Tiles(ABC):
    """Rows of one set, as targets of products or as the columns of tiles.  n rows."""

    n: int
    dtype: type = np.float32  # of the values
    width, height = 1024, 128  # columns and targets of a tile, which fits the second-level cache

    def width_for(self, m: int) -> int:
        """The columns of a tile of m targets that is as large as others."""
        return max(self.width, self.width * self.height // max(m, 1))

    @abstractmethod
    def take(self, chosen: np.ndarray) -> Tiles:
        """The rows `chosen` (i8), copied."""

    def part(self, lo: int, hi: int) -> Tiles:
        """Rows lo .. hi-1."""
        return self.take(slice(lo, hi))

    @abstractmethod
    def fill(self, targets: Tiles, lo: int, hi: int, P: np.ndarray) -> None:
        """P (targets.n, hi - lo) of `dtype`, C order: kernel values between the targets and rows lo .. hi-1."""

    def all_values(self, targets: Tiles) -> np.ndarray:
        """K (targets.n, n) of `dtype`."""
        K: np.ndarray = np.empty((targets.n, self.n), self.dtype)
        self.fill(targets, 0, self.n, K)
        return K

    def diagonal(self) -> np.ndarray:
        """K(x_i, x_i), f8[n]; RBF's is 1."""
        return np.ones(self.n)


class SingleDense(Tiles):
    """RBF between dense rows, f4."""

    def __init__(self, X: np.ndarray, norms: np.ndarray, gamma: float):
        self.X, self.norms, self.gamma, self.n = X, norms, gamma, len(X)

    def take(self, chosen: np.ndarray | slice) -> SingleDense:
        return SingleDense(self.X[chosen], self.norms[chosen], self.gamma)

    def fill(self, targets: Any, lo: int, hi: int, P: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):  # BLAS may raise the flag for unused lanes
            np.matmul(targets.X, self.X[lo:hi].T, out=P)
        loops.rbf_tile(P, targets.norms, self.norms, self.gamma, len(P), hi - lo, lo)


class SingleSparse(Tiles):
    """RBF between sparse rows, f4."""

    width, height = 256, 512  # more targets reduce the share of preparing columns

    def __init__(
        self, starts: np.ndarray, columns: np.ndarray, values: np.ndarray, norms: np.ndarray, d: int, gamma: float
    ):
        self.starts, self.columns, self.values, self.norms = starts, columns, values, norms
        self.d, self.gamma, self.n = d, gamma, len(starts) - 1

    def take(self, chosen: np.ndarray) -> SingleSparse:
        starts = np.concatenate(([0], np.cumsum(self.starts[chosen + 1] - self.starts[chosen])))
        inside = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], np.diff(starts))
        return type(self)(starts, self.columns[inside], self.values[inside], self.norms[chosen], self.d, self.gamma)

    def part(self, lo: int, hi: int) -> SingleSparse:
        return type(self)(self.starts[lo : hi + 1], self.columns, self.values, self.norms[lo:hi], self.d, self.gamma)

    def fill(self, targets: Any, lo: int, hi: int, P: np.ndarray) -> None:
        lanes = int(loops.LANES)
        widest = max(int(self.starts[min(at + lanes, hi)] - self.starts[at]) for at in range(lo, hi, lanes))
        longest = int(np.max(np.diff(targets.starts), initial=0))
        scratch = (
            np.zeros(self.d, np.int32), np.empty(min(widest, self.d) * lanes, np.float32),
            np.empty(longest, np.int32), np.empty(longest, np.float32), np.empty(lanes, np.float32),
        )  # fmt: skip
        loops.sparse_tile(
            self.starts, self.columns, self.values, targets.starts, targets.columns, targets.values, *scratch, P,
            targets.n, lo, hi,
        )  # fmt: skip
        self.finish(targets, lo, hi, P)

    def finish(self, targets: SingleSparse, lo: int, hi: int, P: np.ndarray) -> None:
        """Turn products into kernel values."""
        loops.rbf_tile(P, targets.norms, self.norms, self.gamma, len(P), hi - lo, lo)


class SparseProducts(SingleSparse):
    """The linear kernel between sparse rows, f4; norms f8, gamma unused."""

    def finish(self, targets: SingleSparse, lo: int, hi: int, P: np.ndarray) -> None:
        """Nothing to do: products are the values."""

    def diagonal(self) -> np.ndarray:
        return self.norms


class Double(Tiles):
    """Any kernel between dense or sparse rows, by products in double precision.

    sparse: whether products are of sparse rows; else blocks of rows are made dense.
    """

    width, height = 512, 128

    def __init__(
        self, rows: CsrRows | DenseRows, norms: np.ndarray, kernel: Kernel, dtype: type = np.float32,
        sparse: bool = False,
    ):  # fmt: skip
        self.rows, self.norms, self.kernel, self.n, self.dtype, self.sparse = rows, norms, kernel, rows.n, dtype, sparse

    def width_for(self, m: int) -> int:
        """As many columns as always, because they are made dense."""
        return self.width

    def take(self, chosen: np.ndarray) -> Double:
        return Double(self.rows.take(chosen), self.norms[chosen], self.kernel, self.dtype, self.sparse)

    def part(self, lo: int, hi: int) -> Double:
        return self.take(np.arange(lo, hi))

    def fill(self, targets: Any, lo: int, hi: int, P: np.ndarray) -> None:
        products = self._products(targets.rows, lo, hi, P if P.itemsize == 8 else np.empty(P.shape))
        if self.kernel.kind == RBF and P.itemsize == 4:
            pairs = self.kernel.near(products, targets.norms, self.norms[lo:hi])
            loops.rbf_tile_of_double(products, targets.norms, self.norms, P, self.kernel.gamma, *P.shape, lo)
            if pairs:
                self.kernel.set_near(P, pairs, apart(targets.rows, self.rows, lo))
            return
        self.kernel.finish(products, targets.norms, self.norms[lo:hi], apart(targets.rows, self.rows, lo))
        if products is not P:
            with np.errstate(over="ignore"):  # beyond single precision: infinite, which solvers report
                P[:] = products

    def _products(self, left: CsrRows | DenseRows, lo: int, hi: int, P: np.ndarray) -> np.ndarray:
        """P f8 (left.n, hi - lo): x_i.x_j between other rows and the rows lo .. hi-1."""
        if self.sparse:
            right = self.rows.take(np.arange(lo, hi)).csr_arrays
            row_loops.csr_products(*left.csr_arrays, *right, np.zeros(left.n_features), P, hi - lo, 0, 0, left.n)
            return P
        with np.errstate(invalid="ignore"):  # as above
            return np.matmul(dense(left, 0, left.n), dense(self.rows, lo, hi).T, out=P)

    def diagonal(self) -> np.ndarray:
        return self.kernel.of_itself(self.norms)


class Given(Tiles):
    """A precomputed kernel: its values f8, the row and the column of each of these rows."""

    def __init__(self, matrix: np.ndarray, own: np.ndarray, dtype: type = np.float32):
        self.matrix, self.own, self.n, self.dtype = matrix, own, len(own), dtype

    def take(self, chosen: np.ndarray | slice) -> Given:
        return Given(self.matrix, self.own[chosen], self.dtype)

    def fill(self, targets: Any, lo: int, hi: int, P: np.ndarray) -> None:
        P[:] = self.matrix[np.ix_(targets.own, self.own[lo:hi])]

    def diagonal(self) -> np.ndarray:
        return self.matrix[self.own, self.own]


def dense(rows: CsrRows | DenseRows, lo: int, hi: int) -> np.ndarray:
    """Rows lo .. hi-1 as a matrix."""
    if isinstance(rows, DenseRows):
        return rows.X[lo:hi]
    X = np.zeros((hi - lo, rows.n_features))
    row_loops.csr_to_dense(*rows.csr_arrays, X, rows.n_features, lo, hi)
    return X


def apart(
    left: CsrRows | DenseRows, right: CsrRows | DenseRows, first: int = 0
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The function of i and j (i8[k] each) that gives |x_i - z_(first + j)|^2, from differences, f8[k]."""

    def squares(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        found = np.empty(len(i))
        step = max(1, VALUES_AT_ONCE // max(1, left.n_features))
        for at in range(0, len(i), step):
            end = min(at + step, len(i))
            differences = dense(left.take(i[at:end]), 0, end - at)
            differences = differences - dense(right.take(first + j[at:end]), 0, end - at)
            found[at:end] = np.einsum("ij,ij->i", differences, differences)
        return found

    return squares


def tiles_of(
    rows: CsrRows | DenseRows | None, kernel: Kernel, matrix: np.ndarray | None = None, dtype: type = np.float32
) -> Tiles:
    """Return the tiles for kernel values among the rows, or those of `matrix`, in single or double precision."""
    if rows is None:
        return Given(matrix, np.arange(len(matrix)), dtype)
    norms, m = rows.square_norms(), rows.n_features
    sparse = isinstance(rows, CsrRows) and m > MAX_DENSE_FEATURES and rows.nnz * NONZERO_COST < rows.n * m
    double = Double(rows, norms, kernel, dtype, sparse and dtype is np.float64)
    if dtype is np.float64:
        return double
    if sparse and kernel.kind == LINEAR:
        # terms of the largest size have all digits of single precision
        if SINGLE.tiny / SINGLE.eps < float(norms.max(initial=0.0)) < SINGLE.max * SINGLE.eps:
            starts, columns, values = rows.narrow_arrays
            return SparseProducts(starts, columns, values.astype(np.float32), norms, m, 0.0)
    if kernel.kind != RBF:
        return double
    if sparse:
        if kernel.gamma * float(norms.max(initial=0.0)) > MAX_SINGLE_EXPONENT:
            return double
        starts, columns, values = rows.narrow_arrays
        single = values.astype(np.float32), norms.astype(np.float32)
        return SingleSparse(starts, columns, *single, m, kernel.gamma)
    X = np.zeros((rows.n, m + -m % 4), np.float32)
    centre = rows.transpose_product(np.full(rows.n, 1.0 / max(rows.n, 1)))
    for lo in range(0, rows.n, Tiles.width):
        hi = min(lo + Tiles.width, rows.n)
        with np.errstate(over="ignore"):  # the exponent below is infinite then
            X[lo:hi, :m] = dense(rows, lo, hi) - centre
    norms = np.einsum("ij,ij->i", X, X)
    small = kernel.gamma * float(norms.max(initial=0.0)) <= MAX_SINGLE_EXPONENT
    return SingleDense(X, norms, kernel.gamma) if small else double
