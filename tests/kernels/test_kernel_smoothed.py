"""C-SVM with a kernel by smoothing: Newton's steps, and both ways to their linear systems."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import KERNELS, oracle, random_data, run, solve
from loop_suite import check_each_loop_is_called
from reference_kernel import kernel_matrix

from svmtool import registry
from svmtool.certify.kernel import certificate_of
from svmtool.compiled.loops.loss import smoothed_loops
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.results import feasible_sums
from svmtool.kernels.smoothed import SmoothedHinge
from svmtool.solvers import nesvm_kernel
from svmtool.solvers.shared.base import PRECISION, Monitor

NESVM = registry.find_kernel("nesvm")
ways = pytest.mark.parametrize("method", ["cg", "factorised"])
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@ways
@every_kernel
def test_both_ways_find_the_optimum(method, kernel):
    problem = random_data(120, seed=5).problem(NESVM, kernel)
    s, best = solve(NESVM, problem, 1e-8, method=method), oracle(NESVM, problem)
    assert s.result.status.converged and s.certificate.gap <= 1.1e-8
    assert s.result.objective == pytest.approx(best.result.objective, rel=2e-8)


@ways
@every_kernel
def test_newton_ends_at_the_minimum_of_a_piece(method, kernel):
    """Where no u_i reaches a bound, one step makes the gradient of F_mu zero up to single precision."""
    problem = random_data(40, seed=1).problem(NESVM, kernel)
    smoothed = SmoothedHinge(Decomposition(problem, 10.0), 10.0, nesvm_kernel.FACTORISED_ROWS[method], rtol=1e-6)
    smoothed.begin(1e3)
    smoothed.u0 = np.full(40, 0.5)
    smoothed.b = smoothed.best_bias()
    d, db, inside = smoothed.newton()
    assert inside == 40
    assert smoothed.step(d, db) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(smoothed.c, smoothed.slopes(smoothed.b), atol=1e-4)
    np.testing.assert_allclose(smoothed.f, kernel_matrix(problem) @ smoothed.c, atol=1e-3)


@every_kernel
def test_each_step_lowers_the_function(kernel):
    problem = random_data(80, seed=2).problem(NESVM, kernel)
    K, y, C = kernel_matrix(problem), problem.y, problem.upper
    smoothed = SmoothedHinge(Decomposition(problem, 10.0), 10.0)
    smoothed.begin(0.01)

    def value() -> float:
        xi = 1.0 - y * (K @ smoothed.c + smoothed.b)
        u = np.clip(xi / 0.01, 0.0, 1.0)
        return 0.5 * float(smoothed.c @ K @ smoothed.c) + float(C @ (u * xi - 0.005 * u * u))

    values = [value()]
    for _ in range(12):
        d, db, _ = smoothed.newton()
        smoothed.step(d, db)
        values.append(value())
    assert np.all(np.diff(values) <= 1e-5 * values[0]) and values[-1] < 0.9 * values[0]
    assert abs(np.sum(smoothed.slopes(smoothed.b))) < 1e-9


def test_updated_state_is_feasible():
    problem = random_data(80, seed=3).problem(NESVM, KERNELS["rbf"])
    state = Decomposition(problem, 10.0)
    smoothed = SmoothedHinge(state, 10.0)
    smoothed.begin(0.1)
    smoothed.step(*smoothed.newton()[:2])
    smoothed.update_state()
    assert np.all((state.a >= 0.0) & (state.a <= problem.upper)) and state.a.any()
    assert abs(np.sum(problem.y * state.a)) < 1e-9
    np.testing.assert_allclose(state.f, kernel_matrix(problem) @ (problem.y * state.a), atol=1e-4)


def test_root_of_the_slope_is_found():
    """Against bisection, over sizes of costs, of smoothing and of decision values that are far apart."""
    check_each_loop_is_called(__file__, smoothed_loops)
    rng = np.random.default_rng(7)
    for k in range(60):
        n, mu, size = int(rng.integers(2, 40)), 10.0 ** rng.integers(-8, 3), 10.0 ** rng.integers(-3, 8)
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        f, C, u0 = size * rng.standard_normal(n), 10.0 ** rng.uniform(-6, 6, n), rng.random(n)
        way = np.ones(1) if k % 2 else size * rng.standard_normal(n)
        slope, curve = (0.0, 0.0) if k % 2 else (-abs(float(rng.standard_normal())), 1e-3)
        low, high = (-9.0 * size - 2 * mu - 9.0, 9.0 * size + 2 * mu + 9.0) if k % 2 else (0.0, 1.0)

        def rise(t: float) -> float:
            u = np.clip(u0 + (1.0 - y * (f + t * way)) / mu, 0.0, 1.0)  # noqa: B023
            return slope + t * curve - float(np.sum(C * y * u * way))  # noqa: B023

        t = smoothed_loops.smoothed_root(f, way, y, C, u0, mu, slope, curve, high, low, high)
        assert low <= t <= high
        near = 1e-12 * (high - low)
        noise = 1e-12 * float(np.sum(C * np.abs(way)))
        assert rise(min(t + near, high)) >= -noise or t == high
        assert rise(max(t - near, low)) <= noise or t <= low + near


@pytest.mark.parametrize("size", [1e4, 1e6])
def test_stages_that_bring_nothing_are_few(size):
    """Kernel values of 1e8 and 1e12 make Newton's systems too inaccurate: another method must replace them soon."""
    data = random_data(60, seed=4)
    data.X[:] *= size
    problem, monitor = data.problem(NESVM, KERNELS["linear"]), Monitor(1e-3)
    assert run(registry.solver_of(nesvm_kernel), problem, monitor).status is PRECISION
    assert monitor.iterations == 1


def test_stages_without_a_minimum_count_for_several():
    """Where no stage finds its minimum, and none a smaller gap."""
    data = random_data(60, seed=4)
    data.X[:] *= 1e6
    problem, monitor = data.problem(NESVM, KERNELS["linear"]), Monitor(1e-3)
    assert run(registry.solver_of(nesvm_kernel), problem, monitor, method="factorised").status is PRECISION
    assert 1 < monitor.iterations <= 1 + nesvm_kernel.STALL_STAGES // nesvm_kernel.LOST_STAGE_WEIGHT


def test_direct_solution_is_feasible():
    """Costs far apart and a small mu: one rounding of b moves the slopes' sum by 1e-4 of their sizes."""
    problem = random_data(60, seed=4).problem(NESVM, KERNELS["rbf"])
    problem.upper = np.where(problem.y > 0, 1e-11, 1e-5)
    state = Decomposition(problem, 10.0)
    smoothed = SmoothedHinge(state, 10.0)
    for mu in (1e-2, 1e-5, 1e-8):
        smoothed.begin(mu)
        smoothed.step(*smoothed.newton()[:2])
        smoothed.update_state()
        assert np.all((state.a >= 0.0) & (state.a <= problem.upper))
        assert feasible_sums(problem, state.a)


@every_kernel
def test_a_point_that_is_not_feasible_has_no_dual_value(kernel):
    """Its primal value is that of its decision function."""
    problem = random_data(40, seed=3).problem(NESVM, kernel)
    a = np.random.default_rng(1).random(40) * problem.upper
    f, rho = kernel_matrix(problem) @ (problem.y * a), 0.3
    found = certificate_of(problem, a, problem.gradient(a, f), rho)
    losses = np.maximum(1.0 - problem.y * (f - rho), 0.0)
    assert found.primal == pytest.approx(0.5 * float((problem.y * a) @ f) + float(problem.upper @ losses))
    assert found.dual == 0.0
