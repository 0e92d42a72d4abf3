"""Newton's direction of the logistic loss by a system of rows, for few rows of many features."""

from __future__ import annotations

import numpy as np
import pytest
from reference import csr_of

from svmtool.coordinate.logistic import LogisticCoordinateDescent
from svmtool.data.csr import CsrRows
from svmtool.objectives.logistic import Logistic
from svmtool.objectives.task import Task
from svmtool.solvers import logistic
from svmtool.solvers.shared.base import GAP, RULE, Monitor, Rule


def problem(n: int, d: int, bias: float) -> tuple[CsrRows, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return CsrRows(*csr_of(X), d, bias), np.where(rng.random(n) < 0.4, 1.0, -1.0), rng.uniform(0.5, 20.0, n)


@pytest.mark.parametrize("free_bias, bias", [(False, -1.0), (False, 1.0), (True, 1.0)], ids=["none", "bias", "free"])
def test_the_direction_is_that_of_the_factorised_hessian(free_bias, bias):
    rows, y, cost = problem(20, 35, bias)
    o = Logistic(rows, y, cost, free_bias)
    o.set_point(0.1 * np.random.default_rng(0).normal(size=rows.d))
    _, g = o.gradient()
    H = o.hessian()
    exact = -np.linalg.solve(np.triu(H) + np.triu(H, 1).T, g)
    assert o.curved_direction(g) == pytest.approx(exact, rel=1e-6, abs=1e-9 * np.abs(exact).max())


@pytest.mark.parametrize("free_bias", [False, True])
@pytest.mark.parametrize("rule", [Rule(), Rule(1e-3)], ids=["gap", "gradient"])
def test_few_rows_need_few_products(free_bias, rule):
    """Once their products have cost as much as a system of the rows, steps take that."""
    rows, y, cost = problem(60, logistic.GRAM_BELOW + 1, 1.0)
    task = Task(rows, y, 100.0 * cost, free_bias)

    def run(few_rows: bool) -> tuple[float, int]:
        monitor = Monitor(None if rule.gradient else 1e-8)
        found = logistic.TruncatedNewton(task.objective(Logistic), monitor, rule, wide=True)
        assert found.few_rows
        found.few_rows = few_rows
        found.objective.set_point(np.zeros(rows.d))
        assert found.steps() is (RULE if rule.gradient else GAP)
        return found.monitor.history[-1]["objective"], sum(record["cg"] for record in found.monitor.history)

    f, products = run(True)
    other, more = run(False)
    assert f == pytest.approx(other, rel=1e-4) and products < 0.5 * more


def test_slow_epochs_give_way_to_steps():
    rows, y, cost = problem(60, 90, -1.0)
    run = logistic.TruncatedNewton(Logistic(rows, y, cost), Monitor(1e-8), Rule(), wide=True)
    assert run.descent(LogisticCoordinateDescent(rows, y, cost, 1), max_epochs=0) is None
    assert run.steps() is GAP
