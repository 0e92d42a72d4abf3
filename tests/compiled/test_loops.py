"""The check of the arrays that a loop is given, and the digits of the logistic loss's own exponential function."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from svmtool.compiled.loops.loss import hinge_loops, logistic_loops


@pytest.mark.parametrize(
    "wrong",
    [np.zeros(8)[::2], np.zeros((3, 2), order="F"), np.zeros(4, np.float32), np.zeros(4, np.int64)],
    ids=["gaps", "columns first", "single precision", "whole numbers"],
)
def test_unfit_arrays_are_refused(wrong):
    """The loop must not access memory beyond its arrays."""
    right = np.ones(4)
    hinge_loops.add_scaled(right, right, 1.0, 0, 4)
    with pytest.raises(TypeError, match="add_scaled"):
        hinge_loops.add_scaled(right, wrong, 1.0, 0, 4)
    with pytest.raises(TypeError):
        hinge_loops.add_scaled(right)
    hinge_loops.add_scaled(right, right, 1.0, 0, 4)
    assert right[0] == 4.0


def test_logistic_state():
    """Margins of all sizes and both signs, also where exp overflows or underflows."""
    sizes = np.concatenate([np.logspace(-300, 3, 400), [0.0, 36.7, 707.9, 708.1, 1e300]])
    z, n, rng = np.concatenate([sizes, -sizes]), 2 * len(sizes), np.random.default_rng(0)
    cost, y = rng.random(n) + 0.1, rng.choice([-1.0, 1.0], n)
    wanted = reference.logistic(z)
    for lo, hi in ((0, n), (0, n // 2), (n // 2, n)):
        u, c = np.full(n, 9.0), np.full(n, 9.0)
        loss = logistic_loops.logistic_state(z, cost, y, u, c, lo, hi)
        assert loss == pytest.approx(float(cost[lo:hi] @ wanted[0][lo:hi]), rel=1e-14)
        np.testing.assert_allclose(u[lo:hi], (-cost * y * wanted[1])[lo:hi], rtol=1e-14, atol=1e-300)
        floor = 1e-3 * wanted[1] / (1.0 + np.abs(z))
        np.testing.assert_allclose(c[lo:hi], (cost * np.maximum(wanted[2], floor))[lo:hi], rtol=1e-14, atol=1e-300)
        assert np.all(u[:lo] == 9.0) and np.all(c[hi:] == 9.0)
