"""Rows of the kernel matrix of a training set: computed in tiles, summed, and cached as far as memory allows."""

from __future__ import annotations

import mmap
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
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import LINEAR
from svmtool.tolerances import MIB

BATCH_ROWS = 4096  # support vectors, and rows of a dense matrix, that `exact_sum` converts at a time
SINGLE_ROUNDOFF, DOUBLE_ROUNDOFF = 5e-7, 1e-15  # several times the error of a value, relative to sqrt(K_ii K_jj)


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
        self.store = large_array(self.capacity * self.n, tiles.dtype)
        self.slot = np.full(self.n, -1)  # slot of each row in the cache, -1: none
        self.owner = np.full(self.capacity, -1)
        self.used = np.zeros(self.capacity, np.int64)  # clock of the last use of each slot
        self.clock = 0

    @cached_property
    def diagonal(self) -> np.ndarray:
        """K(x_i, x_i), f8[n]."""
        return self.tiles.diagonal()

    def values(self, chosen: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return K (chosen, columns): K between two sets of rows (i8)."""
        targets, others = self.tiles.take(chosen), self.tiles.take(columns)
        width = self.tiles.width
        out: np.ndarray = np.empty((len(chosen), len(columns)), self.tiles.dtype)

        def work(b: int) -> None:
            limits.check()
            lo, hi = b * width, min((b + 1) * width, len(columns))
            P: np.ndarray = np.empty((len(chosen), hi - lo), self.tiles.dtype)
            others.fill(targets, lo, hi, P)
            out[:, lo:hi] = P

        run_blocks(work, -(-len(columns) // width))
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
        targets = self.tiles.take(chosen[missing])
        c_kept, c_missing, kept_slots, every = c[kept], c[missing], slots[kept], np.arange(len(missing))
        n, width, height = self.n, self.tiles.width, self.tiles.height
        groups = [(k, min(k + height, len(missing))) for k in range(0, len(missing), height)]
        parts = [targets.part(first, last) for first, last in groups]

        def work(b: int) -> None:
            lo, hi = b * width, min((b + 1) * width, n)
            loops.add_stored(self.store, kept_slots, c_kept, f, n, lo, hi)
            P: np.ndarray = np.empty((min(height, len(missing)), hi - lo), self.tiles.dtype)
            for (first, last), part in zip(groups, parts, strict=True):
                limits.check()
                tile = P[: last - first]
                self.tiles.fill(part, lo, hi, tile)
                loops.add_stored(tile, every[: part.n], c_missing[first:last], f[lo:hi], hi - lo, 0, hi - lo)
                place = new[first:last]
                if len(place):
                    self.store.reshape(self.capacity, n)[place, lo:hi] = tile[: len(place)]

        run_blocks(work, -(-n // width))

    def hold(self, chosen: np.ndarray) -> np.ndarray:
        """Store the rows `chosen` (i8, at most `capacity`, each once); return their slots, i8.

        Row i is store[slot * n : (slot + 1) * n].  Those of the last calls are stored as long as `capacity` allows.
        """
        self.clock += 1
        missing = chosen[self.slot[chosen] < 0]
        self.used[self.slot[chosen[self.slot[chosen] >= 0]]] = self.clock
        self._reserve(missing)
        slots = self.slot[missing]
        n, width, height, store = self.n, self.tiles.width, self.tiles.height, self.store.reshape(self.capacity, self.n)
        targets = self.tiles.take(missing)
        groups = [(k, min(k + height, len(missing))) for k in range(0, len(missing), height)]
        parts = [targets.part(first, last) for first, last in groups]

        def work(b: int) -> None:
            lo, hi = b * width, min((b + 1) * width, n)
            P: np.ndarray = np.empty((min(height, len(missing)), hi - lo), self.tiles.dtype)
            for (first, last), part in zip(groups, parts, strict=True):
                limits.check()
                self.tiles.fill(part, lo, hi, P[: last - first])
                store[slots[first:last], lo:hi] = P[: last - first]

        if len(missing):
            run_blocks(work, -(-n // width))
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


class LinearRows(KernelRows):
    """Rows of the linear kernel: sums are products with w = sum_k c_k x_k in double precision; nothing is cached."""

    own_suffice = False

    def __init__(self, tiles: Tiles, rows: CsrRows | DenseRows):
        super().__init__(tiles, 0.0)
        self.points, self.ones, self.rounding = rows, np.ones(self.n), DOUBLE_ROUNDOFF

    def add(self, chosen: np.ndarray, c: np.ndarray, f: np.ndarray, keep: np.ndarray) -> None:
        """As KernelRows; keep is ignored."""
        u, z = np.zeros(self.n), np.empty(self.n)
        u[chosen] = c
        limits.check()
        self.points.margins(self.points.transpose_product(u), self.ones, z)
        f += z


def rounding_of(tiles: Tiles) -> float:
    """A bound of the error of the tiles' values, relative to sqrt(K_ii K_jj)."""
    return SINGLE_ROUNDOFF if tiles.dtype is np.float32 else DOUBLE_ROUNDOFF


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


def exact_sum(
    problem: KernelProblem, coef: np.ndarray, chosen: np.ndarray | None = None, part: int = BATCH_ROWS
) -> np.ndarray:
    """sum_i coef_i K(x_i, .) over the training rows `chosen` (i8; None: all) in double precision, f8.

    These are decision values without their rho, as svm-predict computes them.  part: rows converted at a time.
    """
    used = np.flatnonzero(coef)
    if problem.rows is None:
        return coef[used] @ (problem.matrix[used] if chosen is None else problem.matrix[np.ix_(used, chosen)])
    rows = problem.rows if chosen is None else problem.rows.take(chosen)
    f = np.zeros(rows.n)
    if problem.kernel.kind == LINEAR:
        rows.margins(_weights(problem.rows, coef, used, part), np.ones(rows.n), f)
        return f
    step = part if isinstance(rows, DenseRows) else max(rows.n, 1)
    for first in range(0, len(used), part):
        batch = used[first : first + part]
        support = problem.rows.take(batch).as_csr()
        scores = KernelModel(
            "epsilon_svr", problem.kernel, None, 2, np.zeros(1), coef[batch][None, :], None, support.indptr,
            support.indices, support.values,
        ).scores  # fmt: skip
        for lo in range(0, rows.n, step):
            here = (rows.take(np.arange(lo, min(lo + step, rows.n))) if step < rows.n else rows).as_csr()
            values = np.empty(here.n)
            scores.decide(here, here.n, values)
            f[lo : lo + here.n] += values
    return f


def _weights(rows: CsrRows | DenseRows, coef: np.ndarray, used: np.ndarray, part: int) -> np.ndarray:
    """sum_i coef_i x_i over the rows `used` (i8) as svm-predict computes it, f8[d]."""
    w, rest = np.zeros(rows.d), np.zeros(rows.d)
    for first in range(0, len(used), part):
        limits.check()
        batch = used[first : first + part]
        support = rows.take(batch).as_csr()
        ends = np.array([0, len(batch)])
        pair_weights(*support.csr_arrays, coef[batch], ends, w, rest, 1, 1)
    return w + rest
