"""The compiled loops of the powers of the hinge, and the check of the arrays that a loop is given."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.compiled.loops.loss import hinge_loops


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
