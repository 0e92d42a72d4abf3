"""Crammer-Singer problems and solutions of our solver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from reference import random_rows, table_of

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.params import Settings
from svmtool.training.reductions.crammer_singer import CrammerSinger

ROWS = [row for row in registry.SOLVERS if row.kind == "all classes"]
GAP = 1e-10
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


class Problem(NamedTuple):
    """X f8[n, d] without the bias feature, labels, cost C_i."""

    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    bias: float = -1.0

    @property
    def A(self) -> np.ndarray:
        return self.X if self.bias < 0 else np.hstack([self.X, np.full((len(self.X), 1), self.bias)])

    @property
    def number(self) -> np.ndarray:
        """The class of each row, in order of appearance."""
        order = list(dict.fromkeys(self.y.tolist()))
        order = [1.0, -1.0] if order == [-1.0, 1.0] else order
        return np.array([order.index(label) for label in self.y.tolist()], int)

    @property
    def k(self) -> int:
        return len(set(self.y.tolist()))

    def value(self, W: np.ndarray) -> float:
        rows = np.arange(len(self.y))
        S = self.A @ W.reshape(self.A.shape[1], self.k)
        own = S[rows, self.number].copy()
        S += 1.0
        S[rows, self.number] -= 1.0
        return 0.5 * float(np.sum(W**2)) + float(self.cost @ (S.max(axis=1) - own))

    def dual_value(self, a: np.ndarray) -> float:
        """Of a feasible a, n x k."""
        own = a[np.arange(len(a)), self.number]
        rest = a.copy()
        rest[np.arange(len(a)), self.number] = 0.0
        assert np.all(own <= self.cost * (1 + 1e-12)) and np.all(rest <= 0)
        assert np.all(np.abs(a.sum(axis=1)) <= 1e-12 * (1 + self.cost))
        return float(np.sum(own)) - 0.5 * float(np.sum((self.A.T @ a) ** 2))


def random_problem(seed: int, n: int, d: int, k: int, C: float = 1.0, bias: float = -1.0) -> Problem:
    """Rows of k noisy classes, all present, with unequal costs."""
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    y = np.argmax(X @ rng.normal(size=(d, k)) + 0.5 * rng.normal(size=(n, k)), axis=1)
    y[:k] = np.arange(k)
    return Problem(X, 3.0 * y - 4.0, C * rng.choice([0.5, 1.0, 2.0], n), bias)


PROBLEMS = {
    "tall": random_problem(1, 60, 5, 3),
    "tall-easy": random_problem(2, 60, 5, 4, C=0.01),
    "tall-hard": random_problem(3, 60, 5, 5, C=100.0),
    "tall-bias": random_problem(4, 60, 5, 3, bias=2.0),
    "wide": random_problem(5, 20, 45, 4),
    "many": random_problem(6, 90, 6, 19),
    "two": random_problem(7, 60, 5, 2),
    "two-bias": random_problem(8, 60, 5, 2, bias=1.0),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"], PROBLEMS["two-bias"]


class Solved:
    """Solution of a problem by one solver of the registry."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, report=None, stop=None, method="", **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        s = Settings.of(solver=row.number, bias=p.bias, **settings)
        problems = CrammerSinger(table_of(p.X, p.y, p.cost), s)
        if layout == "dense":
            problems.rows = DenseRows(np.ascontiguousarray(p.X[p.cost > 0]), p.bias)
        assert isinstance(problems.rows, DenseRows if layout == "dense" else CsrRows)
        if start is not None:
            start = problems.start_from(start)
        if problems.k > 2:  # others are solved by the hinge's method
            problems.solver_method = method or None
        results = problems.fit(start, report, stop)
        self.result, self.certificate = results[0], problems.certify(0, results[0])
        self.W, self.status = problems.weights(results), self.result.status
        self.model = problems.model(self.W)
        self.f = p.value(self.W)
        self.radius = 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9
