"""Compressed sparse rows (CSR) in memory or mapped from files; values are float64, or float32 with sums of float64.

Solvers work with vectors of length d (the bias feature last, if there is one) and reach the rows only through an
objective, which calls the passes below.  The bias feature is not stored; passes use its value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.rows import row_loops as loops
from svmtool.compiled.loops.rows import twofold_loops
from svmtool.data import row_storage
from svmtool.data.row_storage import Rows
from svmtool.data.twofold import twofold_dot

if TYPE_CHECKING:
    from svmtool.data.mapped_arrays import MappedArrays


class CsrRows(Rows):
    """Compressed sparse rows: indptr i8[n+1], indices i4 or i8[nnz] from 0, values f8 or f4[nnz]; see Rows."""

    offers_coordinate_descent = has_sparse_form = have_kernel = True

    def __init__(
        self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, n_features: int, bias: float = -1.0,
        mapped: MappedArrays | None = None,
    ):  # fmt: skip
        self.indptr, self.indices, self.values, self.mapped = indptr, indices, values, mapped
        self.n, self.bias, self.nnz = len(indptr) - 1, bias, len(values)
        self.d = n_features + (bias >= 0)
        n_blocks = min(row_storage.MAX_BLOCKS, self.nnz // row_storage.BLOCK_WORK)
        self.blocks = self._partition(indptr, n_blocks)
        # each block of a sum over rows needs a vector of length d, which does not pay if d is large
        n_blocks = min(n_blocks, self.nnz // (4 * max(self.d, 1)))
        self.sum_blocks = self._partition(indptr, n_blocks)
        self.gram_blocks = self._partition(indptr, min(n_blocks, 8, 2 * self.nnz // max(self.d**2, 1)))
        self.csr_arrays = (indptr, indices, values)

    @property
    def row_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.csr_arrays

    @property
    def narrow_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`csr_arrays` with indices i4, which are copied if they are i8."""
        return self.indptr, self.indices.astype(np.int32, copy=False), self.values

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        call, shift = loops.csr_margins.bind(*self.csr_arrays, w, y, z), self.shift(w)
        self.for_each_block(lambda lo, hi: call(shift, lo, hi))

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        g = self._sums(self.sum_blocks, self.d, u, np.empty(0, np.int64))
        return self._completed(g, self.bias, u)

    def _sums(self, blocks: list[tuple[int, int]], size: int, u: np.ndarray, number: np.ndarray) -> np.ndarray:
        """sum_i u_i x_i over blocks of rows, f8[size]; see csr_class_sums."""
        call, m = loops.csr_class_sums, self.n_features
        return self._sum_over(blocks, size, lambda g, lo, hi: call(*self.csr_arrays, u, number, g, m, lo, hi))[0]

    def twofold_margins(self, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z, rest = np.empty(self.n), np.empty(self.n)
        call = twofold_loops.csr_twofold_margins.bind(*self.csr_arrays, w, y, z, rest)
        self.for_each_block(lambda lo, hi: call(self.bias, lo, hi))
        return z, rest

    def twofold_sums(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g, rest = np.zeros(self.d), np.zeros(self.d)
        for piece in self.pieces(0, self.n):
            twofold_loops.csr_twofold_sums(*self.csr_arrays, u, g, rest, *piece)
        if self.bias >= 0:
            g[-1], rest[-1] = twofold_dot(self.bias, u)
        return g, rest

    @cached_property
    def longest(self) -> int:
        return int((self.indptr[1:] - self.indptr[:-1]).max(initial=0)) + 1

    def cut(self, n_blocks: int) -> list[tuple[int, int]]:
        """Cut the rows into up to n_blocks blocks of about equal work."""
        return self._partition(self.indptr, n_blocks)

    def class_sums(self, u: np.ndarray, number: np.ndarray, k: int) -> np.ndarray:
        parts, m = self.sum_blocks, self.n_features
        if len(parts) * k > row_storage.MAX_BLOCKS:
            parts = self.cut(row_storage.MAX_BLOCKS // k)
        return self._sums(parts, k * m, u, number).reshape(k, m)

    def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
        shift = self.shift(v)
        g, total = self._sum_over(
            self.sum_blocks,
            self.d,
            lambda g, lo, hi: loops.csr_curvature_product(*self.csr_arrays, c, v, g, shift, lo, hi),
        )
        return self._completed(g, self.bias, total)

    def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
        m, some = self.n_features, self._rows_between_checks

        def work(g: np.ndarray, lo: int, hi: int) -> None:
            for first in range(lo, hi, some):
                limits.check()
                loops.csr_gram(*self.csr_arrays, c, g, self.d if g is gram else m, first, min(first + some, hi))

        if len(self.gram_blocks) == 1:
            for piece in self.pieces(0, self.n):
                work(gram, *piece)
        else:
            flat, _ = self._sum_over(self.gram_blocks, m * m, work)
            gram[:m, :m] += flat.reshape(m, m)
        if self.bias >= 0:
            gram[:, -1] += self.bias * self.transpose_product(c)

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        g, _ = self._sum_over(
            self.sum_blocks, self.d, lambda g, lo, hi: loops.csr_diagonal(*self.csr_arrays, c, g, lo, hi)
        )
        return self._completed(g, self.bias * self.bias, c)

    def square_norms(self) -> np.ndarray:
        norms = np.empty(self.n)
        self.for_each_block(loops.csr_square_norms.bind(self.indptr, self.values, norms))
        return norms + self.bias * self.bias if self.bias >= 0 else norms

    def _plain_forms(self, M: np.ndarray) -> np.ndarray:
        forms = np.empty(self.n)
        call, some = loops.csr_quadratic.bind(*self.csr_arrays, M, forms), self._rows_between_checks

        def work(lo: int, hi: int) -> None:
            for first in range(lo, hi, some):
                limits.check()
                call(self.n_features, first, min(first + some, hi))

        self.for_each_block(work)
        return forms

    @property
    def _rows_between_checks(self) -> int:
        """Number of rows added to a Gram matrix between two checks of whether the run has to end."""
        return max(1, int(row_storage.GRAM_PIECE_PAIRS / max(self.nnz / max(self.n, 1), 1.0) ** 2))

    def _products_with(self, chosen: np.ndarray) -> Callable[[int, np.ndarray], np.ndarray]:
        part = self.take(chosen)

        def product(skip: int, others: np.ndarray) -> np.ndarray:
            arrays, P = self.take(others).csr_arrays, np.empty((part.n, len(others)))
            scratch = np.zeros(self.n_features)
            loops.csr_products(*part.csr_arrays, *arrays, scratch, P, len(others), 0, skip, part.n)
            return P[skip:]

        return product

    def with_bias(self, bias: float) -> CsrRows:
        return CsrRows(*self.csr_arrays, self.n_features, bias, self.mapped)

    def columns(self, chosen: np.ndarray) -> CsrRows:
        m = len(chosen)
        place = np.full(self.n_features, m, np.int32)
        place[chosen] = np.arange(m)
        indptr, indices = np.empty(self.n + 1, np.int64), np.empty(self.nnz, np.int32)
        values = np.empty(self.nnz, self.values.dtype)  # the system gives memory to the parts that are written alone
        loops.csr_columns(*self.csr_arrays, place, indptr, indices, values, m)
        kept = int(indptr[-1])
        return CsrRows(indptr, indices[:kept], values[:kept], m, self.bias)

    def divided(self, size: np.ndarray) -> CsrRows:
        return CsrRows(self.indptr, self.indices, self.values / size[self.indices], self.n_features, self.bias)

    def dense_of(self, chosen: np.ndarray) -> np.ndarray:
        part, X = self.take(chosen), np.full((len(chosen), self.d), max(self.bias, 0.0))
        X[:, : self.n_features] = 0.0
        X[np.repeat(np.arange(part.n), np.diff(part.indptr)), part.indices] = part.values
        return X

    def take(self, chosen: np.ndarray) -> CsrRows:
        indptr = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(self.indptr[chosen + 1] - self.indptr[chosen], out=indptr[1:])
        indices, values = self.new(int(indptr[-1]), "i4"), self.new(int(indptr[-1]), self.values.dtype)
        for a, b in self.runs(chosen):
            place = slice(int(indptr[a]), int(indptr[b]))
            loops.csr_take(*self.csr_arrays, chosen[a:b], np.empty(b - a + 1, np.int64), indices[place], values[place])
        return CsrRows(indptr, indices, values, self.n_features, self.bias, self.mapped)
