"""MFN as in Appendix A of the paper, on our loops: conjugate gradients in every round, optional heuristics.

-s 40 factorises where there are few features and has other starting points, so the gain of the heuristics shows in the
plain form only.  The method is "MFN"; a step is the paper's eps (1e-6).  Settings: C; H1: the first least-squares solve
has 10 CG steps at most; H2: a run with eps = 1e-2 comes first; path and seeded as in ours.py.  Differs from the paper
in: the CG steps are preconditioned by the Hessian's diagonal.
"""

from __future__ import annotations

import time

import numpy as np

from experiments.problem import Fitted, Problem
from experiments.tools.ours import VERSION as VERSION
from experiments.tools.ours import table_of
from svmtool.data.dense import from_csr
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.tolerances import DENSE_BELOW

METHODS = ("MFN",)
FIRST_STEPS = 10  # of CG, heuristic 1
CRUDE = 1e-2  # heuristic 2


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    table = table_of(problem.X, problem.y)
    start = time.perf_counter()
    rows = from_csr(table.indptr, table.indices, table.values, table.n_features, -1.0, DENSE_BELOW)
    w, rounds, products = np.zeros(rows.d), 0, 0
    for C in settings.get("path", (problem.C,)):
        objective = SquaredHinge(rows, problem.y, np.full(rows.n, C))
        objective.set_point(w if settings.get("seeded") else np.zeros(rows.d))
        first = FIRST_STEPS if settings.get("H1") else None
        for eps in (CRUDE, step or 1e-6) if settings.get("H2") else (step or 1e-6,):
            some_rounds, some_products = run(objective, C, eps, first)
            rounds, products, first = rounds + some_rounds, products + some_products, None
        w = objective.w.copy()
    facts = {"iterations": rounds, "products": products, "support": objective.active, "rows": rows.n}
    return Fitted(time.perf_counter() - start, w, facts=facts)


def run(objective: SquaredHinge, C: float, eps: float, first: int | None) -> tuple[int, int]:
    """Rounds until (13) holds for the gradient, (10); returns their number and that of products with the Hessian.

    first: limit of the CG steps in the first round, if any.
    """
    rounds = products = 0
    while True:
        f, g = objective.gradient()
        squares = (f - 0.5 * float(objective.w @ objective.w)) / C  # |z|^2 over the active rows
        size, enough = float(np.sqrt(g @ g)), eps * 2.0 * C * float(np.sqrt(squares))
        if size <= enough:
            return rounds, products
        most = first if first and not rounds else 10 * objective.d
        p, some, _ = objective.newton_direction(g, "cg", enough / size, most)
        rounds, products = rounds + 1, products + some
        objective.step(objective.line_search(p), p)
