"""-s 21: the optimum by interior points, laws that need no oracle, its certifier, the iterations of a run."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import pytest
from problem_laws import restated
from reference import csr_of, least_square, random_rows, table_of

from svmtool import registry
from svmtool.certify.one_class import OneClassCertifier
from svmtool.data.csr import CsrRows
from svmtool.formats.models import linear
from svmtool.objectives.one_class import MIN_VALUE_SHARE
from svmtool.params import Settings
from svmtool.solvers import one_class
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


@pytest.mark.parametrize("name", PROBLEMS)
@every_path
@every_row
def test_optimum_and_certificate(row, path, name):
    p = PROBLEMS[name]
    best, s = optimum(p), Solved(row, p, path=path)
    assert best < 0.0
    assert s.status.converged, s.status
    assert abs(s.f - best) <= 1e-8 * -best
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.dual <= best * (1 - 1e-12)
    assert s.certificate.gap <= 1e-10
    assert s.f == pytest.approx(p.least(s.w), rel=1e-12), "rho is the best one"
    for record in s.result.history:
        assert record["bound"] <= best * (1 - 1e-9) and record["objective"] >= s.f * (1 + 1e-9)
    a = s.result.alpha
    assert np.all(a >= 0.0) and np.all(a <= p.cost) and np.sum(a) == pytest.approx(p.k, rel=1e-12)
    assert p.dual_value(a) == pytest.approx(best, rel=1e-8)
    z = p.X @ s.w
    outside, inside = z < s.rho * (1 - 1e-6), z > s.rho * (1 + 1e-6)
    assert np.all(a[outside] == p.cost[outside]) and np.all(a[inside] == 0.0)


@every_row
@pytest.mark.parametrize("n, d, nu, other", [(300, 4, 0.5, -0.7), (300, 4, 1.0, -1.0)])
def test_rows_about_the_origin_are_solved_at_zero(row, n, d, nu, other):
    """In the direction of the first weights all rows are the same, so that too many are free for their own system."""
    p = random_problem(1, n, d, nu, shift=0.0)
    p = p._replace(X=np.concatenate((p.X, other * p.X)), cost=np.tile(p.cost, 2))
    p, start = p._replace(X=np.insert(p.X, d, 0.0, axis=1)), np.zeros(d + 2)
    start[d] = 1.0
    assert 2 * n > one_class.MAX_FACE_ROWS
    s = Solved(row, p, start, path="start")
    assert s.status.converged and not np.any(s.w) and s.certificate.gap <= 1e-10
    a = s.result.alpha
    assert np.all(a >= 0.0) and np.all(a <= p.cost) and np.sum(a) == pytest.approx(p.k, rel=1e-12)
    assert np.linalg.norm(p.X.T @ a) <= 1e-6 * np.linalg.norm(p.X, axis=1) @ a


@every_path
@every_row
def test_laws(row, path):
    """What must not change when a problem is put differently."""

    def solved(p):
        return Solved(row, p, path=path)

    for p in SOME:
        d, a = p.X.shape[1], solved(p)
        rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(d, d)))[0]
        for law, other in restated(p).items():
            b = solved(other)
            assert np.linalg.norm(a.w - b.w) <= 2 * a.radius, law
            assert b.f == pytest.approx(a.f, rel=1e-9), law
        turned = solved(p._replace(X=p.X @ rotation))
        assert np.linalg.norm(rotation @ turned.w - a.w) <= 2 * a.radius
        for factor in (1e-6, 30.0, 1e9):  # of features, or of costs: w grows with both
            b, c = solved(p._replace(X=factor * p.X)), solved(p._replace(cost=factor * p.cost))
            assert np.linalg.norm(b.w / factor - a.w) <= 2 * a.radius
            assert np.linalg.norm(c.w / factor - a.w) <= 2 * a.radius
            assert b.rho / factor**2 == pytest.approx(a.rho, rel=1e-5)
        zero = solved(p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert zero.w[2] == 0.0 and np.linalg.norm(np.delete(zero.w, 2) - a.w) <= 2 * a.radius


@every_row
def test_the_origin_among_the_rows(row, svm_train):
    """w = 0 is the minimiser, though no feasible sum of rows but one is."""
    X = np.random.default_rng(3).normal(size=(60, 3))
    s = Solved(row, Problem(X, np.ones(60), 0.5), gap=1e-6)
    assert s.status.converged and s.certificate.gap <= 1e-6
    assert abs(s.f) <= MIN_VALUE_SHARE * 0.5 * 30**2 * 3 * np.mean(X**2)
    status, _, err = svm_train("-s", row.number, "-q", "d", "m", data="1 1:1\n1 1:-1\n1 2:1\n1 2:-1\n")
    assert status == 0 and err.startswith("WARNING: w = 0: ")
    assert not np.any(linear.read("m").W)


# Certifier and best rho


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_certificate_of_wrong_results_is_right(name):
    p, rng = PROBLEMS[name], np.random.default_rng(5)
    best = optimum(p)
    n, d = p.X.shape
    certify = OneClassCertifier(CsrRows(*csr_of(p.X), d), p.cost, p.nu)
    for _ in range(20):
        w, rho, a = 3 * rng.normal(size=d), rng.normal(), rng.random(n) * p.cost * rng.choice([0.1, 1.0])
        found = certify.certify(w, rho, a)
        assert found.primal == pytest.approx(p.value(w, rho), rel=1e-12)
        assert found.dual <= best * (1 - 1e-12) and found.primal >= best * (1 + 1e-12)
        assert found.gap > 0.0
        if found.primal < 0.0:
            assert (found.primal - best) / -best <= found.gap * (1 + 1e-9)
    beyond = certify.certify(np.zeros(d), 0.0, p.cost * 5.0)
    assert beyond.dual == pytest.approx(p.dual_value(p.cost * p.nu), rel=1e-12), "clipped and scaled to the sum"
    assert certify.certify(np.zeros(d), np.inf, p.cost).gap == np.inf


# Course of a run


@every_row
def test_warm_start_at_the_answer_stops_early(row):
    for p in SOME:
        cold = Solved(row, p)
        warm = Solved(row, p, start=cold.result.w, gap=1e-6)
        assert warm.status.converged and warm.f <= cold.f + 1e-6 * abs(cold.f)
        assert warm.result.iterations == 0, "the rows at rho are found at once"
        assert Solved(row, p, start=cold.result.w, max_iter=1, gap=1e-15).f <= cold.f + 1e-12 * abs(cold.f)


@pytest.mark.parametrize("eps", [None, 10.0, 1e-9])
@every_row
def test_e_is_liblinears_rule(row, eps):
    for p in (*SOME, PROBLEMS["far"]):
        s = Solved(row, p, eps=eps)
        a, z = s.result.alpha, p.X @ (p.X.T @ s.result.alpha)
        violation = max(z[a > 0.0]) - min(z[a < p.cost], default=np.inf)
        assert s.status.converged
        assert violation <= max(row.eps_default if eps is None else eps, 1e-12 * np.max(np.abs(z)))
        assert s.certificate.gap <= 1e-6
        assert s.certificate.violation == pytest.approx(max(violation, 0.0), rel=1e-3, abs=1e-12 * np.max(np.abs(z)))


@every_row
def test_a_violation_below_rounding_of_huge_values_is_not_waited_for(row):
    """Features of sizes from 1e-5 to 1e7: -e is far below a rounding of z, and the gap is 1e-10 long before."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(47, 19)) * 10.0 ** rng.uniform(-5, 7, 19)
    s = Solved(row, Problem(X, np.where(rng.random(47) < 0.5, 1.0, 100.0), 0.1), eps=1e-5)
    assert s.status.converged and s.certificate.gap <= 1e-8 and len(s.result.history) < 1000
