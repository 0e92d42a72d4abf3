"""The problem over a working set, all other variables fixed, solved pair by pair over its block of the kernel matrix.

The steps are compiled/working_set_loops.py's; see problem/decomposition.py for the problem.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled import working_set_loops as loops
from svmtool.problem.decomposition import Decomposition
from svmtool.problem.kernel_rows import MEGABYTE, large_array
from svmtool.problem.working_sets import LARGEST, ViolatingSets

LANES = int(loops.LANES)
STEPS = 100  # of single pairs for each variable of a working set: a round stays short enough to be interrupted
INNER = 0.1  # a subproblem is solved to this share of the violation found outside ...
LAST = 0.5  # ... but to no less than this share of the tolerance
CLEAR = 0.1  # share of the tolerance up to which errors of f do not matter
PATIENCE = 5  # rounds from an exact f without a smaller violation: rounding rules
EASY = 10  # of these steps are taken among all of them, before they go on ...
SMALL = 256  # ... within sets of so many, whose block of the kernel matrix takes 256 KB, ...
MIDDLE = 1024  # ... or where many of them are free up to so many: 4 MB


def room_for_rows(m: int, cache_mb: float) -> float:
    """The part of cache_mb megabytes that the largest block of m variables leaves for kernel rows, at least half."""
    return max(cache_mb - min(LARGEST, m) ** 2 * 4 / MEGABYTE, cache_mb / 2)


class PairDescent:
    """The problem over a working set by steps of single pairs; keeps the memory of the kernel's block.

    A step costs as much as there are variables: where many are needed, they are taken within small sets, chosen from
    the working set as that is from all variables.
    """

    def __init__(self):
        self.room = np.empty(0, np.float32)
        self.work = 0.0  # values of kernel rows that steps have passed over

    def __call__(self, state: Decomposition, chosen: np.ndarray, tolerance: float) -> np.ndarray:
        """New values f8 of the chosen variables, to a violation of `tolerance` among them."""
        p = state.problem
        place, filled, cut = _in_lanes(chosen, state.signs[0])
        if self.room.size < len(filled) ** 2:
            self.room = np.empty(0, np.float32)  # the system has it back before a larger one is taken
            self.room = large_array(len(filled) ** 2)
        K = self.room[: len(filled) ** 2].reshape(len(filled), -1)
        state.rows.block(p.row[filled], K)
        part = _Part(K, cut, p.y[filled], np.zeros(len(filled)), state.a[filled], state.F[filled])
        part.upper[place] = p.upper[chosen]  # what only fills lanes cannot move
        steps = part.descend(tolerance, EASY * len(chosen))
        self.work += float(steps) * len(filled)
        left = STEPS * len(chosen) - steps
        sets = ViolatingSets(SMALL, MIDDLE)
        while left > 0:
            violation = part.judge()
            if not violation > tolerance:
                break
            inner = sets.choose(part)
            steps = part.descend_within(inner, max(LAST * tolerance, INNER * violation), left)
            self.work += float(steps) * len(inner)
            if steps == 0:
                break
            left -= steps
        return part.a[place]


def _in_lanes(chosen: np.ndarray, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Variables in whole lanes, those that are `first` before the others.

    Returns the place i8 of each of `chosen`; the variable at each place, the last of a side again where lanes are left
    over; and where the second side begins.
    """
    order = np.argsort(~first[chosen], kind="stable")
    n_first = int(np.count_nonzero(first[chosen]))
    sides = chosen[order[:n_first]], chosen[order[n_first:]]
    filled = [np.concatenate([s, np.full(-len(s) % LANES, s[-1])]) for s in sides if len(s)]
    cut = n_first + -n_first % LANES
    place = np.empty(len(chosen), np.int64)
    place[order] = np.arange(len(chosen)) + np.where(np.arange(len(chosen)) < n_first, 0, cut - n_first)
    return place, np.concatenate(filled), cut


class _Part:
    """Variables in lanes with their block K of the kernel matrix: a problem of its own, as Decomposition is.

    Places from `cut` on are the second side, where each sign's sum is fixed.
    """

    def __init__(self, K: np.ndarray, cut: int, y: np.ndarray, upper: np.ndarray, a: np.ndarray, F: np.ndarray):
        self.K, self.cut, self.y, self.upper, self.a, self.F = K, cut, y, upper, a, F
        sides = np.arange(len(y)) < cut
        self.signs = [sides, ~sides] if cut < len(y) else [sides]

    def judge(self) -> float:
        """The largest violation; sets the masks."""
        above, below, up = self.a > 0.0, self.a < self.upper, self.y > 0
        movable = self.upper > 0.0
        self.rising, self.falling = np.where(up, below, above) & movable, np.where(up, above, below) & movable
        self.free = self.rising & self.falling
        highs = [np.max(self.F, where=self.rising & s, initial=-np.inf) for s in self.signs]
        lows = [np.min(self.F, where=self.falling & s, initial=np.inf) for s in self.signs]
        return float(max(high - low for high, low in zip(highs, lows, strict=True)))

    def descend(self, tolerance: float, most: int) -> int:
        """Steps of pairs in one compiled call; their number."""
        l = len(self.a)  # noqa: E741  # the paper's letter
        self.a[self.upper <= 0.0] = 0.0
        single = np.empty(l, np.float32), np.empty(l, np.float32), np.empty(LANES, np.float32)
        double = np.empty(l), np.empty(l), np.empty(2 * LANES), np.empty(2 * LANES)
        arrays = self.K, *single, self.y, self.a, self.upper, self.F, *double
        return loops.pair_descent(*arrays, l, self.cut, tolerance, most)

    def descend_within(self, inner: np.ndarray, tolerance: float, most: int) -> int:
        """`descend` with the variables at the places `inner` alone; F follows at all."""
        place, filled, cut = _in_lanes(inner, self.signs[0])
        block = np.ascontiguousarray(self.K[np.ix_(filled, filled)])
        part = _Part(block, cut, self.y[filled], np.zeros(len(filled)), self.a[filled], self.F[filled])
        part.upper[place] = self.upper[inner]
        steps = part.descend(tolerance, most)
        step = part.a[place] - self.a[inner]
        moved = np.flatnonzero(step)
        self.a[inner] = part.a[place]
        self.F -= (step[moved] * self.y[inner[moved]]) @ self.K[inner[moved]]
        return steps
