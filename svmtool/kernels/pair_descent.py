"""Solves the problem over a working set by steps of pairs, on its block of the kernel matrix; others are fixed.

The steps are compiled/loops/kernel/working_set_loops.py's; see kernels/decomposition.py for the problem.
"""

from __future__ import annotations

import functools
import threading
from typing import NamedTuple

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.kernel import working_set_loops as loops
from svmtool.kernels.decomposition import FIRST_SET_SIZE, SET_SIZE, Decomposition, largest
from svmtool.kernels.problems import KernelProblem
from svmtool.kernels.rows import large_array
from svmtool.tolerances import MANY_VALUES, MIB

LANES, NOT_STORED = int(loops.LANES), np.int64(int(loops.NOT_STORED) - 2**64)
STEPS_EACH, EPS_SHARE, VIOLATION_SHARE = int(loops.STEPS_EACH), float(loops.EPS_SHARE), float(loops.VIOLATION_SHARE)
TOLERANCE_SHARE = 0.5  # a working set's steps end at no less than this share of the tolerance
WHOLE_STEPS_EACH = 10  # steps for each variable among all of them, at most, in a round
# Steps choose among all of up to MAX_WHOLE_VARIABLES variables if memory holds MIN_STORED_ROWS rows: on nine sets of
# 2,000 to 11,000 rows this took 0.55 to 0.92 of working sets' time on seven, 1.2 to 1.4 on two.
MAX_WHOLE_VARIABLES, MIN_STORED_ROWS = 6 * SET_SIZE, FIRST_SET_SIZE
# share of the memory for kernel rows: the whole matrix of a pair of classes with its lanes; a pair's share of -m is
# twice as much (training/kernel/fit.py)
WHOLE_MEMORY_SHARE = 0.6
MIN_ROWS_MB = 2.0  # that small problems may take whatever -m says
MIN_CALL_VALUES = 1 << 15  # kernel values that a call computes at least; it computes at least one row ...
STORED_ROWS_PER_NEW_ROW = 4  # ... for each this many that are stored, or that a tile has
PAIR_CALL_COST = 5e5  # fixed cost of a call, in values of kernel rows

_thread = threading.local()  # .buffer: see _buffer


def capacity_for_rows(m: int, cache_mb: float) -> float:
    """The memory for kernel rows: cache_mb without the largest block of m variables, at least half."""
    return max(cache_mb - min(SET_SIZE, m) ** 2 * 4 / MIB, cache_mb / 2)


class PairDescent:
    """Solves the problem over a working set by steps of pairs; keeps the memory of the kernel's block."""

    def __init__(self):
        self.buffer = np.empty(0, np.float32)  # of the type of the kernel values
        self.work = 0.0  # cost so far, in values of kernel rows

    def __call__(self, state: Decomposition, chosen: np.ndarray, tolerance: float) -> np.ndarray:
        """Return new values f8 of the chosen variables, with a violation of at most `tolerance` among them."""
        p = state.problem
        place, filled, cut = in_lanes(chosen, state.signs[0])
        dtype = state.rows.tiles.dtype
        if self.buffer.size < len(filled) ** 2 or self.buffer.dtype != dtype:
            self.buffer = np.empty(0, dtype)  # freed before a larger one is allocated
            self.buffer = large_array(len(filled) ** 2, dtype)
        K = self.buffer[: len(filled) ** 2].reshape(len(filled), -1)
        state.rows.block(p.row[filled], K)
        part = _Subproblem(cut, p.y[filled], np.zeros(len(filled)), state.a[filled], state.F[filled])
        part.upper[place] = p.upper[chosen]  # padding variables cannot move
        places = np.arange(len(filled)) * len(filled)
        steps = Steps(part, np.diagonal(K).copy(), K, places)(tolerance, STEPS_EACH * len(chosen))
        self.work += float(steps + len(filled)) * len(filled) + PAIR_CALL_COST
        return part.a[place]


def in_lanes(chosen: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Arrange variables in full SIMD lanes, those of the mask `first` before the others.

    Returns the place i8 of each of `chosen`; the variable at each place, padded with the last one of its side; and
    where the second side begins.
    """
    order = (~first[chosen]).argsort(kind="stable")
    n_first = int(np.count_nonzero(first[chosen]))
    sides = chosen[order[:n_first]], chosen[order[n_first:]]
    filled = [np.concatenate([s, s[-1:].repeat(-len(s) % LANES)]) for s in sides if len(s)]
    cut = n_first + -n_first % LANES
    place = np.empty(len(chosen), np.int64)
    place[order] = np.arange(len(chosen))
    place[order[n_first:]] += cut - n_first
    return place, np.concatenate(filled), cut


class Steps:
    """The compiled loop of pair steps for some variables (`_Subproblem` or WholeDescent), with its work arrays.

    K: kernel rows; places: where that of each variable begins.
    """

    def __init__(self, part: _Subproblem | WholeDescent, diagonal: np.ndarray, K: np.ndarray, places: np.ndarray):
        l = len(part.a)  # noqa: E741  # the paper's letter
        part.a[part.upper <= 0.0] = 0.0
        self.wanted, self.rising, self.falling = np.empty(1, np.int64), np.empty(l), np.empty(l)
        gains, lanes = (np.empty(l, diagonal.dtype), np.empty(LANES, diagonal.dtype)), np.empty((2, 2 * LANES))
        self._call = functools.partial(loops.pair_descent.bind(
            K, diagonal, *gains, part.y, part.a, part.upper, part.F, self.rising, self.falling, *lanes, places,
            self.wanted,
        ), l, part.cut)  # fmt: skip

    def __call__(self, tolerance: float, max_steps: int) -> int:
        """Make at most `max_steps` steps to `tolerance`; return their number.  wanted[0]: the missing kernel row."""
        return self._call(tolerance, max_steps)


class WholeDescent:
    """Solves a small problem by steps among all its variables.

    Only the kernel rows that steps need are computed, together with those most likely to be needed next, and kept.
    y a and F are updated for all variables, so that round-off does not accumulate between sets.
    """

    def __init__(self, state: Decomposition, cache_mb: float):
        p = state.problem
        self.state = state
        self.place, self.filled, self.cut = in_lanes(np.arange(len(p.y)), state.signs[0])
        self.y, self.upper, self.l = p.y[self.filled], np.zeros(len(self.filled)), len(self.filled)
        self.upper[self.place] = p.upper
        self.points = p.row[self.filled]
        self.columns = state.rows.tiles.take(self.points)
        self.dtype = np.dtype(self.columns.dtype)
        self.max_rows = min(state.rows.n, rows_in_memory(self.l, cache_mb, self.dtype.itemsize))
        self.buffer = _buffer(self.l * self.max_rows, self.dtype)
        self.buffer[: self.l] = 0.0  # the first step has length 0 along a row that is not computed yet
        self.places = np.full(self.l, NOT_STORED)
        self.count = 0  # rows computed
        self.diagonal = state.rows.diagonal[self.points].astype(self.dtype)
        self.work = 0.0  # cost so far, in values of kernel rows
        self.full = self.hard = False  # whether the last call ended because memory was full, or of its limit of steps

    @staticmethod
    def fits(problem: KernelProblem, cache_mb: float, size: int = 4) -> bool:
        """Whether the problem is small enough, and memory holds enough kernel rows of `size` bytes a value."""
        m = len(problem.y)
        return m <= MAX_WHOLE_VARIABLES and rows_in_memory(m, cache_mb, size) >= min(MIN_STORED_ROWS, problem.n)

    def run(self, tolerance: float, most: float = np.inf) -> bool:
        """Step to a violation of `tolerance`, with a limit of steps in all; return whether a changed.

        most: values of kernel rows after which steps end before.
        """
        state, p = self.state, self.state.problem
        self.a, self.F = state.a[self.filled], state.F[self.filled]
        steps, taken = Steps(self, self.diagonal, self.buffer, self.places), 0
        remaining = WHOLE_STEPS_EACH * min(len(p.y), SET_SIZE)
        if not state.single:
            remaining = max(remaining, MANY_VALUES // self.l)
        last = int(min(max(most / self.l, 1.0), remaining))
        while True:
            taken += steps(tolerance, last - taken)
            wanted = int(steps.wanted[0])
            if wanted < 0 or self.count == self.max_rows:
                break
            self._compute(wanted, steps.rising == 0.0, steps.falling == 0.0)
        self.work += float(taken) * self.l + PAIR_CALL_COST
        self.full, self.hard = wanted >= 0, taken >= remaining
        return state.follow(self.a[self.place], self.F[self.place])

    def _compute(self, wanted: int, rising: np.ndarray, falling: np.ndarray) -> None:
        """Compute the kernel row of the variable `wanted`, and those of the most violating variables that have none.

        rising, falling bool[l]: whether y a may grow, and shrink.
        """
        limits.check()
        known = self.places != NOT_STORED
        worthwhile = max(max(self.count, self.columns.height) // STORED_ROWS_PER_NEW_ROW, MIN_CALL_VALUES // self.l)
        more = min(self.max_rows - self.count - 1, worthwhile) // 2
        high, low = np.where(rising & ~known, self.F, -np.inf), np.where(falling & ~known, -self.F, -np.inf)
        needed = np.concatenate([[wanted], largest(high, more), largest(low, more)])
        chosen = np.zeros(self.state.rows.n, bool)
        chosen[self.points[needed]] = True
        points = chosen.nonzero()[0]
        first, l = self.count, self.l  # noqa: E741
        P = self.buffer[first * l : (first + len(points)) * l].reshape(len(points), l)
        targets, width = self.state.rows.tiles.take(points), self.columns.width_for(len(points))
        for lo in range(0, l, width):
            hi = min(lo + width, l)
            tile = P if hi - lo == l else np.empty((len(points), hi - lo), self.dtype)
            self.columns.fill(targets, lo, hi, tile)
            if tile is not P:
                P[:, lo:hi] = tile
        slots = np.full(self.state.rows.n, NOT_STORED)
        slots[points] = (first + np.arange(len(points))) * l
        new = slots[self.points]
        np.copyto(self.places, new, where=new != NOT_STORED)
        self.count += len(points)


def rows_in_memory(m: int, cache_mb: float, size: int = 4) -> int:
    """Kernel rows of m variables, at most all, of `size` bytes a value, for which WholeDescent has memory."""
    return int(min(max(WHOLE_MEMORY_SHARE * cache_mb, MIN_ROWS_MB) * MIB / (size * max(m, 1)), m))


def _buffer(size: int, dtype: np.dtype) -> np.ndarray:
    """An array of `size`, reused by the thread's next problem: fresh memory costs more than kernel values."""
    if getattr(_thread, "buffer", np.empty(0, np.int8)).nbytes < size * dtype.itemsize:
        _thread.buffer = np.empty(0, np.float32)  # freed before a larger one is allocated
        _thread.buffer = large_array(size, dtype)
    return _thread.buffer.view(dtype)


class _Subproblem(NamedTuple):
    """The variables of a working set in lanes, where the places from `cut` on are the second side; arrays f8."""

    cut: int
    y: np.ndarray
    upper: np.ndarray
    a: np.ndarray
    F: np.ndarray
