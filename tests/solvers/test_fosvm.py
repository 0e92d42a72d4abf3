"""FOSVM: its optimum, its theta on all rows, laws of the geometry, samples, and what it cannot do."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from fosvm_problems import KERNELS, cloud, optimum, solve, solve_linear, values
from kernel_suite import run

from svmtool import registry
from svmtool.compiled import threads
from svmtool.data.dense import DenseRows
from svmtool.kernels.decomposition import SET_SIZE
from svmtool.kernels.problems import HardOneClass, Points
from svmtool.linalg.minimum_norm_point import MinimumNormPoint
from svmtool.models.kernel_functions import Kernel
from svmtool.objectives import one_class
from svmtool.objectives.task import Options, Task
from svmtool.registry.row import gap_of_theta
from svmtool.solvers import fosvm, fosvm_kernel
from svmtool.solvers.shared import base, cutting_planes
from svmtool.solvers.shared.base import Monitor, Rule, StopFlag

solve_kernel = registry.solver_of(fosvm_kernel)

solve_sampled = registry.solver_of(fosvm_kernel, "plan_sampled")

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
both_kinds = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
THETAS = (0.5, 0.2, 0.05, 0.005)


@every_kernel
@both_kinds
def test_optimum(kernel, sparse):
    X = cloud()
    s = solve(X, kernel, gap=1e-10, sparse=sparse)
    assert s.result.status.converged
    assert s.rho == pytest.approx(optimum(values(X, kernel)), rel=1e-8)
    assert np.min(s.z) >= s.rho * (1 - 1e-9)


@functools.cache
def optimum_of_cloud(kernel: Kernel) -> float:
    return optimum(values(cloud(100, 4, 1), kernel))


@every_kernel
@pytest.mark.parametrize("theta", THETAS)
def test_no_row_is_beyond_theta(kernel, theta):
    X = cloud(100, 4, 1)
    s = solve(X, kernel, theta)
    assert s.result.status is base.GAP
    assert np.all(s.z >= (1 - theta) * s.rho * (1 - 1e-9)) and np.sum(s.alpha) == pytest.approx(1.0, rel=1e-12)
    theta_reached = max(s.short, 0.0)
    assert s.result.gap == pytest.approx((1 - theta_reached) ** -2 - 1, rel=1e-4, abs=1e-9)
    best = optimum_of_cloud(kernel)
    assert (1 - theta) ** 2 * s.rho <= best * (1 + 1e-9) and best <= s.rho * (1 + 1e-9)


def test_sample_of_all_rows_is_all_rows():
    X = cloud(300, 4, 6)
    for theta in (0.3, 0.01):
        all_rows, sampled = solve(X, KERNELS["rbf"], theta), solve(X, KERNELS["rbf"], theta, 81, sample=300)
        assert sampled.alpha.tobytes() == all_rows.alpha.tobytes() and sampled.result.status is base.GAP
        a, b = solve_linear(X, 80, theta)[0], solve_linear(X, 81, theta, sample=300)[0]
        assert a.alpha.tobytes() == b.alpha.tobytes() and b.result.status is base.GAP


def test_samples_repeat_with_their_seed():
    X = cloud(900, 4, 7)
    found = {seed: [solve(X, KERNELS["rbf"], 0.05, 81, sample=20, seed=seed) for _ in "ab"] for seed in range(6)}
    for a, b in found.values():
        assert a.alpha.tobytes() == b.alpha.tobytes()
    assert len({a.alpha.tobytes() for a, _ in found.values()}) > 1
    linear = [solve_linear(X, 81, 0.05, sample=5, seed=seed)[0].alpha.tobytes() for seed in (1, 1, 2, 3, 4, 5)]
    assert linear[0] == linear[1] and len(set(linear)) > 1


@pytest.mark.parametrize("row", [80, 81])
def test_threads_leave_the_bits_of_linear_answers(row, monkeypatch):
    monkeypatch.setattr("svmtool.data.row_storage.BLOCK_WORK", 16)
    X, found = cloud(500, 4, 9), []
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            found.append(solve_linear(X, row, 0.01)[0].result.w.tobytes())
    finally:
        threads.set_count(None)
    assert found[0] == found[1] == found[2]


def parts_of(s) -> list[int]:
    """How many rows each decomposition had."""
    sizes = [record["rows"] for record in s.result.history if "rows" in record]
    return [n for k, n in enumerate(sizes) if k == 0 or n != sizes[k - 1]]


@both_kinds
@pytest.mark.parametrize("kernel", [Kernel(2, 3.0), KERNELS["narrow"]], ids=["rbf", "narrow"])
def test_decomposition_agrees_with_exact_small_problems(kernel, sparse):
    X = cloud(400, 3, 12)
    found = {theta: solve(X, kernel, theta, sparse=sparse) for theta in THETAS}
    close = solve(X, kernel, gap=1e-9, sparse=sparse)
    assert [parts_of(s) for s in (*found.values(), close)] == [[400]] * 5
    exact = MinimumNormPoint()
    exact.join(values(X, kernel))
    exact.solve()
    assert close.rho == pytest.approx(exact.rho, rel=2e-9)
    np.testing.assert_allclose(close.z, exact.z, rtol=1e-3)
    for theta, s in found.items():
        assert s.result.status is base.GAP and s.short <= theta * (1 + 1e-9)
        assert np.all(s.alpha >= 0.0) and np.sum(s.alpha) == pytest.approx(1.0, rel=1e-12)
        assert (1 - theta) ** 2 * s.rho <= exact.rho * (1 + 1e-9) and exact.rho <= s.rho * (1 + 1e-9)
        assert np.all(s.z[s.alpha > 0.0] > s.result.rho), "support vectors are inside"
        assert s.result.rho >= (1 - theta) * s.rho * (1 - 1e-5)
        np.testing.assert_allclose(s.result.gradient, s.z, rtol=1e-4)


def test_more_rows_than_a_working_set():
    n = SET_SIZE + 500
    close, s = (solve(cloud(n, 3, 16), KERNELS["narrow"], theta) for theta in (1e-8, 0.01))
    assert parts_of(close) == parts_of(s) == [n]
    assert close.short <= 1e-8 and s.short <= 0.01 and 0.99**2 * s.rho <= close.rho <= s.rho * (1 + 1e-7)


def test_samples_of_many_rows():
    """Parts of the rows that double, until a fresh sample of the others is clean; or all rows."""
    X = cloud(3000, 3, 14)
    runs = [solve(X, KERNELS["rbf"], 0.05, 81, sample=60, seed=seed) for seed in (3, 3, 7)]
    assert runs[0].alpha.tobytes() == runs[1].alpha.tobytes() != runs[2].alpha.tobytes()
    parts = [n for s in runs for n in parts_of(s)]
    assert all(n < 1500 for n in parts) and len(parts) > 3, "parts"
    for s in runs:
        assert s.result.status.name == "sample" and "none of 60 sampled rows" in s.result.status.advice
        assert 0.0 < np.mean(s.z < 0.95 * s.rho) <= 0.08
        assert s.result.gap == pytest.approx((1 - s.short) ** -2 - 1, rel=1e-4)
    s = solve(X[:800], KERNELS["narrow"], 0.1, 81, sample=100)
    assert parts_of(s)[-1] == 800 and s.result.status is base.GAP and s.short <= 0.1 * (1 + 1e-9)


def test_origin_among_the_rows():
    X = np.vstack([np.eye(3), -np.eye(3), 0.3 * cloud(20, 3, 1, 0.0)])
    s, certificate = solve_linear(X)
    assert s.result.status.converged and not np.any(s.result.w)
    assert certificate.primal == 0.0 and certificate.gap <= 1.0
    with_kernel = solve(X, KERNELS["linear"], 0.1)
    assert with_kernel.result.status.converged and with_kernel.rho <= 1e-8
    problem = HardOneClass(Points(KERNELS["linear"], _dense(X), None))
    assert problem.decision_function(with_kernel.result).warning == one_class.ORIGIN_IN_HULL


@pytest.mark.parametrize("height", [1e-6, 1e-3])
def test_a_plane_near_the_origin_beside_the_rows_sizes_is_an_answer(height):
    """Rows up to 1e4 times as long as their hull is far away: w separates them, which w = 0 does not."""
    X = np.array([[1.0, height], [-1.0, height], [0.5, 2.0 * height]]) * 10.0
    s, certificate = solve_linear(X)
    value = -0.5 * (10.0 * height) ** 2
    assert certificate.primal == pytest.approx(value, rel=1e-6) and s.result.w[1] == pytest.approx(10.0 * height)
    with_kernel = solve(X, KERNELS["linear"], 1e-3)
    assert with_kernel.result.status.converged
    problem = HardOneClass(Points(KERNELS["linear"], _dense(X), None))
    assert not problem.decision_function(with_kernel.result).warning


def _dense(X):

    return DenseRows(X.copy())


def test_limits_are_reported():
    X = cloud(300, 4, 2)
    cut, cut_linear = solve(X, KERNELS["narrow"], 0.01, max_iter=2), solve_linear(X, gap=1e-9, max_iter=1)[0]
    assert cut.result.status is base.ITERATIONS and cut_linear.result.status is base.ITERATIONS
    assert cut.result.iterations == 2 and cut.rho >= solve(X, KERNELS["narrow"], 0.01).rho
    stop = StopFlag()
    stop.set = True
    s = solve(X, KERNELS["narrow"], 0.01, stop=stop)
    assert s.result.status is base.INTERRUPTED and np.sum(s.alpha) == pytest.approx(1.0)


def test_a_precomputed_kernel_of_no_feature_space_is_reported():
    K = np.array([[1.0, -3.0, 0.2], [-3.0, 1.0, 0.1], [0.2, 0.1, 1.0]])
    problem = HardOneClass(Points(Kernel(4), None, K))
    result = run(solve_kernel, problem, Monitor(0.1, 50, 10.0))
    assert result.status is cutting_planes.NOT_SEMIDEFINITE and not result.status.converged


@pytest.mark.parametrize("method", fosvm.METHODS)
def test_each_method_keeps_its_guarantee(method):
    X = cloud(300, 3, 4)
    problem = HardOneClass(Points(KERNELS["rbf"], _dense(X), None))
    task = Task(_dense(X), np.ones(300), np.ones(300), options=Options(sample=100))
    gap, status = gap_of_theta(0.1), "gap" if method == "all" else "sample"
    found = registry.solver_of(fosvm, "plan_sampled")(task, Monitor(gap), Rule(), method=method)
    with_kernel = run(solve_sampled, problem, Monitor(gap), sample=100, method=method)
    assert found.status.name == with_kernel.status.name == status
    for z in (X @ found.w[:-1] / found.w[-1], values(X, KERNELS["rbf"]) @ with_kernel.alpha / with_kernel.rho):
        assert np.mean(z < 0.9 * (1 - 1e-5)) <= (0.0 if method == "all" else 0.05)
