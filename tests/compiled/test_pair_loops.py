"""Each compiled loop of the one-class SVM compared with a simple implementation; see test_loops.py."""

from __future__ import annotations

import numpy as np
import pytest
from loop_suite import check_each_loop_is_called, close, made
from reference import csr_of

from svmtool.compiled.loops.cd import pair_loops
from svmtool.coordinate.one_class import OneClassDescent
from svmtool.data.csr import CsrRows


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, pair_loops)


@pytest.mark.parametrize("n, d", [(1, 1), (2, 3), (25, 70), (120, 8)])
def test_pair_rounds(n, d):
    """Through OneClassDescent, which binds pair_loops.pair_rounds(...): a round at a time."""
    rng, X, csr = made(n, d)
    X = X + 0.3 * (X != 0.0)
    cost = rng.choice([0.5, 1.0, 2.0], n)
    descent = OneClassDescent(CsrRows(*csr_of(X), d), cost, 0.3)
    descent.begin()
    descent.evaluate(-1.0, -1.0)
    left = n
    previous, state = 0.5 * float(descent.w @ descent.w), descent._state
    for k in range(1, 12):
        assert not descent.run(-1.0, -1.0, 1) and descent.rounds == k
        assert np.all((descent.alpha >= 0.0) & (descent.alpha <= cost))
        assert np.sum(descent.alpha) == pytest.approx(0.3 * np.sum(cost), rel=1e-12)
        close(descent.w, X.T @ descent.alpha)
        now = 0.5 * float(descent.w @ descent.w)
        assert now <= previous * (1 + 1e-12)
        previous, left = now, min(left, int(state[0]))
    assert left < n or n < 12, "no row was shrunk away: the problem tests too little"
    low, high, primal, square = state[2:6].tolist()
    assert square == pytest.approx(float(descent.w @ descent.w), rel=1e-9, abs=1e-12)
    assert descent.run(max(high - low, 0.0), np.inf, 0), "that violation is enough"
    if primal < 0.0:
        gap = (0.5 * square + primal) / -primal
        assert descent.run(np.inf, gap * (1 + 1e-9), 0) and (gap == 0.0 or not descent.run(np.inf, gap * (1 - 1e-9), 0))
