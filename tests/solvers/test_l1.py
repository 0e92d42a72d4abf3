"""-s 5 and 6: what only some of their problems go through.  What holds for every solver is in test_every_solver.py."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import scipy.optimize
from optima import optimum
from reference import csr_of

from svmtool import limits, registry
from svmtool.compiled import threads
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.data.row_storage import Rows
from svmtool.linalg import weighted_columns
from svmtool.objectives.l1.objective import L1Objective, minimum_on_line, violations_at
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import proximal_newton, quadratic
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule, StopFlag
from svmtool.solvers.shared.contest import Contest


def solved(p, rows: Rows, start=None, method=None):
    """The answer of l1.solve to a gap of 1e-9, which it is held to have."""
    task = Task(rows, p.y, p.cost, p.free, np.zeros(rows.n) if p.loss == "logistic" else None)
    found = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-9), Rule(), start, method=method)
    best = optimum(p).value
    assert found.status.converged
    assert best * (1 - 1e-9) <= p.value(found.w) <= best * (1 + 1e-8)
    np.testing.assert_allclose(found.history[-1]["bound"], p.dual_value(found.alpha), rtol=1e-9)
    return task, found


@pytest.mark.parametrize("bias, free", [(-1.0, False), (0.7, True)])
@pytest.mark.parametrize("loss", ["squared hinge", "logistic"])
@pytest.mark.parametrize("C", [0.02, 0.1, 1.0, 100.0])
def test_sparse_and_dense_rows(C, loss, bias, free):
    p = reference.random_problem(7, 80, 100, C, bias, free)._replace(loss=loss, l1=True)
    solved(p, DenseRows(p.X, bias))
    solved(p, CsrRows(*csr_of(p.X), 100, bias))


@pytest.mark.parametrize("bias, free", [(-1.0, False), (0.7, True)])
@pytest.mark.parametrize("kind", ["dense", "csr", "csr columns"])
def test_matrix_of_some_weights(kind, bias, free):
    p = reference.random_problem(7, 80, 100, 1.0, bias, free)._replace(l1=True)
    rows = DenseRows(p.X, bias) if kind == "dense" else CsrRows(*csr_of(p.X), 100, bias)
    o = L1Objective.of_task(Task(rows, p.y, p.cost, free))
    if kind == "csr columns":
        o.columns()
    A = p.X if bias < 0 else np.hstack([p.X, np.full((80, 1), bias)])
    w = np.zeros(o.d)
    for m in (100, 4):
        w[:3] += 0.1
        o.set_point(w)
        o.gradient()
        chosen = np.append(np.arange(0, 100, 100 // m), [100] if bias >= 0 else []).astype(int)
        wanted = (A.T * o.losses.c @ A)[np.ix_(chosen, chosen)]
        assert o.matrix_work(chosen) > 0.0
        np.testing.assert_allclose(o.matrix(chosen), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threads_used", [1, 3])
def test_columns_are_the_same_in_several_blocks(threads_used, monkeypatch):
    rng = np.random.default_rng(3)
    X = reference.random_rows(rng, 50, 30)
    rows = CsrRows(*csr_of(X), 30)
    monkeypatch.setattr(weighted_columns, "BLOCK_WORK", 100)
    monkeypatch.setattr(threads, "_count", threads_used)
    assert len(rows.cut(rows.nnz // 100)) > 3
    turned = weighted_columns.Columns(rows)
    starts, row_numbers, values = csr_of(X.T)
    assert np.array_equal(turned.starts, starts)
    assert np.array_equal(turned.row_numbers, row_numbers) and np.array_equal(turned.values, values)
    w, y, z = rng.normal(size=turned.d), np.where(rng.random(50) < 0.5, 1.0, -1.0), np.empty(50)
    turned.margins(w, y, z)
    np.testing.assert_allclose(z, y * (X @ w), atol=1e-12)


@pytest.mark.parametrize("bias", [-1.0, 2.0])
@pytest.mark.parametrize(("n", "d"), [(0, 3), (5, 1), (300, 7)])
def test_dense_rows_by_columns_are_those_of_the_same_sparse_rows(n, d, bias):
    for kind in "f8", "f4", "i1", "?":
        rows = DenseRows(np.random.default_rng(n).integers(-3, 4, (n, d)).astype(kind), bias)
        found, same = weighted_columns.Columns(rows), weighted_columns.Columns(rows.as_csr())
        for name in ("n", "d", "nnz", "starts", "row_numbers", "values"):
            a, b = getattr(found, name), getattr(same, name)
            assert np.array_equal(a, b) and getattr(a, "dtype", 0) == getattr(b, "dtype", 0), (kind, name)


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


@pytest.mark.parametrize("d", [40, 400])
def test_the_models_slopes_are_a_dual_point(d, monkeypatch):
    """Next to the solution the model's slopes give a gap of second order, those of the losses one of first order."""
    task, X = wide_logistic(300, d, 1.0)
    by_model = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-9), Rule())
    assert by_model.status is base.GAP
    assert np.all((by_model.alpha >= 0.0) & (by_model.alpha <= task.cost))
    assert np.abs(X.T @ (by_model.alpha * task.y)).max() <= 1 + 1e-9
    monkeypatch.setattr(L1Objective, "bound_of_model", lambda o: (-np.inf, None))
    by_losses = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-9), Rule())
    pairs = list(zip(by_model.history, by_losses.history, strict=False))
    assert all(a["objective"] == b["objective"] and a["bound"] >= b["bound"] for a, b in pairs)
    assert any(a["gap"] <= 0.2 * b["gap"] for a, b in pairs)


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
    task, X = wide_logistic(2000, 60, 10.0, groups=True)
    result = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-5, max_iter=40), Rule())
    assert result.status is base.GAP
    assert np.abs(X.T @ (result.alpha * task.y)).max() <= 1 + 1e-9


def quadratic_of(kind: str, A: np.ndarray, g: np.ndarray, w: np.ndarray, penalty: np.ndarray) -> quadratic.Quadratic:
    """q with H = A'A, in one of its three forms."""
    if kind == "matrix":
        return quadratic.MatrixQuadratic(A.T @ A, g, w, penalty)
    if kind == "sums":
        return quadratic.SumsQuadratic(lambda x: A.T @ (A @ x), np.sum(A * A, axis=0), g, w, penalty)
    n, d = A.shape
    columns = weighted_columns.Columns(CsrRows(*csr_of(A), d)).weighted(np.arange(d), np.ones(n))
    return quadratic.ColumnQuadratic(columns, g, w, penalty)


@pytest.mark.parametrize("kind", ["matrix", "columns", "sums"])
@pytest.mark.parametrize("n, d", [(60, 20), (30, 80)])
def test_each_form_of_the_model_has_its_minimum(n, d, kind):
    rng = np.random.default_rng(n)
    A, w, penalty = rng.normal(size=(n, d)), rng.normal(size=d), np.ones(d)
    penalty[3] = 0.0
    g = 5.0 * A.T @ rng.normal(size=n)
    model, ridge = quadratic_of(kind, A, g, w, penalty), quadratic.RIDGE
    least = np.inf
    for _ in range(400):
        if model.descend(1e-9) <= 1e-9:
            break
        ridge = model.move_together(ridge, lambda: False)
        assert model.value <= least * (1 + 1e-12) if least > 0.0 else model.value <= least + 1e-9
        least = model.value
        np.testing.assert_allclose(model.slope, g + A.T @ (A @ (model.v - w)), atol=1e-7)
    assert violations_at(model.v, model.slope, penalty).max() <= 1e-6


def test_a_model_over_columns_goes_on_as_a_matrix():
    """Once its epochs have cost as much; the point stays."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 40)) + 0.05 * rng.normal(size=(80, 40))
    w, g, penalty = rng.normal(size=40), 9.0 * rng.normal(size=40), np.ones(40)
    made = []
    model = quadratic_of("columns", A, g, w, penalty)
    found, _ = quadratic.minimise(
        model, 1e-9, np.inf, 1e-7, lambda: False, lambda: made.append(1) or A.T @ A, 1.0
    )  # fmt: skip
    assert made == [1] and isinstance(found, quadratic.MatrixQuadratic) and found.work > model.work
    assert violations_at(found.v, found.slope, penalty).max() < violations_at(w, g, penalty).max()


@pytest.mark.parametrize("m", [1, 2, 8])
def test_minimum_on_a_line(m):
    """The exact minimiser on [0, 1], also where it lies on a breakpoint."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        v, q, penalty = rng.normal(size=m), 3.0 * rng.normal(size=m), np.ones(m)
        curvature, smooth = rng.random() + 0.1, -3.0 * rng.random() * m
        slope = smooth + float(np.sum(np.sign(v) * q))
        if slope >= 0.0:
            continue
        t = minimum_on_line(v, q, penalty, slope, curvature, 1.0)
        points = np.concatenate([np.linspace(0.0, 1.0, 20001), np.clip(-v / q, 0.0, 1.0), [t]])
        absolute = np.sum(np.abs(v + points[:, None] * q), axis=1)
        values = smooth * points + 0.5 * curvature * points**2 + absolute
        assert 0.0 <= t <= 1.0 and values[-1] <= np.min(values[:-1]) + 1e-12


@pytest.mark.parametrize("loss", ["squared hinge", "logistic"])
@pytest.mark.parametrize("n, d", [(1, 1), (7, 3), (40, 9), (60, 30)])
def test_search(n, d, loss):
    """It ends at t = 1, or where f's slope along the direction is a small share of that at 0; f falls."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = reference.random_problem(seed, max(n, 2), d, 1.0)._replace(loss=loss, l1=True)
        rows = CsrRows(*csr_of(p.X), d)
        o = L1Objective.of_task(Task(rows, p.y, p.cost, target=np.zeros(rows.n) if loss == "logistic" else None))
        w = rng.normal(size=d) * (rng.random(d) < 0.6)
        step = 2.0 * rng.normal(size=d)
        o.set_point(w)
        before, g = o.gradient()
        assert before == pytest.approx(p.value(w))
        t = o.search(step, g)
        assert 0.0 <= t <= 1.0
        if t == 0.0:
            assert p.value(w + 1e-7 * step) >= before - 1e-9 * (1.0 + before)
            continue
        o.step(t, step)

        def along(t: float) -> float:
            return p.value(w + t * step)  # noqa: B023  called at once

        best = scipy.optimize.minimize_scalar(along, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
        first = abs((p.value(w + 1e-7 * step) - before) / 1e-7)
        assert o.value() <= min(best.fun, p.value(w + step)) + 1e-2 * first * abs(t - best.x) + 1e-6 * (1 + best.fun)
        assert o.value() < before


def test_plan():
    rows = CsrRows(np.arange(21), (np.arange(20) % 5).astype(np.int32), np.ones(20), 5, 1.0)
    y = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    for free in (False, True):
        assert proximal_newton.plan(Task(rows, y, np.ones(20), free), Rule()).method == "steps"
        assert proximal_newton.plan(Task(rows, np.ones(20), np.ones(20), free), Rule()).method == (
            "bias" if free else "steps"
        )


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
