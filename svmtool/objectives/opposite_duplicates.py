"""Identical rows with opposite labels: an initial dual point of the hinge for them.

max(0, 1 - m) + max(0, 1 + m) is 2 for all |m| <= 1.  So the multipliers of such rows are usually at their upper bounds
at the optimum, and since they cancel in sum_i alpha_i y_i x_i they can start there.  From zero each epoch of coordinate
descent would raise the two by at most 2 / |x_i|^2.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.csr import CsrRows


def cancelling(rows: CsrRows, y: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The largest multipliers 0 <= a_i <= C_i (f8[n]) with sum a_i y_i = 0 over each set of identical rows."""
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
