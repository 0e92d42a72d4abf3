"""The minimum-norm point of a convex hull (Wolfe)."""

from __future__ import annotations

import numpy as np
import pytest
from fosvm_problems import KERNELS, cloud, optimum, values

from svmtool.linalg.minimum_norm_point import MinimumNormPoint


@pytest.mark.parametrize("parts", [1, 7, 40])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_minimum_norm_point(kernel, parts):
    """Rows may be added in any parts."""
    K = values(cloud(80, 3, 10), kernel)
    small = MinimumNormPoint()
    for some in np.array_split(np.arange(80), parts):
        small.join(K[some, : some[-1] + 1])
        small.solve()
        assert np.all(small.alpha >= 0.0) and np.sum(small.alpha) == pytest.approx(1.0, rel=1e-12)
        assert np.min(small.z) >= small.rho - 1e-12 * np.max(K)
        np.testing.assert_allclose(small.z, K[: small.count, : small.count] @ small.alpha, atol=1e-12)
    assert small.rho == pytest.approx(optimum(K), rel=1e-8)


def test_minimum_norm_point_of_dependent_rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((40, 2)) + 0.5, np.zeros((2, 2)) + 0.7])
    X = np.repeat(X, 3, axis=0)
    small = MinimumNormPoint()
    small.join(X @ X.T)
    assert small.solve() and not small.solve()
    assert small.rho == pytest.approx(optimum(X @ X.T), rel=1e-9)
    assert np.min(small.z) >= small.rho * (1 - 1e-12)
