"""Detects whether a run still makes progress, from its own measurements instead of a limit of steps."""

from __future__ import annotations

import math

FALL = 0.9  # of the least gap between two looks, and ...
RISE = 1e-3  # ... of the dual value, as a share of that gap: with less of both a run would take a thousand times as
# long as it has taken; a rise by less than this share of the dual value is rounding
ROUNDING = 1e-12


class Progress:
    """Looks after 2^k steps, from `first` on, at what the last half of them has brought."""

    def __init__(self, first: int):
        self.first, self.steps, self._next = first, 0, first
        self._least, self._before = math.inf, (math.inf, -math.inf)

    def stalls(self, gap: float, dual: float) -> bool:
        """One step more: the gap (primal - dual) and the dual value after it; whether the run has come to a standstill.

        A gap that is no number counts as none.
        """
        self.steps += 1
        self._least = min(self._least, gap if gap - gap == 0.0 else math.inf)
        if self.steps < self._next:
            return False
        self._next *= 2
        (gap_before, dual_before), least = self._before, self._least
        self._before, self._least = (least, dual), math.inf
        if dual_before == -math.inf:
            return False
        nearer = least < math.inf and least <= FALL * gap_before
        return not nearer and not dual - dual_before > max(RISE * least, ROUNDING * abs(dual))
