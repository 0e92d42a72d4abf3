"""Rows of the kernel matrix of a training set: computed in tiles, summed, and cached as far as memory allows."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from functools import cached_property

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.kernel import kernel_row_loops as loops
from svmtool.compiled.loops.kernel.kernel_loops import pair_weights
from svmtool.compiled.threads import run_blocks
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import KernelProblem
from svmtool.kernels.tiles import Tiles, tiles_of
from svmtool.models.kernel_functions import LINEAR
from svmtool.tolerances import MIB, SUM_ROUNDOFF

SINGLE_ROUNDOFF = 5e-7  # several times the error of a value, relative to sqrt(K_ii K_jj)


class KernelRows:
    """Rows K(x_i, .), [n] each, computed on demand; the last used are cached in at most `cache_mb` MiB.

    In single precision, or in double with tiles of that type.

    Methods check for the end of the run between tiles (limits.check); their outputs and the cache are invalid after
    EndedError.

    rounding: error of `add` for c_k = 1, relative to sqrt(K_ii K_jj).  own_suffice: whether sums updated with values of
    the tiles are as accurate as those of `add`.
    """

    own_suffice = True

    def __init__(self, tiles: Tiles, cache_mb: float):
        self.tiles, self.n = tiles, tiles.n
        self.rounding = rounding_of(tiles)
        self.capacity = int(min(self.n, cache_mb * MIB / (np.dtype(tiles.dtype).itemsize * max(self.n, 1))))
        self.slot = np.full(self.n, -1)  # slot of each row in the cache, -1: none
        self.owner = np.full(self.capacity, -1)
        self.used = np.zeros(self.capacity, np.int64)  # clock of the last use of each slot
        self.clock = 0

    @cached_property
    def store(self) -> np.ndarray:
        """The cached rows, one after the other."""
        return large_array(self.capacity * self.n, self.tiles.dtype)

    @cached_property
    def diagonal(self) -> np.ndarray:
        """K(x_i, x_i), f8[n]."""
        return self.tiles.diagonal()

    def values(self, chosen: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return K (chosen, columns): K between two sets of rows (i8)."""
        out: np.ndarray = np.empty((len(chosen), len(columns)), self.tiles.dtype)

        def keep(first: int, last: int, lo: int, hi: int, tile: np.ndarray) -> None:
            out[first:last, lo:hi] = tile

        _each_tile(self.tiles.take(chosen), self.tiles.take(columns), keep)
        return out

    def block(self, chosen: np.ndarray, out: np.ndarray) -> None:
        """Fill out (m, m), of the tiles' type, with K among the rows `chosen` (i8[m])."""
        targets = self.tiles.take(chosen)
        width, height, m = self.tiles.width, self.tiles.height, len(chosen)
        parts = [targets.part(first, min(first + height, m)) for first in range(0, m, height)]

        def work(b: int) -> None:  # columns lo .. hi-1 of the upper triangle, and their mirror image
            lo, hi = b * width, min((b + 1) * width, m)
            P: np.ndarray = np.empty((min(height, m), hi - lo), self.tiles.dtype)
            for first in range(0, hi, height):
                limits.check()
                part = parts[first // height]
                last = first + part.n
                tile = P[: part.n]
                targets.fill(part, lo, hi, tile)
                out[first:last, lo:hi] = tile
                if first < lo:
                    out[lo:hi, first : min(last, lo)] = tile[: lo - first].T

        run_blocks(work, -(-m // width))

    def add(self, chosen: np.ndarray, c: np.ndarray, f: np.ndarray, keep: np.ndarray) -> None:
        """f f8[n] += sum_k c_k K(x_chosen[k], .); chosen i8, each row once; c f8; keep: which new rows to cache.

        Writing to fresh memory costs more than computing a row, so rows rarely needed again should not be kept.
        """
        slots = self.slot[chosen]
        kept, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        missing = missing[np.argsort(~keep[missing], kind="stable")]
        self.clock += 1
        self.used[slots[kept]] = self.clock
        new = self._reserve(chosen[missing][: np.count_nonzero(keep[missing])])
        c_kept, c_missing, kept_slots, every = c[kept], c[missing], slots[kept], np.arange(len(missing))
        n = self.n

        def add_kept(lo: int, hi: int) -> None:
            loops.add_stored(self.store, kept_slots, c_kept, f, n, lo, hi)

        def add_missing(first: int, last: int, lo: int, hi: int, tile: np.ndarray) -> None:
            loops.add_stored(tile, every[: last - first], c_missing[first:last], f[lo:hi], hi - lo, 0, hi - lo)
            place = new[first:last]
            if len(place):
                self.store.reshape(self.capacity, n)[place, lo:hi] = tile[: len(place)]

        _each_tile(self.tiles.take(chosen[missing]), self.tiles, add_missing, add_kept)

    def hold(self, chosen: np.ndarray) -> np.ndarray:
        """Store the rows `chosen` (i8, at most `capacity`, each once); return their slots, i8.

        Row i is store[slot * n : (slot + 1) * n].  Those of the last calls are stored as long as `capacity` allows.
        """
        self.clock += 1
        missing = chosen[self.slot[chosen] < 0]
        self.used[self.slot[chosen[self.slot[chosen] >= 0]]] = self.clock
        self._reserve(missing)
        slots, store = self.slot[missing], self.store.reshape(self.capacity, self.n)

        def keep(first: int, last: int, lo: int, hi: int, tile: np.ndarray) -> None:
            store[slots[first:last], lo:hi] = tile

        if len(missing):
            _each_tile(self.tiles.take(missing), self.tiles, keep)
        return self.slot[chosen]

    def _reserve(self, rows: np.ndarray) -> np.ndarray:
        """Slots for as many of the new `rows` as possible: free ones, then the least recently used."""
        free = np.flatnonzero(self.used < self.clock)
        count = min(len(rows), len(free))
        if count < len(free):
            free = free[np.argpartition(self.used[free], count)[:count]] if count else free[:0]
        victims = self.owner[free]
        self.slot[victims[victims >= 0]] = -1
        self.owner[free] = rows[:count]
        self.slot[rows[:count]] = free
        self.used[free] = self.clock
        return free


def _each_tile(
    targets: Tiles, others: Tiles, use: Callable[[int, int, int, int, np.ndarray], None],
    begin: Callable[[int, int], None] = lambda lo, hi: None,
) -> None:  # fmt: skip
    """Call use(first, last, lo, hi, K) for the tiles K between targets first .. last-1 and columns lo .. hi-1.

    Each thread takes all tiles of some columns, after begin(lo, hi).
    """
    width, height = others.width, others.height
    parts = [(k, targets.part(k, min(k + height, targets.n))) for k in range(0, targets.n, height)]

    def work(b: int) -> None:
        lo, hi = b * width, min((b + 1) * width, others.n)
        begin(lo, hi)
        P: np.ndarray = np.empty((min(height, targets.n), hi - lo), others.dtype)
        for first, part in parts:
            limits.check()
            others.fill(part, lo, hi, P[: part.n])
            use(first, first + part.n, lo, hi, P[: part.n])

    run_blocks(work, -(-others.n // width))


class LinearRows(KernelRows):
    """Rows of the linear kernel: sums are products with w = sum_k c_k x_k in double precision; nothing is cached."""

    own_suffice = False

    def __init__(self, tiles: Tiles, rows: CsrRows | DenseRows):
        super().__init__(tiles, 0.0)
        self.points, self.ones, self.rounding = rows, np.ones(self.n), SUM_ROUNDOFF

    def add(self, chosen: np.ndarray, c: np.ndarray, f: np.ndarray, keep: np.ndarray) -> None:
        """As KernelRows; keep is ignored."""
        u, z = np.zeros(self.n), np.empty(self.n)
        u[chosen] = c
        limits.check()
        self.points.margins(self.points.transpose_product(u), self.ones, z)
        f += z


def rounding_of(tiles: Tiles) -> float:
    """A bound of the error of the tiles' values, relative to sqrt(K_ii K_jj)."""
    return SINGLE_ROUNDOFF if tiles.dtype is np.float32 else SUM_ROUNDOFF


def rows_of(problem: KernelProblem, cache_mb: float, dtype: type = np.float32) -> KernelRows:
    """The rows of a problem's kernel matrix, in single or double precision."""
    tiles = tiles_of(problem.rows, problem.kernel, problem.matrix, dtype)
    linear = problem.kernel.kind == LINEAR and problem.rows is not None
    return LinearRows(tiles, problem.rows) if linear else KernelRows(tiles, cache_mb)


def large_array(size: int, dtype: type = np.float32) -> np.ndarray:
    """Return an array of `size` whose pages are allocated on the first write, large ones if the system has them."""
    memory = mmap.mmap(-1, max(np.dtype(dtype).itemsize * size, 1))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a system without large pages
            pass
    return np.frombuffer(memory, dtype, size)


def exact_sum(problem: KernelProblem, coef: np.ndarray) -> np.ndarray:
    """sum_i coef_i K(x_i, .) of all training rows in double precision, f8[n]: of a linear kernel by its weights."""
    rows = problem.rows
    if not coef.any():
        return np.zeros(problem.n)
    if rows is None or problem.kernel.kind != LINEAR:
        return problem.points.sums(coef)
    used = np.flatnonzero(coef)
    w, f = np.zeros(rows.d), np.empty(rows.n)
    pair_weights(*rows.take(used).as_csr().csr_arrays, coef[used], np.array([0, len(used)]), w, np.zeros(rows.d), 1, 1)
    rows.margins(w, np.ones(rows.n), f)
    return f
