"""PDHG for LP-SVM: the compiled steps against a numpy version, bounds, and restarts."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from lp_suite import Solved, l1_optimum
from reference import csr_of

from svmtool.data.csr import CsrRows
from svmtool.objectives.l1.pdhg import L1Pdhg
from svmtool.objectives.task import Task
from svmtool.solvers import lp_svm


def task_of(p, X=None):
    rows = CsrRows(*csr_of(p.X if X is None else X), p.X.shape[1], p.bias)
    return Task(rows, p.y, p.cost, p.free)


def test_rows_of_both_signs_keep_their_multipliers():
    """Shrinking to where all sums are feasible leaves what cancels as it is: at a large C that is most of f."""
    p = reference.random_problem(7, 20, 60, 1e3, bias=1.0, free=True)
    X, y = np.vstack([p.X, p.X[:3]]), np.append(p.y, -p.y[:3])
    p = p._replace(X=X, y=y, cost=np.full(23, 1e3))
    run = L1Pdhg(task_of(p), np.zeros(61))
    run.evaluate()
    assert run.bound == pytest.approx(6e3)
    run.a[3:20] += 1.0  # far from feasible
    run.evaluate()
    assert run.excess > 1.0 and run.bound > 6e3


def test_interior_point_steps_replace_too_slow_ones():
    """Rows near a space of five dimensions, at a large cost."""
    rng, p = np.random.default_rng(0), reference.random_problem(0, 40, 300, 1e3, bias=1.0, free=True)
    p = p._replace(X=rng.normal(size=(40, 5)) @ rng.normal(size=(5, 300)) + 1e-3 * rng.normal(size=(40, 300)))
    seen: list[str] = []
    s = Solved(p, gap=1e-6, method="pdhg", report=lambda **record: seen.append(record["method"]))
    assert [lp_svm.METHODS["pdhg"], lp_svm.METHODS["interior"]] == list(dict.fromkeys(seen))
    assert s.status.converged and s.f == pytest.approx(l1_optimum(p), rel=2e-6)


@pytest.mark.parametrize("filled", [0.03, 1.0])
def test_sparse_rows_take_these_steps_with_fewer_features(filled):
    """Where a pass is much less work than a system of d: these took seconds there, or did not end at a large C."""
    rng, seen = np.random.default_rng(5), []
    p = reference.random_problem(5, 60, 400, 10.0, bias=1.0, free=True)
    p = p._replace(X=rng.normal(size=p.X.shape) * (rng.random(p.X.shape) < filled))
    s = Solved(p, gap=1e-6, report=lambda **record: seen.append(record["method"]))
    assert (lp_svm.METHODS["pdhg"] in seen) == (filled < 1.0)
    assert s.status.converged and s.certificate.gap <= 1e-6 * (1 + 1e-6)
    assert s.f == pytest.approx(l1_optimum(p), rel=2e-6)
