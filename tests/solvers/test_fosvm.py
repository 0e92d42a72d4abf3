"""FOSVM: its optimum, its theta on all rows, laws of the geometry, samples, and what it cannot do."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from fosvm_problems import KERNELS, cloud, optimum, solve, solve_linear, values
from kernel_suite import run
from reference import table_of

from svmtool import registry
from svmtool.compiled import threads
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import HardOneClass, Points
from svmtool.limits import EndedError
from svmtool.linalg.minimum_norm_point import MinimumNormPoint
from svmtool.models.kernel_functions import Kernel
from svmtool.objectives import one_class
from svmtool.objectives.task import Options, Task
from svmtool.params import Settings
from svmtool.registry.row import gap_of_theta
from svmtool.solvers import fosvm, fosvm_kernel
from svmtool.solvers.shared import base, cutting_planes
from svmtool.solvers.shared.base import Monitor, Rule, StopFlag
from svmtool.training.reductions.one_class import HardOneClass as LinearSet

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


@pytest.mark.parametrize("solver", [solve_kernel, solve_sampled])
def test_a_limit_before_the_first_round_of_decomposition(solver, monkeypatch):
    """The rows chosen so far are the answer."""
    X, stop = cloud(200, 3, 13), StopFlag()

    def ended(*args):
        stop.set = True
        raise EndedError

    monkeypatch.setattr(fosvm_kernel, "_decompose", ended)
    problem = HardOneClass(Points(KERNELS["narrow"], DenseRows(X), None))
    result = solver(problem, Monitor(1e-6, stop=stop), Rule())
    assert result.status is base.INTERRUPTED
    assert np.sum(result.alpha) == pytest.approx(1.0) and np.all(result.alpha >= 0.0)


@both_kinds
def test_linear_optimum_and_its_certificate(sparse):
    X = cloud()
    s, certificate = solve_linear(X, gap=1e-11, sparse=sparse)
    best = optimum(X @ X.T)
    assert s.rho == pytest.approx(best, rel=1e-9)
    assert -certificate.dual == pytest.approx(0.5 * best, rel=1e-9) and 0.0 <= certificate.gap <= 1e-10
    np.testing.assert_allclose(s.result.w[:-1], X.T @ s.alpha, rtol=1e-12)
    assert s.rho * (1 - 1e-5) < s.result.w[-1] < s.rho, "rows on the hyperplane are inside"


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


@every_kernel
def test_smaller_theta_is_nearer_the_optimum(kernel):
    X = cloud(300, 4, 2)
    found = [solve(X, kernel, theta) for theta in THETAS]
    rho = [s.rho for s in found]
    assert all(a >= b * (1 - 1e-12) for a, b in zip(rho, rho[1:], strict=False))
    assert found[-1].result.iterations >= found[0].result.iterations
    assert found[-1].result.iterations > 0


@every_kernel
def test_order_and_repetition_of_rows_do_not_matter(kernel):
    X = cloud(60, 3, 3)
    plain = solve(X, kernel, gap=1e-10)
    order = np.random.default_rng(0).permutation(60)
    np.testing.assert_allclose(solve(X[order], kernel, gap=1e-10).z, plain.z[order], rtol=1e-4)
    twice = solve(np.repeat(X, 2, axis=0), kernel, gap=1e-10)
    np.testing.assert_allclose(twice.z, np.repeat(plain.z, 2), rtol=1e-4)
    assert twice.rho == pytest.approx(plain.rho, rel=1e-8)


def test_rows_twice_as_far_are_twice_as_far():
    X = cloud(60, 3, 4)
    assert solve_linear(2.0 * X, gap=1e-10)[0].rho == pytest.approx(4.0 * solve_linear(X, gap=1e-10)[0].rho, rel=1e-9)


def test_few_kept_rows_give_the_same(monkeypatch):
    """With memory for one kernel row the rest is computed again each time."""
    X = cloud(400, 3, 5)
    much, little = (solve(X, KERNELS["rbf"], 0.01, cache_mb=mb) for mb in (10.0, 4 * 400 / 2**20))
    assert little.rho == pytest.approx(much.rho, rel=1e-6)
    assert little.result.status is base.GAP and little.short <= 0.01


@pytest.mark.parametrize("size", [1e-3, 1e-2])
def test_errors_of_kernel_rows_end_no_run(size, monkeypatch):
    """Sums of rows in single precision choose the next row, but never end a run."""
    from svmtool.kernels.rows import KernelRows

    plain = KernelRows.add

    def blurred(self, chosen, c, f, keep):
        plain(self, chosen, c, f, keep)
        f += size * np.cos(np.arange(len(f)) + len(chosen))

    monkeypatch.setattr(KernelRows, "add", blurred)
    X = cloud(fosvm_kernel.EXACT_ROWS, 3, 11)
    for theta in (0.05, 0.001):
        s = solve(X, KERNELS["rbf"], theta)
        assert s.result.status is base.GAP and s.short <= theta * (1 + 1e-9)


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


def test_what_a_sample_says_holds():
    """Few runs end with more than 5% of the rows beyond theta: a sample of 59 misses them with 5% each time."""
    X = cloud(800, 3, 8)
    beyond = []
    for seed in range(40):
        s = solve(X, KERNELS["rbf"], 0.2, 81, sample=59, seed=seed)
        assert s.result.status.name == "sample" and "not certified" in s.result.status.advice
        assert f"rounds: {s.result.iterations + 1}" in s.result.status.advice
        beyond.append(np.mean(s.z < 0.8 * s.rho))
    evaluations = s.result.iterations + 1
    assert np.mean(np.array(beyond) > 0.05) <= 0.05 * (evaluations + 1) + 0.1
    assert max(beyond) > 0.0, "and it is a sample: some rows are beyond"


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


def test_hardly_a_row_is_beyond_after_samples():
    """Of 3000 rows none was: with 95% less than one of all rows in a thousand."""
    X = cloud(20_000, 3, 8)
    for seed in range(5):
        settings = Settings.of(solver=81, gap=gap_of_theta(0.1), seed=seed)
        [result] = LinearSet(table_of(X, np.ones(len(X))), settings).fit()
        assert result.status.name == "sample" and "exp(-3000 eps)" in result.status.advice
        assert np.mean(X @ result.w[:-1] < 0.9 * result.w[-1]) <= 0.003


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
    n = fosvm_kernel.WORKING_SET_SIZE + 500
    close, s = (solve(cloud(n, 3, 16), KERNELS["narrow"], theta) for theta in (1e-8, 0.01))
    assert parts_of(close) == parts_of(s) == [n]
    assert close.short <= 1e-8 and s.short <= 0.01 and 0.99**2 * s.rho <= close.rho <= s.rho * (1 + 1e-7)


class Idle:
    """A PairDescent that moves nothing."""

    work = 0.0

    def __call__(self, state, chosen, tolerance):
        return state.a[chosen]


def test_what_decomposition_cannot_tell_exact_small_problems_can(monkeypatch):
    """Coarse kernel values in its blocks stop it; the run goes on from there to the same optimum."""
    X = cloud(200, 3, 13)
    exact = solve(X, KERNELS["narrow"], gap=1e-10)
    monkeypatch.setattr(fosvm_kernel, "PairDescent", Idle)
    s = solve(X, KERNELS["narrow"], gap=1e-10)
    assert parts_of(exact) == parts_of(s) == [200] and s.result.status.converged
    assert s.rho == pytest.approx(exact.rho, rel=1e-9) and np.min(s.z) >= s.rho * (1 - 1e-9)


def test_decomposition_that_costs_more_than_exact_small_problems_leaves_the_rest_to_them():
    """Kernel values of 1e20 to 1e27: rounds by the thousand brought the gap from 1e3 to 300 in a minute."""
    X = 800.0 * np.random.default_rng(6).normal(size=(120, 8)) + 50.0
    s = solve(X, Kernel(1, 0.1, 5, 0.0), gap=1e-3)
    assert s.result.status is base.GAP and np.count_nonzero(s.alpha) > fosvm_kernel.EXACT_ROWS
    assert s.result.iterations < 100


def test_a_limit_during_the_exact_solution_keeps_what_decomposition_had():
    X, stop, gaps = 800.0 * np.random.default_rng(6).normal(size=(120, 8)) + 50.0, StopFlag(), []

    def sink(method, gap, rows=0, **_):
        if rows:
            gaps.append(gap)
        stop.set = method.startswith("exact solutions")

    s = solve(X, Kernel(1, 0.1, 5, 0.0), gap=1e-3, stop=stop, sink=sink)
    assert s.result.status is base.INTERRUPTED and np.count_nonzero(s.alpha) > 8
    assert s.result.gap <= gaps[-1] * (1 + 1e-6)


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


@pytest.mark.parametrize("row", [80, 81])
def test_threads_leave_the_bits_of_decomposition(row):
    X, found = cloud(1500, 3, 15), []
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            s = solve(X, KERNELS["narrow"], 0.1, row)
            assert parts_of(s)
            found.append(s.alpha.tobytes())
    finally:
        threads.set_count(None)
    assert found[0] == found[1] == found[2]


def test_limits_of_decomposition_are_reported():
    X = cloud(400, 3, 12)
    s = solve(X, KERNELS["narrow"], gap=1e-9, max_iter=40)
    assert parts_of(s) and s.result.status is base.ITERATIONS and s.result.iterations == 40
    assert np.sum(s.alpha) == pytest.approx(1.0, rel=1e-12) and s.short > 1e-9


def test_an_indefinite_kernel_is_reported_late():
    """Its first rows are orthogonal; that w.w would be negative shows only with many rows, often in decomposition."""
    rng = np.random.default_rng(0)
    K = np.eye(200)
    noise = rng.standard_normal((130, 130))
    K[70:, 70:] += 0.2 * (noise + noise.T)
    result = run(solve_kernel, HardOneClass(Points(Kernel(4), None, K)), Monitor(0.1, 500, 10.0))
    assert result.status is cutting_planes.NOT_SEMIDEFINITE and not result.status.converged


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
    from svmtool.data.dense import DenseRows

    return DenseRows(X.copy())


@pytest.mark.parametrize("n", [1, 2])
@every_kernel
def test_one_or_two_rows(kernel, n):
    X = np.array([[2.0, 1.0], [1.0, 3.0]])[:n]
    s = solve(X, kernel, gap=1e-12)
    assert s.result.status.converged and s.rho == pytest.approx(optimum(values(X, kernel)), rel=1e-9)


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


@pytest.mark.parametrize("n, sample, method", [(62, 60, "all"), (63, 60, "sample"), (100, None, "all")])
def test_plan(n, sample, method):
    rows, rule = _dense(cloud(n)), Rule()
    task = Task(rows, np.ones(n), np.ones(n), options=Options(sample=sample))
    problem = HardOneClass(Points(KERNELS["rbf"], rows, None))
    for _ in range(2):
        assert fosvm.plan(task, rule).method == fosvm_kernel.plan(problem, rule).method == "all"
        assert fosvm.plan_sampled(task, rule).method == method
        problem.options = problem.options._replace(sample=sample)
        assert fosvm_kernel.plan_sampled(problem, rule).method == method


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
