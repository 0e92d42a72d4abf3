"""Checks of the methods for |w|_1 other than proximal Newton, at each step."""

from __future__ import annotations

import numpy as np
import pytest


def check_course(
    method, objective, A: np.ndarray, y: np.ndarray, cost: np.ndarray, most: int, gap: float, tolerance: float
):
    """Run to the gap, checking that the bound is below f and is the value of a feasible dual point.

    A: the rows with their bias feature.  Returns the least f.
    """
    best = np.inf
    for _ in range(most):
        objective.set_point(method.step())
        best = min(best, objective.value())
        bound, alpha = method.bound()
        assert bound <= best * (1 + tolerance)
        if best - bound <= gap * best:
            break
    assert best - bound <= gap * best
    assert np.all(alpha >= 0.0) and np.abs(A.T @ (alpha * y)).max() <= 1 + 1e-9
    assert np.sum(alpha - alpha**2 / (4.0 * cost)) == pytest.approx(bound)
    return best
