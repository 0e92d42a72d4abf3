"""-s 21: the optimum by a general-purpose solver, laws that need no oracle, its certifier, the iterations of a run."""

from __future__ import annotations

import numpy as np
import pytest
from one_class_problems import PROBLEMS, SOME, Problem, Solved, every_path, every_row, optimum, random_problem
from problem_laws import restated
from reference import csr_of

from svmtool.certify.one_class import OneClassCertifier
from svmtool.data.csr import CsrRows
from svmtool.formats.models import linear
from svmtool.objectives.one_class import MIN_VALUE_SHARE
from svmtool.solvers import one_class


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
