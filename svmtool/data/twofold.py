"""Sums and products of double numbers with their rounding errors, for arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from svmtool.tolerances import SPLIT_FACTOR


def two_sum(a: np.ndarray | float, b: np.ndarray | float) -> tuple:
    """a + b rounded, and its rounding error (Knuth); 0 in place of an error that is not finite."""
    s = a + b
    t = s - a
    error = (a - (s - t)) + (b - t)
    return s, np.where(np.isfinite(error), error, 0.0)


def summed(parts: Iterable[tuple[np.ndarray, np.ndarray]], d: int) -> tuple[np.ndarray, np.ndarray]:
    """The sum of vectors of length d that have their rounding errors beside them, and its own."""
    g, rest = np.zeros(d), np.zeros(d)
    for more, error in parts:
        g, lost = two_sum(g, more)
        rest += lost + error
    return g, rest


def twofold_dot(a: np.ndarray | float, b: np.ndarray) -> tuple[float, float]:
    """sum_i a_i b_i, rounded once, and its rounding error; nan where products overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        p = a * b
        (a_high, a_low), (b_high, b_low) = _halves(np.asarray(a)), _halves(b)
        error = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
        if not np.all(np.isfinite(p)):
            return math.nan, 0.0
    terms = np.concatenate((p, np.where(np.isfinite(error), error, 0.0))).tolist()
    value = math.fsum(terms)
    return value, math.fsum([*terms, -value])


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    c = SPLIT_FACTOR * a
    high = c - (c - a)
    return high, a - high
