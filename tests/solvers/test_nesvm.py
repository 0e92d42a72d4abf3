"""NESVM beyond the common suite: LP-SVM against a linear program, and the paper's Algorithm 1."""

# ruff: noqa: F811  # fixtures are imported, and used by name
from __future__ import annotations

import numpy as np
import pytest
import reference
import scipy.optimize
from nesvm_suite import LAYOUTS, Solved, every_layout, every_problem, l1_optimum, system  # noqa: F401
from optima import Problem
from solver_suite import PROBLEMS

from svmtool import registry
from svmtool.compiled import threads
from svmtool.data import row_storage
from svmtool.objectives.l1.hinge import WeightRows
from svmtool.objectives.smoothed import Smoothed
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base, homotopy
from svmtool.solvers.shared.base import Monitor, StopFlag


@every_layout
@every_problem
def test_lp_svm_is_the_linear_programs_answer(name, layout, system):
    p = PROBLEMS[name]
    s, best = Solved(p, layout, system=system), l1_optimum(p)
    assert s.status.converged, s.status
    assert best * (1 - 1e-9) <= s.f <= best * (1 + 1e-7)
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.gap <= 1e-7
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9)
        assert record["objective"] >= best * (1 - 1e-9)


@every_problem
def test_zero_weights_are_zeros(name, system):
    """A basic solution has no more weights than rows; weights are exactly zero, not only small."""
    p = PROBLEMS[name]
    w = Solved(p, system=system).w[: p.X.shape[1]]
    assert w[p.X.shape[1] // 2] == 0.0, "the column of zeros"
    assert np.count_nonzero(w) <= len(p.y)
    assert np.all((w == 0.0) | (np.abs(w) > 1e-6 * np.abs(w).max(initial=0.0)))


def test_some_weights_are_zeros(system):
    """What the test above rests on."""
    assert np.count_nonzero(Solved(PROBLEMS["wide"], system=system).w) < PROBLEMS["wide"].X.shape[1] // 2


@pytest.mark.parametrize("gap", [0.5, 1e-3, 1e-6])
def test_lp_target_gap_is_reached(gap, system):
    for name in ("tall-hard", "tall-free", "wide"):
        s = Solved(PROBLEMS[name], system=system, gap=gap)
        assert s.status.converged and s.certificate.gap <= gap * (1 + 1e-6)


def test_lp_default_gap(system):
    s = Solved(PROBLEMS["tall-hard"], system=system, gap=None)
    assert s.status is base.GAP and s.certificate.gap <= registry.find(51).gap_default


@pytest.mark.parametrize("C", [1e-12, 1e-6, 1e6, 1e10])
def test_lp_extreme_costs(C, system):
    p = reference.random_problem(9, 40, 6, C, bias=1.0, free=True)
    gap = max(1e-6, 1e-14 * C)  # |v_j| <= 1 is a difference of multipliers up to C, whose rounding counts
    s = Solved(p, system=system, gap=gap)
    assert s.status.converged, s.status
    assert s.f <= l1_optimum(p) * (1 + 1e-5)


def test_lp_laws(system):
    """Opposite labels, rows twice at half the cost, weight zero, a warm start: the same optimum."""
    p = PROBLEMS["tall-free"]
    f = Solved(p, system=system).f
    assert Solved(p._replace(y=-p.y), system=system).f == pytest.approx(f, rel=1e-7)
    twice = p._replace(X=np.vstack([p.X, p.X]), y=np.tile(p.y, 2), cost=np.tile(p.cost / 2, 2))
    assert Solved(twice, system=system).f == pytest.approx(f, rel=1e-7)
    more = p._replace(X=np.vstack([p.X, p.X]), y=np.append(p.y, -p.y), cost=np.append(p.cost, 0 * p.cost))
    assert Solved(more, system=system).f == pytest.approx(f, rel=1e-7)
    assert Solved(p, system=system, start=np.full(p.A.shape[1], 0.5)).f == pytest.approx(f, rel=1e-7)


@every_layout
def test_lp_same_bits_for_any_number_of_threads(layout, system, monkeypatch):
    monkeypatch.setattr(row_storage, "BLOCK_WORK", 16)
    answers = []
    for count in (1, 2, 3):
        threads.set_count(count)
        try:
            answers.append(Solved(PROBLEMS["tall-free"], layout, system=system))
        finally:
            threads.set_count(None)
    for other in answers[1:]:
        assert other.w.tobytes() == answers[0].w.tobytes()
        assert other.result.history == answers[0].result.history


@pytest.mark.parametrize("number", [50, 51, 52])
@pytest.mark.parametrize("homotopy", [True, False])
def test_cut_short(number, homotopy, system):
    p, system = PROBLEMS["tall-hard"], system if homotopy else None
    s = Solved(p, system=system, number=number, homotopy=homotopy, max_iter=1, gap=1e-12)
    assert s.status is base.ITERATIONS or s.status.converged
    assert s.certificate.primal <= float(np.sum(p.cost)) * (1 + 1e-9), "worse than no weights"
    stop = StopFlag()
    stop.set = True
    s = Solved(p, system=system, number=number, homotopy=homotopy, stop=stop, gap=1e-12)
    assert s.status is base.INTERRUPTED or s.status.converged
    s = Solved(p, system=system, number=number, homotopy=homotopy, max_seconds=1e-9, gap=1e-12)
    assert s.status is base.TIME or s.status.converged


@pytest.mark.parametrize("number", [50, 51, 52])
def test_one_class_under_a_free_bias(number):
    p = PROBLEMS["tall-free"]
    s = Solved(p._replace(y=np.ones(len(p.y))), number=number)
    assert s.status.converged and s.certificate.primal == 0.0


# Algorithm 1


def smoothed(p: Problem, layout: str, loss: str, l1: bool, mu: float) -> Smoothed:
    return Smoothed(Task(LAYOUTS[layout](p), p.y, p.cost, p.free), loss, l1, mu)


KINDS = {"c": ("hinge", False), "lp": ("hinge", True), "ls": ("least squares", False)}
every_kind = pytest.mark.parametrize("kind", KINDS)


def value(p: Problem, w: np.ndarray, loss: str, l1: bool, mu: float) -> float:
    """F_mu by Eqs. 5 and 22, the maximum over u taken on its three candidates."""
    xi, inner = p.slack(w), p.R * w
    if loss == "hinge":
        s = np.abs(p.A).max(axis=1)
        s[s == 0] = 1.0
        candidates = [u * xi - 0.5 * mu * s * u * u for u in (0.0, 1.0, np.clip(xi / (mu * s), 0, 1))]
        total = float(p.cost @ np.max(candidates, axis=0))
    else:
        total = float(p.cost @ xi**2)
    if l1:
        candidates = [u * inner - 0.5 * mu * u * u for u in (-1.0, 1.0, np.clip(inner / mu, -1, 1))]
        return total + float(np.sum(np.max(candidates, axis=0)))
    return total + 0.5 * float(inner @ inner)


@every_kind
@every_layout
@every_problem
def test_value_gradient_and_bounds(name, layout, kind):
    p, (loss, l1) = PROBLEMS[name], KINDS[kind]
    o = smoothed(p, layout, loss, l1, 0.3)
    rng = np.random.default_rng(0)
    for _ in range(3):
        w, h = rng.normal(size=p.A.shape[1]), 1e-6
        g = o.gradient(w)
        assert o.value == pytest.approx(value(p, w, loss, l1, 0.3), rel=1e-12)
        for j in range(len(w)):
            e = np.zeros(len(w))
            e[j] = h
            slope = (value(p, w + e, loss, l1, 0.3) - value(p, w - e, loss, l1, 0.3)) / (2 * h)
            assert g[j] == pytest.approx(slope, rel=1e-4, abs=1e-4 * (1 + np.abs(g).max()))
        assert o.bound <= o.primal and o.smooth_bound <= o.value


@every_kind
@every_problem
def test_lipschitz_constant_is_an_upper_bound_and_close(name, kind):
    p, (loss, l1) = PROBLEMS[name], KINDS[kind]
    o = smoothed(p, "csr", loss, l1, 0.3)
    s = np.abs(p.A).max(axis=1)
    s[s == 0] = 1.0
    c = p.cost / (0.3 * s) if loss == "hinge" else 2.0 * p.cost
    true = float(np.linalg.eigvalsh(p.A.T @ (c[:, None] * p.A))[-1]) + (1.0 / 0.3 if l1 else 1.0)
    assert true <= o.lipschitz() <= 1.1 * true


@every_kind
@pytest.mark.parametrize("name", ["tall", "tall-easy", "tall-free", "wide"])
def test_rate_of_the_paper(name, kind):
    """(43): F_mu(y^k) - F_mu(w*) <= 4 L_mu d_2(w*) / ((k + 1) (k + 2)), d_2 = |w*|^2 / 2, on plain()'s own points."""
    p, (loss, l1) = PROBLEMS[name], KINDS[kind]
    mu = 0.5
    o = smoothed(p, "csr", loss, l1, mu)
    L, points = o.lipschitz(), []
    inner = o.gradient

    def noted(w):
        g = inner(w)
        points.append(w - g / L)  # y^k
        return g

    o.gradient = noted
    homotopy.plain(o, Monitor(1e-14, 1001))
    best = minimum(p, loss, l1, mu, points[-1])
    lowest = value(p, best, loss, l1, mu)
    for k in (0, 1, 2, 5, 10, 30, 100, 300, 1000):
        if k < len(points):
            bound = 2.0 * L * float(best @ best) / ((k + 1) * (k + 2))
            assert value(p, points[k], loss, l1, mu) - lowest <= bound * (1 + 1e-9) + 1e-9 * lowest
    assert len(points) > 10


def minimum(p: Problem, loss: str, l1: bool, mu: float, w: np.ndarray) -> np.ndarray:
    """The minimiser of F_mu, by a general method from w."""
    best = scipy.optimize.minimize(lambda v: value(p, v, loss, l1, mu), w, method="L-BFGS-B", options={"ftol": 1e-15})
    return best.x if best.fun < value(p, w, loss, l1, mu) else w


@every_kind
def test_plain_form_reaches_a_gap_or_says_why_not(kind):
    number = {"c": 50, "lp": 51, "ls": 52}[kind]
    mu = {} if kind == "ls" else {"mu": 1e-3}
    s = Solved(PROBLEMS["tall-easy"], number=number, homotopy=False, gap=1e-2, **mu)
    assert s.status is base.GAP and s.certificate.gap <= 1e-2
    if kind != "ls":
        s = Solved(PROBLEMS["tall"], number=number, homotopy=False, gap=1e-4, mu=5.0)
        assert s.status is homotopy.BLURRED and not s.status.converged
        assert s.certificate.gap > 1e-4
        assert "--mu" in s.status.advice


def test_weight_rows_are_rows():
    """The virtual rows e_j against a dense matrix that holds them."""
    p = PROBLEMS["tall-free"]
    rows = WeightRows(LAYOUTS["csr"](p), 8)
    A = np.vstack([p.A, *[np.eye(8, 9)] * 2])
    rng = np.random.default_rng(1)
    w, y, u = rng.normal(size=9), rng.choice([-1.0, 1.0], len(A)), rng.normal(size=len(A))
    z = np.empty(len(A))
    rows.margins(w, y, z)
    np.testing.assert_allclose(z, y * (A @ w), atol=1e-12)
    np.testing.assert_allclose(rows.transpose_product(u), A.T @ u, atol=1e-12)
    np.testing.assert_allclose(rows.curvature_product(u, w), A.T @ (u * (A @ w)), atol=1e-12)
    np.testing.assert_allclose(rows.diagonal(u), (A * A).T @ u, atol=1e-12)
    gram = np.zeros((9, 9))
    rows.add_gram(np.abs(u), gram)
    np.testing.assert_allclose(np.triu(gram), np.triu(A.T @ (np.abs(u)[:, None] * A)), atol=1e-12)


@every_layout
def test_largest_entries_and_columns(layout):
    p = PROBLEMS["tall-bias"]
    rows = LAYOUTS[layout](p)
    np.testing.assert_array_equal(rows.largest_entries(), np.abs(p.A).max(axis=1))
    w, y, z = np.arange(9.0), np.ones(60), np.empty(60)
    size = np.append(np.arange(1.0, 9.0), 1.0)
    rows.divided(size).margins(w, y, z)
    np.testing.assert_allclose(z, p.A / size @ w, atol=1e-12)
    if layout == "csr":
        chosen = np.array([0, 3, 5])
        rows.columns(chosen).margins(w[:4], y, z)
        np.testing.assert_allclose(z, p.A[:, [0, 3, 5, 8]] @ w[:4], atol=1e-12)
