"""-s 41 (modified Huber) and -s 42 (hinge) where the multipliers of the optimum are not unique."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from naming import case_of
from optima import Problem
from solver_suite import EVERYWHERE, LAYOUTS, Solved

CASES = [case for case in EVERYWHERE if case.row.name in ("mfn-huber", "mfn-l1")]


def degenerate() -> dict[str, Problem]:
    rng = np.random.default_rng(0)
    few = reference.random_problem(2, 30, 4)
    grid = rng.integers(-1, 2, size=(80, 3)).astype(float)
    on_margin = Problem(grid, np.where(grid @ [1.0, -1.0, 0.5] > 0, 1.0, -1.0), rng.choice([0.5, 1.0, 3.0], 80))
    return {
        "three times": Problem(np.vstack([few.X] * 3), np.tile(few.y, 3), np.tile(few.cost, 3)),
        "grid": on_margin, "grid, free bias": on_margin._replace(bias=1.0, free=True),
        "twins": Problem(np.vstack([grid[:20]] * 2), np.repeat([1.0, -1.0], 20), np.full(40, 2.0)),
        "separable": Problem(np.array([[1.0, 0], [-1, 0], [2, 0]]), np.array([1.0, -1, 1]), np.full(3, 1e3)),
        "one class": Problem(np.array([[2.0, 1.0], [1.0, 0.5]]), np.ones(2), np.ones(2)),
        "no features": Problem(np.zeros((4, 2)), np.array([1.0, -1, 1, 1]), np.ones(4)),
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_dependent_rows(case):
    for k, (name, p) in enumerate(degenerate().items()):
        for C, layout in ((0.01, LAYOUTS[k % 2]), (100.0, LAYOUTS[1 - k % 2])):
            with case_of(name, C, layout):
                s = Solved(case, p._replace(cost=C * p.cost), layout, gap=1e-10)
                assert s.status.converged and s.certificate.gap <= 1.001e-10
                assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
                for record in s.result.history:
                    assert record["bound"] <= s.f * (1 + 1e-12) and record["objective"] >= s.f * (1 - 1.1e-10)
