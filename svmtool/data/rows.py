"""Where the rows live: dense or CSR, float64, in memory or mapped from files, in fixed blocks (blocks.py).

Solvers never see a row.  They see vectors of the feature space (length d, the bias feature last where there is one)
through the objective, which calls the passes below.  The bias feature is never stored: its value enters each pass as a
number.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.rows import row_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.data.blocks import Rows

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from svmtool.data.mapped_arrays import MappedArrays

BLOCK_WORK = 1 << 17  # non-zeros a block: some 0.2 ms of work
MAX_BLOCKS = 32
KERNEL_ROWS = 64  # rows of a kernel matrix a block: enough to pay for its scratch vector
DENSE_FROM = 0.5  # share of non-zeros from which a set is held dense ...
DENSE_FEATURES = 64  # ... if it has more features than this: with fewer the loops over sparse rows are faster
COLUMNS_BELOW = 64  # features up to which such a set's Gram matrix is summed column after column
PAIRS = 1 << 25  # of features of a row, that are gone over between two looks at what ends the run


class CsrRows(Rows):
    """Compressed sparse rows: indptr i8[n+1], indices i4[nnz] from 0, values f8[nnz]."""

    have_kernel = True

    def __init__(
        self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, plain: int, bias: float = -1.0,
        mapped: MappedArrays | None = None,
    ):  # fmt: skip
        self.indptr, self.indices, self.values, self.mapped = indptr, indices, values, mapped
        self.n, self.bias, self.nnz = len(indptr) - 1, bias, len(values)
        self.d = plain + (bias >= 0)
        n_blocks = min(MAX_BLOCKS, self.nnz // BLOCK_WORK)
        self.blocks = self._partition(indptr, n_blocks)
        # each block of a sum over rows needs a vector of length d: not worth it where d is large
        n_blocks = min(n_blocks, self.nnz // (4 * max(self.d, 1)))
        self.sum_blocks = self._partition(indptr, n_blocks)
        self.gram_blocks = self._partition(indptr, min(n_blocks, 8, 2 * self.nnz // max(self.d**2, 1)))
        self._arrays = (indptr, indices, values)

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        """z_i = y_i x_i.w"""
        call, shift = loops.csr_margins.bind(*self._arrays, w, y, z), self.shift(w)
        self.for_each_block(lambda lo, hi: call(shift, lo, hi))

    def margins_of(self, chosen: np.ndarray, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        call, shift = loops.csr_margins_of.bind(*self._arrays, w, y, z, chosen), self.shift(w)
        step = -(-len(chosen) // len(self.blocks)) or 1

        def work(b: int) -> None:
            for lo, hi in self.runs(chosen[b * step : (b + 1) * step]):
                call(shift, b * step + lo, b * step + hi)

        run_blocks(work, -(-len(chosen) // step))

    def hinge(self, w: np.ndarray, y: np.ndarray, target: np.ndarray, cost: np.ndarray) -> float:
        """sum_i cost_i max(0, target_i - y_i x_i.w) in one pass; terms of length n, or 2 n: each row twice, as rows."""
        call, shift = loops.csr_hinge.bind(*self._arrays, w, y, target, cost), self.shift(w)
        return self._sum_over(self.blocks, 0, lambda _, lo, hi: call(shift, lo, hi))[1]

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        """sum_i u_i x_i, length d."""
        g, _ = self._sum_over(
            self.sum_blocks, self.d, lambda g, lo, hi: loops.csr_transpose_product(*self._arrays, u, g, lo, hi)
        )
        if self.bias >= 0:
            g[-1] = self.bias * float(np.sum(u))
        return g

    def cut(self, n_blocks: int) -> list[tuple[int, int]]:
        """The rows cut into n_blocks, at most and at least one, of about equal work."""
        return self._partition(self.indptr, n_blocks)

    def signed_sums(self, u: np.ndarray) -> np.ndarray:
        """Of each feature but the bias the sum of the positive u_i x_ij, and that of the negative ones, in size;
        f8[plain, 2]."""
        call = loops.csr_signed_sums
        sums, _ = self._sum_over(self.sum_blocks, 2 * self.plain, lambda g, lo, hi: call(*self._arrays, u, g, lo, hi))
        return sums.reshape(-1, 2)

    def class_sums(self, u: np.ndarray, number: np.ndarray, k: int) -> np.ndarray:
        """sum_i u_i x_i over the rows of each class number_i (i8, 0 .. k-1), f8[k, plain]."""
        blocks, m = self.sum_blocks, self.plain
        if len(blocks) * k > MAX_BLOCKS:
            blocks = self.cut(MAX_BLOCKS // k)
        call = loops.csr_class_sums
        sums, _ = self._sum_over(blocks, k * m, lambda g, lo, hi: call(*self._arrays, u, number, g, m, lo, hi))
        return sums.reshape(k, m)

    def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
        """sum_i c_i (x_i.v) x_i, length d; one pass."""
        shift = self.shift(v)
        g, total = self._sum_over(
            self.sum_blocks,
            self.d,
            lambda g, lo, hi: loops.csr_curvature_product(*self._arrays, c, v, g, shift, lo, hi),
        )
        if self.bias >= 0:
            g[-1] = self.bias * total
        return g

    def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
        """Upper triangle of gram (d x d) += sum_i c_i x_i x_i'."""
        m = self.plain
        by_columns = m <= COLUMNS_BELOW and self.nnz >= DENSE_FROM * self.n * m
        some = self._rows_of_a_look

        def work(g: np.ndarray, lo: int, hi: int) -> float:
            if by_columns:
                chunk = np.empty((m + 2) * int(loops.CHUNK))
                loops.csr_gram_by_columns(*self._arrays, c, g, chunk, m, lo, hi)
                return 0.0
            for first in range(lo, hi, some):
                limits.check()
                loops.csr_gram(*self._arrays, c, g, self.d if g is gram else m, first, min(first + some, hi))
            return 0.0

        if len(self.gram_blocks) == 1 and self.mapped is None and not (by_columns and m < self.d):
            work(gram, 0, self.n)
        else:
            flat, _ = self._sum_over(self.gram_blocks, m * m, work)
            gram[:m, :m] += flat.reshape(m, m)
        if self.bias >= 0:
            edge = self.transpose_product(c)
            gram[:, -1] += self.bias * edge

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        """sum_i c_i x_ij^2, length d."""
        g, _ = self._sum_over(
            self.sum_blocks, self.d, lambda g, lo, hi: loops.csr_diagonal(*self._arrays, c, g, lo, hi)
        )
        if self.bias >= 0:
            g[-1] = self.bias**2 * float(np.sum(c))
        return g

    def square_norms(self) -> np.ndarray:
        """|x_i|^2 with the bias feature, length n."""
        norms = np.empty(self.n)
        call = loops.csr_square_norms.bind(self.indptr, self.values, norms)
        self.for_each_block(lambda lo, hi: call(lo, hi))
        return norms + self.bias**2 if self.bias >= 0 else norms

    def _plain_forms(self, M: np.ndarray) -> np.ndarray:
        forms = np.empty(self.n)
        call, some = loops.csr_quadratic.bind(*self._arrays, M, forms), self._rows_of_a_look

        def work(lo: int, hi: int) -> None:
            for first in range(lo, hi, some):
                limits.check()
                call(self.plain, first, min(first + some, hi))

        self.for_each_block(work)
        return forms

    @property
    def _rows_of_a_look(self) -> int:
        """Rows whose products of pairs of features are summed between two looks at what ends the run."""
        return max(1, int(PAIRS / max(self.nnz / max(self.n, 1), 1.0) ** 2))

    def largest_entries(self) -> np.ndarray:
        """|x_i|_inf with the bias feature, length n."""
        largest = np.full(self.n, max(self.bias, 0.0))
        for lo, hi in self.pieces(0, self.n):
            first, last = int(self.indptr[lo]), int(self.indptr[hi])
            filled = lo + np.flatnonzero(np.diff(self.indptr[lo : hi + 1]))
            if len(filled):
                starts, values = self.indptr[filled] - first, self.values[first:last]
                entries = np.maximum(np.maximum.reduceat(values, starts), -np.minimum.reduceat(values, starts))
                largest[filled] = np.maximum(largest[filled], entries)
        return largest

    def fill_kernel(self, chosen: np.ndarray, K: np.ndarray, first: int) -> None:
        """Lower triangle of K = inner products x_i.x_j among rows `chosen` (i8), from its row `first` on."""
        step, arrays = KERNEL_ROWS, self._arrays
        if self.mapped is not None:  # each block goes over all of them, wherever they lie: their copy is small
            arrays, chosen = self.take(chosen)._arrays, np.arange(len(chosen))

        def work(b: int) -> None:
            limits.check()
            lo = first + b * step
            hi = min(lo + step, len(chosen))
            loops.csr_kernel(*arrays, chosen, K, np.zeros(self.plain), len(chosen), lo, hi)
            if self.bias >= 0:
                K[lo:hi] += self.bias**2

        run_blocks(work, -(-(len(chosen) - first) // step))

    def without_bias(self) -> CsrRows:
        """The same rows, nothing copied, without the bias feature."""
        return CsrRows(*self._arrays, self.plain, mapped=self.mapped)

    def columns(self, chosen: np.ndarray) -> CsrRows:
        """The features `chosen` (i8, ascending) of all rows, copied; the bias feature stays."""
        place = np.full(self.plain, -1, np.int32)
        place[chosen] = np.arange(len(chosen), dtype=np.int32)
        indices = place[self.indices]
        kept = indices >= 0
        before = np.concatenate(([0], np.cumsum(kept)))
        return CsrRows(before[self.indptr], indices[kept], self.values[kept], len(chosen), self.bias)

    def divided(self, size: np.ndarray) -> CsrRows:
        """The rows x_ij / size_j, copied; the bias feature as it is."""
        return CsrRows(self.indptr, self.indices, self.values / size[self.indices], self.plain, self.bias)

    def dense_of(self, chosen: np.ndarray) -> np.ndarray:
        """The rows `chosen` (i8) with the bias feature as f8[len(chosen), d]."""
        part, X = self.take(chosen), np.full((len(chosen), self.d), max(self.bias, 0.0))
        X[:, : self.plain] = 0.0
        X[np.repeat(np.arange(part.n), np.diff(part.indptr)), part.indices] = part.values
        return X

    def take(self, chosen: np.ndarray) -> CsrRows:
        """The rows `chosen` (i8), copied."""
        indptr = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(self.indptr[chosen + 1] - self.indptr[chosen], out=indptr[1:])
        indices, values = self.new(int(indptr[-1]), "i4"), self.new(int(indptr[-1]), "f8")
        for a, b in self.runs(chosen):
            place = slice(int(indptr[a]), int(indptr[b]))
            loops.csr_take(*self._arrays, chosen[a:b], np.empty(b - a + 1, np.int64), indices[place], values[place])
        return CsrRows(indptr, indices, values, self.plain, self.bias, self.mapped)


class DenseRows(Rows):
    """A matrix X (n x plain), C order; products by BLAS, a block at a time."""

    gram_entries = 14.0
    GATHER = 1 << 16  # numbers copied at once for the Gram matrix: they stay in cache

    def __init__(self, X: np.ndarray, bias: float = -1.0, mapped: MappedArrays | None = None):
        self.X, self.bias, self.mapped = X, bias, mapped
        self.have_kernel = mapped is None
        self.n, self.nnz = len(X), X.size
        self.d = X.shape[1] + (bias >= 0)
        self.blocks = self._partition(None, min(MAX_BLOCKS, X.size // BLOCK_WORK))
        self.gram_blocks = self._partition(None, min(8, X.size // max(2 * self.d**2, BLOCK_WORK)))

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        shift, v = self.shift(w), w[: self.plain]

        def work(lo: int, hi: int) -> None:
            part = z[lo:hi]
            np.matmul(self.X[lo:hi], v, out=part)
            part += shift
            part *= y[lo:hi]

        self.for_each_block(work)

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        def work(g: np.ndarray, lo: int, hi: int) -> float:
            g[: self.plain] += u[lo:hi] @ self.X[lo:hi]
            return 0.0

        g, _ = self._sum_over(self.blocks, self.d, work)
        if self.bias >= 0:
            g[-1] = self.bias * float(np.sum(u))
        return g

    def class_sums(self, u: np.ndarray, number: np.ndarray, k: int) -> np.ndarray:
        m, classes = self.plain, np.arange(k)[:, None]

        def work(sums: np.ndarray, lo: int, hi: int) -> float:
            sums.reshape(k, m)[:] += np.where(number[lo:hi] == classes, u[lo:hi], 0.0) @ self.X[lo:hi]
            return 0.0

        sums, _ = self._sum_over(self.blocks, k * m, work)
        return sums.reshape(k, m)

    def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
        shift, inner = self.shift(v), v[: self.plain]

        def work(g: np.ndarray, lo: int, hi: int) -> float:
            t = c[lo:hi] * (self.X[lo:hi] @ inner + shift)
            g[: self.plain] += t @ self.X[lo:hi]
            return float(np.sum(t))

        g, total = self._sum_over(self.blocks, self.d, work)
        if self.bias >= 0:
            g[-1] = self.bias * total
        return g

    def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
        m, step = self.plain, max(64, self.GATHER // max(self.plain, 1))
        some = np.flatnonzero(c)
        if len(some) <= min(2 * step, m):  # what blocks do with their matrices would take longer than the products
            part = self._copy(some)
            gram[:m, :m] += part.T @ (part * c[some, None])
            if self.bias >= 0:
                gram[:, -1] += self.bias * self.transpose_product(c)
            return

        def work(g: np.ndarray, lo: int, hi: int) -> float:
            square = g.reshape(m, m)
            for sign in (1.0, -1.0):
                used = lo + np.flatnonzero(c[lo:hi] * sign > 0)
                for start in range(0, len(used), step):
                    limits.check()
                    some = used[start : start + step]
                    part = self.X[some]
                    part *= np.sqrt(sign * c[some])[:, None]
                    if sign > 0:
                        square += part.T @ part
                    else:
                        square -= part.T @ part
            return 0.0

        flat, _ = self._sum_over(self.gram_blocks, m * m, work)
        gram[:m, :m] += flat.reshape(m, m)
        if self.bias >= 0:
            gram[:, -1] += self.bias * self.transpose_product(c)

    def fill_kernel(self, chosen: np.ndarray, K: np.ndarray, first: int) -> None:
        """As of CsrRows."""
        part = self._copy(chosen)
        for lo in range(first, len(chosen), KERNEL_ROWS):
            limits.check()
            hi = lo + KERNEL_ROWS
            np.matmul(part[lo:hi], part[:hi].T, out=K[lo:hi, :hi])
        K[first:] += max(self.bias, 0.0) ** 2

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        g = np.zeros(self.d)
        for block in self.blocks:
            for lo, hi in self.pieces(*block):
                g[: self.plain] += c[lo:hi] @ np.square(self.X[lo:hi])
        if self.bias >= 0:
            g[-1] = self.bias**2 * float(np.sum(c))
        return g

    def square_norms(self) -> np.ndarray:
        norms = np.empty(self.n)
        for block in self.blocks:
            for lo, hi in self.pieces(*block):
                norms[lo:hi] = np.einsum("ij,ij->i", self.X[lo:hi], self.X[lo:hi])
        return norms + self.bias**2 if self.bias >= 0 else norms

    def _plain_forms(self, M: np.ndarray) -> np.ndarray:
        forms, step = np.empty(self.n), max(64, self.GATHER // max(self.plain, 1))

        def work(lo: int, hi: int) -> None:
            for a in range(lo, hi, step):
                limits.check()
                part = self.X[a : min(a + step, hi)]
                forms[a : min(a + step, hi)] = np.einsum("ij,ij->i", part @ M, part)

        self.for_each_block(work)
        return forms

    def largest_entries(self) -> np.ndarray:
        """|x_i|_inf with the bias feature, length n."""
        bias, largest = max(self.bias, 0.0), np.empty(self.n)
        for lo, hi in self.pieces(0, self.n):
            X = self.X[lo:hi]
            largest[lo:hi] = np.maximum(np.maximum(X.max(axis=1, initial=bias), -X.min(axis=1, initial=0.0)), bias)
        return largest

    def divided(self, size: np.ndarray) -> DenseRows:
        """The rows x_ij / size_j, copied; the bias feature as it is."""
        return DenseRows(self.X / size[: self.plain], self.bias)

    def columns(self, chosen: np.ndarray) -> DenseRows:
        """The features `chosen` (i8, ascending) of all rows, copied; the bias feature stays."""
        return DenseRows(np.take(self.X, chosen, 1), self.bias)

    def without_bias(self) -> DenseRows:
        return DenseRows(self.X, mapped=self.mapped)

    def dense_of(self, chosen: np.ndarray) -> np.ndarray:
        X = np.full((len(chosen), self.d), max(self.bias, 0.0))
        X[:, : self.plain] = self.X[chosen]
        return X

    def take(self, chosen: np.ndarray) -> DenseRows:
        return DenseRows(self._copy(chosen), self.bias, self.mapped)

    def _copy(self, chosen: np.ndarray) -> np.ndarray:
        X = self.new((len(chosen), self.plain), "f8")
        for a, b in self.runs(chosen):
            np.take(self.X, chosen[a:b], 0, X[a:b])
        return X

    def as_csr(self) -> CsrRows:
        """The same rows with an index beside each number, zeros included; the numbers are shared."""
        indptr = np.arange(self.n + 1) * self.plain
        indices = self.new(self.X.shape, "i4")
        for lo, hi in self.pieces(0, self.n):
            indices[lo:hi] = np.arange(self.plain)
        return CsrRows(indptr, indices.reshape(-1), self.X.reshape(-1), self.plain, self.bias, self.mapped)


def from_csr(
    indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, plain: int, bias: float, dense_below: int,
    mapped: MappedArrays | None = None,
):  # fmt: skip
    """The layout that is faster for these rows: dense where at least half of a low-dimensional set is non-zero.

    `dense_below` is the number of features up to which the solver forms Gram matrices.
    """
    n = len(indptr) - 1
    if DENSE_FEATURES < plain <= dense_below and len(values) >= DENSE_FROM * n * plain:
        X = np.zeros((n, plain)) if mapped is None else mapped.zeros((n, plain))
        step = max(1, BLOCK_WORK // plain)

        def work(b: int) -> None:
            lo, hi = b * step, min(n, (b + 1) * step)
            loops.csr_to_dense(indptr, indices, values, X[lo:hi], plain, lo, hi)
            if mapped is not None:
                mapped.check()

        run_blocks(work, -(-n // step))
        return DenseRows(X, bias, mapped)
    return CsrRows(indptr, indices, values, plain, bias, mapped)
