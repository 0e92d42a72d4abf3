"""Exact line search with few messages, for losses with piecewise linear slopes.

In memory Newton's method finds the zero of the slope (Objective.line_search); here each of its steps would be a
request.  Instead each block passes over its rows once for a direction and keeps the breakpoints.  The driver requests
their sums in bins, which give the slope at all ends of bins, and continues in the bin that contains the zero.  Widths
of bins are powers of 2 and their ends multiples of the width, so that rounding never moves a breakpoint to another bin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

BINS = 512
FIRST_END = 2.0  # breakpoints are first gathered up to this t: Newton steps have t near 1
MAX_REQUESTS = 100  # requests for one direction, at most
MIN_BIN_WIDTH = 1e-7  # the slope counts as linear in a bin this narrow relative to t: it holds a breakpoint or two


class Breakpoints:
    """The breakpoints of one block with low <= t < high; terms: see Augmented.breakpoint_terms.

    With slack_i = target_i - z_i + beta_i / sigma, the loss of row i has the slope -scale C_i slack_i dz_i while
    0 < slack_i - t dz_i < width, and a constant slope outside: it bends where its slack enters and leaves this
    interval.
    """

    def __init__(self, z: np.ndarray, dz: np.ndarray, cost: np.ndarray, terms: tuple, low: float, high: float):
        target, beta, scale, width, inverse = terms
        slack, weight = target - z + beta * inverse, scale * cost * dz
        slope = -float(weight @ np.clip(slack - low * dz, 0.0, width))
        bend = weight * dz
        some = bend > 0.0
        slack, dz, bend = slack[some], dz[some], bend[some]
        with np.errstate(over="ignore"):
            zero, end = slack / dz, (slack - width) / dz
        enters, leaves = np.minimum(zero, end), np.maximum(zero, end)
        self.low, self.start = low, np.array([slope, np.sum(bend, where=(enters < low) & (low <= leaves))])
        at = np.concatenate((enters, leaves))
        here = (low <= at) & (at < high)
        self.high, self._at, self._bend = high, at[here], np.concatenate((bend, -bend))[here]

    def sums(self, low: float, high: float) -> np.ndarray:
        """f8[2 + 2 BINS]: slope at `self.low`, curvature before it, and two sums for each bin of low .. high.

        They are those of the increases of the curvature at the bin's breakpoints, and of these times t - low.
        """
        here = (low <= self._at) & (self._at < high)
        offset, bend = self._at[here] - low, self._bend[here]
        place = np.minimum(offset * (BINS / (high - low)), BINS - 1).astype(np.int64)
        sums = [np.bincount(place, terms, BINS) for terms in (bend, bend * offset)]
        return np.concatenate((self.start, np.column_stack(sums).ravel()))


def search(request: Callable[[float, float], np.ndarray], a: float, b: float) -> float:
    """The t >= 0 where a + t b + the slope of the losses is zero; request: Breakpoints.sums summed over all blocks."""
    low, high = 0.0, FIRST_END
    sums = request(low, high)
    slope, curvature, bounded = sums[0] + a, sums[1] + b, False
    for _ in range(MAX_REQUESTS):
        step, bins = (high - low) / BINS, sums[2:].reshape(BINS, 2)
        before = np.concatenate((np.zeros((1, 2)), np.cumsum(bins, axis=0)))
        offsets = step * np.arange(BINS + 1)
        slopes = slope + (curvature + before[:, 0]) * offsets - before[:, 1]
        risen = slopes > 0.0
        risen[-1] |= bounded  # round-off may hide that
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
            if step <= MIN_BIN_WIDTH * low:
                return low - slope * step / (slopes[k + 1] - slope)
        sums = request(low, high)
    return low
