"""Dual points made feasible exactly, and their best multiples; for certifiers only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

DOUBLE = np.finfo(float)


def balanced(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Multipliers a >= 0, those of the sign with the larger sum scaled down, so that sum a_i y_i is 0 exactly."""
    positive = y > 0.0
    up, down = float(np.sum(a[positive])), float(np.sum(a[~positive]))
    a = a * (np.where(positive, min(1.0, down / up), min(1.0, up / down)) if min(up, down) > 0.0 else 0.0)
    a = on_grid(a, np.floor)
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


def best_factor(linear: float, square: float, conjugate: float, degree: float, limit: float) -> float:
    """The s, 0 <= s <= limit, with the largest s linear - s^2 square / 2 - s^degree conjugate; 0 where no s is best."""
    if linear <= 0:
        return 0.0
    if degree in (1.0, 2.0):
        quadratic = square + (2.0 * conjugate if degree == 2.0 else 0.0)
        best = min(linear / quadratic if quadratic > 0 else np.inf, limit)
        return best if best < np.inf else 0.0

    def slope(s: float) -> float:
        return linear - s * square - degree * s ** (degree - 1.0) * conjugate

    # bounds of the maximiser by each of the two terms alone
    low, high = 0.0, min(limit, linear / square if square > 0 else np.inf)
    if conjugate > 0:
        with np.errstate(over="ignore"):
            high = min(high, float(np.power(linear / (degree * conjugate), 1.0 / (degree - 1.0))))
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return high if slope(high) >= 0 else low
