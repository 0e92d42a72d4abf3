"""What an iterative method still needs, and whether another one, of known cost, is the faster."""

from __future__ import annotations

import numpy as np

ESTIMATE_GROWTH = 1.5  # factor of the work of a method between two estimates of what it still needs


def still_needed(gaps: list[float], spent: list[float], target_gap: float, evaluations: int) -> float:
    """Return the expected cost to reach the target gap, at the rate of decrease over the last `evaluations` ones.

    gaps: at each evaluation; spent: the cost until then, in any unit, which is also that of the result.
    """
    if gaps[-1] <= target_gap:
        return 0.0
    ago = max(len(gaps) - 1 - evaluations, 0)
    fall = np.log(gaps[ago] / gaps[-1])
    if not (fall > 0.0 and target_gap > 0.0):
        return np.inf
    return (spent[-1] - spent[ago]) * np.log(gaps[-1] / target_gap) / fall


class Slower:
    """Decides whether an iterative method is slower than a direct one.

    It is once it has cost as much and is expected to cost as much again.

    cost: of the direct method; target_gap: what ends the other; gap: what that begins with, infinite if unknown.
    """

    def __init__(self, cost: float, target_gap: float, gap: float = np.inf):
        self.cost, self._target_gap, self._gap = cost, target_gap, gap
        self._next, self._work = 0.5 * cost, 0.0

    def unknown(self, work: float) -> float:
        """Work from `work` on until the next decision can be made."""
        return max(self._next - work, 0.0)

    def shown(self, work: float, gap: float) -> bool:
        """Return the decision after `work`, in the unit of the cost, which has led to this gap."""
        if work < self._next:
            return False
        ahead = np.inf
        if self._gap < np.inf:
            ahead = still_needed([self._gap, gap], [self._work, work], self._target_gap, 1)
        self._work, self._gap, self._next = work, gap, max(ESTIMATE_GROWTH * work, self.cost)
        return work >= self.cost and ahead > self.cost
