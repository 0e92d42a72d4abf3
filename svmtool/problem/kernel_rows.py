"""Rows of the kernel matrix over a training set: sums of them, computed in tiles and kept as far as memory allows."""

from __future__ import annotations

import mmap

import numpy as np

from svmtool.compiled import kernel_row_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.problem.kernel_tiles import Tiles

MEGABYTE = 1 << 20


class KernelRows:
    """Rows K(x_i, .), f4[n] each, for the i asked for; the last used stay in at most `cache_mb` megabytes."""

    def __init__(self, tiles: Tiles, cache_mb: float):
        self.tiles, self.n = tiles, tiles.n
        self.capacity = int(min(self.n, cache_mb * MEGABYTE / (4 * max(self.n, 1))))
        self.store = _large_array(self.capacity * self.n)
        self.slot = np.full(self.n, -1)  # where a row is kept
        self.owner = np.full(self.capacity, -1)
        self.used = np.zeros(self.capacity, np.int64)  # when a kept row was last asked for
        self.clock = 0
        self.computed = 0  # rows, for those who ask what a run has cost

    def block(self, chosen: np.ndarray, out: np.ndarray, place: np.ndarray) -> None:
        """out f4 (l, l)[place[s], place[t]] = K among the rows `chosen` (i8); place i8, ascending."""
        targets = self.tiles.take(chosen)
        width, m = self.tiles.width, len(chosen)
        parts = [(lo, min(lo + width, m)) for lo in range(0, m, width)]
        straight = bool(m) and place[-1] == m - 1

        def work(b: int) -> None:
            lo, hi = parts[b]
            P = np.empty((m, hi - lo), np.float32)
            targets.fill(targets, lo, hi, P)
            if straight:
                out[:m, lo:hi] = P
            else:
                out[np.ix_(place, place[lo:hi])] = P

        run_blocks(work, len(parts))

    def add(self, chosen: np.ndarray, c: np.ndarray, f: np.ndarray, keep: np.ndarray) -> None:
        """f f8[n] += sum_k c_k K(x_chosen[k], .); chosen i8, each row once; c f8; keep: which rows to keep, if new.

        Fresh memory costs more than a row's values: rows that will hardly be wanted again had better not be kept.
        """
        slots = self.slot[chosen]
        kept, missing = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        missing = missing[np.argsort(~keep[missing], kind="stable")]
        self.clock += 1
        self.used[slots[kept]] = self.clock
        new = self._make_room(chosen[missing][: np.count_nonzero(keep[missing])])
        self.computed += len(missing)
        targets = self.tiles.take(chosen[missing])
        c_kept, c_missing, kept_slots = c[kept], c[missing], slots[kept]
        n, width, height = self.n, self.tiles.width, self.tiles.height
        groups = [(k, min(k + height, len(missing))) for k in range(0, len(missing), height)]
        parts = [targets.part(first, last) for first, last in groups]

        def work(b: int) -> None:
            lo, hi = b * width, min((b + 1) * width, n)
            loops.add_stored(self.store, kept_slots, c_kept, f, n, lo, hi)
            P = np.empty((min(height, len(missing)), hi - lo), np.float32)
            for (first, last), part in zip(groups, parts, strict=True):
                tile = P[: last - first]
                self.tiles.fill(part, lo, hi, tile)
                loops.add_tile(tile, c_missing[first:last], f, last - first, hi - lo, lo)
                place = new[first:last]
                if len(place):
                    loops.keep_tile(tile, self.store, place, n, len(place), hi - lo, lo)

        run_blocks(work, -(-n // width))

    def _make_room(self, rows: np.ndarray) -> np.ndarray:
        """Slots for as many of the new `rows` as there is room for: free ones, then those used longest ago."""
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


def _large_array(size: int) -> np.ndarray:
    """f4[size]; the system gives its memory only as it is written to, in large pages where it has them."""
    memory = mmap.mmap(-1, max(4 * size, 1))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:  # a system built without them
            pass
    return np.frombuffer(memory, np.float32, size)


def exact_sum(tiles: Tiles, chosen: np.ndarray, c: np.ndarray) -> np.ndarray:
    """f8[n]: sum_k c_k K(x_chosen[k], .) in double precision."""
    f = np.zeros(tiles.n)
    parts = [tiles.take(chosen[k : k + tiles.height]) for k in range(0, len(chosen), tiles.height)]

    def work(b: int) -> None:
        lo, hi = b * tiles.width, min((b + 1) * tiles.width, tiles.n)
        for k, part in enumerate(parts):
            f[lo:hi] += c[k * tiles.height :][: part.n] @ tiles.values(part, lo, hi)

    run_blocks(work, -(-tiles.n // tiles.width))
    return f
