"""Rows that occur with both signs: the value of the hinge's dual on them, known in advance.

max(0, 1 - m) + max(0, 1 + m) is 2 for all margins m up to 1 in size.  So wherever the answer cannot tell the
signs of a repeated row apart its multipliers are at their upper ends, and since they cancel in sum_i alpha_i y_i x_i
they may begin there.  From zero each coordinate pass would raise the two by no more than 2 / |x_i|^2.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.csr import CsrRows


def cancelling(rows: CsrRows, y: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Multipliers 0 <= a_i <= C_i (f8[n]), as large as they can be with sum a_i y_i x_i = 0 over equal rows."""
    group = _groups(rows)
    positive = y > 0.0
    up = np.bincount(group, weights=np.where(positive, cost, 0.0))
    down = np.bincount(group, weights=np.where(positive, 0.0, cost))
    least = np.minimum(up, down)
    share = np.where(positive, (least / np.maximum(up, 1e-300))[group], (least / np.maximum(down, 1e-300))[group])
    return share * cost


def _groups(rows: CsrRows) -> np.ndarray:
    """A number for each row, i8[n]: rows of equal entries share one."""
    z = np.empty(rows.n)
    # equal rows have equal sums, to the last bit
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
    """Whether row i of one is not row i of the other, bool[n]; each is as long as the other."""
    apart = (one.indices != other.indices) | (one.values != other.values)
    before = np.concatenate(([0], np.cumsum(apart)))
    return before[one.indptr[1:]] > before[one.indptr[:-1]]


def standard_normal(d: int) -> np.ndarray:
    """The same d numbers each time."""
    return np.random.default_rng(0).standard_normal(d)
