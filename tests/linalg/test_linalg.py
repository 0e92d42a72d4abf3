"""Linear systems compared with numpy's, also for nearly singular matrices."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.errors import SvmtoolError
from svmtool.linalg.systems import PART_ROWS, Factored, solve_positive
from svmtool.tolerances import MATRIX_ROWS

SOLVERS = {"solve_positive": solve_positive, "Factored": lambda H, g: Factored(H).solve(g)}
either = pytest.mark.parametrize("solve", SOLVERS.values(), ids=list(SOLVERS))
every_order = pytest.mark.parametrize("d", [1, 64, PART_ROWS + 1, MATRIX_ROWS + 1])


def upper_of(H: np.ndarray) -> np.ndarray:
    """H with numbers below its diagonal that must not be read."""
    return np.triu(H) + np.tril(np.full_like(H, np.nan), -1)


@every_order
def test_positive_definite(d):
    rng = np.random.default_rng(d)
    B, g = rng.normal(size=(d, d)), rng.normal(size=d)
    H = 0.5 * (B + B.T) + 3.0 * np.sqrt(d) * np.eye(d)  # positive definite: the first part's values are half as large
    given, wanted = upper_of(H), np.linalg.solve(H, g)
    for solve in SOLVERS.values():
        np.testing.assert_allclose(solve(given, g), wanted, rtol=1e-9, atol=1e-9)
        assert np.array_equal(given, upper_of(H), equal_nan=True), "H is not written to"


@either
@every_order
def test_singular_by_rounding(solve, d):
    """H of rank one, and a right-hand side in its range."""
    H, g = np.full((d, d), 3.0), np.full(d, 6.0)
    p = solve(upper_of(H), g)
    np.testing.assert_allclose(H @ p, g, rtol=1e-6)


@either
def test_no_multiple_of_the_identity_helps(solve):
    """An error message instead of an endless search; 1e-15 times 1e-320 is 0."""
    for number, sentence in ((0.0, "underflow"), (1e-320, "underflow"), (np.inf, "overflow"), (np.nan, "overflow")):
        for d in (1, 64):
            H = np.full((d, d), number)
            H[0, 0] = -number  # not even positive
            with pytest.raises(SvmtoolError, match=sentence):
                solve(H, np.ones(d))
