"""What the tests of solvers share: rows of the registry, their ways to an answer, problems, and one way to solve.

What is asked of a row comes from the row.  A back end with several ways to its
answer lists them in PATHS, as constants to change, so that small problems walk
each of them; test_every_solver.test_paths_are_taken holds that they do.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
import reference
from reference import ORACLES, Problem, table_of

from svmtool import registry
from svmtool.problem import rows as rows_module
from svmtool.problem.rows import DenseRows
from svmtool.settings import Settings
from svmtool.training.multiclass import Problems

GAP = 1e-11

OBJECTIVE, MFN = "svmtool.problem.squared_hinge", "svmtool.solvers.mfn"
_NOT_SMALL = {(OBJECTIVE, "SMALL_FEATURES"): -1}
_SAMPLED = {(MFN, "SAMPLE_GROUP"): 2, (MFN, "SAMPLE_ROWS"): 4, (MFN, "SAMPLE_ROWS_A_FEATURE"): 0}
_WIDE = {**_NOT_SMALL, (MFN, "GRAM_BELOW"): 0}
_ONE_PASS = {**_WIDE, (MFN, "DUAL_PASSES"): 1}

# back end -> name of a path -> constants that lead there
PATHS: dict[str, dict[str, dict]] = {
    MFN: {
        "small": {(OBJECTIVE, "SMALL_FEATURES"): 1000},
        "small-sampled": {(OBJECTIVE, "SMALL_FEATURES"): 1000, **_SAMPLED},
        "features": _NOT_SMALL,
        "features-sampled": {**_NOT_SMALL, **_SAMPLED},
        "passes": _WIDE,
        "rows": _ONE_PASS,
        "products": {**_ONE_PASS, (MFN, "ROWS_SIDE"): 0},
    }
}
# Regression and ordinal regression ask the same questions of problems of their own: test_regression, test_ordinal.
CLASSIFIERS = [row for row in registry.SOLVERS if row.task == "classification"]
EVERYWHERE = [
    pytest.param(row, path, id=f"{row.name}-{path}")
    for row in CLASSIFIERS
    for path in PATHS.get(row.module, {"default": {}})
]
every_path = pytest.mark.parametrize("row, path", EVERYWHERE)
every_row = pytest.mark.parametrize("row", CLASSIFIERS, ids=lambda row: row.name)
every_layout = pytest.mark.parametrize("layout", ["csr", "dense"])


def choose_path(monkeypatch, row: registry.Solver, path: str) -> None:
    """From now on the row's back end takes this way."""
    for (module, name), value in PATHS.get(row.module, {}).get(path, {}).items():
        monkeypatch.setattr(importlib.import_module(module), name, value)


def keep_sparse(monkeypatch) -> None:
    """Rows stay sparse, however full they are."""
    monkeypatch.setattr(rows_module, "DENSE_FROM", 2.0)


class Solved:
    """Answer of one row to one problem: w, result, certificate and the settings."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, stop=None, report=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        self.p = p
        self.settings = Settings(
            solver=row.number, C=1.0, bias=p.bias, regularize_bias=not p.free, solver_given=True, **settings
        )
        problems = Problems(table_of(p.X, p.y), self.settings, p.cost)
        if layout == "dense":
            kept = p.cost > 0
            problems.rows = DenseRows(np.ascontiguousarray(p.X[kept]), p.bias)
        elif not isinstance(problems.rows, rows_module.CsrRows):
            pytest.fail("the sparse layout was not kept")
        first = problems.classes.labels[0]
        start = None if start is None else first * np.asarray(start)[:, None]
        [self.result] = problems.fit(start, report, stop)
        self.certificate = problems.certify([self.result])
        self.w = first * self.result.w  # the first class of the data counts as +1 there
        self.value, self.minimiser = ORACLES[row.loss]
        self.f = self.value(p, self.w)

    @property
    def status(self):
        return self.result.status

    @property
    def room(self) -> float:
        """How far w may lie from the minimiser: f grows by at least half the squared distance (bias regularised)."""
        return 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


def honours(row, p: Problem) -> bool:
    return not p.free or "-R" in row.honours


TALL = {"n": 60, "d": 8}
WIDE = {"n": 20, "d": 45}
PROBLEMS = {
    "tall": reference.random_problem(1, **TALL),
    "tall-easy": reference.random_problem(2, **TALL, C=0.01),
    "tall-hard": reference.random_problem(3, **TALL, C=100.0),
    "tall-bias": reference.random_problem(4, **TALL, bias=1.0),
    "tall-free": reference.random_problem(5, **TALL, bias=1.0, free=True),
    "wide": reference.random_problem(6, **WIDE),
    "wide-hard-bias": reference.random_problem(7, **WIDE, C=100.0, bias=2.0),
    "wide-free": reference.random_problem(8, **WIDE, bias=1.0, free=True),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"]
