"""Helpers for tests of regression: registry rows, problems with a tube, their optimum, solving."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import numpy as np
import optima
import pytest
from reference import random_rows, table_of
from solver_suite import Case, each_path, force

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.params import Settings
from svmtool.training.reductions.regression import Regression

ROWS = [row for row in registry.SOLVERS if row.kind == "regression"]
GAP = 1e-11
EVERYWHERE = [case for row in ROWS for case in each_path(Case(row, 2.0))]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_path = pytest.mark.parametrize("case", EVERYWHERE, ids=lambda case: case.id)


class Problem(NamedTuple):
    """X f8[n, d] without the bias feature, targets t, cost C_i, half-width eps of the tube, power of the loss."""

    X: np.ndarray
    t: np.ndarray
    cost: np.ndarray
    eps: float = 0.1
    bias: float = -1.0
    power: float = 1.0
    free: bool = False

    @property
    def A(self) -> np.ndarray:
        return self.X if self.bias < 0 else np.hstack([self.X, np.full((len(self.X), 1), self.bias)])

    @property
    def R(self) -> np.ndarray:
        """The diagonal of the regulariser."""
        return np.append(np.ones(self.A.shape[1] - 1), 0.0 if self.free else 1.0)

    def slack(self, w: np.ndarray) -> np.ndarray:
        """How far rows lie outside the tube."""
        return np.maximum(np.abs(self.t - self.A @ w) - self.eps, 0.0)

    def value(self, w: np.ndarray) -> float:
        return 0.5 * float(w @ (self.R * w)) + float(self.cost @ self.slack(w) ** self.power)

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Gradient for power 2."""
        return self.R * w - self.A.T @ (2.0 * self.cost * self.slack(w) * np.sign(self.t - self.A @ w))

    def of(self, row: registry.Solver) -> Problem:
        """The problem with the loss of the registry row."""
        return self._replace(power=1.0 if row.loss == "hinge" else 2.0)


@functools.cache
def optimum_of(name: str, power: float) -> float:
    """The optimum of a problem of PROBLEMS with a loss of this power."""
    return optimum(PROBLEMS[name]._replace(power=power))


def optimum(p: Problem) -> float:
    """As a two-class problem with a row for either end of each tube."""
    loss = "hinge" if p.power == 1.0 else "squared hinge"
    signs, cost = np.repeat((1.0, -1.0), len(p.t)), np.tile(p.cost, 2)
    twice = optima.Problem(np.tile(p.X, (2, 1)), signs, cost, p.bias, p.free, loss)
    return min(p.value(w) for w, _ in optima.of_squares(twice, np.append(p.t, -p.t) - p.eps))


def random_problem(seed: int, n: int, d: int, C: float = 1.0, eps: float = 0.1, bias: float = -1.0) -> Problem:
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    t = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) + (0.7 if bias >= 0 else 0.0)
    t = np.round(t, 3)  # survives being written to a file
    return Problem(X, t, C * rng.choice([0.5, 1.0, 3.0], n), eps, bias)


PROBLEMS = {
    "tall": random_problem(1, 30, 4),
    "tall-easy": random_problem(2, 30, 4, C=0.01),
    "tall-hard": random_problem(3, 30, 4, C=100.0),
    "tall-bias": random_problem(4, 30, 4, bias=2.0),
    "wide": random_problem(5, 12, 20),
    "wide-hard": random_problem(6, 12, 20, C=100.0, bias=1.0),
    "no-tube": random_problem(7, 30, 4, eps=0.0),
    "broad-tube": random_problem(8, 30, 4, eps=1.5),
    "all-inside": random_problem(9, 30, 4, eps=1e3),
    "free": random_problem(11, 30, 4, bias=1.0)._replace(free=True),
    "wide-free": random_problem(12, 12, 20, C=100.0, bias=1.0)._replace(free=True),
    "large": random_problem(10, 30, 4)._replace(t=1e5 * random_problem(10, 30, 4).t, eps=0.1),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"]


class Solved:
    """Solution of a problem by one registry row, or a case of it."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, report=None, stop=None, **settings):
        row, path = (row.row, row.path) if isinstance(row, Case) else (row, "")
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings.of(solver=row.number, p=p.eps, bias=p.bias, regularize_bias=not p.free, **settings)
        p = p.of(row)
        problems = Regression(table_of(p.X, p.t, p.cost), s)
        if layout == "dense":
            problems.rows = DenseRows(np.ascontiguousarray(p.X[p.cost > 0]), p.bias)
        assert isinstance(problems.rows, DenseRows if layout == "dense" else CsrRows)
        force(problems, path)
        [self.result] = problems.fit(None if start is None else np.asarray(start)[:, None], report, stop)
        self.certificate = problems.certify(0, self.result)
        self.w, self.status, self.f = self.result.w, self.result.status, p.value(self.result.w)
        self.radius = 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


def numbers(pattern: str, text: str) -> list[float]:
    """The groups of the first match of the pattern."""
    return [float(x) for x in re.search(pattern, text).groups()]
