"""Helpers for tests of the LP-SVM and of least squares (-s 51, 52): methods, the optimum, and solved problems."""

from __future__ import annotations

import solver_suite
from optima import Problem
from programme import l1_programme
from solver_suite import Case

from svmtool import registry


def l1_optimum(p: Problem) -> float:
    """By a linear programme."""
    return l1_programme(p.A, p.y, p.cost, p.R)[2]


class Solved(solver_suite.Solved):
    """Solution of a problem by -s 51 or another number; method: "" for the solver's plan."""

    def __init__(self, p: Problem, layout: str = "csr", number: int = 51, method: str = "", **more):
        super().__init__(Case(registry.find(number), 2.0, method), p, layout, **{"gap": 1e-8, **more})
