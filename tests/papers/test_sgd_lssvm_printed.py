"""-s 73 as printed: against a transcription, the engine's optimum, laws, limits, and the command."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import KERNELS, Data, kernel_matrix, random_data

from svmtool import registry
from svmtool.errors import SvmtoolError
from svmtool.papers import sgd_lssvm
from svmtool.papers.running import Tolerance
from svmtool.params import Options
from svmtool.solvers.shared.base import ITERATIONS, RULE, TIME, Monitor

ROW = registry.find_kernel(73, "paper")
EXACT = {"rtol": 1e-10, "atol": 1e-12}


def transcribed(K, y, C, t):
    """Algorithm 2 of the paper (IJCNN 2015) line by line, K without the constant; yields alpha and g."""
    N, nu = len(y), 1 / (2 * C)
    K = K + 1
    alpha, g = np.zeros(N), -np.ones(N)
    while True:
        B = np.argsort(-np.abs(g), kind="stable")[:t]
        gg = sum(g[i] ** 2 for i in B)
        a = np.array([sum(g[j] * y[j] * K[j, i] for j in B) for i in range(N)])
        gyx_norm = sum(g[i] * y[i] * a[i] for i in B)
        theta = gg / (nu * gg + gyx_norm)
        for i in B:
            alpha[i] = alpha[i] - theta * g[i]
        for i in B:
            g[i] = (1 - nu * theta) * g[i]
        for i in range(N):
            g[i] = g[i] - theta * y[i] * a[i]
        yield alpha.copy(), g.copy()


def whole(n=10, seed=0, C=0.125, cost=None):
    """Rows of small whole numbers, whose linear kernel is exact in single precision, too."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (n, 3)).astype(float), np.repeat((1.0, -1.0), (n // 2, n - n // 2))
    return Data(X, y, X[:, 0], C).problem(registry.find_kernel(73), KERNELS["linear"])


def run(problem, eps=1e-2, cache_mb=100.0, start=None, **limits):
    problem.cache_mb = cache_mb
    monitor = Monitor(**{"max_seconds": 60, **limits})
    return registry.entry(ROW)(problem, monitor, Tolerance(eps), start)


@pytest.mark.parametrize("t", [1, 2, 5])
def test_iterations_are_algorithm_2(t):
    problem = whole()
    K, steps = kernel_matrix(problem), sgd_lssvm.Steepest(problem, 100.0, t)
    points = sgd_lssvm.algorithm_2(steps, 1e-9)
    start = next(points)
    np.testing.assert_array_equal(start.g, -1.0)
    for k, (alpha, g) in zip(range(1, 11), transcribed(K, problem.y, 0.125, t), strict=False):
        point = next(points)
        assert point.number == k
        np.testing.assert_allclose(point.alpha, alpha, **EXACT)
        np.testing.assert_allclose(point.g, g, **EXACT)


@pytest.mark.parametrize("t", [1, 2])
def test_it_ends_where_print_does(t):
    """The number of iterations until |g|_inf < eps is that of the transcription."""
    problem = whole(C=0.01)
    problem.options = Options(sgd_rows=t)
    wanted = next(
        k
        for k, (_, g) in enumerate(transcribed(kernel_matrix(problem), problem.y, 0.01, t), 1)
        if np.abs(g).max() < 1e-2
    )
    result = run(problem)
    assert result.status is RULE and result.iterations == wanted > 10


def test_a_small_cache():
    """Fewer rows fit than it fetches ahead; fewer than it wants at a time is an error."""
    problem = random_data(100, seed=2).problem(ROW, KERNELS["rbf"])
    problem.options, mb = Options(sgd_rows=2), 3.5 * 100 * 4 / 2**20
    wide, narrow = run(problem), run(problem, cache_mb=mb)
    assert wide.status is narrow.status is RULE and wide.iterations == narrow.iterations
    problem.options = Options(sgd_rows=4)
    with pytest.raises(SvmtoolError, match="--sgd-rows 4: -m holds only 3 rows"):
        run(problem, cache_mb=mb)


def test_limits():
    problem = random_data(400).problem(ROW, KERNELS["rbf"])
    for most in (1, 3, 1500):
        result = run(problem, 1e-9, max_iter=most)
        assert result.status is ITERATIONS and result.iterations == most
    assert run(problem, 1e-9, max_seconds=1e-9).status is TIME
    first = run(problem, 1e-3)
    assert run(problem, 1e-3, start=first.alpha).iterations == 0


def test_a_run_that_would_not_end_says_so(svm_train, data):
    status, out, err = svm_train("-s", 73, data / "breast_cancer", "m")
    assert status == 0 and "not converged: -e would take a thousand times as many iterations as so far" in err
