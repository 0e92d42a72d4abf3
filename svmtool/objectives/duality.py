"""Relative duality gaps, and dual points: balanced ones, and their best multiples."""

from __future__ import annotations

import numpy as np


def relative_gap(primal: float, dual: float) -> float:
    """(P - D) / P; 0 if P = 0, nan if P is nan."""
    return 0.0 if primal == 0 else max(primal - dual, 0.0) / primal


def balancing(up: float, down: float) -> tuple[float, float]:
    """Factors, at most 1, of the multipliers of y = 1, with sum `up`, and of y = -1, `down`, that make the sums equal.

    Both are 0 where one of the sums is not above 0.
    """
    return (min(1.0, down / up), min(1.0, up / down)) if min(up, down) > 0.0 else (0.0, 0.0)


def balanced(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Multipliers a >= 0, those of the sign with the larger sum scaled down: sum a_i y_i is 0 but for rounding."""
    positive = y > 0.0
    return a * np.where(positive, *balancing(float(np.sum(a[positive])), float(np.sum(a[~positive]))))


def best_multiple(linear: float, square: float, conjugate: float, degree: float, limit: float) -> tuple[float, float]:
    """The 0 <= s <= limit with the largest  s linear - s^2 square / 2 - s^degree conjugate, and that value, >= 0."""

    def slope(s: float) -> float:
        return linear - s * square - (degree * s ** (degree - 1.0) * conjugate if conjugate > 0.0 else 0.0)

    # bounds of the maximiser by each of the terms alone
    low, high = 0.0, min(limit, linear / square if square > 0.0 else np.inf)
    if conjugate > 0.0:
        with np.errstate(over="ignore"):
            high = min(high, float(np.power(max(linear, 0.0) / (degree * conjugate), 1.0 / (degree - 1.0))))
    if not 0.0 < high < np.inf or linear <= 0.0:
        return 0.0, 0.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return high, high * linear - 0.5 * high * high * square - high**degree * conjugate


def standard_normal(d: int) -> np.ndarray:
    """d fixed pseudo-random numbers."""
    return np.random.default_rng(0).standard_normal(d)
