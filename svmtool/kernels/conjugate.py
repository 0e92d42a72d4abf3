"""Least squares with a kernel by conjugate gradients, preconditioned by a few rows of the kernel matrix.

    (K + shift + D) c = y,  or with sum c = 0 and a free constant added

The preconditioner replaces K + shift by U' (K_SS)^-1 U = V'V, U its rows S (Nystroem's approximation).  This removes
the few large eigenvalues from the system.  Under the equality steps are projected:
z = M^-1 r - M^-1 1 (1'M^-1 r) / (1'M^-1 1).
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.kernel.kernel_row_loops import add_half_tile, add_stored, dots_with_rows
from svmtool.compiled.threads import run_blocks
from svmtool.kernels.least_squares import Residuals
from svmtool.kernels.problems import LeastSquaresSvc
from svmtool.kernels.rows import SINGLE_ROUNDOFF, large_array
from svmtool.kernels.tiles import Tiles
from svmtool.linalg.systems import Factored
from svmtool.numbers import distinct
from svmtool.tolerances import MIB

MAX_NYSTROM_ROWS = 512  # rows in S: their system costs as much as a pass over the kernel matrix or two
BATCHES = 8  # in which they are chosen
GROUP_ROWS = 512  # targets of the tiles of a product


class Nystroem:
    """The inverse of V'V + D, V'V near K + shift, without directions in which K is not positive.

    V is a partial factor of it, from the rows S.  They are chosen in batches, evenly along the running sum of the
    remaining diagonal, K_ii - |v_i|^2.  This finds rows unlike all others, which have large eigenvalues of their own if
    C is large (Chen, Epperly, Tropp and Webber, Randomly pivoted Cholesky, CPAM 78 (2025); here not at random).

    cache_mb: memory that V may take.
    """

    def __init__(self, state: Residuals, cache_mb: float):
        p, self.D = state.problem, state.D
        n, least = p.n, float(self.D.min(initial=np.inf))
        max_rows = int(min(n, MAX_NYSTROM_ROWS, cache_mb * MIB / (4 * n)))
        batch = -(-max_rows // BATCHES)
        V, m = np.empty((max_rows, n), np.float32), 0
        remaining = state.rows.diagonal + p.shift
        size = float(np.abs(remaining).max(initial=0.0))
        while m < max_rows and float(np.sum(remaining)) > least:  # below, no eigenvalue of the system is above 2
            new = _evenly(remaining, min(batch, max_rows - m))
            rows = state.rows.values(new, np.arange(n))
            rows += np.float32(p.shift)
            rows -= V[:m, new].T @ V[:m]
            if not np.all(np.isfinite(rows)):
                break
            eigenvalues, Q = np.linalg.eigh(rows[:, new].astype(np.float64))
            kept = eigenvalues > len(new) * SINGLE_ROUNDOFF * size  # nearly equal rows in a batch give round-off
            if not np.any(kept):
                break
            end = m + np.count_nonzero(kept)
            np.matmul((Q[:, kept] / np.sqrt(eigenvalues[kept])).T.astype(np.float32), rows, out=V[m:end])
            remaining -= np.einsum("ij,ij->j", V[m:end], V[m:end])
            remaining[new] = 0.0
            np.maximum(remaining, 0.0, out=remaining)
            m = end
        self.V = V[:m]
        if not m:
            return
        parts: list[np.ndarray] = [np.empty(0)] * -(-n // Tiles.width)

        def work(b: int) -> None:
            limits.check()
            strip = slice(b * Tiles.width, (b + 1) * Tiles.width)  # so many in double precision at a time
            part = self.V[:, strip] / np.sqrt(self.D[strip])
            parts[b] = part @ part.T

        run_blocks(work, len(parts))
        H = np.eye(m)
        for part in parts:
            H += part
        self.system = Factored(H)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""
        z = r / self.D
        if not len(self.V):
            return z
        # in double precision: the result is smaller than r by the condition number of the system
        n, rows, every = len(z), self.V.reshape(-1), np.arange(len(self.V))
        places = [(lo, min(lo + Tiles.width, n)) for lo in range(0, n, Tiles.width)]
        sums, back = np.empty((len(places), len(self.V))), np.zeros(n)
        run_blocks(lambda b: dots_with_rows(rows, z, sums[b], n, *places[b]), len(places))
        s = self.system.solve(np.sum(sums, axis=0))
        run_blocks(lambda b: add_stored(rows, every, s, back, n, *places[b]), len(places))
        z -= back / self.D
        return z


def _evenly(weights: np.ndarray, count: int) -> np.ndarray:
    """Places i8, `count` at most, at even distances along the running sum of the weights (not negative)."""
    total = np.cumsum(weights)
    marks = (np.arange(count) + 0.5) * (total[-1] / count)
    return distinct(np.minimum(np.searchsorted(total, marks), len(weights) - 1))


class KernelHalf:
    """The upper triangle of K in tiles, f4; the first groups of rows are cached in at most `cache_mb` MiB."""

    def __init__(self, tiles: Tiles, cache_mb: float):
        self.tiles, self.n = tiles, tiles.n
        whole = sum(min(GROUP_ROWS, self.n - first) * (self.n - first) for first in range(0, self.n, GROUP_ROWS))
        self.store = large_array(int(min(whole, cache_mb * MIB / 4)))
        self.filled = 0  # values cached so far

    def product(self, v: np.ndarray) -> np.ndarray:
        """K v f8[n] for v f8[n]."""
        f, at = np.zeros(self.n), 0
        for first in range(0, self.n, GROUP_ROWS):
            at = self._add_group(first, min(first + GROUP_ROWS, self.n), at, v, f)
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
            add_half_tile(P, own, v, f, below[b], m, hi - lo, lo, min(max(lo, last), hi))

        run_blocks(work, len(below))
        f[first:last] += np.sum(below, axis=0)
        if not kept:
            return at
        self.filled = max(self.filled, end)
        return end


class Conjugate:
    """Steps from alpha = start, f8[n] (None: zeros); count: how many there have been."""

    def __init__(self, problem: LeastSquaresSvc, cache_mb: float, start: np.ndarray | None = None):
        self.state, self.count = Residuals(problem, 0.0, start), 0
        self.preconditioner = Nystroem(self.state, cache_mb)
        self.matrix = KernelHalf(self.state.rows.tiles, cache_mb - self.preconditioner.V.nbytes / MIB)
        if problem.free_bias:
            self.along = self.preconditioner.solve(np.ones(problem.n))
            self.along /= float(np.sum(self.along))
        self.restart()

    def restart(self) -> None:
        """Drop the last direction: with rho infinite the next step takes no share of it."""
        self.q, self.rho = np.zeros(self.state.problem.n), np.inf

    def step(self) -> bool:
        """One step; returns False if the dual value does not rise along it."""
        state = self.state
        p, r = state.problem, state.residuals()
        z = self.preconditioner.solve(r)
        if p.free_bias:
            z -= float(np.sum(z)) * self.along
        rho = float(np.sum(r * z))
        self.q *= rho / self.rho
        self.q += z
        self.rho = rho
        q = self.q
        Aq = self.matrix.product(q) + p.shift * float(np.sum(q)) + state.D * q
        curve = float(np.sum(q * Aq))
        if not (rho > 0.0 and 0.0 < curve < np.inf):
            return False
        theta = float(np.sum(r * q)) / curve
        state.c += theta * q
        state.e -= theta * Aq
        self.count += 1
        return True
