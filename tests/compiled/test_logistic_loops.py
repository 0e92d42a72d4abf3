"""The compiled state of the logistic loss compared with a simple implementation, margins of all sizes included."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from loop_suite import halves

from svmtool.compiled.loops.loss import logistic_loops

# margins of all sizes and both signs, also where exp overflows or underflows
MARGINS = np.concatenate(
    [s * np.concatenate([np.logspace(-300, 3, 400), [0.0, 36.7, 707.9, 708.1, 1e300]]) for s in (1, -1)]
)


def test_logistic_state():
    rng = np.random.default_rng(0)
    z, n = MARGINS, len(MARGINS)
    cost, y = rng.random(n) + 0.1, rng.choice([-1.0, 1.0], n)
    for lo, hi in halves(n):
        u, c = np.full(n, 9.0), np.full(n, 9.0)
        loss = logistic_loops.logistic_state(z, cost, y, u, c, lo, hi)
        wanted = reference.logistic(z)
        assert loss == pytest.approx(float(cost[lo:hi] @ wanted[0][lo:hi]), rel=1e-14)
        np.testing.assert_allclose(u[lo:hi], (-cost * y * wanted[1])[lo:hi], rtol=1e-14, atol=1e-300)
        floor = 1e-3 * wanted[1] / (1.0 + np.abs(z))
        np.testing.assert_allclose(c[lo:hi], (cost * np.maximum(wanted[2], floor))[lo:hi], rtol=1e-14, atol=1e-300)
        assert np.all(u[:lo] == 9.0) and np.all(c[hi:] == 9.0)
