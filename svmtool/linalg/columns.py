"""Rows stored by columns, in the type of their values, and working sets of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.compiled.loops.loss import l1_loops
from svmtool.compiled.threads import run_blocks
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows, as_numbers
from svmtool.data.row_storage import BLOCK_WORK, MAX_BLOCKS, Rows
from svmtool.linalg.systems import CHUNK_NONZEROS, mirror

# Columns or rows that coordinate descent visits one after the other, which fetches the next in time: at most so many,
# fewer where these have more than CHUNK_NONZEROS.  Epochs of text take half as long, and converge as those in any order
NEIGHBOURS = 8
BLOCK_DENSITY = 16  # least numbers for a feature in a block of rows that is transposed beside others: starts are few


def together(rows: Rows) -> int:
    """How many neighbours among rows (or columns as rows) are visited one after the other."""
    return min(max(CHUNK_NONZEROS * rows.n // max(rows.nnz, 1), 1), NEIGHBOURS)


def order(random: np.random.Generator, rows: Rows) -> np.ndarray:
    """The numbers of rows (or columns as rows), i8, neighbours together, in random order."""
    size = together(rows)
    found = (random.permutation(np.arange(0, rows.n, size))[:, None] + np.arange(size)).reshape(-1)
    return found[found < rows.n]


class Columns:
    """Rows stored by columns, the bias feature as the last of `d` columns; of dense rows without row numbers."""

    def __init__(self, rows: Rows):
        self.n, self.bias, m = rows.n, rows.bias, rows.n_features
        self.n_features, self.d = m, m + (self.bias >= 0)
        if isinstance(rows, DenseRows):
            self._turn_dense(rows)
        else:
            self._turn_sparse(rows.as_csr())
        self.nnz = int(self.starts[-1])
        self.arrays = self.starts, self.row_numbers, self.values
        self._all = self.some(np.arange(self.d))

    def _turn_dense(self, rows: DenseRows) -> None:
        """Every column has every row, zeros included."""
        self.starts = np.arange(self.d + 1) * self.n
        self.row_numbers = np.zeros(0, np.int32)
        turned = np.empty((self.d, self.n), self._kind(rows.X.dtype))
        if self.bias >= 0:
            turned[-1] = self.bias
        step = max(1, BLOCK_WORK // max(self.n_features, 1))

        def work(b: int) -> None:
            for lo, hi in rows.pieces(b * step, min((b + 1) * step, self.n)):
                turned[: self.n_features, lo:hi] = rows.X[lo:hi].T

        run_blocks(work, -(-self.n // step))
        self.values = as_numbers(turned.reshape(-1))

    def _kind(self, kind: np.dtype) -> np.dtype:
        """The type of the values: that of the rows, `kind`, which holds a bias feature of 0 or 1, else float64."""
        return kind if self.bias < 0 or self.bias in (0.0, 1.0) else np.dtype(np.float64)

    def _turn_sparse(self, rows: CsrRows) -> None:
        m = self.n_features
        blocks = rows.cut(min(MAX_BLOCKS, rows.nnz // max(BLOCK_DENSITY * m, BLOCK_WORK)))
        counts = np.zeros((len(blocks), m), np.int64)
        count, fill = l1_loops.count_columns, l1_loops.fill_columns
        run_blocks(lambda b: count(rows.indptr, rows.indices, counts[b], *blocks[b]), len(blocks))
        self.starts = np.full(self.d + 1, self.n, np.int64)
        self.starts[0], self.starts[1 : m + 1] = 0, counts.sum(axis=0)
        np.cumsum(self.starts, out=self.starts)
        start = self.starts[:m]
        for part in counts:  # which becomes the start of this block's part of each column
            part[:], start = start, start + part
        kind = self._kind(rows.values.dtype)
        self.row_numbers, self.values = np.empty(self.starts[-1], np.int32), np.empty(self.starts[-1], kind)
        if self.bias >= 0:
            self.row_numbers[self.starts[m] :], self.values[self.starts[m] :] = np.arange(self.n), self.bias
        data = rows.indptr, rows.indices, rows.values.astype(kind, copy=False)
        lists = self.row_numbers, self.values
        run_blocks(lambda b: fill(*data, counts[b], *lists, *blocks[b]), len(blocks))

    @classmethod
    def of(cls, rows: Rows) -> Columns:
        """Return the columns of these rows, which keep them for other problems over the same rows."""
        found = rows.__dict__.get("_by_columns")
        if found is None:
            found = rows.__dict__["_by_columns"] = cls(rows)
        return found

    def products(self, u: np.ndarray) -> np.ndarray:
        """X'u, f8[d]; u f8[n]."""
        return self._all.products(u)

    transpose_product = products

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        """z_i = y_i x_i.w; columns of zero weights are skipped."""
        np.multiply(y, self._all.sum(w), out=z)

    def some_by_rows(self, chosen: np.ndarray) -> CsrRows:
        """The features `chosen` (i8, ascending, without the bias feature) and the bias feature, as rows."""
        if not len(self.row_numbers):
            X = self.values.reshape(self.d, self.n)[chosen].T.astype(np.float64, order="C")
            return DenseRows(X, self.bias).as_csr()
        part = self._by_rows(chosen)
        return CsrRows(part.indptr, part.indices, part.values.astype(np.float64, copy=False), len(chosen), self.bias)

    def some(self, chosen: np.ndarray) -> SomeColumns:
        """The columns `chosen` (i8); nothing is copied."""
        return SomeColumns(self.arrays, self.n, chosen)

    def gram(self, chosen: np.ndarray, c: np.ndarray) -> np.ndarray:
        """sum_i c_i x_i x_i' over the columns `chosen`, which are copied; not of dense rows."""
        K = np.zeros((len(chosen), len(chosen)))
        self._by_rows(chosen).add_gram(c, K)
        return mirror(K)

    def _by_rows(self, chosen: np.ndarray) -> CsrRows:
        """The columns `chosen`, stored by rows; not of dense rows."""
        turned = Columns(CsrRows(*self.arrays, self.n).take(chosen))
        return CsrRows(turned.starts, turned.row_numbers, turned.values, len(chosen))


class SomeColumns(Rows):
    """The columns `chosen` (i8), each as a row of n numbers; arrays: those of Columns."""

    def __init__(self, arrays: tuple[np.ndarray, np.ndarray, np.ndarray], n: int, chosen: np.ndarray):
        self.chosen, self._arrays = chosen, (*arrays, chosen)
        self.n, self.d, self.bias = len(chosen), n, -1.0
        ends = np.append(0, np.cumsum(np.diff(arrays[0])[chosen]))
        self.nnz = int(ends[-1])
        n_blocks = min(MAX_BLOCKS, self.nnz // BLOCK_WORK)
        self.blocks = self._partition(ends, n_blocks)
        self._sum_blocks = self._partition(ends, min(n_blocks, self.nnz // (4 * max(self.d, 1))))

    def epochs(self, *terms: Any, most: int, tolerance: float) -> float:
        """Coordinate descent; see `column_epochs`."""
        return l1_loops.column_epochs(*self._arrays, *terms, together(self), most, tolerance)

    def take(self, chosen: np.ndarray) -> SomeColumns:
        """The columns `chosen` (i8) of these."""
        return SomeColumns(self._arrays[:3], self.d, self.chosen[chosen])

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        """sum_i c_i x_ij^2, one number for each column."""
        out = np.empty(self.n)
        l1_loops.column_diagonal(*self._arrays, c, out)
        return out

    def sum(self, x: np.ndarray) -> np.ndarray:
        """The sum of x_k times column k, one number for each row of the data."""
        call = l1_loops.column_sum
        return self._sum_over(self._sum_blocks, self.d, lambda r, lo, hi: call(*self._arrays, x, r, lo, hi))[0]

    def products(self, r: np.ndarray) -> np.ndarray:
        """The products of the columns with r, f8[n]: one number for each column."""
        out = np.empty(self.n)
        self.for_each_block(l1_loops.column_products.bind(*self._arrays, r, out))
        return out
