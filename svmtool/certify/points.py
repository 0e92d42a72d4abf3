"""Dual points made feasible exactly; for certifiers only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.objectives.duality import balancing

DOUBLE = np.finfo(float)


def balanced(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Multipliers a >= 0, those of the sign with the larger sum scaled down, so that sum a_i y_i is 0 exactly."""
    positive = y > 0.0
    up, down = float(np.sum(a[positive])), float(np.sum(a[~positive]))
    a = on_grid(a * np.where(positive, *balancing(up, down)), np.floor)
    rest = float(a @ y)
    side = positive if rest > 0.0 else ~positive
    part = a[side]
    a[side] -= np.clip(abs(rest) - (np.cumsum(part) - part), 0.0, part)
    return a


def shifted(a: np.ndarray, y: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, float]:
    """Multipliers of any sign less a multiple of cost_i y_i, so that sum a_i y_i is 0 exactly; also that multiple."""
    total = float(np.sum(cost))
    if not total > 0.0:
        return a, 0.0
    shift = float(a @ y) / total
    a = on_grid(a - shift * cost * y, np.rint)
    last = int(np.argmax(np.abs(a)))
    a[last] -= y[last] * float(a @ y)
    return a, shift


def on_grid(a: np.ndarray, rounded: Callable[[np.ndarray], np.ndarray], axis: int | None = None) -> np.ndarray:
    """Multiples of a power of 2 so large that no sum of them rounds, over all of them or along an axis."""
    total = np.sum(np.abs(a), axis=axis, keepdims=True)
    total = np.where(np.isfinite(total), total, 1.0)
    step = np.ldexp(1.0, np.maximum(np.frexp(total)[1] - DOUBLE.nmant, DOUBLE.minexp))
    return rounded(a / step) * step
