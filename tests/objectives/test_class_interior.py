"""Interior-point method for Crammer-Singer problems: feasible points and convergence."""

from __future__ import annotations

import numpy as np
import pytest
from class_problems import PROBLEMS, ROWS, Problem, Solved
from reference import csr_of

from svmtool.data.csr import CsrRows
from svmtool.objectives import class_interior
from svmtool.objectives.class_interior import ClassInterior
from svmtool.objectives.class_rows import ClassTask


def task_of(p: Problem) -> ClassTask:
    return ClassTask(CsrRows(*csr_of(p.X), p.X.shape[1], p.bias), p.number, p.k, p.cost)


def alpha_of(run: ClassInterior, alpha: np.ndarray) -> np.ndarray:
    return alpha.reshape(-1, run.rows.wide)[:, : run.task.k]


@pytest.mark.parametrize("name", ["tall-hard", "tall-bias", "wide", "many"])
def test_steps_lead_to_the_optimum(name):
    p = PROBLEMS[name]
    best, run = Solved(ROWS[0], p).f, ClassInterior(task_of(p))
    for _ in range(class_interior.USUAL_CLASS_INTERIOR_STEPS):
        run.measure()
        assert run.primal == pytest.approx(p.value(run.w), rel=1e-12) and run.primal >= best * (1 - 1e-10)
        assert run.dual == pytest.approx(p.dual_value(alpha_of(run, run.alpha)), rel=1e-9, abs=1e-9)
        if run.primal - run.dual <= 1e-8 * run.primal:
            break
        assert 0.0 < run.advance() <= 1.0
    assert run.primal <= best * (1 + 1e-8)
    alpha, value = run.dual_at_bounds()
    assert value == pytest.approx(p.dual_value(alpha_of(run, alpha)), rel=1e-12) and value == pytest.approx(best)
    assert np.count_nonzero(alpha) < np.count_nonzero(run.alpha)
