"""Compiled loops of the logistic loss compared with a simple implementation, margins of all sizes included."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from loop_suite import close, halves
from reference import csr_of

from svmtool.compiled.loops.loss import logistic_loops
from svmtool.coordinate.hinge import MAX_CHUNK_ROWS, random_state
from svmtool.coordinate.logistic import LogisticCoordinateDescent
from svmtool.data.csr import CsrRows

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


@pytest.mark.parametrize("n", [0, 1, 7, 50])
def test_logistic_search(n):
    rng = np.random.default_rng(n)
    z, dz, cost = 3.0 * rng.normal(size=n), rng.normal(size=n), rng.random(n) + 0.1
    for lo, hi in halves(n):
        for t in (0.0, 0.3, 50.0):
            out = np.empty(2)
            logistic_loops.logistic_line_search(z, dz, cost, out, t, lo, hi)
            _, b, bend = reference.logistic((z + t * dz)[lo:hi])
            part = cost[lo:hi], dz[lo:hi]
            close(out, [-float((part[0] * part[1]) @ b), float((part[0] * part[1] ** 2) @ bend)])


@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("bias", [-1.0, 1.5])
@pytest.mark.parametrize("n, d", [(1, 1), (12, 5), (40, 60)])
def test_logistic_epoch(n, d, bias, C):
    p = reference.random_problem(5, max(n, 2), d, C, bias)._replace(loss="logistic")
    descent, before = LogisticCoordinateDescent(CsrRows(*csr_of(p.X), d, bias), p.y, p.cost, 3), -np.inf
    for _ in range(6):
        descent.run()
        alpha = descent.alpha()
        np.testing.assert_allclose(alpha, p.cost * reference.logistic(-descent.t)[1], rtol=1e-12)
        close(descent.w, p.A.T @ (alpha * p.y))
        assert descent.dual_value() == pytest.approx(p.dual_value(alpha), rel=1e-9)
        assert before * (1 - 1e-12) <= descent.dual_value() <= p.value(descent.w) * (1 + 1e-12)
        before = descent.dual_value()


@pytest.mark.parametrize("z, s, strength", [(0.3, 0.5, 1.0), (-20.0, 1e-8, 1e9), (700.0, 0.999, 1e3), (5.0, 0.5, 0.0)])
def test_best_logit_is_the_root(z, s, strength):
    """logistic_loops.best_logit through one row with |x| given: the epoch ends where its equation holds."""
    t = np.array([np.log(s) - np.log1p(-s)])
    h = t[0] + z
    x = np.sqrt(strength)
    row = csr_of(np.array([[x]]))
    # z comes from a bias feature whose weight is z: only this row, whose own share is x
    w = np.array([0.0, z])
    logistic_loops.logistic_epoch(
        *row, np.ones(1), np.ones(1), np.array([x * x]), t, w,
        np.empty(1, np.int64), random_state(1, 1)[1:], np.zeros(2), 1.0, MAX_CHUNK_ROWS, 0, 1,
    )  # fmt: skip
    left = t[0] + z + strength * (reference.logistic(-t)[1][0] - s)
    assert abs(left) <= 0.011 * abs(h)
