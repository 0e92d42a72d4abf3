"""PDHG for LP-SVM: where it is chosen, and what replaces it."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from lp_suite import Solved, l1_optimum

from svmtool.solvers import lp_svm


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
