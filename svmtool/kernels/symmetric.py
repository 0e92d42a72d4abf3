"""Products of the whole kernel matrix with vectors; only half of it is computed."""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.kernel import kernel_row_loops as loops
from svmtool.compiled.threads import run_blocks
from svmtool.kernels.rows import large_array
from svmtool.kernels.tiles import Tiles
from svmtool.tolerances import MIB

GROUP = 512  # targets of a product's tiles


class KernelHalf:
    """The upper triangle of K in tiles, f4; the first groups of rows are cached in at most `cache_mb` MiB."""

    def __init__(self, tiles: Tiles, cache_mb: float):
        self.tiles, self.n = tiles, tiles.n
        whole = sum(min(GROUP, self.n - first) * (self.n - first) for first in range(0, self.n, GROUP))
        self.store = large_array(int(min(whole, cache_mb * MIB / 4)))
        self.filled = 0  # values cached so far

    def product(self, v: np.ndarray) -> np.ndarray:
        """K v f8[n] for v f8[n]."""
        f, at = np.zeros(self.n), 0
        for first in range(0, self.n, GROUP):
            at = self._add_group(first, min(first + GROUP, self.n), at, v, f)
        return f

    def _add_group(self, first: int, last: int, at: int, v: np.ndarray, f: np.ndarray) -> int:
        """Add the product of rows first .. last-1 of the triangle to f, cached from place `at` on; return its end."""
        n, width, m = self.n, self.tiles.width, last - first
        end = at + m * (n - first)
        kept, known = end <= len(self.store), end <= self.filled
        targets, own = self.tiles.part(first, last), v[first:last]
        below = np.zeros((-(-(n - first) // width), m))

        def work(b: int) -> None:
            limits.check()
            lo = first + b * width
            hi = min(lo + width, n)
            P = self.store[at + m * (lo - first) : at + m * (hi - first)] if kept else np.empty(m * (hi - lo), "f4")
            if not known:
                self.tiles.fill(targets, lo, hi, P.reshape(m, hi - lo))
            loops.add_half_tile(P, own, v, f, below[b], m, hi - lo, lo, min(max(lo, last), hi))

        run_blocks(work, len(below))
        f[first:last] += np.sum(below, axis=0)
        if not kept:
            return at
        self.filled = max(self.filled, end)
        return end
