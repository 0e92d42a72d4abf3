"""Relative duality gaps, and dual points: their best multiples, and one to start at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from svmtool.data.csr import CsrRows


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


def best_factor(linear: float, square: float, conjugate: float, degree: float, limit: float) -> float:
    """The s, 0 <= s <= limit, with the largest s linear - s^2 square / 2 - s^degree conjugate; 0 where no s is best."""
    if linear <= 0.0:
        return 0.0
    if degree in (1.0, 2.0) or not conjugate > 0.0:
        quadratic = square + (2.0 * conjugate if degree == 2.0 else 0.0)
        best = min(linear / quadratic if quadratic > 0.0 else np.inf, limit)
        return best if best < np.inf else 0.0

    def slope(s: float) -> float:
        return linear - s * square - degree * s ** (degree - 1.0) * conjugate

    # bounds of the maximiser by each of the two terms alone
    with np.errstate(over="ignore"):
        by_conjugate = float(np.power(linear / (degree * conjugate), 1.0 / (degree - 1.0)))
    low, high = 0.0, min(limit, linear / square if square > 0.0 else np.inf, by_conjugate)
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return high if slope(high) >= 0.0 else low


def cancelling(rows: CsrRows, y: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The largest multipliers 0 <= a_i <= C_i (f8[n]) with sum a_i y_i = 0 over each set of identical rows.

    max(0, 1 - m) + max(0, 1 + m) is 2 for all |m| <= 1.  So the multipliers of identical rows with opposite labels are
    usually at their upper bounds at the optimum, and since they cancel in sum_i a_i y_i x_i they can start there.  From
    zero each epoch of coordinate descent would raise the two by at most 2 / |x_i|^2.
    """
    group = _groups(rows)
    positive = y > 0.0
    up = np.bincount(group, weights=np.where(positive, cost, 0.0))
    down = np.bincount(group, weights=np.where(positive, 0.0, cost))
    least = np.minimum(up, down)
    share = np.where(positive, (least / np.maximum(up, 1e-300))[group], (least / np.maximum(down, 1e-300))[group])
    return share * cost


def _groups(rows: CsrRows) -> np.ndarray:
    """A group number for each row, i8[n]; identical rows have the same."""
    z = np.empty(rows.n)
    # identical rows have bitwise equal sums
    rows.margins(standard_normal(rows.d), np.ones(rows.n), z)
    order = np.argsort(z, kind="stable")
    lengths = np.diff(rows.indptr)[order]
    likely = 1 + np.flatnonzero((z[order[1:]] == z[order[:-1]]) & (lengths[1:] == lengths[:-1]))
    fresh = np.ones(rows.n, bool)
    fresh[likely] = _differ(rows.take(order[likely - 1]), rows.take(order[likely]))
    group = np.empty(rows.n, np.int64)
    group[order] = np.cumsum(fresh) - 1
    return group


def _differ(one: CsrRows, other: CsrRows) -> np.ndarray:
    """Whether row i of one differs from row i of the other, bool[n]; both have the same length."""
    apart = (one.indices != other.indices) | (one.values != other.values)
    before = np.concatenate(([0], np.cumsum(apart)))
    return before[one.indptr[1:]] > before[one.indptr[:-1]]


def standard_normal(d: int) -> np.ndarray:
    """d fixed pseudo-random numbers."""
    return np.random.default_rng(0).standard_normal(d)
