"""Whether a run still makes progress."""

from __future__ import annotations

import math

from svmtool.tolerances import SUFFICIENT_DECREASE, SUFFICIENT_RISE, SUM_RTOL

# A run stalls without a SUFFICIENT_DECREASE of its least gap, or a SUFFICIENT_RISE of its dual value, between two
# checks: it would take a thousand times as long as so far.


class Progress:
    """Detects from its own measurements whether a run still makes progress, instead of by a limit of steps.

    It compares the last half of the steps with the first half after `first` * 2^k steps.  patience: steps in a row
    without a smaller measure that are a stall, too.
    """

    def __init__(self, first: int, patience: float = math.inf):
        self.first, self.steps, self._next = first, 0, first
        self._least, self._before = math.inf, (math.inf, -math.inf)
        self.patience, self._smallest, self._idle = patience, math.inf, 0

    def stalls(self, gap: float, dual: float, measure: float | None = None) -> bool:
        """Count a step with this gap (primal - dual) and dual value; return whether the run has stalled.

        A gap that is not finite is ignored.  measure: of what is left; None where it is not exact in this step.
        """
        self.steps += 1
        if measure is not None:
            self._idle = 0 if measure < self._smallest else self._idle + 1
            self._smallest = min(self._smallest, measure)
        idle = self._idle >= self.patience
        self._least = min(self._least, gap if gap - gap == 0.0 else math.inf)
        if self.steps < self._next:
            return idle
        self._next *= 2
        (gap_before, dual_before), least = self._before, self._least
        self._before, self._least = (least, dual), math.inf
        if dual_before == -math.inf:
            return idle
        nearer = least < math.inf and least <= SUFFICIENT_DECREASE * gap_before
        return idle or not (nearer or dual - dual_before > max(SUFFICIENT_RISE * least, SUM_RTOL * abs(dual)))
