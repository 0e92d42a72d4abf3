"""The squared hinge regularised by |w|_1 by the method of multipliers: its loops, and whole runs."""

import numpy as np
import pytest
from reference import csr_of

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.objectives.l1 import dual
from svmtool.objectives.l1.dual import L1Dual
from svmtool.objectives.l1.objective import L1Objective
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import proximal_newton
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule


def wide(n: int = 60, d: int = 300, seed: int = 3):
    """Sparse rows that can be separated, a large cost, and some features that all rows share."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.1, rng.exponential(2.0, (n, d)), 0.0)
    X[:, :5] = rng.normal(size=(n, 5)) + 1.0
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X, y


def test_run_continues_by_multipliers_where_its_model_fails(monkeypatch):
    X, y = wide(d=1600)
    n, d = X.shape
    used = []
    step = dual.L1Dual.step
    monkeypatch.setattr(L1Dual, "step", lambda self, most: used.append(1) or step(self, most))
    task = Task(CsrRows(*csr_of(X), d), y, np.full(n, 1e3))
    result = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-6), Rule())
    assert used and result.status is base.GAP
    final = result.history[-1]
    objective = L1Objective.of_task(task)
    objective.set_point(result.w)
    assert objective.value() == pytest.approx(final["objective"], rel=1e-12)
    assert np.abs(X.T @ (result.alpha * y)).max() <= 1 + 1e-9
    assert np.sum(result.alpha - result.alpha**2 / 4e3) >= (1 - 1e-6) * final["objective"] * (1 - 1e-9)
