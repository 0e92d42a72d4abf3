"""The squared hinge where rows are few or numbers large: ways to the answer that need few steps."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from svmtool.problem import rows as rows_module
from svmtool.settings import Settings
from svmtool.solvers import base, fallback
from svmtool.training.multiclass import Problems

WORDS, ROWS = 400, 250


def one_among_many() -> tuple[np.ndarray, np.ndarray]:
    """Short rows of words, one in ten of the first class."""
    rng = np.random.default_rng(5)
    X = np.zeros((ROWS, WORDS))
    for row in X:
        row[np.unique((WORDS * rng.random(12) ** 3).astype(int))] = 1.0
    y = np.where(rng.random(ROWS) < 0.1, 1.0, -1.0)
    y[0] = 1.0
    return X, y


@pytest.mark.parametrize("solver", [1, 2, 40])
def test_a_large_cost_takes_few_steps(solver, monkeypatch):
    monkeypatch.setattr(rows_module, "DENSE_FROM", 2.0)
    X, y = one_among_many()
    problems = Problems(reference.table_of(X, y), Settings(solver, solver_given=True), np.full(ROWS, 1e6))
    [result] = problems.fit()
    certificate = problems.judge(0, result)
    assert result.status.converged
    assert certificate.gap <= 1e-6
    assert len(result.history) <= 40  # Newton steps from zero are 172


def test_the_fallback_keeps_an_answer_that_is_right_but_for_rounding(monkeypatch):
    """Its steps begin at the answer, with margins of their own, and not at zero."""
    X, y = one_among_many()
    problems = Problems(reference.table_of(X, y), Settings(40, solver_given=True), np.ones(ROWS))
    [result] = problems.fit()
    began = []
    steps = fallback.newton_steps
    monkeypatch.setattr(fallback, "newton_steps", lambda o, *rest: began.append(o.w.copy()) or steps(o, *rest))
    found = problems.solve_anew(0, result.w * (1 + 1e-6), 1e-6, base.Monitor())
    assert len(began) == 1 and np.any(began[0])
    assert problems.judge(0, found).gap <= 1e-6
