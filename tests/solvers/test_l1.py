"""-s 5 and 6: what only some of their problems go through.  What holds for every solver is in test_every_solver.py."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from optima import optimum
from reference import csr_of

from svmtool import registry
from svmtool.compiled import threads
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.data.row_storage import Rows
from svmtool.linalg import weighted_columns
from svmtool.objectives.l1 import objective
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import model, proximal_newton
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule


def solved(p, rows: Rows, start=None, method=None):
    """The answer of l1.solve to a gap of 1e-9, which it is held to have."""
    task = Task(rows, p.y, p.cost, p.free, np.zeros(rows.n) if p.loss == "logistic" else None)
    found = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-9), Rule(), start, method=method)
    best = optimum(p).value
    assert found.status.converged
    assert best * (1 - 1e-9) <= p.value(found.w) <= best * (1 + 1e-8)
    np.testing.assert_allclose(found.history[-1]["bound"], p.dual_value(found.alpha), rtol=1e-9)
    return task, found


@pytest.mark.parametrize("bias, free", [(-1.0, False), (0.7, False), (0.7, True)])
@pytest.mark.parametrize("C", [1e-12, 0.02, 0.1, 1.0])
def test_weights_that_no_slopes_can_move_are_left_out(C, bias, free):
    p = reference.random_problem(5, 40, 60, C, bias, free)._replace(loss="logistic", l1=True)
    rows = CsrRows(*csr_of(p.X), 60, bias)
    for start in (None, np.ones(rows.d)):
        task, found = solved(p, rows, start, "columns")
        out = np.setdiff1d(np.arange(rows.d), objective.of_task(task).possible())
        assert np.all(found.w[out] == 0.0) and np.all(optimum(p).w[out] == 0.0)
    signed = (p.y * p.cost)[:, None] * p.X
    reach = np.maximum(np.maximum(signed, 0.0).sum(axis=0), np.maximum(-signed, 0.0).sum(axis=0))
    assert set(out) == set(np.flatnonzero(reach <= 1.0))


@pytest.mark.parametrize("bias, free", [(-1.0, False), (0.7, True)])
@pytest.mark.parametrize("loss", ["squared hinge", "logistic"])
def test_few_weights_of_dense_rows_have_a_matrix_alone(loss, bias, free, monkeypatch):
    whole, part = objective.L1Objective.hessian, objective.L1Objective.part_of_hessian
    sizes = []

    def counted(self, chosen):
        H = part(self, chosen)
        A = self.rows.X if bias < 0 else np.hstack([self.rows.X, np.full((self.n, 1), bias)])
        np.testing.assert_allclose(H, (A.T * self.c @ A)[np.ix_(chosen, chosen)], rtol=1e-12, atol=1e-12)
        sizes.append(len(chosen))
        return H

    monkeypatch.setattr(objective.L1Objective, "part_of_hessian", counted)
    monkeypatch.setattr(objective.L1Objective, "hessian", lambda *a: sizes.append(100) or whole(*a))
    C = 0.02 if loss == "squared hinge" else 0.06
    p = reference.random_problem(7, 80, 100, C, bias, free)._replace(loss=loss, l1=True)
    solved(p, DenseRows(p.X, bias))
    assert sizes and min(sizes) <= model.MAX_MOVABLE_SHARE * 100


@pytest.mark.parametrize("threads_used", [1, 3])
@pytest.mark.parametrize("kept", [None, np.array([0, 1, 7, 29]), np.zeros(0, np.int64)], ids=["all", "some", "none"])
def test_columns_are_the_same_in_several_blocks(kept, threads_used, monkeypatch):
    rng = np.random.default_rng(3)
    X = reference.random_rows(rng, 50, 30)
    rows = CsrRows(*csr_of(X), 30)
    monkeypatch.setattr(weighted_columns, "BLOCK_WORK", 100)
    monkeypatch.setattr(threads, "_count", threads_used)
    assert len(rows.cut(rows.nnz // 100)) > 3
    turned = weighted_columns.Columns(rows, kept)
    starts, row_numbers, values = csr_of(X.T if kept is None else X.T[kept])
    assert np.array_equal(turned.starts, starts)
    assert np.array_equal(turned.row_numbers, row_numbers) and np.array_equal(turned.values, values)
    w, y, z = rng.normal(size=turned.d), np.where(rng.random(50) < 0.5, 1.0, -1.0), np.empty(50)
    turned.margins(w, y, z)
    np.testing.assert_allclose(z, y * ((X if kept is None else X[:, kept]) @ w), atol=1e-12)


def wide_logistic(n: int, d: int, C: float, seed: int = 0, groups: bool = False):
    """A task with the logistic loss on sparse rows.

    groups: one-hot features of two groups, whose columns add up to the same vector.
    """
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d))
    if groups:
        X[np.arange(n), rng.integers(0, d // 2, n)] = 1.0
        X[np.arange(n), rng.integers(d // 2, d, n)] = 1.0
    else:
        X = np.where(rng.random((n, d)) < 0.1, rng.exponential(1.0, (n, d)), 0.0)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    return Task(CsrRows(*csr_of(X), d), y, np.full(n, C), target=np.zeros(n)), X


def run_of(kind: type[objective.L1Logistic], task: Task, method: str, monitor: Monitor, start: float = 0.0):
    """Steps on an objective of this kind, all weights at `start`: the run, and why it ended."""
    run = proximal_newton.ProximalNewton(kind(task.rows, task.y, task.cost), monitor, Rule(), method)
    return run, run.from_weights(np.full(task.rows.d, start))


class WithoutModelSlopes(objective.L1Logistic):
    def evaluate_model(self, held: bool) -> float:
        return -np.inf


class NeverWidened(objective.L1Logistic):
    def widen(self) -> None:
        pass


@pytest.mark.parametrize("method", ["matrix", "columns"])
def test_the_models_slopes_are_a_dual_point(method):
    """Next to the solution the model's slopes give a gap of second order, those of the losses one of first order."""
    task, X = wide_logistic(300, 40, 1.0)
    by_model, status = run_of(objective.L1Logistic, task, method, Monitor(gap=1e-9))
    alpha = by_model.alpha
    assert status is base.GAP
    assert np.all((alpha >= 0.0) & (alpha <= task.cost)) and np.abs(X.T @ (alpha * task.y)).max() <= 1 + 1e-9
    by_losses, _ = run_of(WithoutModelSlopes, task, method, Monitor(gap=1e-9))
    pairs = list(zip(by_model.monitor.history, by_losses.monitor.history, strict=False))
    assert all(a["objective"] == b["objective"] and a["bound"] >= b["bound"] for a, b in pairs)
    assert any(a["gap"] <= 0.2 * b["gap"] for a, b in pairs)


def test_a_model_that_failed_is_followed_by_one_that_lies_above_the_loss():
    """Saturated rows far on the wrong side: the loss has almost no curvature there, and Newton steps are too long."""
    rng = np.random.default_rng(0)
    X = np.exp(9.0 * rng.normal(size=(300, 12))) * (rng.random((300, 12)) < 0.3)
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=300) > 0.0, 1.0, -1.0)
    task = Task(CsrRows(*csr_of(X), 12), y, np.full(300, 100.0), target=np.zeros(300))
    for kind, ended in ((objective.L1Logistic, base.GAP), (NeverWidened, base.PRECISION)):
        _, status = run_of(kind, task, "matrix", Monitor(gap=1e-6, max_iter=300), -30.0)
        assert status is ended


def test_columns_that_depend_on_each_other_are_certified():
    """One-hot features of two groups: a step along what both groups have in common is cut short by breakpoints."""
    task, X = wide_logistic(2000, 60, 10.0, groups=True)
    result = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-5, max_iter=40), Rule(), method="columns")
    assert result.status is base.GAP
    assert np.abs(X.T @ (result.alpha * task.y)).max() <= 1 + 1e-9


def test_a_face_of_more_weights_than_rows_takes_few_systems(monkeypatch):
    """Its matrix is singular: steps to the minimum of the face lead far away, and lost one weight each."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 300)) + 0.01 * rng.normal(size=(30, 300))
    w = rng.normal(size=300)
    systems, plain = [], model.solve_positive
    monkeypatch.setattr(model, "solve_positive", lambda *a: systems.append(len(a[1])) or plain(*a))
    H, y, penalty = A.T @ A, A @ w + 1e-3 * rng.normal(size=30), np.full(300, 0.1)
    g = A.T @ (A @ w - y)  # of |A v - y|^2 / 2 + penalty.|v| at v = w
    violations = np.abs(g + penalty * np.sign(w))
    values, counts = [], []
    for little in (0.0, model.MIN_FALL_SHARE):
        v = w + model.step_of_matrix(H, g, w, penalty, violations, np.zeros(2), Monitor(), little=little)
        values.append(0.5 * np.sum((A @ v - y) ** 2) + penalty @ np.abs(v))
        counts.append(len(systems))
        if not little:
            left = objective.violations_at(v, A.T @ (A @ v - y), penalty)
            assert left.max() <= model.MATRIX_TOLERANCE * violations.max()
            assert max(systems) > 200 and len(systems) < 150
        systems.clear()
    before = 0.5 * np.sum((A @ w - y) ** 2) + penalty @ np.abs(w)
    assert counts[1] < counts[0] and values[1] - values[0] <= 0.5 * (before - values[0])


def test_far_from_the_minimum_small_features_need_no_exact_model(monkeypatch):
    """Each weight's violation counts by its own curvature: by the smallest one the systems were too many."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 200)) * np.logspace(-5, 0, 200)
    w, penalty = 10.0 * rng.normal(size=200), np.full(200, 1e-3)
    systems, plain = [], model.solve_positive
    monkeypatch.setattr(model, "solve_positive", lambda *a: systems.append(len(a[1])) or plain(*a))
    g = A.T @ (A @ w - rng.normal(size=60))
    violations, size = objective.violations_at(w, g, penalty), np.linalg.norm(A, axis=0)
    wanted = model.MATRIX_TOLERANCE * np.minimum(violations.max(), (violations / size).max() * size)
    counts = []
    for fall in (0.0, 1.0):
        v = w + model.step_of_matrix(A.T @ A, g, w, penalty, violations, np.zeros(2), Monitor(), fall=fall)
        assert np.all(objective.violations_at(v, g + A.T @ (A @ (v - w)), penalty) <= wanted)
        counts.append(len(systems))
        systems.clear()
    assert counts[1] < 0.2 * counts[0]


@pytest.mark.parametrize("n, d, start, bias, free, expected", [
    (20, 5, None, -1.0, False, "matrix"), (1200, 5, None, -1.0, False, "matrix-sampled"),
    (1200, 5, 1.0, -1.0, False, "matrix"), (20, 5, None, 1.0, True, "matrix"),
    (1200, 5, None, 1.0, True, "matrix-sampled"),
    (20, 65, None, -1.0, False, "matrix"), (20, 1500, None, -1.0, False, "matrix"),
    (20, 1501, None, -1.0, False, "columns"), (20, 1501, 1.0, -1.0, False, "columns"),
])  # fmt: skip
def test_plan(n, d, start, bias, free, expected):
    rows = CsrRows(np.arange(n + 1), (np.arange(n) % d).astype(np.int32), np.ones(n), d, bias)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    task, w = Task(rows, y, np.ones(n), free), None if start is None else np.full(rows.d, start)
    assert proximal_newton.plan(task, Rule(), w) == proximal_newton.plan(task, Rule(), w)
    assert proximal_newton.plan(task, Rule(), w).method == expected
    assert proximal_newton.plan(Task(rows, np.ones(n), np.ones(n), free), Rule()).method == "bias" or not free


def certified_by_columns(p):
    """Solve with models over columns; w and alpha are held to have the gap."""
    task = Task(CsrRows(*csr_of(p.X), p.X.shape[1], p.bias), p.y, p.cost, p.free)
    task.target = np.zeros(len(p.y)) if p.loss == "logistic" else None
    found = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-6), Rule(), method="columns")
    v = p.A.T @ (found.alpha * p.y)
    assert found.status.converged
    assert np.abs(p.R * v).max() <= 1 + 1e-9 and np.abs((1 - p.R) * v).max() <= 1e-9 * (1 + np.sum(found.alpha))
    assert np.all(found.alpha >= 0.0) and p.dual_value(found.alpha) >= (1 - 1e-6) * (1 - 1e-9) * p.value(found.w)


@pytest.mark.parametrize("loss", ["squared hinge", "logistic"])
def test_a_large_cost_is_reached_along_smaller_ones(loss, monkeypatch):
    """Many features, and slopes at zero weights far above 1."""
    shares, plain = [], objective.L1Objective.at_costs
    monkeypatch.setattr(objective.L1Objective, "at_costs", lambda o, share: shares.append(share) or plain(o, share))
    certified_by_columns(reference.random_problem(5, 40, 300, 1e3)._replace(loss=loss, l1=True))
    assert len(shares) > 1 and shares == sorted(shares) and max(shares) < 1.0


def test_short_steps_are_followed_by_passes_on_f_itself(monkeypatch):
    """With a free bias, where the method of multipliers does not apply."""
    made, plain = [], objective.L1SquaredHinge.descend
    monkeypatch.setattr(objective.L1SquaredHinge, "descend", lambda o, *a: made.append(1) or plain(o, *a))
    certified_by_columns(reference.random_problem(3, 60, 300, 1e3, 1.0, True)._replace(loss="squared hinge", l1=True))
    assert made
