"""Improving a poor certificate: the best multiple of the weights, and coordinate descent from the result."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from reference import csr_of, table_of

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.params import Settings
from svmtool.solvers.shared.base import RULE, Monitor
from svmtool.tolerances import SLOW_MIN_GAP
from svmtool.training import polish
from svmtool.training.reductions.base import problems_of


def separable(seed: int, n: int = 60, d: int = 400) -> reference.Problem:
    """More features than rows: every labelling has a plane, and a large cost makes small slacks dear."""
    return reference.random_problem(seed, n, d, 100.0)


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("factor", [0.3, 1.0, 2.5])
def test_least_multiple(power, factor):
    """Nothing on the line through 0 and w is better, and the value is that of the weights it names."""
    p = separable(1)._replace(loss="hinge" if power == 1.0 else "squared hinge")
    kind = Augmented if power == 1.0 else SquaredHinge
    objective = kind(CsrRows(*csr_of(p.X), p.X.shape[1]), p.y, p.cost, **({"p": 1.0} if power == 1.0 else {}))
    w = factor * np.linalg.lstsq(p.A, p.y, rcond=None)[0]
    t, value = objective.least_multiple(w)
    assert value == pytest.approx(p.value(t * w), rel=1e-9)
    assert all(value <= p.value(s * t * w) * (1 + 1e-9) for s in (0.9, 0.999, 1.0, 1.001, 1.1, 1.0 / t))


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_default_end_of_a_wide_run_is_certified(number):
    """LIBLINEAR's rule alone leaves a gap; what follows closes it, raises no P, and leaves the rule's status."""
    p = separable(2, n=80, d=2000)
    labels = np.where(np.arange(80) % 3 == 0, 2.0, p.y) if number == 4 else p.y
    problems = problems_of(table_of(p.X, labels), Settings.of(solver=number, C=100.0, eps=0.5))
    [result] = problems.fit()
    before = problems.certify(0, result)
    results, after = problems.fit_and_certify()
    assert after.primal <= before.primal * (1 + 1e-12)
    assert after.gap <= before.gap and after.gap <= SLOW_MIN_GAP
    assert all(r.status is RULE or r.certified_gap <= 1e-6 for r in results)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_work_is_limited_and_nothing_gets_worse(power):
    """No epoch where there is nothing to improve; the dual value never falls."""
    p = separable(3)._replace(loss="hinge" if power == 1.0 else "squared hinge")
    row = registry.find(3 if power == 1.0 else 1)
    problems = problems_of(table_of(p.X, p.y), Settings.of(solver=row.number, C=1.0))
    task = problems.task(0)
    start, w = 0.1 * task.cost, np.zeros(task.rows.d)
    primal, values = problems.primal(0, w), []
    for work in (0.0, 2.0 * polish.EPOCH_VISITS, 1e9):
        found, alpha = polish.polished(task, power, w, primal, [start], work, Monitor())
        assert problems.primal(0, found) <= primal
        values.append(problems._certifier(0).certify(found, alpha))
    assert values[0].dual <= values[1].dual * (1 + 1e-12) <= values[2].dual * (1 + 1e-9)
    assert relative_gap(values[2].primal, values[2].dual) <= SLOW_MIN_GAP * (1 + 1e-9)
