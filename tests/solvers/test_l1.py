"""-s 5 and 6: what only some of their problems go through.  What holds for every solver is in test_every_solver.py."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from reference import csr_of

from svmtool import limits, registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.objectives.l1.objective import L1Objective
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import proximal_newton
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule, StopFlag
from svmtool.solvers.shared.contest import Contest


def test_saturated_rows_far_on_the_wrong_side():
    """The loss has almost no curvature there, and Newton steps are too long."""
    rng = np.random.default_rng(0)
    X = np.exp(9.0 * rng.normal(size=(300, 12))) * (rng.random((300, 12)) < 0.3)
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=300) > 0.0, 1.0, -1.0)
    task = Task(CsrRows(*csr_of(X), 12), y, np.full(300, 100.0), target=np.zeros(300))
    contest = Contest(L1Objective.of_task(task), Monitor(gap=1e-6, max_iter=300), Rule())
    contest.objective.set_point(np.full(12, -30.0))
    contest.best.primal = np.inf  # that of zero weights is far below
    assert proximal_newton.ProximalSteps(contest).turn(np.inf) is base.GAP


def test_columns_that_depend_on_each_other_are_certified():
    """One-hot features of two groups: a step along what both groups have in common is cut short by breakpoints."""
    rng, X = np.random.default_rng(0), np.zeros((2000, 60))
    for first in (0, 30):
        X[np.arange(2000), rng.integers(first, first + 30, 2000)] = 1.0
    y = np.where(X @ rng.normal(size=60) + rng.normal(size=2000) > 0.0, 1.0, -1.0)
    task = Task(CsrRows(*csr_of(X), 60), y, np.full(2000, 10.0), target=np.zeros(2000))
    result = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-5, max_iter=40), Rule())
    assert result.status is base.GAP
    assert np.abs(X.T @ (result.alpha * task.y)).max() <= 1 + 1e-9


@pytest.mark.parametrize("loss, free", [("squared hinge", False), ("logistic", False), ("squared hinge", True)])
def test_large_costs_are_certified(loss, free, monkeypatch):
    """Many features: by epochs on f and models, and without a free bias by multipliers."""
    ran = []
    plain = L1Objective.epoch
    monkeypatch.setattr(L1Objective, "epoch", lambda o, *a: ran.append(1) or plain(o, *a))
    p = reference.random_problem(3, 60, 300, 1e3, 1.0 if free else -1.0, free)._replace(loss=loss, l1=True)
    task = Task(CsrRows(*csr_of(p.X), 300, p.bias), p.y, p.cost, p.free)
    task.target = np.zeros(len(p.y)) if loss == "logistic" else None
    found = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-6), Rule())
    v = p.A.T @ (found.alpha * p.y)
    assert found.status.converged
    assert np.abs(p.R * v).max() <= 1 + 1e-9 and np.abs((1 - p.R) * v).max() <= 1e-9 * (1 + np.sum(found.alpha))
    assert np.all(found.alpha >= 0.0) and p.dual_value(found.alpha) >= (1 - 1e-6) * (1 - 1e-9) * p.value(found.w)
    assert bool(ran) == (loss == "squared hinge")


def test_a_run_that_ends_before_its_first_step_has_zero_weights():
    """The matrix for LIBLINEAR's measure at zero weights is the first work of all."""
    rng = np.random.default_rng(0)
    task = Task(DenseRows(rng.normal(size=(60, 8))), np.where(rng.random(60) < 0.5, 1.0, -1.0), np.ones(60))
    stop = StopFlag()
    stop.set = True
    with limits.until(lambda: True):
        found = registry.solver_of(proximal_newton)(task, Monitor(stop=stop), Rule(gradient=0.01))
    assert found.status is base.INTERRUPTED and not np.any(found.w) and found.history


FORMS = {"f8": DenseRows, "f4": lambda X: DenseRows(X.astype(np.float32)), "csr": lambda X: DenseRows(X).as_csr()}


@pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS)
def test_an_epoch_on_f_takes_newton_steps_that_lower_it(rows):
    """Each variable's, halved while f rises at its end; and the sum of violations before them."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (60, 8)).astype(float), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    o, w, cost = L1Objective.of_task(Task(rows(X), y, np.full(60, 0.7))), np.zeros(8), 0.7
    expected, met, A = w.copy(), 0.0, X * y[:, None]
    for j in range(8):
        slack = 1.0 - A @ expected
        g, h = -2.0 * cost * A[:, j] @ np.maximum(slack, 0.0), 2.0 * cost * np.sum(A[slack > 0.0, j] ** 2)
        met += max(abs(g) - 1.0, 0.0)
        step = -np.sign(g) * max(abs(g) - 1.0, 0.0) / h
        after = g if step == 0.0 else np.inf
        while step and (after + np.sign(step)) * step > 0.5 * abs(g + np.sign(step)) * abs(step):
            step *= 1.0 if after == np.inf else 0.5
            after = -2.0 * cost * A[:, j] @ np.maximum(slack - step * A[:, j], 0.0)
        expected[j] = step
    z = np.zeros(60)
    assert o.epoch(np.arange(8), w, z) == pytest.approx(met, rel=1e-9)
    np.testing.assert_allclose(w, expected, rtol=1e-9)
    np.testing.assert_allclose(z, A @ w, rtol=1e-9, atol=1e-12)


def test_where_epochs_on_f_run_liblinears_first_measure_is_theirs():
    """Few features begin with that of an epoch on the model, which may be twice as large: a run would end too early."""
    X = np.random.default_rng(0).normal(size=(400, 30)) + 1.0
    task = Task(DenseRows(X), np.where(X.sum(axis=1) > 30.0, 1.0, -1.0), np.full(400, 10.0))
    contest = Contest(L1Objective.of_task(task), Monitor(), Rule(gradient=0.01))
    begun = contest.gradient_tol
    proximal_newton.ProximalSteps(contest)._epochs_on_f(np.arange(30))
    assert begun != contest.gradient_tol == 0.01 * contest.objective.first_epoch()
