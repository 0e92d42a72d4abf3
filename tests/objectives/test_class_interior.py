"""Interior-point method for Crammer-Singer problems: feasible points, convergence, and when it is used."""

from __future__ import annotations

import numpy as np
import pytest
from class_problems import PROBLEMS, ROWS, Problem, Solved
from reference import csr_of

from svmtool.data.csr import CsrRows
from svmtool.limits import EndedError
from svmtool.objectives import class_interior
from svmtool.objectives.class_interior import ClassInterior
from svmtool.objectives.class_rows import ClassTask
from svmtool.solvers.shared import base


def task_of(p: Problem) -> ClassTask:
    return ClassTask(CsrRows(*csr_of(p.X), p.X.shape[1], p.bias), p.number, p.k, p.cost)


def raw_problem() -> Problem:
    """Raw values of which few features say nearly all, more rows than features and many classes."""
    rng = np.random.default_rng(0)
    F = rng.normal(size=(100, 5)) @ rng.normal(size=(5, 30)) + 0.2 * rng.normal(size=(100, 30))
    return Problem(np.floor(np.exp(F)), np.minimum(rng.geometric(0.15, 100), 15) - 1.0, np.full(100, 10.0))


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


@pytest.mark.parametrize("within", [False, True])
def test_limits(within, monkeypatch):
    """Of iterations, between two steps, and of time or Ctrl-C, within one."""
    made, apply = [], ClassInterior._apply

    def counted(self, right):
        made.append(1)
        if within and len(made) == 20:
            raise EndedError
        return apply(self, right)

    monkeypatch.setattr(ClassInterior, "_apply", counted)
    p = raw_problem()
    s = Solved(ROWS[0], p, method="interior", eps=1e-9, **({} if within else {"max_iter": 20}))
    assert made and (len(made) == 20 if within else s.result.iterations <= 21)
    assert s.status is (base.TIME if within else base.ITERATIONS)
    assert p.dual_value(s.result.alpha) <= s.f
