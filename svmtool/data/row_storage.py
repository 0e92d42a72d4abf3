"""Interface of row storage: fixed blocks of rows, and sums in block order.

Blocks depend only on the data, so that any number of threads gives the same bits.  Rows on disk are passed over in
pieces, with a check of the memory after each (mapped_arrays.py).  The layouts are in csr.py and dense.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from svmtool import limits
from svmtool.compiled.threads import alone, run_blocks
from svmtool.tolerances import VALUES_AT_ONCE

if TYPE_CHECKING:
    from typing import Any

    from svmtool.data.mapped_arrays import MappedArrays

BLOCK_WORK = 1 << 17  # non-zeros a block: some 0.2 ms of work
MAX_BLOCKS = 32
KERNEL_BLOCK_ROWS = 64  # rows and columns of a kernel matrix a block, enough to amortise copies and scratch vectors
MIN_DENSE_SHARE = 0.5  # share of non-zeros from which rows are stored dense
MIN_DENSE_FEATURES = 64  # below, loops over sparse rows are faster
GRAM_PIECE_PAIRS = 1 << 25  # pairs of features added to a Gram matrix between two checks of whether the run has to end
PIECE_NONZEROS = 1 << 20  # non-zeros of rows on disk between two checks of the memory


class Rows:
    """Base of both layouts: n rows, d features including the bias feature, whose value is bias (< 0: none)."""

    n: int
    d: int
    nnz: int
    bias: float
    gram_entries = 3.5  # Gram matrix entries updated in the time of one non-zero of a Hessian product
    blocks: list[tuple[int, int]]
    gram_blocks: list[tuple[int, int]]
    offers_coordinate_descent = False  # whether compiled loops can visit one row after another (`csr_arrays`)
    gram_of_few = False  # whether the cost of a Gram matrix of some features falls with their number
    has_sparse_form = False  # whether `as_csr` returns rows that offer coordinate descent
    have_kernel = False  # whether `fill_kernel` is available
    several = False  # whether several problems use these rows, which keep their `gram` for all of them
    row_vectors = True  # whether vectors of one number for each row are in this process
    mapped: MappedArrays | None = None  # holds copies of rows, if not in memory

    if TYPE_CHECKING:  # what each layout implements; c, u, y: f8[n], v, w: length d

        @property
        def narrow_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...  # of CSR rows, with indices i4

        @property
        def row_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            """What loops that visit single rows take: `csr_arrays`, of dense rows without indices, see row_dot, and in
            their own type, bool as int8.
            """

        csr_arrays: tuple[np.ndarray, np.ndarray, np.ndarray]  # CSR: indptr i8[n+1], indices i4|i8[nnz], values f8|f4

        def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
            """z_i = y_i x_i.w"""

        def transpose_product(self, u: np.ndarray) -> np.ndarray:
            """Return sum_i u_i x_i, length d."""

        def twofold_margins(self, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return z and its error, f8[n] each: their sum is y_i x_i.w in twice the precision.  Slow."""

        def twofold_sums(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return sum_i u_i x_i and its error, length d, as `twofold_margins` does."""

        def class_sums(self, u: np.ndarray, number: np.ndarray, k: int) -> np.ndarray:
            """Return sum_i u_i x_i over the rows of each class number_i (i8, 0 .. k-1), f8[k, n_features]."""

        def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
            """Return sum_i c_i (x_i.v) x_i, length d."""

        def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
            """Add sum_i c_i x_i x_i' to the upper triangle of gram, f8[d, d]."""

        def diagonal(self, c: np.ndarray) -> np.ndarray:
            """Return the diagonal of sum_i c_i x_i x_i'."""

        def square_norms(self) -> np.ndarray:
            """Return |x_i|^2 with the bias feature, f8[n]."""

        def _products_with(self, chosen: np.ndarray) -> Callable[[int, np.ndarray], np.ndarray]:
            """Return what gives x_i.x_j without the bias feature: i from place `skip` of `chosen` on, j in `others`."""

        def dense_of(self, chosen: np.ndarray) -> np.ndarray:
            """Return the rows `chosen` (i8) with the bias feature, f8[len(chosen), d]."""

        def take(self, chosen: np.ndarray) -> Any:
            """Return a copy of the rows `chosen` (i8)."""

        def columns(self, chosen: np.ndarray) -> Any:
            """Return the features `chosen` (i8, ascending) of all rows, copied; the bias feature stays."""

        def divided(self, size: np.ndarray) -> Any:
            """Return a copy with x_ij / size_j; the bias feature is unchanged."""

        def with_bias(self, bias: float) -> Any:
            """Return the same rows, nothing copied, with a bias feature of this value; < 0: without one."""

        def _plain_forms(self, M: np.ndarray) -> np.ndarray:
            """Return x_i'M x_i without the bias feature, f8[n]."""

    def new(self, shape: int | tuple[int, ...], dtype: str) -> np.ndarray:
        """A new array for a copy of rows, mapped if the rows are."""
        return np.empty(shape, dtype) if self.mapped is None else self.mapped.zeros(shape, dtype)

    @property
    def in_memory(self) -> bool:
        """Whether this process has the rows in memory: those on disk or elsewhere are passed over, in their order."""
        return self.mapped is None

    def as_csr(self) -> Any:
        """Return rows of data as CsrRows; rows that stand for others are returned as they are."""
        return self

    def fill_kernel(self, chosen: np.ndarray, K: np.ndarray, first: int) -> None:
        """Write x_i.x_j for the rows `chosen` (i8) to K's lower triangle, from its row `first` on; few are copied."""
        step = max(2 * KERNEL_BLOCK_ROWS, VALUES_AT_ONCE * self.n // max(self.nnz, 1))
        for lo in range(first, len(chosen), step):
            self._fill_rows(chosen[: lo + step], K[: lo + step, : lo + step], lo)
        K[first:] += max(self.bias, 0.0) ** 2

    def _fill_rows(self, chosen: np.ndarray, K: np.ndarray, first: int) -> None:
        """`fill_kernel` of rows that may be copied together."""
        product, step = self._products_with(chosen[first:]), KERNEL_BLOCK_ROWS

        def work(b: int) -> None:
            limits.check()
            a = b * step
            below = max(first, a)
            K[below:, a : a + step] = product(below - first, chosen[a : a + step])

        run_blocks(work, -(-len(chosen) // step))

    def without_bias(self) -> Any:
        """Return the same rows, nothing copied, without the bias feature."""
        return self.with_bias(-1.0)

    def serve_several(self) -> None:
        """Prepare for several problems at the same time: sums of Gram matrices use one block each."""
        self.gram_blocks, self.several = [(0, self.n)], True

    @property
    def n_features(self) -> int:
        """Number of features without the bias feature."""
        return self.d - (self.bias >= 0)

    def _partition(self, starts: np.ndarray | None, n_blocks: int) -> list[tuple[int, int]]:
        """Cut the rows into about equal blocks of work."""
        n_blocks = max(1, min(n_blocks, self.n))
        if n_blocks == 1:
            return [(0, self.n)]
        if starts is None:
            cuts = [self.n * b // n_blocks for b in range(n_blocks + 1)]
        else:
            marks = np.arange(n_blocks + 1) * (int(starts[-1]) / n_blocks)
            cuts = np.searchsorted(starts, marks[:-1]).tolist() + [self.n]
        return [(lo, hi) for lo, hi in zip(cuts, cuts[1:], strict=False) if hi > lo] or [(0, self.n)]

    def pieces(self, lo: int, hi: int, step: int = 0) -> Iterable[tuple[int, int]]:
        """Rows lo .. hi as one piece; if mapped as pieces of `step` rows (0: of PIECE_NONZEROS, about)."""
        return ((lo, hi),) if self.mapped is None else self._mapped_pieces(self.mapped, lo, hi, step)

    def _mapped_pieces(self, mapped: MappedArrays, lo: int, hi: int, step: int) -> Iterator[tuple[int, int]]:
        """See `pieces`; the memory is checked after each."""
        step = step or self._rows_of_a_piece
        for a in range(lo, hi, step):
            yield a, min(a + step, hi)
            mapped.check()

    def runs(self, chosen: np.ndarray) -> Iterator[tuple[int, int]]:
        """Yield ranges of `chosen` (i8): one range, or if mapped those in the same piece."""
        if self.mapped is None:
            yield 0, len(chosen)
            return
        cuts = (np.flatnonzero(np.diff(chosen // self._rows_of_a_piece)) + 1).tolist()
        for a, b in zip([0, *cuts], [*cuts, len(chosen)], strict=True):
            yield a, b
            self.mapped.check()  # each row accessed may load megabytes of pages around it

    @property
    def _rows_of_a_piece(self) -> int:
        return max(1, PIECE_NONZEROS * self.n // max(self.nnz, 1))

    def _sum_over(self, blocks: list, shape: int, work: Callable[[np.ndarray, int, int], float | None]) -> tuple:
        """Sum arrays and returned numbers over blocks, in block order; each block has its own array."""

        def added(part: np.ndarray, block: tuple[int, int]) -> float:
            """Add one block's pieces to `part`; returns the sum of their numbers."""
            number = 0.0
            for lo, hi in self.pieces(*block):
                number += work(part, lo, hi) or 0.0
            return number

        total, number = np.zeros(shape), 0.0
        if len(blocks) == 1 or alone():  # the same sums in the same order, with one array at a time
            for b, block in enumerate(blocks):
                part = np.zeros(shape) if b else total
                number += added(part, block)
                if b:
                    total += part
            return total, number
        parts = [total, *(np.empty(0) for _ in blocks[1:])]
        numbers = [0.0] * len(blocks)

        def one(b: int) -> None:
            if b:
                parts[b] = np.zeros(shape)
            numbers[b] = added(parts[b], blocks[b])

        run_blocks(one, len(blocks))
        for part in parts[1:]:
            total += part
        return total, sum(numbers)

    def shift(self, v: np.ndarray) -> float:
        """The bias feature's contribution to x.v, the same for each row."""
        return self.bias * float(v[-1]) if self.bias >= 0 else 0.0

    def _completed(self, g: np.ndarray, factor: float, terms: np.ndarray | float) -> np.ndarray:
        """g (length d), its entry of a bias feature set to the sum of the terms times the factor."""
        if self.bias >= 0:
            g[-1] = factor * (terms if isinstance(terms, float) else float(terms.sum()))
        return g

    def quadratic_forms(self, M: np.ndarray) -> np.ndarray:
        """x_i'M x_i with the bias feature, length n, for a symmetric M (d x d)."""
        forms = self._plain_forms(np.ascontiguousarray(M[: self.n_features, : self.n_features]))
        if self.bias >= 0:
            edge = np.empty(self.n)
            self.without_bias().margins(M[: self.n_features, -1].copy(), np.ones(self.n), edge)
            forms += self.bias * (2.0 * edge + self.bias * M[-1, -1])
        return forms

    @cached_property
    def squares(self) -> np.ndarray:
        """`square_norms`, kept for several problems: read-only."""
        return self.square_norms()

    @cached_property
    def gram(self) -> np.ndarray:
        """sum_i x_i x_i', upper triangle, f8[d, d]: read-only."""
        gram = np.zeros((self.d, self.d))
        self.add_gram(np.ones(self.n), gram)
        return gram

    @cached_property
    def lengths(self) -> np.ndarray:
        """|x_i| with the bias feature, f8[n]."""
        return np.sqrt(self.square_norms())

    @property
    def longest(self) -> int:
        """At least the number of terms of each product x_i.w."""
        return self.d

    def sums_by_side(self, u: np.ndarray, y: np.ndarray) -> np.ndarray:
        """sum_i u_i x_i over the rows with y = 1 and over the others, f8[2, d]."""
        other = (y < 0.0).astype(np.int64)
        sums = self.class_sums(u, other, 2)
        return sums if self.bias < 0 else np.column_stack((sums, self.bias * np.bincount(other, u, 2)))

    def for_each_block(self, work: Callable[[int, int], None]) -> None:
        def one(b: int) -> None:
            for lo, hi in self.pieces(*self.blocks[b]):
                work(lo, hi)

        run_blocks(one, len(self.blocks))


def draw_rows(n: int, group: int, seed: int) -> np.ndarray:
    """Draw one random row of each group of `group` consecutive rows, ascending; by the generator splitmix64."""
    groups = np.arange(n // group, dtype=np.uint64)
    h = (groups + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed & (2**64 - 1))
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h = (h ^ (h >> np.uint64(31))) >> np.uint64(1)
    return (groups * np.uint64(group) + h % np.uint64(group)).astype(np.int64)
