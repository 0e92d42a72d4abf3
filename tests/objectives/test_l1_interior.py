"""The squared hinge regularised by |w|_1 by an interior point method: its points, and runs that it ends."""

import numpy as np
import pytest
from l1_suite import check_course
from reference import csr_of

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.objectives.l1.interior import STEP_PASSES, L1Interior
from svmtool.objectives.l1.objective import L1SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import model, proximal_newton
from svmtool.solvers.l1 import state as l1_state
from svmtool.solvers.l1.state import sparse
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule

solve_l1 = registry.solver_of(proximal_newton)


def raw(n: int, d: int, seed: int = 2):
    """Dense features whose sizes span eight orders of magnitude, labels that some ten of them decide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)) @ rng.normal(size=(8, d)) + 0.3 * rng.normal(size=(n, d)) + 1.0
    used = np.where(rng.random(d) < 10.0 / d, rng.normal(size=d), 0.0)
    y = np.where(X @ used + 0.1 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X * 10.0 ** rng.uniform(-3.0, 5.0, d), y


def rows_of(X: np.ndarray, kind: str):
    bias = -1.0 if kind in ("csr", "dense") else 1.0
    return DenseRows(X, bias) if kind.startswith("dense") else CsrRows(*csr_of(X), X.shape[1], bias)


@pytest.mark.parametrize("kind", ["csr", "csr bias", "csr free bias", "dense", "dense bias", "dense free bias"])
@pytest.mark.parametrize("n, d", [(30, 70), (150, 40)])
def test_points_meet_their_bound_in_few_steps(n, d, kind):
    X, y = raw(n, d)
    cost = np.where(y > 0.0, 1e3, 30.0)
    free = kind.endswith("free bias")
    objective = L1SquaredHinge(rows_of(X, kind), y, cost, free)
    A = np.hstack([X, np.ones((n, 1))]) if kind.endswith("bias") else X
    path = L1Interior(objective)
    best = check_course(path, objective, X if free else A, y, cost, most=40, gap=1e-9, tolerance=1e-12)
    if free:
        alpha = path.bound()[1]
        assert abs(float(alpha @ y)) <= 1e-12 * float(np.sum(alpha))
    # zeros where the path leads to zero, at no loss
    assert path.identified
    value, w = sparse(objective, path.w, path.used(), 1e-9, Monitor())
    assert value <= best * (1 + 1e-9)
    assert 0 < np.count_nonzero(w) <= min(n, d) * 0.7
    g = 2.0 * (cost * np.maximum(1.0 - y * (A @ w), 0.0) * -y) @ A
    assert np.all(np.abs(g + objective.penalty * np.sign(w))[w != 0.0] <= 1e-2)


@pytest.mark.parametrize("gap", [1e-2, 1e-7])
@pytest.mark.parametrize("free_bias", [False, True])
def test_a_run_on_raw_features_is_ended_by_it(gap, free_bias):
    """Newton's steps alone are short: with them the gap is above 0.9 after so many iterations."""
    X, y = raw(300, 90)
    task = Task(rows_of(X, "dense free bias" if free_bias else "dense"), y, np.full(300, 1e4), free_bias=free_bias)
    result = solve_l1(task, Monitor(gap=gap, max_iter=100), Rule())
    assert result.status is base.GAP
    objective = L1SquaredHinge(task.rows, y, task.cost, free_bias)
    objective.set_point(result.w)
    final = result.history[-1]
    assert objective.value() == pytest.approx(final["objective"], rel=1e-12)
    assert final["objective"] - final["bound"] <= gap * final["objective"]
    assert 0 < np.count_nonzero(result.w) < 60
    assert np.abs(X.T @ (result.alpha * y)).max() <= 1 + 1e-9
    assert np.sum(result.alpha - result.alpha**2 / 4e4) == pytest.approx(final["bound"], rel=1e-9)


@pytest.mark.parametrize("seed", [93, 100, 278])
def test_a_system_of_features_follows_one_of_rows_without_digits(seed):
    """A few rows less than features, whose scales span nine orders of magnitude."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 60)), int(rng.integers(0, 60) if rng.random() < 0.6 else rng.integers(0, 4))
    assert rng.random() < 0.5 and n <= d
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-4, 6, d)
    y = np.where(rng.random(n) < rng.uniform(0.05, 0.95), 1.0, -1.0)
    C = 10.0 ** rng.integers(-3, 8)
    cost = np.full(n, C) * np.where(y > 0.0, 10.0 ** rng.integers(-2, 3), 1)
    result = solve_l1(Task(DenseRows(X, 1.0), y, cost, free_bias=True), Monitor(gap=1e-6), Rule())
    assert result.status is base.GAP and len(result.history) < 60


def test_limits_end_it():
    X, y = raw(300, 90)
    task = Task(rows_of(X, "dense"), y, np.full(300, 1e4))
    found = {}
    for most in (2, 8, 14, 20, 24):
        result = solve_l1(task, Monitor(gap=1e-9, max_iter=most), Rule())
        found[most] = result.history[-1]["objective"]
        assert result.status is base.ITERATIONS
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_systems_that_overflow_end_it(monkeypatch):
    X, y = raw(40, 70)
    task = Task(rows_of(X, "dense"), y, np.full(40, 1e4))
    run = proximal_newton.ProximalNewton(proximal_newton.of_task(task), Monitor(gap=1e-9), Rule(), "matrix")
    run.objective.set_point(np.zeros(70))
    before = run.objective.value()

    class Overflow(L1Interior):
        def _system(self, E, D):
            return super()._system(E * 1e-300 * 1e-300, D)

    monkeypatch.setattr(l1_state, "L1Interior", Overflow)
    assert run._by_interior_point() is None
    assert run.objective.value() <= before


def test_interior_point_applies_to_squared_hinge():
    X, y = raw(20, 30)
    cost = np.ones(20)
    assert L1Interior.possible(L1SquaredHinge(rows_of(X, "csr"), y, cost))
    assert L1Interior.possible(L1SquaredHinge(rows_of(X, "csr free bias"), y, cost, free_bias=True))
    assert not L1Interior.possible(proximal_newton.of_task(Task(rows_of(X, "csr"), y, cost, target=np.zeros(20))))


def low_rank(seed: int, n: int = 100, d: int = 450):
    """Dense features of rank 60 and a little more; one row in twenty of the first class."""
    rng = np.random.default_rng(seed)
    product = rng.normal(size=(n, 60)) @ rng.normal(size=(60, d)) / np.sqrt(60.0)
    return np.tanh(1.5 * product + 0.2 * rng.normal(size=(n, d))), np.where(np.arange(n) % 20 == 0, 1.0, -1.0)


def test_a_model_takes_no_longer_than_a_run(monkeypatch):
    """Faces of more weights than rows lose them one by one: 475 systems where no model is left as it is."""
    systems, plain = [], model.solve_positive
    monkeypatch.setattr(model, "solve_positive", lambda *a: systems.append(1) or plain(*a))
    X, y = low_rank(5)
    result = solve_l1(Task(rows_of(X, "dense"), y, np.full(100, 1e6)), Monitor(gap=1e-5), Rule())
    assert result.status is base.GAP
    assert len(systems) < 250


@pytest.mark.parametrize("kind", ["dense", "csr free bias"])
@pytest.mark.parametrize("cost", [1e6, 1e9, 1e12])
def test_last_bits_cost_no_steps(cost, kind):
    """The start is far above the optimum: rounding of its sums exceeds the solution of the first systems."""
    for seed in range(2):
        X, y = low_rank(seed)
        steps = []
        for k in range(3):  # whatever a machine rounds, these are rounded differently
            other = X * (1.0 + 1e-15 * np.random.default_rng(k).uniform(-1.0, 1.0, X.shape))
            objective = L1SquaredHinge(rows_of(other, kind), y, np.full(100, cost), kind.endswith("free bias"))
            path = L1Interior(objective)
            check_course(path, objective, other, y, objective.cost, most=25, gap=1e-8, tolerance=1e-12)
            steps.append(path.work)
        assert max(steps) - min(steps) <= 2 * STEP_PASSES, (seed, steps)


def test_interior_point_runs_when_other_methods_stall():
    class Standstill(proximal_newton.ProximalNewton):
        def steps(self):
            return base.PRECISION

    X, y = raw(40, 90)
    task = Task(rows_of(X, "dense"), y, np.full(40, 100.0))
    run = Standstill(proximal_newton.of_task(task), Monitor(1e-8), Rule(), "matrix")
    assert run.from_weights(np.zeros(90)) is base.GAP
    assert run.monitor.history[-1]["gap"] <= 1e-8
