"""Linear systems compared with numpy's, also for nearly singular matrices."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.errors import SvmtoolError
from svmtool.linalg.systems import (
    MIN_PANEL_ORDER,
    PART_ROWS,
    Factored,
    conjugate_gradient,
    inverse,
    mirror,
    solve_positive,
)

SOLVERS = {"solve_positive": solve_positive, "Factored": lambda H, g: Factored(H).solve(g)}
either = pytest.mark.parametrize("solve", SOLVERS.values(), ids=list(SOLVERS))
ORDERS = [1, 2, 64, PART_ROWS + 1, 4 * PART_ROWS, MIN_PANEL_ORDER + 1]
every_order = pytest.mark.parametrize("d", ORDERS)


def upper_of(H: np.ndarray) -> np.ndarray:
    """H with numbers below its diagonal that must not be read."""
    return np.triu(H) + np.tril(np.full_like(H, np.nan), -1)


@either
@every_order
def test_positive_definite(solve, d):
    rng = np.random.default_rng(d)
    B, g = rng.normal(size=(d, d)), rng.normal(size=d)
    H = B @ B.T + np.eye(d)
    given = upper_of(H)
    np.testing.assert_allclose(solve(given, g), np.linalg.solve(H, g), rtol=1e-9, atol=1e-9)
    assert np.array_equal(given, upper_of(H), equal_nan=True), "H is not written to"


@either
@every_order
def test_singular_by_rounding(solve, d):
    """H of rank one, and a right-hand side in its range."""
    H, g = np.full((d, d), 3.0), np.full(d, 6.0)
    p = solve(upper_of(H), g)
    np.testing.assert_allclose(H @ p, g, rtol=1e-6)


@pytest.mark.parametrize(
    "number, sentence",
    [(0.0, "underflow"), (1e-320, "underflow"), (np.inf, "overflow"), (np.nan, "overflow")],
    ids=str,
)
@either
@every_order
def test_no_multiple_of_the_identity_helps(solve, d, number, sentence):
    """An error message instead of an endless search; 1e-15 times 1e-320 is 0."""
    H = np.full((d, d), number)
    H[0, 0] = -number  # not even positive
    with pytest.raises(SvmtoolError, match=sentence):
        solve(H, np.ones(d))


@every_order
def test_conjugate_gradient(d):
    rng = np.random.default_rng(d)
    B, g = rng.normal(size=(d, d)), rng.normal(size=d)
    H = B @ B.T + d * np.eye(d)
    for near in (np.ones(d), np.diag(H).copy(), lambda r: np.linalg.solve(H, r)):
        p, steps, reached = conjugate_gradient(H.__matmul__, g, near, 1e-10, 10 * d)
        np.testing.assert_allclose(p, np.linalg.solve(H, g), rtol=1e-7, atol=1e-9)
        assert reached and steps <= 10 * d
    assert steps == 1, "the matrix itself as preconditioner"
    assert conjugate_gradient(H.__matmul__, g, np.ones(d), 0.0, 10 * d, lambda: True)[1:] == (0, False)


def test_conjugate_gradients_end_at_a_step_that_gains_little():
    H, g = np.diag([1.0, 2.0, 3.0]), np.array([1e-3, 1e-3, 1.0])
    assert conjugate_gradient(H.__matmul__, g, np.ones(3), 0.0, 9, min_gain=1e-2)[1:] == (2, False)
    assert conjugate_gradient(H.__matmul__, g, np.ones(3), 0.0, 3)[1] == 3


def test_conjugate_gradients_end_where_numbers_underflow():
    """q'Hq of features near 1e100 may be 0."""
    p, products, reached = conjugate_gradient(lambda q: 1e-320 * q, np.full(3, 1e-9), np.ones(3), 0.1, 10)
    assert products == 1 and not reached and not np.any(p)


@pytest.mark.parametrize("d", [0, 1, 5, PART_ROWS, 2 * PART_ROWS + 3])
def test_mirror_copies_the_upper_triangle(d):
    H = np.random.default_rng(0).normal(size=(d, d))
    wanted = np.triu(H) + np.triu(H, 1).T
    assert mirror(H) is H and np.array_equal(H, wanted)


@every_order
def test_inverse(d):
    B = np.random.default_rng(d).normal(size=(d, d))
    H = B @ B.T + np.eye(d)
    found = inverse(H)
    np.testing.assert_allclose(found @ H, np.eye(d), atol=1e-9)
    assert np.array_equal(found, found.T)
    with pytest.raises(SvmtoolError, match="singular"):
        inverse(-H)
