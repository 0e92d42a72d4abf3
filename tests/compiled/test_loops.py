"""The compiled loops of smoothed losses, and the check of the arrays that a loop is given."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.compiled.loops.loss import hinge_loops
from svmtool.compiled.loops.rows import class_loops


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


@pytest.mark.parametrize(
    "p, sigma, cap", [(1.0, 0.7, 1.0), (1.0, 3.0, 2.0), (1.3, 50.0, 1.0), (1.5, 0.2, 1.0), (2.0, 0.2, 1.0)]
)
def test_power_loops_are_each_others_derivatives(p, sigma, cap):
    """Smoothed losses, slopes and curvatures along a line; no smoothed loss is above the loss."""
    n, h, rng = 200, 1e-6, np.random.default_rng(2)
    z, dz, target, cost = rng.normal(1.0, 1.0, n), rng.normal(size=n), 1.0 + 0.5 * rng.normal(size=n), rng.random(n)
    beta, y = rng.random(n) * (rng.random(n) < 0.5), rng.choice([-1.0, 1.0], n)

    def state(t: float):
        u, c, change, sums = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(8)
        hinge_loops.power_state(z + t * dz, target, cost, y, beta, u, c, change, sums, p, sigma, cap, 0, n)
        assert sums[1] == pytest.approx(float(cost @ (cap * np.maximum(target - z - t * dz, 0.0) ** p)))
        assert sums[0] <= sums[1] and np.array_equal(change, c)
        return sums, u * y, c * (sigma if p == 1.0 else 1.0)

    def search(t: float) -> np.ndarray:
        out = np.empty(2)
        hinge_loops.power_line_search(z, dz, target, cost, beta, out, t, p, sigma, cap, 0, n)
        return out

    for t in (0.0, 0.3, 4.0):
        (sums, slopes, curvatures), (slope, curvature) = state(t), search(t)
        assert slope == pytest.approx((state(t + h)[0][0] - state(t - h)[0][0]) / (2.0 * h), rel=1e-5)
        assert curvature == pytest.approx((search(t + h)[0] - search(t - h)[0]) / (2.0 * h), rel=1e-3)
        assert (slope, curvature) == pytest.approx((slopes @ dz, curvatures @ dz**2), rel=1e-9)
        assert sums[2] == pytest.approx(-slopes @ target, rel=1e-9)
        assert sums[5] == np.count_nonzero(slopes) and sums[7] == np.count_nonzero(curvatures)


@pytest.mark.parametrize("sigma", [0.1, 10.0])
def test_class_loops_are_each_others_derivatives(sigma):
    """As above, for losses of all classes at once; no smoothed loss is above the loss."""
    n, k, wide, h, rng = 50, 5, 8, 1e-6, np.random.default_rng(3)
    S, dS, beta = np.zeros((n, wide)), np.zeros((n, wide)), np.zeros((n, wide))
    S[:, :k], dS[:, :k], beta[:, :k] = rng.normal(size=(n, k)), rng.normal(size=(n, k)), rng.dirichlet(np.ones(k), n)
    number, cost = rng.integers(0, k, n), rng.random(n)
    rows = np.arange(n)

    def state(t: float):
        U, share, sums, Z = np.zeros(n * wide), np.zeros(n * wide), np.zeros(7), S + t * dS
        class_loops.class_state(Z.ravel(), number, cost, beta.ravel(), U, share, sums, sigma, k, wide, 0, n)
        apart = Z[:, :k] + (np.arange(k) != number[:, None])
        assert sums[0] <= sums[1] == pytest.approx(float(cost @ (apart.max(axis=1) - Z[rows, number])))
        return sums, U.reshape(n, wide), share.reshape(n, wide)

    def search(t: float) -> np.ndarray:
        out = np.zeros(2 + wide)
        line = S.ravel(), dS.ravel(), number, cost, beta.ravel()
        class_loops.class_line_search(*line, out, t, sigma, k, wide, 0, n)
        return out[:2]

    for t in (0.0, 0.3, 4.0):
        (sums, U, share), (slope, curvature) = state(t), search(t)
        assert slope == pytest.approx((state(t + h)[0][0] - state(t - h)[0][0]) / (2.0 * h), rel=1e-5)
        assert curvature == pytest.approx((search(t + h)[0] - search(t - h)[0]) / (2.0 * h), rel=1e-3)
        assert slope == pytest.approx(float(np.sum(U * dS)), rel=1e-9)
        assert sums[2] == pytest.approx(-float(np.sum(U[rows, number])), rel=1e-9)
        T = dS.ravel().copy()
        class_loops.class_curvature(T, share.ravel(), cost, k, wide, 0, n)
        assert curvature == pytest.approx(sigma * float(T @ dS.ravel()), rel=1e-9)
