"""Exact line search in few messages, for losses with piecewise linear slopes.

In memory Newton's method finds the zero of the slope (Objective.ray); here each of its steps would be a question.
Instead a block reads its rows once for each direction and keeps the breakpoints ahead.  The driver asks for their sums
in bins, which states the slope at all ends of bins, and goes on within the bin that has its zero.  Widths of bins are
powers of 2 and their ends multiples of them: which one a breakpoint lies in is not a matter of rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.compiled.loops.loss import breakpoint_loops as loops

BINS = 512
AHEAD = 2.0  # breakpoints are gathered up to this t first: Newton steps want t = 1
ROUNDS = 100  # questions about a direction
NARROW = 1e-7  # a bin this narrow beside its t is taken for straight: its slope changes by a row or two


class Breakpoints:
    """The breakpoints of one block with low <= t < high; strip: see Augmented.strip."""

    def __init__(self, z: np.ndarray, dz: np.ndarray, cost: np.ndarray, strip: tuple, low: float, high: float):
        self.low, self.high, self.start = low, high, np.empty(2)
        target, beta, *numbers = strip
        at, bend = np.empty(2 * len(z)), np.empty(2 * len(z))
        count = loops.gather_breakpoints(z, dz, target, beta, cost, at, bend, self.start, *numbers, low, high)
        self._at, self._bend = at[:count].copy(), bend[:count].copy()

    def sums(self, low: float, high: float) -> np.ndarray:
        """Slope at `self.low`, curvature before it, and the bins of sum_breakpoints over low .. high; f8[2 + 2
        BINS].
        """
        bins = np.empty(2 * BINS)
        loops.sum_breakpoints(self._at, self._bend, bins, low, (high - low) / BINS, BINS)
        return np.concatenate((self.start, bins))


def search(ask: Callable[[float, float], np.ndarray], a: float, b: float) -> float:
    """The t >= 0 at which a + t b + the slope of the losses is zero; ask: Breakpoints.sums over all blocks."""
    low, high = 0.0, AHEAD
    answer = ask(low, high)
    slope, curvature, bounded = answer[0] + a, answer[1] + b, False
    for _ in range(ROUNDS):
        step, bins = (high - low) / BINS, answer[2:].reshape(BINS, 2)
        before = np.concatenate((np.zeros((1, 2)), np.cumsum(bins, axis=0)))
        far = step * np.arange(BINS + 1)
        slopes = slope + (curvature + before[:, 0]) * far - before[:, 1]
        risen = slopes > 0.0
        risen[-1] |= bounded  # by rounding it may seem not to have
        if risen[0]:
            return low
        if not risen.any():
            slope, curvature, low, high = slopes[-1], curvature + before[-1, 0], high, 2.0 * high
            if not curvature > 0.0:
                return low
        else:
            k, bounded = int(np.argmax(risen)) - 1, True  # the zero lies in this bin
            slope, curvature, low, high = slopes[k], curvature + before[k, 0], low + k * step, low + (k + 1) * step
            if not bins[k].any() and curvature > 0.0:
                return low - slope / curvature
            if step <= NARROW * low:
                return low - slope * step / (slopes[k + 1] - slope)
        answer = ask(low, high)
    return low
