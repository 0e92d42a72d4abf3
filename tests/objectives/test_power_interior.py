"""Interior-point steps for powers of the hinge: features of any scale, and when they replace other methods."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from svmtool import registry
from svmtool.certify.linear import Certifier
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.data.replicated import RepeatedRows
from svmtool.objectives import losses
from svmtool.objectives.power_interior import USUAL_STEPS, PowerInterior, by_rows
from svmtool.objectives.task import Task
from svmtool.params import Settings
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor
from svmtool.training.reductions.one_vs_rest import OneVsRest

FREE = [(1.0, True), (1.3, False), (2.0, True)]


def raw(seed: int = 1, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Features from 1 to 1e8 that partly depend on each other, labels (+-1) with noise, rows that stand twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 9)) + rng.random(9)
    X[:, 8] = X[:, 0] + X[:, 1]
    y = np.where(X @ rng.normal(size=9) + rng.normal(size=n) > 0.3, 1.0, -1.0)
    X = np.round(X * 10.0 ** np.array([0, 1, 2, 4, 6, 8, 0, 3, 0]), 2)
    X[n // 2 : n // 2 + 9] = X[:9]
    return X, y


def task_of(p: float, free: bool) -> Task:
    X, y = raw()
    rows = CsrRows(*reference.csr_of(X), X.shape[1], 1.0 if free else -1.0)
    cost = 10.0 ** np.linspace(-2.0, 2.0, len(y))
    return Task(rows, y, cost, free, None, p)


def certified(task: Task, w: np.ndarray, alpha: np.ndarray) -> float:
    certify = Certifier(task.rows, losses.of("Lp hinge", task.p), task.y, task.cost, task.free_bias, task.target)
    return certify.certify(w, alpha).gap


def certified_after_steps(task: Task, p: float, wanted: float) -> float:
    """The certified gap when the steps have reached `wanted`, or after twice their usual number."""
    run = PowerInterior(task, p)
    with np.errstate(all="ignore"):
        for _ in range(2 * USUAL_STEPS):
            run.measure()
            if run.primal - run.dual <= wanted * run.primal:
                break
            run.advance()
    return certified(task, run.w, run.alpha)


def wide(p: float, free: bool, C: float) -> Task:
    """Fewer rows than features, costs over six orders of magnitude."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 400)) * (rng.random((50, 400)) < 0.3) * 10.0 ** rng.uniform(-2.0, 2.0, 400)
    y = np.where(rng.random(50) < 0.3, 1.0, -1.0)
    rows = CsrRows(*reference.csr_of(X), 400, 1.0 if free else -1.0)
    return Task(rows, y, C * 10.0 ** rng.uniform(-3.0, 3.0, 50), free, None, p)


def tube(p: float, free: bool) -> Task:
    """Two sides of each of few rows."""
    few = wide(p, free, 1.0)
    sides = np.repeat((1.0, -1.0), few.rows.n)
    target = 3.0 * np.tile(few.y, 2) * sides - 0.1
    return Task(RepeatedRows(few.rows, 2), sides, np.tile(few.cost, 2), free, target, p)


@pytest.mark.parametrize("p, free", FREE)
def test_few_steps_whatever_the_scale_of_features_and_costs(p, free):
    few, sides = wide(p, free, 1.0), tube(p, free)
    assert by_rows(few.rows) and by_rows(sides.rows)
    for task in (task_of(p, free), few, sides):
        assert certified_after_steps(task, p, 1e-7) <= 2e-7


@pytest.mark.parametrize("solver", [30, 31])
def test_few_rows_with_costs_far_apart_reach_the_gap(solver):
    """Newton steps alone have lengths near 1e-3; interior-point steps make the gap larger before it falls."""
    task = wide(2.0, True, 1e6)
    result = registry.entry(registry.find(solver))(task, Monitor(1e-3), base.Rule())
    assert result.status is base.GAP and certified(task, result.w, result.alpha) <= 1.01e-3


@pytest.mark.parametrize("solver", [30, 31])
def test_products_that_are_rounding_are_no_progress(solver):
    """Rows that differ by 1e-7 of their size: steps make the products smaller and smaller, and nothing else."""
    X = np.array([[5, 0], [7, -6], [6, 1], [5, -5], [5, 3], [5, -3], [3, -2], [4, 4]]) + [1e8, 0.0]
    y = np.array([1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    cost = 1e5 * np.array([0.0054, 0.0033, 0.52, 49.4, 12.1, 181.3, 7.1, 1347.0])
    s = Settings.of(solver=solver, C=1e5, bias=1.0, loss_power=1.7, regularize_bias=False, gap=1e-6)
    [result] = OneVsRest(reference.table_of(X, y, cost), s).fit()
    assert result.iterations < 400 and (result.status is base.PRECISION or result.status.converged)


def far_apart(n: int, d: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Dense features whose sizes span eight orders of magnitude, labels that some ten of them decide."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)) @ rng.normal(size=(8, d)) + 0.3 * rng.normal(size=(n, d)) + 1.0
    used = np.where(rng.random(d) < 10.0 / d, rng.normal(size=d), 0.0)
    y = np.where(X @ used + 0.1 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X * 10.0 ** rng.uniform(-3.0, 5.0, d), y


@pytest.mark.parametrize("seed", [93, 278])
def test_a_system_of_features_follows_one_of_rows_without_digits(seed):
    """A few rows less than features, whose scales span nine orders of magnitude."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 60)), int(rng.integers(0, 60) if rng.random() < 0.6 else rng.integers(0, 4))
    assert rng.random() < 0.5 and n <= d
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-4, 6, d)
    y = np.where(rng.random(n) < rng.uniform(0.05, 0.95), 1.0, -1.0)
    C = 10.0 ** rng.integers(-3, 8)
    cost = np.full(n, C) * np.where(y > 0.0, 10.0 ** rng.integers(-2, 3), 1)
    task = Task(DenseRows(X, 1.0), y, cost, free_bias=True)
    assert registry.entry(registry.find(5))(task, Monitor(gap=1e-6), base.Rule()).status is base.GAP


@pytest.mark.parametrize("gap, free_bias", [(1e-2, True), (1e-7, False)])
def test_a_run_with_large_costs_and_raw_features_is_ended_by_it(gap, free_bias):
    """The answer has exact zeros, and its dual point is feasible."""
    X, y = far_apart(300, 90)
    task = Task(DenseRows(X, 1.0 if free_bias else -1.0), y, np.full(300, 1e4), free_bias)
    result = registry.entry(registry.find(5))(task, Monitor(gap=gap, max_iter=150), base.Rule())
    assert result.status is base.GAP
    final = result.history[-1]
    assert final["objective"] - final["bound"] <= gap * final["objective"]
    assert 0 < np.count_nonzero(result.w) < 60
    assert np.abs(X.T @ (result.alpha * y)).max() <= 1 + 1e-9
    assert np.sum(result.alpha - result.alpha**2 / 4e4) >= (1.0 - gap) * final["objective"] * (1.0 - 1e-9)
