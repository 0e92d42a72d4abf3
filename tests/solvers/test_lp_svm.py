"""LP-SVM against a linear program."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from lp_suite import Solved, l1_optimum
from solver_suite import LAYOUTS, PROBLEMS

from svmtool.compiled import threads
from svmtool.data import row_storage
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import StopFlag

every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)
every_method = pytest.mark.parametrize("method", ["stages", "pdhg", "interior"])


@every_layout
@every_problem
@every_method
def test_lp_svm_is_the_linear_programs_answer(name, layout, method):
    p = PROBLEMS[name]
    s, best = Solved(p, layout, method=method), l1_optimum(p)
    assert s.status.converged, s.status
    assert best * (1 - 1e-9) <= s.f <= best * (1 + 1e-7)
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.gap <= 1e-7
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9)
        assert record["objective"] >= best * (1 - 1e-9)
    # A basic solution has no more weights than rows; weights are exactly zero, not only small.
    w = s.w[: p.X.shape[1]]
    assert w[p.X.shape[1] // 2] == 0.0, "the column of zeros"
    assert np.count_nonzero(w) <= len(p.y)
    assert np.all((w == 0.0) | (np.abs(w) > 1e-6 * np.abs(w).max(initial=0.0)))


@pytest.mark.parametrize("C", [1e-12, 1e-6, 1e6, 1e10])
@every_method
def test_lp_extreme_costs(C, method):
    p = reference.random_problem(9, 40, 6, C, bias=1.0, free=True)
    gap = max(1e-6, 1e-14 * C)  # |v_j| <= 1 is a difference of multipliers up to C, whose rounding counts
    s = Solved(p, method=method, gap=gap)
    assert s.status.converged, s.status
    assert s.f <= l1_optimum(p) * (1 + 1e-5)


@every_method
def test_lp_laws(method):
    """Opposite labels, rows twice at half the cost, weight zero, a warm start: the same optimum."""
    p = PROBLEMS["tall-free"]
    f = Solved(p, method=method).f
    assert Solved(p._replace(y=-p.y), method=method).f == pytest.approx(f, rel=1e-7)
    twice = p._replace(X=np.vstack([p.X, p.X]), y=np.tile(p.y, 2), cost=np.tile(p.cost / 2, 2))
    assert Solved(twice, method=method).f == pytest.approx(f, rel=1e-7)
    more = p._replace(X=np.vstack([p.X, p.X]), y=np.append(p.y, -p.y), cost=np.append(p.cost, 0 * p.cost))
    assert Solved(more, method=method).f == pytest.approx(f, rel=1e-7)
    assert Solved(p, method=method, start=np.full(p.A.shape[1], 0.5)).f == pytest.approx(f, rel=1e-7)


@every_layout
@every_method
def test_lp_same_bits_for_any_number_of_threads(layout, method, monkeypatch):
    monkeypatch.setattr(row_storage, "BLOCK_WORK", 16)
    answers = []
    for count in (1, 3):
        with threads.limited(count):
            answers.append(Solved(PROBLEMS["tall-free"], layout, method=method))
    assert answers[0].w.tobytes() == answers[1].w.tobytes()
    assert answers[0].result.history == answers[1].result.history


@pytest.mark.parametrize(
    "number, method", [(51, "stages"), (51, "pdhg"), (51, "interior"), (52, "primal"), (52, "golub-kahan")]
)
def test_cut_short(number, method):
    p = PROBLEMS["tall-hard"]
    s = Solved(p, method=method, number=number, max_iter=1, gap=1e-12)
    assert s.status is base.ITERATIONS or s.status.converged
    assert s.certificate.primal <= float(np.sum(p.cost)) * (1 + 1e-9), "worse than no weights"
    stop = StopFlag()
    stop.set = True
    s = Solved(p, method=method, number=number, stop=stop, gap=1e-12)
    assert s.status is base.INTERRUPTED or s.status.converged
    s = Solved(p, method=method, number=number, max_seconds=1e-9, gap=1e-12)
    assert s.status is base.TIME or s.status.converged


@pytest.mark.parametrize("number", [50, 51, 52])
def test_one_class_under_a_free_bias(number):
    p = PROBLEMS["tall-free"]
    s = Solved(p._replace(y=np.ones(len(p.y))), number=number)
    assert s.status.converged and s.certificate.primal == 0.0


def test_columns_that_cannot_matter_are_left_out():
    p, active = reference.random_problem(9, 40, 1600, bias=1.0, free=True), []
    s = Solved(p, method="pdhg", gap=1e-6, report=lambda **record: active.append(record["active"]))
    assert s.status.converged and s.f == pytest.approx(l1_optimum(p), rel=2e-6)
    assert 0 < active[-1] < 0.8 * p.X.shape[1]


@pytest.mark.parametrize("number", [52, 70])
def test_few_rows_take_few_steps_whatever_their_costs(number):
    """Costs that differ by ten orders: conjugate gradients alone take many times as many steps as there are rows."""
    rng = np.random.default_rng(1)
    X = rng.poisson(0.1, (26, 1600)) * rng.lognormal(size=(26, 1))
    y = np.where(np.arange(26) % 2 == 0, 1.0, -1.0)
    cost = np.where(y > 0.0, 1e6, 1.0) * 10.0 ** rng.uniform(-2, 2, 26)
    s = Solved(reference.Problem(X, y, cost, loss="least squares"), number=number, gap=1e-9)
    assert s.status.converged
    assert s.certificate.gap <= 1e-9
    assert sum(record["cg"] for record in s.result.history) <= 200
