"""Helpers for tests of the LP-SVM and of least squares (-s 51, 52): layouts, methods, and solved problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from optima import Problem
from reference import rows_in, table_of
from solver_suite import PROBLEMS

from svmtool.params import Settings
from svmtool.training.reductions.one_vs_rest import OneVsRest

LAYOUTS = {layout: lambda p, layout=layout: rows_in(layout, p.X, p.bias) for layout in ("csr", "dense")}
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)


SYSTEMS = {  # number -> method
    "features": {51: "interior", 52: "primal"},
    "rounds": {51: "pdhg", 52: "golub-kahan"},
}


@pytest.fixture(params=SYSTEMS)
def system(request):
    """By systems of the features; steps in rounds."""
    return SYSTEMS[request.param]


def l1_value(p: Problem, w: np.ndarray) -> float:
    """|w|_1 without a free bias, plus sum C max(0, 1 - y a.w)."""
    return float(np.sum(np.abs(p.R * w)) + p.cost @ np.maximum(p.slack(w), 0.0))


def l1_optimum(p: Problem) -> float:
    """By a linear program in w = plus - minus and the slacks."""
    n, d = p.A.shape
    prices = np.concatenate([p.R, p.R, p.cost])
    Z = p.y[:, None] * p.A
    found = scipy.optimize.linprog(prices, A_ub=-np.hstack([Z, -Z, np.eye(n)]), b_ub=-np.ones(n), method="highs")
    assert found.status == 0
    return float(found.fun)


class Solved:
    """Solution of a problem by -s 51; system: see SYSTEMS, None for the solver's plan."""

    def __init__(
        self, p: Problem, layout: str = "csr", start=None, stop=None, report=None, number=51, system=None, **settings
    ):
        self.settings = Settings.of(
            solver=number, C=1.0, bias=p.bias, regularize_bias=not p.free,
            **{"gap": 1e-8, **settings},
        )  # fmt: skip
        problems = OneVsRest(table_of(p.X, p.y, p.cost), self.settings)
        problems.rows = rows_in(layout, p.X[p.cost > 0], p.bias)
        first = problems.classes.labels[0]
        start = None if start is None else first * np.asarray(start)
        problems.solver_method = None if system is None else system[number]
        [self.result] = problems.fit(None if start is None else start[:, None], report, stop)
        self.certificate = problems.certify(0, self.result)
        self.w, self.status = first * self.result.w, self.result.status
        self.f = l1_value(p, self.w)
