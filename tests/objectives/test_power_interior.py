"""Interior-point steps for powers of the hinge: features of any scale, and when they replace other methods."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from svmtool import registry
from svmtool.certify.linear import Certifier
from svmtool.data.csr import CsrRows
from svmtool.objectives import losses
from svmtool.objectives.power_interior import USUAL_STEPS, PowerInterior, by_rows
from svmtool.objectives.task import Task
from svmtool.params import Settings
from svmtool.solvers.shared import base, fallback
from svmtool.solvers.shared.base import Monitor
from svmtool.training.reductions.one_vs_rest import OneVsRest

POWERS = [1.0, 1.05, 1.3, 1.7, 2.0]


def raw(seed: int = 1, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Features from 1 to 1e8 that partly depend on each other, labels (+-1) with noise, rows that stand twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 9)) + rng.random(9)
    X[:, 8] = X[:, 0] + X[:, 1]
    y = np.where(X @ rng.normal(size=9) + rng.normal(size=n) > 0.3, 1.0, -1.0)
    X = np.round(X * 10.0 ** np.array([0, 1, 2, 4, 6, 8, 0, 3, 0]), 2)
    X[n // 2 : n // 2 + 9] = X[:9]
    return X, y


def task_of(p: float, free: bool, target: np.ndarray | None = None) -> Task:
    X, y = raw()
    rows = CsrRows(*reference.csr_of(X), X.shape[1], 1.0 if free else -1.0)
    cost = 10.0 ** np.linspace(-2.0, 2.0, len(y))
    return Task(rows, y, cost, free, target, p)


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


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("p", POWERS)
def test_few_steps_whatever_the_scale_of_features_and_costs(p, free):
    assert certified_after_steps(task_of(p, free), p, 1e-7) <= 2e-7


def wide(p: float, free: bool, C: float) -> Task:
    """Fewer rows than features, costs over six orders of magnitude."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 400)) * (rng.random((50, 400)) < 0.3) * 10.0 ** rng.uniform(-2.0, 2.0, 400)
    y = np.where(rng.random(50) < 0.3, 1.0, -1.0)
    rows = CsrRows(*reference.csr_of(X), 400, 1.0 if free else -1.0)
    return Task(rows, y, C * 10.0 ** rng.uniform(-3.0, 3.0, 50), free, None, p)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("p", POWERS)
def test_systems_of_few_rows(p, free):
    task = wide(p, free, 1.0)
    assert by_rows(task.rows) and certified_after_steps(task, p, 1e-7) <= 2e-7


@pytest.mark.parametrize("solver", [30, 31])
def test_few_rows_with_costs_far_apart_reach_the_gap(solver):
    """Newton steps alone have lengths near 1e-3; interior-point steps make the gap larger before it falls."""
    task = wide(2.0, True, 1e6)
    result = registry.entry(registry.find(solver))(task, Monitor(1e-3), base.Rule())
    assert result.status is base.GAP and certified(task, result.w, result.alpha) <= 1.01e-3


@pytest.mark.parametrize("p", [1.0, 1.5])
def test_targets_of_rows(p):
    task = task_of(p, True, np.random.default_rng(3).normal(size=120) * 1e4)
    assert certified_after_steps(task, p, 1e-6) <= 2e-6


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("solver", [30, 31])
def test_raw_features_with_a_free_bias_take_few_iterations(solver, p):
    X, y = raw(2)
    s = Settings.of(solver=solver, C=10.0, bias=1.0, loss_power=p, regularize_bias=False)
    [result] = OneVsRest(reference.table_of(X, y, np.full(len(y), 10.0)), s).fit()
    assert result.status is base.GAP
    assert result.history[-1]["gap"] <= (1e-4 if solver == 30 else 1e-6)
    assert result.iterations <= 200


def test_the_fallback_knows_the_hinge_with_a_free_bias():
    task = task_of(1.0, True)
    result = fallback.solve(task, losses.HingeLoss(), False, np.zeros(task.rows.d), 1e-6, Monitor())
    assert certified(task, result.w, result.alpha) <= 1e-6


@pytest.mark.parametrize("solver", [30, 31])
def test_products_that_are_rounding_are_no_progress(solver):
    """Rows that differ by 1e-7 of their size: steps make the products smaller and smaller, and nothing else."""
    X = np.array([[5, 0], [7, -6], [6, 1], [5, -5], [5, 3], [5, -3], [3, -2], [4, 4]]) + [1e8, 0.0]
    y = np.array([1.0, 1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    cost = 1e5 * np.array([0.0054, 0.0033, 0.52, 49.4, 12.1, 181.3, 7.1, 1347.0])
    s = Settings.of(solver=solver, C=1e5, bias=1.0, loss_power=1.7, regularize_bias=False, gap=1e-6)
    [result] = OneVsRest(reference.table_of(X, y, cost), s).fit()
    assert result.iterations < 400 and (result.status is base.PRECISION or result.status.converged)
