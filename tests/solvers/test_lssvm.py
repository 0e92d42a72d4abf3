"""The linear LS-SVM where the common suite does not lead: steps on the rows, by products, what classes share."""

from __future__ import annotations

import numpy as np
from solver_suite import PROBLEMS, Case, Solved

from svmtool import registry
from svmtool.solvers.shared import least_squares

CASE = Case(registry.find(70), 2.0)


def calls_of(monkeypatch, owner, name) -> list:
    """A list that grows with each call of owner.name."""
    seen, plain = [], getattr(owner, name)

    def noted(*args, **options):
        seen.append(name)
        return plain(*args, **options)

    monkeypatch.setattr(owner, name, noted)
    return seen


def test_rows_are_asked_where_the_sums_cancel(monkeypatch):
    """More features than rows and a large C: f is 1e-9 of f(0), the certificate still holds."""
    steps = calls_of(monkeypatch, least_squares, "newton_steps")
    p = PROBLEMS["wide"]
    used = np.any(p.X != 0.0, axis=1)  # a row without features always costs what it does at w = 0
    s = Solved(CASE, p._replace(X=p.X[used], y=p.y[used], cost=1e6 * p.cost[used]), gap=1e-9)
    assert steps and s.status.converged and s.certificate.gap <= 1e-8
    assert s.f < 1e-6 * float(np.sum(s.p.cost))
