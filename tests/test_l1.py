"""-s 5 and 6: what only some of their problems go through.  What holds for every solver is in test_every_solver.py."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from optima import optimum
from reference import csr_of

from svmtool.compiled import threads
from svmtool.problem import l1_objective
from svmtool.problem.rows import CsrRows, DenseRows, Rows
from svmtool.problem.task import Task
from svmtool.solvers import l1
from svmtool.solvers.base import Monitor, Rule


def solved(p, rows: Rows, start=None):
    """The answer of l1.solve to a gap of 1e-9, which it is held to have."""
    task = Task(rows, p.y, p.cost, p.free, np.zeros(rows.n) if p.loss == "logistic" else None)
    found = l1.solve(task, Monitor(gap=1e-9), Rule(), start)
    best = optimum(p).value
    assert found.status.converged
    assert best * (1 - 1e-9) <= p.value(found.w) <= best * (1 + 1e-8)
    np.testing.assert_allclose(found.history[-1]["bound"], p.dual_value(found.alpha), rtol=1e-9)
    return task, found


@pytest.mark.parametrize("bias, free", [(-1.0, False), (0.7, False), (0.7, True)])
@pytest.mark.parametrize("C", [1e-12, 0.02, 0.1, 1.0])
def test_weights_that_no_slopes_can_move_are_left_out(C, bias, free, monkeypatch):
    monkeypatch.setattr(l1, "GRAM_BELOW", 0)
    monkeypatch.setattr(l1_objective, "SMALL_FEATURES", -1)
    p = reference.random_problem(5, 40, 60, C, bias, free)._replace(loss="logistic", l1=True)
    rows = CsrRows(*csr_of(p.X), 60, bias)
    for start in (None, np.ones(rows.d)):
        task, found = solved(p, rows, start)
        out = np.setdiff1d(np.arange(rows.d), l1_objective.of_task(task).possible())
        assert np.all(found.w[out] == 0.0) and np.all(optimum(p).w[out] == 0.0)
    signed = (p.y * p.cost)[:, None] * p.X
    reach = np.maximum(np.maximum(signed, 0.0).sum(axis=0), np.maximum(-signed, 0.0).sum(axis=0))
    assert set(out) == set(np.flatnonzero(reach <= 1.0))


@pytest.mark.parametrize("bias, free", [(-1.0, False), (0.7, True)])
@pytest.mark.parametrize("loss", ["squared hinge", "logistic"])
def test_few_weights_of_dense_rows_have_a_matrix_alone(loss, bias, free, monkeypatch):
    whole, part = l1_objective.L1Objective.hessian, l1_objective.L1Objective.part_of_hessian
    sizes = []

    def counted(self, chosen):
        H = part(self, chosen)
        A = self.rows.X if bias < 0 else np.hstack([self.rows.X, np.full((self.n, 1), bias)])
        np.testing.assert_allclose(H, (A.T * self.c @ A)[np.ix_(chosen, chosen)], rtol=1e-12, atol=1e-12)
        sizes.append(len(chosen))
        return H

    monkeypatch.setattr(l1_objective.L1Objective, "part_of_hessian", counted)
    monkeypatch.setattr(l1_objective.L1Objective, "hessian", lambda *a: sizes.append(100) or whole(*a))
    C = 0.02 if loss == "squared hinge" else 0.06
    p = reference.random_problem(7, 80, 100, C, bias, free)._replace(loss=loss, l1=True)
    solved(p, DenseRows(p.X, bias))
    assert sizes and min(sizes) <= l1.FEW * 100


@pytest.mark.parametrize("threads_used", [1, 3])
@pytest.mark.parametrize("kept", [None, np.array([0, 1, 7, 29]), np.zeros(0, np.int64)], ids=["all", "some", "none"])
def test_columns_are_the_same_in_several_blocks(kept, threads_used, monkeypatch):
    rng = np.random.default_rng(3)
    X = reference.random_rows(rng, 50, 30)
    rows = CsrRows(*csr_of(X), 30)
    monkeypatch.setattr(l1_objective, "BLOCK_WORK", 100)
    monkeypatch.setattr(threads, "_count", threads_used)
    assert len(rows.cut(rows.nnz // 100)) > 3
    columns = l1_objective.Columns(rows, kept)
    starts, row_numbers, values = csr_of(X.T if kept is None else X.T[kept])
    assert np.array_equal(columns.starts, starts)
    assert np.array_equal(columns.row_numbers, row_numbers) and np.array_equal(columns.values, values)
    w, y, z = rng.normal(size=columns.d), np.where(rng.random(50) < 0.5, 1.0, -1.0), np.empty(50)
    columns.margins(w, y, z)
    np.testing.assert_allclose(z, y * ((X if kept is None else X[:, kept]) @ w), atol=1e-12)
