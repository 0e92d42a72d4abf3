"""-s 11, 12 and 13: the optimum by interior points, laws that need no oracle, where a run ends."""

from __future__ import annotations

import numpy as np
import pytest
from naming import case_of
from problem_laws import restated
from reference import table_of
from regression_problems import EVERYWHERE, PROBLEMS, SOME, Solved, every_path, every_row, optimum_of
from sampling import every_turn
from solver_suite import LAYOUTS, share

from svmtool.compiled import threads
from svmtool.data import row_storage
from svmtool.params import Settings
from svmtool.solvers.shared import base
from svmtool.training.reductions.base import problems_of


@every_turn
@every_path
def test_optimum_and_certificate(case, turn):
    for number in share(case, turn, 4, EVERYWHERE):
        half, shift = divmod(number, 2)
        for k, name in enumerate([*PROBLEMS][half::2]):
            p, layout = PROBLEMS[name].of(case.row), LAYOUTS[(k + shift) % 2]
            if not p.free or "-R" in case.row.supported:
                with case_of(name, layout):
                    check_optimum(name, p, Solved(case, p, layout))


def check_optimum(name, p, s) -> None:
    best = optimum_of(name, p.power) if p.eps < 100 else 0.0
    assert s.status.converged, s.status
    assert abs(s.f - best) <= 1e-8 * best
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.dual <= best * (1 + 1e-12)
    assert s.certificate.gap <= 1e-8
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9) and record["objective"] >= s.f * (1 - 1e-9)
    beta = s.result.alpha
    if beta is None:  # from a primal method: the dual point that belongs to w
        beta = 2.0 * p.cost * p.slack(s.w) * np.sign(p.t - p.A @ s.w)
    dual = p.t @ beta - p.eps * np.sum(np.abs(beta)) - 0.5 * float(np.sum((p.R * (p.A.T @ beta)) ** 2))
    if p.power == 1.0:
        assert np.all(np.abs(beta) <= p.cost * (1 + 1e-12))
    else:
        dual -= 0.25 * float(np.sum(beta**2 / p.cost))
    assert dual >= best * (1 - 1e-8), "beta is LIBLINEAR's dual point"
    if name == "all-inside":
        assert not np.any(s.w)


@every_turn
@every_path
def test_laws(case, turn):
    """What must not change when a problem is put differently."""
    row = case.row
    for k in share(case, turn, len(SOME), EVERYWHERE):
        p = SOME[k].of(row)
        a = Solved(case, p)
        for law, other in restated(p, "t").items():
            b = Solved(case, other)
            assert np.linalg.norm(a.w - b.w) <= 2 * a.radius, law
            assert b.f == pytest.approx(a.f, rel=1e-9), law
        opposite = Solved(case, p._replace(t=-p.t))
        assert np.linalg.norm(a.w + opposite.w) <= 2 * a.radius
        for factor in (1e-6, 30.0, 1e9):  # targets, tube and weights grow together if C does, or for squares by itself
            cost = factor ** (2.0 - p.power) * p.cost
            b = Solved(case, p._replace(t=factor * p.t, eps=factor * p.eps, cost=cost))
            assert np.linalg.norm(b.w / factor - a.w) <= 2 * a.radius
        zero = Solved(case, p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert zero.w[2] == 0.0 and np.linalg.norm(np.delete(zero.w, 2) - a.w) <= 2 * a.radius
        dense = Solved(case, p, "dense")
        assert np.linalg.norm(dense.w - a.w) <= 2 * a.radius


@every_row
def test_same_bits_for_any_number_of_threads(row, monkeypatch):
    monkeypatch.setattr(row_storage, "BLOCK_WORK", 16)
    answers = []
    for count in (1, 3):
        with threads.limited(count):
            answers.append(Solved(row, SOME[1], seed=5))
    assert answers[0].w.tobytes() == answers[1].w.tobytes() and answers[0].result.history == answers[1].result.history


@every_row
def test_extreme_costs(row):
    """From where w is almost 0 to where the tube is almost hard."""
    for C in (1e-12, 1e-6, 1e6, 1e10):
        for p in SOME:
            s = Solved(row, p._replace(cost=C * p.cost), gap=1e-6)
            assert s.status.converged or s.status is base.PRECISION, (C, s.status)
            assert s.certificate.gap <= 1e-6 or not s.status.converged


@pytest.mark.parametrize("eps", [0.1, 0.0])
@every_path
def test_labels_that_a_free_bias_alone_meets(case, eps):
    """No weights, a bias in every row's tube, and an objective of 0: no gap relative to it is defined."""
    if "-R" not in case.row.supported:
        pytest.skip(f"-s {case.row.number} does not support -R")
    p = PROBLEMS["free"]._replace(t=7.0 + eps * np.sin(np.arange(30)), eps=eps)
    s = Solved(case, p)
    assert s.status.converged and s.certificate.gap == 0.0 and s.f == 0.0
    assert not np.any(s.w[:-1]) and np.all(np.abs(p.t - s.w[-1]) <= eps)


@pytest.mark.parametrize("eps", [None, 0.5, 1e-9])
@every_row
def test_e_ends_beyond_liblinears_rule(row, eps):
    """The certified gap that the registry's row promises for -e, or LIBLINEAR's rule for -s 11."""
    for p in (*SOME, PROBLEMS["tall-hard"], PROBLEMS["free"]):
        if p.free and "-R" not in row.supported:
            continue
        p, e = p.of(row), row.eps_default if eps is None else eps
        s = Solved(row, p, eps=eps)
        assert s.status.converged
        if row.space == "primal":
            start = np.linalg.norm(p.gradient(np.zeros(p.A.shape[1])))
            assert np.linalg.norm(p.gradient(s.w)) <= e * start * (1 + 1e-9)
            continue
        wanted = 1e-5 * e
        assert s.certificate.gap <= min(max(wanted, 1e-8), 1e-6)


@pytest.mark.parametrize("number", [11, 12])
@pytest.mark.parametrize("size", [1e60, 1e80, 1e140])
def test_labels_whose_squares_have_no_square(number, size):
    """A lower bound that had overflowed ended the run at w = 0, and the folds of -v with it: LIBLINEAR's answer."""
    X, t = np.array([[1.0], [2.0], [3.0], [4.0]]), size * np.array([1.0, 2.0, 3.0, 4.5])
    settings = Settings.of(solver=number).with_default_bias()
    w = problems_of(table_of(X, t), settings).fit()[0].w
    assert w[0] == pytest.approx(2.0 * float(X[:, 0] @ t) / (1.0 + 2.0 * float(X[:, 0] @ X[:, 0])), rel=1e-9)
