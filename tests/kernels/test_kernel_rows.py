"""Rows of the kernel matrix: tiles against numpy."""

import numpy as np
import pytest
from fosvm_problems import values
from reference import rows_in

from svmtool.kernels import tiles as kernel_tiles
from svmtool.kernels.problems import Points
from svmtool.kernels.whole import kernel_matrix
from svmtool.models.kernel_functions import Kernel


def _groups(d):
    """Rows near to each other and far from their mean."""
    rng = np.random.default_rng(5)
    return 30.0 * rng.integers(-1, 2, size=(300, 1)) + 0.4 * rng.normal(size=(300, d))


CASES = {
    "single dense": (np.random.default_rng(0).normal(size=(300, 4)), False, Kernel(2, 0.3), "SingleDense"),
    "single sparse": (
        np.random.default_rng(1).normal(size=(300, 90)) * (np.random.default_rng(2).random((300, 90)) < 0.06),
        True, Kernel(2, 0.3), "SingleSparse",
    ),
    "double": (np.random.default_rng(3).normal(size=(300, 6)), True, Kernel(1, 0.5, 3, 1.0), "Double"),
    "sigmoid": (np.random.default_rng(3).normal(size=(300, 6)), False, Kernel(3, 0.1, 3, 0.2), "Double"),
    "linear": (np.random.default_rng(3).normal(size=(300, 6)), True, Kernel(0), "Double"),
    "linear, sparse": (
        np.random.default_rng(1).normal(size=(300, 90)) * (np.random.default_rng(2).random((300, 90)) < 0.06),
        True, Kernel(0), "SparseProducts",
    ),
    "linear, tiny": (
        1e-17 * np.random.default_rng(1).normal(size=(300, 90)) * (np.random.default_rng(2).random((300, 90)) < 0.06),
        True, Kernel(0), "Double",
    ),
    "far groups": (_groups(6), False, Kernel(2, 0.3), "Double"),
    "far": (1e3 * np.random.default_rng(3).normal(size=(300, 6)), False, Kernel(2, 1e-3), "Double"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_tiles(case):
    X, sparse, kernel, kind = CASES[case]
    tiles = kernel_tiles.tiles_of(rows_in("csr" if sparse else "dense", X), kernel)
    assert type(tiles).__name__ == kind
    K = values(X, kernel)
    chosen = np.array([7, 3, 299, 0, 150])
    P = np.empty((5, 133), np.float32)
    tiles.fill(tiles.take(chosen), 100, 233, P)
    assert P == pytest.approx(K[chosen, 100:233], rel=3e-6, abs=3e-6 * np.abs(K).max())
    assert tiles.diagonal() == pytest.approx(np.diag(K), rel=1e-9)
    part = tiles.take(chosen).part(1, 3)
    P = np.empty((2, 10), np.float32)
    tiles.fill(part, 0, 10, P)
    assert P == pytest.approx(K[chosen[1:3], :10], rel=3e-6, abs=3e-6 * np.abs(K).max())


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("features", [5, 40])
def test_rbf_of_values_whose_squares_hold_no_digit_of_the_distance(features, sparse):
    """K(x, x) is 1 and K of close rows is close to 1 for any |x|^2: LIBSVM's predictions take differences too."""
    rng = np.random.default_rng(3)
    X = np.rint(rng.normal(0.0, 1e15, (30, features)))
    X[1::2] = X[::2]
    X[1::2, 0] += 4096.0 * rng.integers(0, 4, 15)
    rows = rows_in("csr" if sparse else "dense", X)
    gamma = 1e-8
    wanted = np.exp(-gamma * np.sum((X[:, None] - X) ** 2, axis=2))
    assert 0.0 < np.mean(wanted == 1.0) < 1.0 and np.any((wanted > 0.1) & (wanted < 0.9))
    kernel = Kernel(2, gamma)
    tiles, P = kernel_tiles.tiles_of(rows, kernel), np.empty((30, 30), np.float32)
    tiles.fill(tiles, 0, 30, P)
    some = np.empty((7, 11), np.float32)
    tiles.fill(tiles.part(4, 11), 9, 20, some)
    assert np.allclose(P, wanted, rtol=1e-5, atol=1e-30)
    assert np.allclose(some, wanted[4:11, 9:20], rtol=1e-5, atol=1e-30)
    assert np.allclose(kernel_matrix(Points(kernel, rows, None)), wanted, rtol=1e-12)
