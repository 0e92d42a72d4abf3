"""Every row of the registry that solves problems with kernels: certificates, oracles, laws, determinism."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import KERNELS, LEAST_SQUARES, WITH_COST, Data, certified, oracle, random_data, run, solve
from sampling import pairs_in_turn

from svmtool import registry
from svmtool.compiled import threads
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import LeastSquaresSvc, Points
from svmtool.params import Settings, tolerance
from svmtool.solvers.shared.base import GAP, INTERRUPTED, ITERATIONS, RULE, Monitor, StopFlag

FLAG = StopFlag()
FLAG.set = True

every_row = pytest.mark.parametrize("row", registry.KERNEL_SOLVERS, ids=lambda row: row.name)
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
both_kinds = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
least_squares = pytest.mark.parametrize("row", LEAST_SQUARES, ids=lambda row: row.name)
LABELLED = [row for row in registry.KERNEL_SOLVERS if "one-class" not in row.kind]
with_labels = pytest.mark.parametrize("row", LABELLED, ids=lambda row: row.name)
with_cost = pytest.mark.parametrize("row", WITH_COST, ids=lambda row: row.name)


@every_row
@every_kernel
@both_kinds
def test_answer_is_certified_and_the_oracles(row, kernel, sparse):
    problem = random_data().problem(row, kernel, sparse)
    s, best = solve(row, problem), oracle(row, problem)
    assert s.result.status.converged and best.certificate.gap < 1e-7
    assert s.certificate.gap <= 2e-9 and s.certificate.violation < 1e-3
    assert s.result.gap == pytest.approx(s.certificate.gap, abs=1e-9)
    assert s.result.objective == pytest.approx(best.result.objective, rel=1e-7)
    np.testing.assert_allclose(s.f, best.f, atol=2e-3 * np.abs(best.f).max())
    if row.free_bias and row.regulariser != "|w|_1":  # whose coefficients are no dual point
        assert abs(np.sum(s.function.coef)) < 1e-8 or row.word == "one_class"


@every_row
def test_default_rule_ends_the_run(row):
    problem = random_data().problem(row, KERNELS["rbf"])
    defaults = Settings.of_kernel(solver=row.number)
    monitor = Monitor(defaults.target)
    s = certified(problem, run(registry.entry(row), problem, monitor, tolerance(defaults), 100.0))
    if row.gap_default is not None:
        assert s.result.status is GAP and s.certificate.gap <= row.gap_default
    else:
        assert s.result.status is RULE and s.certificate.violation <= 1.01 * row.eps_default
    gaps = [record["objective"] - record["bound"] for record in monitor.history]
    assert min(gaps) >= -1e-9, "a dual value is below every primal one"


@with_cost
@every_kernel
def test_rows_twice_at_half_the_cost_give_the_same_function(row, kernel):
    data = random_data(40)
    order = np.argsort(np.tile(-data.y, 2), kind="stable")
    twice = Data(np.tile(data.X, (2, 1))[order], np.tile(data.y, 2)[order], np.tile(data.t, 2)[order], data.C / 2)
    f = solve(row, data.problem(row, kernel)).f
    g = solve(row, twice.problem(row, kernel)).f
    np.testing.assert_allclose(g, np.tile(f, 2)[order], atol=2e-3 * np.abs(f).max())


@with_labels
@every_kernel
def test_turned_labels_turn_the_function(row, kernel):
    data = random_data(40)
    order = np.argsort(data.y, kind="stable")
    turned = Data(data.X[order], -data.y[order], -data.t[order], data.C)
    f = solve(row, data.problem(row, kernel)).f
    g = solve(row, turned.problem(row, kernel)).f
    np.testing.assert_allclose(g, -f[order], atol=2e-3 * np.abs(f).max())


@pytest.mark.parametrize(("row", "sparse"), pairs_in_turn(registry.KERNEL_SOLVERS, [False, True]))
def test_threads_leave_the_bits(row, sparse):
    """More rows than a tile has columns, and memory for some of them only."""
    n = 1400 if row.regulariser != "|w|_1" else 140  # a linear programme takes thousands of passes over the matrix
    problem = random_data(n, seed=3).problem(row, KERNELS["rbf"], sparse)
    found = []
    for count in (1, 2):
        with threads.limited(count):
            result = run(registry.entry(row), problem, Monitor(1e-3, max_seconds=60), 0.0, 2.0)
            assert result.status is GAP or (result.status.name == "sample" and "--sample" in row.supported)
            found.append((result.alpha.tobytes(), result.rho, result.objective))
    assert found[0] == found[1]


@every_row
def test_limits_are_reported(row):
    problem = random_data().problem(row, KERNELS["rbf"])
    result = run(registry.entry(row), problem, Monitor(1e-12, max_iter=1), 0.0, 100.0)
    assert result.status is ITERATIONS and not result.status.converged
    result = run(registry.entry(row), problem, Monitor(1e-12, stop=FLAG), 0.0, 100.0)
    assert result.status is INTERRUPTED
    assert np.all(np.isfinite(result.alpha)) and len(result.alpha) == len(problem.y)


@least_squares
@pytest.mark.parametrize("zero", [(0.0, 2.0), (2.0, 0.0), (0.0, 0.0)])
def test_classes_without_cost_have_no_part(row, zero):
    data = random_data(20)
    problem = LeastSquaresSvc(
        Points(KERNELS["rbf"], DenseRows(data.X), None), data.y, np.repeat(zero, 10), row.free_bias
    )
    s = solve(row, problem)
    assert s.result.status.converged and s.certificate.gap <= 2e-9
    assert np.all(s.function.coef[np.repeat(zero, 10) == 0.0] == 0.0) and len(s.function.coef) == 20
