"""Dense rows in memory or mapped from files, and the choice between them and sparse rows (csr.py).

Values are float64, or smaller ones, of which a piece at a time becomes float64: no sum is of fewer digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.rows import row_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.data import row_storage
from svmtool.data.csr import CsrRows
from svmtool.data.row_storage import Rows
from svmtool.data.twofold import summed

if TYPE_CHECKING:
    from svmtool.data.mapped_arrays import MappedArrays


class DenseRows(Rows):
    """A matrix X (n x n_features), C order; products by BLAS, a block at a time."""

    has_sparse_form = True
    gram_entries = 14.0
    gram_of_few = True
    GATHER = 1 << 16  # numbers copied at a time for the Gram matrix, to stay in cache

    def __init__(self, X: np.ndarray, bias: float = -1.0, mapped: MappedArrays | None = None):
        self.X, self.bias, self.mapped = X, bias, mapped
        self.have_kernel = mapped is None
        self.n, self.nnz = len(X), X.size
        self.d = X.shape[1] + (bias >= 0)
        self.blocks = self._partition(None, min(row_storage.MAX_BLOCKS, X.size // row_storage.BLOCK_WORK))
        self.gram_blocks = self._partition(None, min(8, X.size // max(2 * self.d**2, row_storage.BLOCK_WORK)))

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        shift, v = self.shift(w), w[: self.n_features]

        def work(lo: int, hi: int) -> None:
            for a, b, X in self.parts(lo, hi):
                part = z[a:b]
                np.matmul(X, v, out=part)
                part += shift
                part *= y[a:b]

        self.for_each_block(work)

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        def work(g: np.ndarray, lo: int, hi: int) -> None:
            for a, b, X in self.parts(lo, hi):
                g[: self.n_features] += u[a:b] @ X

        g, _ = self._sum_over(self.blocks, self.d, work)
        return self._completed(g, self.bias, u)

    def twofold_margins(self, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = [rows.twofold_margins(w, y[lo:hi]) for lo, hi, rows in self._sparse_parts()]
        z, rest = (np.concatenate(part) for part in zip(*parts, strict=True)) if parts else np.empty((2, 0))
        return z, rest

    def twofold_sums(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return summed((rows.twofold_sums(u[lo:hi]) for lo, hi, rows in self._sparse_parts()), self.d)

    def _sparse_parts(self) -> Iterator[tuple[int, int, CsrRows]]:
        """A block of rows at a time in CSR form."""
        for block in self.blocks:
            for lo, hi in self.pieces(*block):
                yield lo, hi, DenseRows(self.X[lo:hi], self.bias).as_csr()

    def class_sums(self, u: np.ndarray, number: np.ndarray, k: int) -> np.ndarray:
        m, classes = self.n_features, np.arange(k)[:, None]

        def work(sums: np.ndarray, lo: int, hi: int) -> None:
            for a, b, X in self.parts(lo, hi):
                sums.reshape(k, m)[:] += np.where(number[a:b] == classes, u[a:b], 0.0) @ X

        sums, _ = self._sum_over(self.blocks, k * m, work)
        return sums.reshape(k, m)

    def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
        shift, inner = self.shift(v), v[: self.n_features]

        def work(g: np.ndarray, lo: int, hi: int) -> float:
            total = 0.0
            for a, b, X in self.parts(lo, hi):
                t = c[a:b] * (X @ inner + shift)
                g[: self.n_features] += t @ X
                total += float(np.sum(t))
            return total

        g, total = self._sum_over(self.blocks, self.d, work)
        return self._completed(g, self.bias, total)

    def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
        m, step = self.n_features, max(64, self.GATHER // max(self.n_features, 1))
        if self.bias >= 0:
            gram[:, -1] += self.bias * self.transpose_product(c)
        some = np.flatnonzero(c)
        if len(some) <= min(2 * step, m):  # adding the blocks' matrices would take longer than the products
            part = self._copy(some).astype(np.float64, copy=False)
            gram[:m, :m] += part.T @ (part * c[some, None])
            return

        def work(g: np.ndarray, lo: int, hi: int) -> None:
            square = g.reshape(m, m)
            for sign in (1.0, -1.0):
                used = lo + np.flatnonzero(c[lo:hi] * sign > 0)
                for start in range(0, len(used), step):
                    limits.check()
                    some = used[start : start + step]
                    part = self._doubles(some)
                    part *= np.sqrt(sign * c[some])[:, None]
                    if sign > 0:
                        square += part.T @ part
                    else:
                        square -= part.T @ part

        flat, _ = self._sum_over(self.gram_blocks, m * m, work)
        gram[:m, :m] += flat.reshape(m, m)

    def _products_with(self, chosen: np.ndarray) -> Callable[[int, np.ndarray], np.ndarray]:
        part = self._doubles(chosen)
        return lambda skip, others: part[skip:] @ self._doubles(others).T

    def _doubles(self, chosen: np.ndarray) -> np.ndarray:
        """A copy of the rows `chosen` without the bias feature, as float64."""
        return self.X[chosen].astype(np.float64, copy=False)

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        g = np.zeros(self.d)
        for block in self.blocks:
            for lo, hi in self.pieces(*block):
                for a, b, X in self.parts(lo, hi):
                    g[: self.n_features] += c[a:b] @ np.square(X)
        return self._completed(g, self.bias * self.bias, c)

    def square_norms(self) -> np.ndarray:
        norms = np.empty(self.n)
        for block in self.blocks:
            for lo, hi in self.pieces(*block):
                for a, b, X in self.parts(lo, hi):
                    norms[a:b] = np.einsum("ij,ij->i", X, X)
        return norms + self.bias * self.bias if self.bias >= 0 else norms

    def _plain_forms(self, M: np.ndarray) -> np.ndarray:
        forms, step = np.empty(self.n), max(64, self.GATHER // max(self.n_features, 1))

        def work(lo: int, hi: int) -> None:
            for a in range(lo, hi, step):
                limits.check()
                part = self.X[a : min(a + step, hi)].astype(np.float64, copy=False)
                forms[a : min(a + step, hi)] = np.einsum("ij,ij->i", part @ M, part)

        self.for_each_block(work)
        return forms

    def divided(self, size: np.ndarray) -> DenseRows:
        return DenseRows(self.X / size[: self.n_features], self.bias)

    def columns(self, chosen: np.ndarray) -> DenseRows:
        return DenseRows(np.take(self.X, chosen, 1), self.bias)

    def with_bias(self, bias: float) -> DenseRows:
        return DenseRows(self.X, bias, self.mapped)

    def dense_of(self, chosen: np.ndarray) -> np.ndarray:
        X = np.full((len(chosen), self.d), max(self.bias, 0.0))
        X[:, : self.n_features] = self.X[chosen]
        return X

    def take(self, chosen: np.ndarray) -> DenseRows:
        return DenseRows(self._copy(chosen), self.bias, self.mapped)

    def _copy(self, chosen: np.ndarray) -> np.ndarray:
        X = self.new((len(chosen), self.n_features), self.X.dtype)
        for a, b in self.runs(chosen):
            np.take(self.X, chosen[a:b], 0, X[a:b])
        return X

    @property
    def row_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.arange(self.n + 1) * self.n_features, np.zeros(0, np.int32), as_numbers(self.X.reshape(-1))

    def as_csr(self) -> CsrRows:
        """The same rows in CSR form, zeros included, sharing the values, or with float32, which holds smaller ones."""
        indptr, values = self.row_arrays[0], self.X.reshape(-1)
        values = values.astype(np.promote_types(values.dtype, np.float32), copy=False)
        indices = self.new(self.X.shape, "i4")
        for lo, hi in self.pieces(0, self.n):
            indices[lo:hi] = np.arange(self.n_features)
        return CsrRows(indptr, indices.reshape(-1), values, self.n_features, self.bias, self.mapped)

    def parts(self, lo: int, hi: int) -> Iterator[tuple[int, int, np.ndarray]]:
        """The rows lo .. hi-1 as float64: at once where they are stored so, otherwise some at a time."""
        step = max(1, hi - lo) if self.X.dtype == np.float64 else max(64, self.GATHER // max(self.n_features, 1))
        for a in range(lo, hi, step):
            b = min(a + step, hi)
            yield a, b, self.X[a:b].astype(np.float64, copy=False)


def as_numbers(values: np.ndarray) -> np.ndarray:
    """The same memory as loops read it: bool as int8."""
    return values.view(np.int8) if values.dtype == np.bool_ else values


def dense_is_faster(n: int, n_features: int, nnz: int, dense_below: int) -> bool:
    """Whether n rows of `n_features` features with nnz non-zeros are held dense; dense_below: as of `from_csr`."""
    full = nnz >= row_storage.MIN_DENSE_SHARE * n * n_features
    return full and row_storage.MIN_DENSE_FEATURES < n_features <= dense_below


def from_csr(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, n_features: int, bias: float, dense_below: int,
    mapped: MappedArrays | None = None,
) -> CsrRows | DenseRows:  # fmt: skip
    """Return the rows in the faster layout: dense for few features and few zeros, else sparse.

    dense_below: number of features up to which the solver forms Gram matrices.
    """
    n = len(indptr) - 1
    if dense_is_faster(n, n_features, len(values), dense_below):
        X = np.zeros((n, n_features), values.dtype) if mapped is None else mapped.zeros((n, n_features))
        step = max(1, row_storage.BLOCK_WORK // n_features)

        def work(b: int) -> None:
            lo, hi = b * step, min(n, (b + 1) * step)
            loops.csr_to_dense(indptr, indices, values, X[lo:hi], n_features, lo, hi)
            if mapped is not None:
                mapped.check()

        run_blocks(work, -(-n // step))
        return DenseRows(X, bias, mapped)
    return CsrRows(indptr, indices, values, n_features, bias, mapped)
