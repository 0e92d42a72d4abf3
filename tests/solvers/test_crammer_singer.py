"""-s 4: the gap by the formulas, laws that need no oracle, the course of a run."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import pytest
from problem_laws import restated
from reference import random_rows, rows_in, table_of
from sampling import every_turn, in_turn

from svmtool import registry
from svmtool.compiled import threads
from svmtool.data import row_storage
from svmtool.params import Settings
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import StopFlag
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
    "tall-hard": random_problem(3, 60, 5, 5, C=50.0),
    "tall-bias": random_problem(4, 60, 5, 3, bias=2.0),
    "wide": random_problem(5, 20, 45, 4),
    "many": random_problem(6, 90, 6, 19),
    "two": random_problem(7, 60, 5, 2),
    "two-bias": random_problem(8, 60, 5, 2, bias=1.0),
}
SOME = PROBLEMS["tall"], PROBLEMS["tall-bias"], PROBLEMS["wide"], PROBLEMS["two-bias"]


class Solved:
    """Solution of a problem by one solver of the registry."""

    def __init__(self, row, p: Problem, layout: str = "csr", stop=None, method="", **settings):
        settings = {"gap": GAP, **settings} if not {"eps", "gap"} & set(settings) else settings
        problems = CrammerSinger(table_of(p.X, p.y, p.cost), Settings.of(solver=row.number, bias=p.bias, **settings))
        problems.rows = rows_in(layout, p.X[p.cost > 0], p.bias)
        if problems.k > 2:  # others are solved by the hinge's method
            problems.solver_method = method or None
        results = problems.fit(None, None, stop)
        self.result, self.certificate = results[0], problems.certify(0, results[0])
        self.W, self.status = problems.weights(results), self.result.status
        self.f = p.value(self.W)
        self.radius = 2.0 * np.sqrt(2.0 * GAP * self.f) + 1e-9


TOLERANCES = (None, 0.5, 1e-7)
METHODS = ("turns", "epochs", "primal")
every_method = pytest.mark.parametrize("method", METHODS)


@pytest.mark.parametrize("layout", ["csr", "dense"])
@pytest.mark.parametrize("name", PROBLEMS)
@every_method
@every_row
def test_gap_by_the_formulas(row, method, name, layout):
    p = PROBLEMS[name]
    s = Solved(row, p, layout, method=method)
    dual = p.dual_value(s.result.alpha)
    assert s.status.converged, s.status
    assert s.f - dual <= 1e-8 * s.f, "this proves that both are optimal"
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert dual * (1 - 1e-12) <= s.certificate.dual <= s.f * (1 + 1e-12)
    for record in s.result.history:
        assert record["bound"] <= s.f * (1 + 1e-12) and record["objective"] >= dual * (1 - 1e-12)
    np.testing.assert_allclose(s.W.sum(axis=1), 0.0, atol=s.radius)


@every_turn
@every_method
@every_row
def test_laws(row, method, turn):
    """What must not change when a problem is put differently."""
    order = np.random.default_rng(0).permutation
    solved = functools.partial(Solved, row, method=method)
    for p in in_turn(SOME, METHODS.index(method), turn):
        a, k = solved(p), order(len(p.y))
        k = np.concatenate([np.arange(p.k), k[k >= p.k]])  # the order of classes stays
        repeated = p._replace(
            X=np.vstack([p.X, p.X[:9]]), y=np.append(p.y, p.y[:9]), cost=np.append(p.cost, p.cost[:9])
        )
        same = {
            **{name: (p, other) for name, other in restated(p, "y", k).items()},
            "names": (p, p._replace(y=10.0 * p.y + 77.0)),
            "weight two": (p._replace(cost=np.append(2 * p.cost[:9], p.cost[9:])), repeated),
        }
        for law, (one, other) in same.items():
            first, second = a if one is p else solved(one), solved(other)
            assert np.linalg.norm(first.W - second.W) <= 2 * first.radius, law
            assert second.f == pytest.approx(first.f, rel=1e-9), law
        zero = solved(p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert not np.any(zero.W[2]) and np.linalg.norm(np.delete(zero.W, 2, axis=0) - a.W) <= 2 * a.radius
        scaled = solved(p._replace(X=4.0 * p.X, bias=4.0 * p.bias, cost=p.cost / 16.0))
        assert np.linalg.norm(4.0 * scaled.W - a.W) <= 8 * a.radius
        assert np.linalg.norm(solved(p, "dense").W - a.W) <= 2 * a.radius


@every_method
@every_row
def test_limits(row, method):
    for p in (PROBLEMS["tall-hard"], PROBLEMS["two"]):
        for k in (1, 2, 4):
            s = Solved(row, p, method=method, max_iter=k)
            assert s.status is base.ITERATIONS and s.result.iterations <= k + 1
            assert s.f <= p.value(np.zeros(s.W.shape)), "never worse than no weights at all"
        if p.k > 2:  # two classes may end before the clock is asked
            assert Solved(row, p, method=method, max_seconds=0.0).status is base.TIME
            stop = StopFlag()
            stop.set = True
            s = Solved(row, p, method=method, stop=stop)
            assert s.status is base.INTERRUPTED and s.f <= p.value(np.zeros(s.W.shape))


def violation(p: Problem, W: np.ndarray, a: np.ndarray) -> float:
    """LIBLINEAR's measure (compat 2.2): max over rows of max G - min G over what can rise."""
    rows = np.arange(len(p.y))
    G = p.A @ W + 1.0
    G[rows, p.number] -= 1.0
    can_rise = a < 0
    can_rise[rows, p.number] = a[rows, p.number] < p.cost * (1 - 1e-12)
    return float(np.max(G.max(axis=1) - np.where(can_rise, G, np.inf).min(axis=1)))


@every_turn
@pytest.mark.parametrize("eps", TOLERANCES)
@every_method
@every_row
def test_e_ends_within_liblinears_rule(row, method, eps, turn):
    for p in in_turn((*SOME, PROBLEMS["tall-hard"]), METHODS.index(method) + TOLERANCES.index(eps), turn):
        s = Solved(row, p, method=method, eps=eps)
        assert s.status.converged
        a = s.result.alpha
        reached = violation(p, p.A.T @ a, a) <= (row.eps_default if eps is None else eps) * (1 + 1e-6)
        assert reached or s.status is base.OPTIMAL
        assert s.certificate.gap <= 1e-6 * (1 + 1e-6)  # as the row promises for few features


@every_row
def test_same_bits_from_any_number_of_threads_and_another_seed_the_same_optimum(row, monkeypatch):
    monkeypatch.setattr(row_storage, "BLOCK_WORK", 32)
    p, found = random_problem(20, 600, 12, 5), []
    for k in (1, 2, 3):
        with threads.limited(k):
            found.append(Solved(row, p, gap=1e-4).W)
    assert all(np.array_equal(found[0], W) for W in found)
    p = PROBLEMS["tall"]
    a, b = Solved(row, p, seed=5), Solved(row, p)
    assert np.linalg.norm(a.W - b.W) <= 2 * a.radius
