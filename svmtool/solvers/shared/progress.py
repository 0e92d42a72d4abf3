"""Detects whether a run still makes progress, from its own measurements instead of a limit of steps."""

from __future__ import annotations

import math

# A run makes progress if its least gap falls to the share FALL between two checks, or its dual value rises by the share
# RISE of that gap: with less of both it would take a thousand times as long as so far.  A rise by less than the share
# ROUNDING of the dual value is round-off.
FALL = 0.9
RISE = 1e-3
ROUNDING = 1e-12


class Progress:
    """Checks the progress of the last half of the steps after `first` * 2^k steps."""

    def __init__(self, first: int):
        self.first, self.steps, self._next = first, 0, first
        self._least, self._before = math.inf, (math.inf, -math.inf)

    def stalls(self, gap: float, dual: float) -> bool:
        """Count a step with this gap (primal - dual) and dual value; return whether the run has stalled.

        A gap that is not finite is ignored.
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
