"""Problems of the linear one-class SVM, their optimum by a general-purpose solver, and our solutions."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from reference import least_square, random_rows, table_of

from svmtool import registry
from svmtool.params import Settings
from svmtool.solvers.shared.base import Monitor
from svmtool.training.reductions.one_class import OneClass

ROWS = [row for row in registry.SOLVERS if row.kind == "one-class"]
GAP = 1e-11
PATHS = {  # a method of the solver, and the most rounds between two passes over all rows
    "rows": ("rows", sys.maxsize),
    "rows, face": ("rows", 1),
    "start": ("start", sys.maxsize),
}
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_path = pytest.mark.parametrize("path", PATHS)


class Problem(NamedTuple):
    """Rows X f8[n, d], upper bounds cost of the dual variables, nu."""

    X: np.ndarray
    cost: np.ndarray
    nu: float

    @property
    def k(self) -> float:
        return self.nu * float(np.sum(self.cost))

    def value(self, w: np.ndarray, rho: float) -> float:
        return 0.5 * float(w @ w) + float(self.cost @ np.maximum(rho - self.X @ w, 0.0)) - self.k * rho

    def least(self, w: np.ndarray) -> float:
        """P at w and the best rho, which is the score of some row."""
        return min((self.value(w, rho) for rho in self.X @ w), default=0.0)

    def dual_value(self, a: np.ndarray) -> float:
        return -0.5 * float(np.sum((self.X.T @ a) ** 2))


def optimum(p: Problem) -> float:
    return -least_square(p.X @ p.X.T, p.k, p.cost)


def random_problem(seed: int, n: int, d: int, nu: float, shift: float = 1.0, equal: bool = False) -> Problem:
    """Rows around a point away from the origin, with unequal costs."""
    rng = np.random.default_rng(seed)
    X = np.round(random_rows(rng, n, d) + shift * (rng.random((n, d)) < 0.8), 6)
    return Problem(X, np.ones(n) if equal else rng.choice([0.5, 1.0, 3.0], n), nu)


PROBLEMS = {
    "tall": random_problem(1, 40, 4, 0.5),
    "tall-few-out": random_problem(2, 40, 4, 0.05, shift=3.0),
    "tall-most-out": random_problem(3, 40, 4, 0.9),
    "tall-equal": random_problem(4, 40, 4, 0.3, equal=True),
    "one-feature": random_problem(5, 30, 1, 0.4, shift=5.0),
    "wide": random_problem(6, 12, 30, 0.5),
    "wide-few-out": random_problem(7, 12, 30, 0.02),
    "far": random_problem(8, 40, 4, 0.3, shift=1e3),
    "whole-number-out": random_problem(9, 40, 4, 0.25, equal=True),
    "repeated": random_problem(10, 20, 4, 0.35)._replace(
        X=np.repeat(random_problem(10, 20, 4, 0.35).X[:5], 4, axis=0) + 1.0
    ),
}
SOME = PROBLEMS["tall"], PROBLEMS["wide"], PROBLEMS["tall-equal"]


class Solved:
    """Solution of a problem by one registry row; path: of PATHS, in place of the solver's plan."""

    def __init__(self, row, p: Problem, start=None, report=None, path=None, **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings.of(solver=row.number, nu=p.nu, **settings)
        self.problems = OneClass(table_of(p.X, np.zeros(len(p.X)), p.cost), s)
        if path is not None:
            method, rounds = PATHS[path]
            stopping = s.stopping
            monitor = Monitor(s.target, stopping.max_iter, stopping.max_seconds, report, call_rounds=rounds)
            solve, task = registry.entry(row), self.problems.task(0)
            self.result = solve(task, monitor, self.problems.rule(0), start, method=method)
        else:
            [self.result] = self.problems.fit(None if start is None else np.asarray(start)[:, None], report)
        self.certificate = self.problems.certify(0, self.result)
        self.w, self.rho, self.status = self.result.w[:-1], float(self.result.w[-1]), self.result.status
        self.f = p.value(self.w, self.rho)
        self.radius = 2.0 * np.sqrt(2.0 * GAP * abs(self.f)) + 1e-9
