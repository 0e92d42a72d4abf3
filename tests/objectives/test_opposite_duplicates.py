"""Identical rows with opposite labels, and their initial multipliers."""

from __future__ import annotations

import numpy as np
import reference

from svmtool.data.csr import CsrRows
from svmtool.objectives.duality import cancelling

X = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [3.0, 0.0], [0.0, 3.0], [0.0, 0.0], [3.0, 0.0]])
Y = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0])
COST = np.array([3.0, 1.0, 2.0, 4.0, 5.0, 5.0, 7.0, 1.0])


def rows_of(X):
    return CsrRows(*reference.csr_of(X), X.shape[1], 1.0)


def test_opposite_duplicates_cancel():
    a = cancelling(rows_of(X), Y, COST)
    # rows 0, 2 and 3 are equal: 3 against 2 + 4; the others have one sign each
    np.testing.assert_allclose(a, [3.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0])


def test_their_sum_over_rows_is_zero_on_drawn_data():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, size=(200, 4)).astype(float)
    y, cost = np.where(rng.random(200) < 0.4, 1.0, -1.0), rng.random(200) + 0.1
    a = cancelling(rows_of(X), y, cost)
    assert np.all(a >= 0.0) and np.all(a <= cost * (1.0 + 1e-12)) and np.count_nonzero(a) > 100
    np.testing.assert_allclose((a * y) @ X, 0.0, atol=1e-10)
    for row in np.unique(X, axis=0):
        same = np.all(X == row, axis=1)
        systems = [float(np.sum((a - cost)[same & (y == sign)])) for sign in (1.0, -1.0)]
        assert max(systems) >= -1e-10, "neither side of a row is at its end"
