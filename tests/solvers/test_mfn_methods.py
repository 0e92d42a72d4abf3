"""-s 41 (modified Huber) and -s 42 (hinge) by the engine: optimum, certificate, ways to the answer, ends.

An answer is proved here from its numbers alone: the value of w and of the dual point, both computed in plain numpy.
"""

from __future__ import annotations

import numpy as np
import pytest
import reference
import scipy.optimize
from reference import Problem, csr_of, rows_in, table_of
from solver_suite import force

from svmtool import registry
from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.linalg.systems import solve_positive
from svmtool.objectives.augmented import Augmented, ModifiedHuber
from svmtool.params import Settings
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import StopFlag
from svmtool.training.reductions.one_vs_rest import OneVsRest

HUBER, HINGE = registry.find("mfn-huber"), registry.find("mfn-l1")
SHAPES = {
    "tall": {"seed": 1, "n": 60, "d": 8},
    "tall-bias": {"seed": 4, "n": 60, "d": 8, "bias": 1.0},
    "tall-free": {"seed": 5, "n": 60, "d": 8, "bias": 1.0, "free": True},
    "wide": {"seed": 6, "n": 20, "d": 45},
    "wide-bias": {"seed": 7, "n": 20, "d": 45, "bias": 2.0},
    "wide-free": {"seed": 8, "n": 20, "d": 45, "bias": 1.0, "free": True},
}
every_row = pytest.mark.parametrize("row", [HUBER, HINGE], ids=lambda row: row.name)
every_method = pytest.mark.parametrize("method", registry.methods(HUBER))
every_case = pytest.mark.parametrize(  # the hinge's methods have the suite of every solver
    "row, method", [*((HUBER, method) for method in registry.methods(HUBER)), (HINGE, "")],
    ids=lambda x: x if isinstance(x, str) else x.name,
)  # fmt: skip
every_layout = pytest.mark.parametrize("layout", ["csr", "dense"])
every_shape = pytest.mark.parametrize("shape", SHAPES)


def slack_of(p: Problem, w: np.ndarray) -> np.ndarray:
    return 1.0 - p.y * (p.A @ w)


def value(row, p: Problem, w: np.ndarray) -> float:
    xi = slack_of(p, w)
    if row is HINGE:
        loss = np.maximum(xi, 0.0)
    else:
        loss = np.where(xi >= 2.0, 2.0 * (xi - 1.0), 0.5 * np.clip(xi, 0.0, 2.0) ** 2)
    return 0.5 * float(w @ (p.R * w)) + float(p.cost @ loss)


def huber_gradient(p: Problem, w: np.ndarray) -> np.ndarray:
    return p.R * w - p.A.T @ (p.cost * p.y * np.clip(slack_of(p, w), 0.0, 2.0))


def dual_value(row, p: Problem, alpha: np.ndarray) -> float:
    """D at the best multiple, up to 1, of alpha, which must be feasible (up to rounding for a free bias)."""
    cap = 1.0 if row is HINGE else 2.0
    assert np.all(alpha >= 0) and np.all(alpha <= cap * p.cost * (1 + 1e-12))
    if p.free:
        assert abs(alpha @ p.y) <= 1e-9 * np.sum(alpha)
    v = p.R * (p.A.T @ (alpha * p.y))
    quadratic = float(v @ v) + (0.0 if row is HINGE else float(np.sum(alpha**2 / p.cost)))
    linear = float(np.sum(alpha))
    s = 1.0 if linear >= quadratic else linear / quadratic
    return s * (linear - 0.5 * s * quadratic)


def balanced(p: Problem, alpha: np.ndarray) -> np.ndarray:
    """Shrunk on the heavier side until sum alpha y = 0, where the bias is free."""
    if not p.free:
        return alpha
    up, down = np.sum(alpha[p.y > 0]), np.sum(alpha[p.y < 0])
    return alpha * np.where(p.y > 0, min(1.0, down / up), min(1.0, up / down))


class Answer:
    """The solution of a problem by a registry row, and the gap between f and the value of its dual point."""

    def __init__(self, row, p: Problem, layout: str = "csr", start=None, stop=None, report=None, method="", **settings):
        self.p, self.row = p, row
        s = Settings.of(solver=row.number, bias=p.bias, regularize_bias=not p.free, **settings)
        problems = OneVsRest(table_of(p.X, p.y, p.cost), s)
        problems.rows = rows_in(layout, p.X, p.bias)
        force(problems, method)
        sign = problems.classes.labels[0]  # the first class of the data counts as +1 there
        start = None if start is None else sign * start[:, None]
        [self.result] = problems.fit(start, report, stop)
        self.certificate = problems.certify(0, self.result)
        self.status, self.w, self.history = self.result.status, sign * self.result.w, self.result.history
        self.f = value(row, p, self.w)
        alpha = self.result.alpha
        if alpha is None:
            alpha = p.cost * np.clip(slack_of(p, self.w), 0.0, 2.0)
        self.gap = (self.f - dual_value(row, p, balanced(p, alpha))) / self.f


def proved(a: Answer, gap: float) -> None:
    assert a.status.converged, (a.status, a.gap)
    assert a.gap <= gap * (1 + 1e-6) + 1e-14
    assert a.certificate.gap <= gap * (1 + 1e-6) + 1e-14
    assert a.certificate.primal == pytest.approx(a.f, rel=1e-12)
    for record in a.history:
        assert record["bound"] <= a.f * (1 + 1e-12), "a bound above the optimum"
        assert record["objective"] >= a.f * (1 - gap - 1e-12)


@every_layout
@every_case
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@every_shape
def test_target_gap_is_reached(row, shape, C, method, layout):
    p = reference.random_problem(C=C, **SHAPES[shape])
    for gap in (1e-3, 1e-6, 1e-10):
        proved(Answer(row, p, layout, method=method, gap=gap), gap)


@every_row
def test_default_is_a_gap_of_a_millionth(row):
    p = reference.random_problem(3, 60, 8, C=10.0)
    a = Answer(row, p)
    proved(a, 1e-6)
    assert a.history[-1]["gap"] <= 1e-6


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@every_shape
def test_huber_against_quasi_newton(shape, C):
    p = reference.random_problem(C=C, **SHAPES[shape])
    a = Answer(HUBER, p, gap=1e-11)
    at_zero = np.linalg.norm(huber_gradient(p, np.zeros_like(a.w)))
    assert np.linalg.norm(huber_gradient(p, a.w)) <= 1e-4 * at_zero
    found = scipy.optimize.minimize(
        lambda w: value(HUBER, p, w), np.zeros_like(a.w), jac=lambda w: huber_gradient(p, w), method="L-BFGS-B",
        options={"maxiter": 20000, "maxfun": 100000, "gtol": 1e-10, "ftol": 1e-15},
    )  # fmt: skip
    assert a.f == pytest.approx(found.fun, rel=1e-8)
    assert a.certificate.violation <= 1e-3


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if not shape.endswith("free")])
def test_hinge_against_its_dual(shape, C):
    """max over 0 <= a <= C of sum a - 1/2 |sum a y x|^2, by quasi-Newton steps within bounds."""
    p = reference.random_problem(C=C, **SHAPES[shape])
    a = Answer(HINGE, p, gap=1e-11)
    Z = p.y[:, None] * p.A
    found = scipy.optimize.minimize(
        lambda u: 0.5 * float(np.sum((Z.T @ u) ** 2)) - float(np.sum(u)), np.zeros(len(Z)),
        jac=lambda u: Z @ (Z.T @ u) - 1.0, method="L-BFGS-B", bounds=[(0.0, c) for c in p.cost],
        options={"maxiter": 20000, "maxfun": 100000, "maxcor": 50, "gtol": 1e-12, "ftol": 1e-16},
    )  # fmt: skip
    assert a.f == pytest.approx(-found.fun, rel=1e-8)
    assert a.certificate.violation <= 1e-3


def degenerate() -> dict[str, Problem]:
    """Where the multipliers of the optimum are not unique."""
    rng = np.random.default_rng(0)
    base_problem = reference.random_problem(2, 30, 4)
    twice = Problem(np.vstack([base_problem.X] * 3), np.tile(base_problem.y, 3), np.tile(base_problem.cost, 3))
    grid = rng.integers(-1, 2, size=(80, 3)).astype(float)
    on_margin = Problem(grid, np.where(grid @ [1.0, -1.0, 0.5] > 0, 1.0, -1.0), rng.choice([0.5, 1.0, 3.0], 80))
    twins = Problem(np.vstack([grid[:20]] * 2), np.repeat([1.0, -1.0], 20), np.full(40, 2.0))
    separable = Problem(np.array([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]]), np.array([1.0, -1.0, 1.0]), np.full(3, 1e3))
    lone = Problem(np.array([[2.0, 1.0], [1.0, 0.5]]), np.ones(2), np.ones(2))
    empty = Problem(np.zeros((4, 2)), np.array([1.0, -1.0, 1.0, 1.0]), np.ones(4))
    return {
        "three-times": twice, "grid": on_margin, "twins": twins, "separable": separable, "lone": lone, "empty": empty,
        "grid-bias": on_margin._replace(bias=1.0), "grid-free": on_margin._replace(bias=1.0, free=True),
    }  # fmt: skip


DEGENERATE = degenerate()


@every_layout
@every_case
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", DEGENERATE)
def test_dependent_rows(row, name, C, method, layout):
    p = DEGENERATE[name]
    p = p._replace(cost=C * p.cost)
    proved(Answer(row, p, layout, method=method, gap=1e-10), 1e-10)


@pytest.mark.parametrize("eps", [1e-1, 1e-4])
@every_method
def test_huber_follows_the_gradient_rule(eps, method):
    for shape in ("tall", "tall-free", "wide"):
        p = reference.random_problem(C=10.0, **SHAPES[shape])
        a = Answer(HUBER, p, method=method, eps=eps)
        assert a.status.converged
        share = min(np.count_nonzero(p.y > 0), np.count_nonzero(p.y < 0)) / len(p.y)
        bar = eps * share * np.linalg.norm(huber_gradient(p, np.zeros_like(a.w)))
        assert np.linalg.norm(huber_gradient(p, a.w)) <= bar * (1 + 1e-9)


def test_hinge_refuses_the_gradient_rule():
    assert "-e" not in HINGE.supported and "-e" in HUBER.supported


@every_method
def test_methods_are_used(method, monkeypatch):
    taken = set()

    def spy(owner, name):
        plain = getattr(owner, name)

        def noted(self, *args):
            if np.any(self.active):  # where no row is active the Hessian is R, and any method does
                taken.add(name)
            return plain(self, *args)

        monkeypatch.setattr(owner, name, noted)

    spy(Augmented, "hessian")
    spy(Augmented, "face")
    spy(Augmented, "hessian_product")
    spy(DualCoordinateDescent, "run")
    proved(Answer(HUBER, reference.random_problem(3, 60, 8, C=10.0), method=method, gap=1e-10), 1e-10)
    expected = {"primal": "hessian", "epochs": "run", "dual": "face", "cg": "hessian_product"}[method]
    assert expected in taken
    others = {"hessian", "hessian_product", "run"} - {expected}
    assert not others & taken or method == "epochs"


@every_method
def test_warm_start_at_the_answer(method):
    """Huber's dual point belongs to w."""
    p = reference.random_problem(3, 60, 8, C=10.0)
    best = Answer(HUBER, p, method=method, gap=1e-11).w
    warm = Answer(HUBER, p, start=best, method=method, gap=1e-6)
    proved(warm, 1e-6)
    assert warm.result.iterations == 1
    proved(Answer(HUBER, p, start=np.full(8, 3.0), method=method, gap=1e-10), 1e-10)


@every_layout
@every_case
def test_cut_short(row, method, layout):
    p = reference.random_problem(3, 60, 8, C=100.0)
    at_zero = value(row, p, np.zeros(8))
    for limit in (1, 3):
        a = Answer(row, p, layout, method=method, gap=1e-12, max_iter=limit)
        assert a.status is base.ITERATIONS or a.status.converged
        assert a.f <= at_zero * (1 + 1e-12) and a.history
        assert a.certificate.dual <= a.f
    stop = StopFlag()
    stop.set = True
    a = Answer(row, p, layout, method=method, start=np.full(8, 2.0), stop=stop)
    assert a.status is base.INTERRUPTED
    assert a.f <= at_zero * (1 + 1e-12)


@every_row
def test_extreme_costs_end_honestly(row):
    for C in (1e-12, 1e-6, 1e6):
        a = Answer(row, reference.random_problem(9, 40, 6, C), gap=1e-8)
        proved(a, 1e-8)
    a = Answer(row, reference.random_problem(9, 40, 6, 1.0), gap=1e-300)
    assert a.status in (base.OPTIMAL, base.GAP) and a.gap <= 1e-12


def test_a_row_that_jumps_from_end_to_end_is_a_change():
    """From xi < 0 to xi > 2 the curvature is 0 before and after, and yet the quadratic is another."""
    o = ModifiedHuber(CsrRows(*csr_of(np.ones((1, 1))), 1), np.ones(1), np.ones(1))
    o.set_point(np.array([2.0]))
    o.gradient()
    o.gradient()
    assert o.changed == 0
    o.set_point(np.array([-2.0]))
    o.gradient()
    assert o.changed == 1 and o.active == 0


@pytest.mark.parametrize("bias", [-1.0, 0.7])
@pytest.mark.parametrize("kind", ["hinge", "huber"])
def test_face_is_the_newton_point(kind, bias):
    p = reference.random_problem(2, 40, 6, bias=bias)
    rows = CsrRows(*csr_of(p.X), 6, bias)
    o = ModifiedHuber(rows, p.y, p.cost) if kind == "huber" else Augmented(rows, p.y, p.cost)
    if kind == "hinge":
        o.sigma = 3.0
        o.beta[:] = np.random.default_rng(1).random(40)
    w = 0.9 * Answer(HUBER if kind == "huber" else HINGE, p, gap=1e-3).w
    o.set_point(w)
    _, g = o.gradient()
    assert 0 < o.active < o.n
    np.testing.assert_allclose(o.face(o.active_rows()), w - solve_positive(o.hessian(), g), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("layout", [CsrRows, DenseRows])
@pytest.mark.parametrize("kind", [Augmented, ModifiedHuber])
def test_bound_of_a_free_bias(kind, layout):
    """Below the optimum anywhere, and near it at the optimum."""
    row = HINGE if kind is Augmented else HUBER
    p = reference.random_problem(5, 60, 8, bias=1.0, free=True)
    best = Answer(row, p, gap=1e-11)
    rows = CsrRows(*csr_of(p.X), 8, 1.0) if layout is CsrRows else DenseRows(p.X, 1.0)
    o = kind(rows, p.y, p.cost, 1.0, True)
    rng = np.random.default_rng(0)
    for _ in range(20):
        o.set_point(best.w + rng.normal(size=9))
        o.gradient()
        assert 0.0 <= o.bound <= best.f
    if kind is ModifiedHuber:
        o.set_point(best.w)
        o.gradient()
        assert o.bound == pytest.approx(best.f, rel=1e-6)
