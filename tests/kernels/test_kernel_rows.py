"""Rows of the kernel matrix: tiles against numpy, what is kept, and the compiled loops' twins."""

import numpy as np
import pytest

from svmtool.compiled.loops.kernel import kernel_row_loops as loops
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels import interior
from svmtool.kernels import tiles as kernel_tiles
from svmtool.kernels.problems import CSvc, Points
from svmtool.kernels.rows import KernelRows, exact_sum
from svmtool.models.kernel_functions import Kernel


def held(X, sparse):
    if not sparse:
        return DenseRows(X)
    indptr = np.concatenate(([0], np.cumsum(np.count_nonzero(X, axis=1))))
    return CsrRows(indptr, np.nonzero(X)[1].astype(np.int32), X[X != 0], X.shape[1])


def kernel_matrix(X, kernel):
    K = X @ X.T
    squares = np.sum(X * X, axis=1)
    if kernel.kind == 2:
        return np.exp(-kernel.gamma * (squares[:, None] + squares - 2 * K))
    if kernel.kind == 1:
        return (kernel.gamma * K + kernel.coef0) ** kernel.degree
    return np.tanh(kernel.gamma * K + kernel.coef0) if kernel.kind == 3 else K


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
        1e-12 * np.random.default_rng(1).normal(size=(300, 90)) * (np.random.default_rng(2).random((300, 90)) < 0.06),
        True, Kernel(0), "Double",
    ),
    "far groups": (_groups(6), False, Kernel(2, 0.3), "Double"),
    "far groups, sparse": (_groups(5), True, Kernel(2, 0.3), "Double"),
    "far groups, many features": (_groups(20), False, Kernel(2, 0.3), "Double"),
    "far": (1e3 * np.random.default_rng(3).normal(size=(300, 6)), False, Kernel(2, 1e-3), "Double"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_tiles(case):
    X, sparse, kernel, kind = CASES[case]
    tiles = kernel_tiles.tiles_of(held(X, sparse), kernel)
    assert type(tiles).__name__ == kind
    K = kernel_matrix(X, kernel)
    chosen = np.array([7, 3, 299, 0, 150])
    P = np.empty((5, 133), np.float32)
    tiles.fill(tiles.take(chosen), 100, 233, P)
    assert P == pytest.approx(K[chosen, 100:233], rel=3e-6, abs=3e-6 * np.abs(K).max())
    assert tiles.diagonal() == pytest.approx(np.diag(K), rel=1e-9)
    part = tiles.take(chosen).part(1, 3)
    P = np.empty((2, 10), np.float32)
    tiles.fill(part, 0, 10, P)
    assert P == pytest.approx(K[chosen[1:3], :10], rel=3e-6, abs=3e-6 * np.abs(K).max())


@pytest.mark.parametrize("megabytes", [0.0, 0.01])
def test_sums_of_rows_and_what_is_kept(megabytes):
    X, sparse, kernel, _ = CASES["single sparse"]
    K = kernel_matrix(X, kernel)
    rows = KernelRows(kernel_tiles.tiles_of(held(X, sparse), kernel), megabytes)
    assert rows.capacity * 4 * 300 <= megabytes * 2**20
    rng = np.random.default_rng(5)
    f, truth = np.zeros(300), np.zeros(300)
    for _ in range(30):
        chosen = rng.permutation(300)[: rng.integers(1, 40)]
        c = rng.normal(size=len(chosen))
        rows.add(chosen, c, f, rng.random(len(chosen)) < 0.5)
        truth += c @ K[chosen]
        places = np.flatnonzero(rows.slot >= 0)
        assert len(places) <= rows.capacity and np.array_equal(rows.owner[rows.slot[places]], places)
        kept = rows.store[: rows.capacity * 300].reshape(-1, 300)[rows.slot[places]]
        np.testing.assert_allclose(kept, K[places], rtol=0, atol=3e-6)
    assert f == pytest.approx(truth, abs=1e-3)


@pytest.mark.parametrize("case", CASES)
def test_exact_sum(case):
    X, sparse, kernel, _ = CASES[case]
    coef = np.random.default_rng(6).normal(size=300) * (np.arange(300) % 3 == 0)
    problem = CSvc(Points(kernel, held(X, sparse), None), np.ones(300), np.ones(300))
    truth = coef @ kernel_matrix(X, kernel)
    assert exact_sum(problem, coef) == pytest.approx(truth, rel=1e-9, abs=1e-9 * np.abs(truth).max())
    of = np.array([3, 299, 100])
    assert problem.points.sums(coef, of) == pytest.approx(truth[of], rel=1e-9, abs=1e-9 * np.abs(truth).max())


def test_single_exp():
    """Within three units of the last place where exp is a normal number; tiny below."""
    x = np.concatenate([-np.logspace(-8, np.log10(87), 4000), [0.0, -200.0]]).astype(np.float32)
    P = (x / 2).astype(np.float32).copy()  # -gamma (0 + 0 - 2 P) = x for gamma = 1
    zeros = np.zeros(len(x), np.float32)
    loops.rbf_tile(P, zeros[:1], zeros, 1.0, 1, len(x), 0)
    truth = np.exp(x.astype(np.float64))
    assert np.all(np.abs(P[:-1] - truth[:-1]) <= 3 * 2.0**-23 * truth[:-1])
    assert 0.0 <= P[-1] < 2e-38


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("features", [5, 40])
def test_rbf_of_values_whose_squares_hold_no_digit_of_the_distance(features, sparse):
    """K(x, x) is 1 and K of close rows is close to 1 for any |x|^2: LIBSVM's predictions take differences too."""
    rng = np.random.default_rng(3)
    X = np.rint(rng.normal(0.0, 1e15, (30, features)))
    X[1::2] = X[::2]
    X[1::2, 0] += 4096.0 * rng.integers(0, 4, 15)
    rows = held(X, sparse)
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
    assert np.allclose(interior.kernel_matrix(Points(kernel, rows, None)), wanted, rtol=1e-12)
