"""NESVM beyond what every solver is asked for: LP-SVM against a linear program, and the paper's Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import scipy.optimize
from optima import Problem, minimiser, optimum
from reference import table_of
from solver_suite import PROBLEMS, keep_sparse

from svmtool import registry
from svmtool.compiled import threads
from svmtool.problem import rows as rows_module
from svmtool.problem.folded import Folded
from svmtool.problem.l1_hinge import WeightRows
from svmtool.problem.l1_interior import L1Interior
from svmtool.problem.least_squares import LeastSquares
from svmtool.problem.rows import CsrRows, DenseRows
from svmtool.problem.smoothed import Smoothed
from svmtool.problem.task import Task
from svmtool.settings import Settings
from svmtool.solvers import base, lp_columns, nesvm
from svmtool.solvers.base import Monitor, StopFlag
from svmtool.training.multiclass import Problems

LAYOUTS = {
    "csr": lambda p: CsrRows(*reference.csr_of(p.X), p.X.shape[1], p.bias),
    "dense": lambda p: DenseRows(np.ascontiguousarray(p.X), p.bias),
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)


@pytest.fixture(autouse=True)
def sparse_layout(monkeypatch):
    keep_sparse(monkeypatch)


@pytest.fixture(params=["features", "columns", "columns-stages"])
def road(request, monkeypatch):
    """All columns at once, or some at a time, these by interior point steps first or by stages alone."""
    if request.param != "features":
        monkeypatch.setattr(nesvm, "GRAM_BELOW", 0)
        monkeypatch.setattr(lp_columns, "COLUMNS", 3)
    if request.param == "columns-stages":
        monkeypatch.setattr(lp_columns, "INTERIOR_COLUMNS", 0)
    return request.param


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("road", ["columns", "columns-stages"], indirect=True)
def test_interior_steps_and_stages_take_turns(large, road, monkeypatch):
    """Steps where the gap asked for is within their reach and there are not too many columns, else stages too."""
    taken = []
    for kind, method in ((L1Interior, "step"), (nesvm._LpHomotopy, "stages")):
        plain = getattr(kind, method)
        monkeypatch.setattr(kind, method, lambda self, m=method, f=plain: taken.append(m) or f(self))
    if large and road == "columns":
        monkeypatch.setattr(lp_columns, "INTERIOR_COLUMNS", 4)
    assert Solved(PROBLEMS["wide"], gap=1e-3).certificate.gap <= 1e-3 * (1 + 1e-6)
    assert ("step" in taken) == (road == "columns") and ("stages" in taken) == (road != "columns" or large)
    Solved(PROBLEMS["wide"], gap=1e-8)
    assert taken[-1] == "stages"


@every_layout
@pytest.mark.parametrize("name", ["tall-hard", "tall-free", "wide-hard-bias", "wide-free"])
def test_interior_points_bounds_and_answers(name, layout):
    """Each step's bound and value against the linear program; the mean product falls to where both are its optimum."""
    p = PROBLEMS[name]
    run, best = L1Interior(Task(LAYOUTS[layout](p), p.y, p.cost, p.free), np.zeros(p.A.shape[1])), l1_optimum(p)
    first, low, high = run.mu, 0.0, np.inf
    for _ in range(40):
        run.step()
        run.judge()
        assert run.bound <= best * (1 + 1e-9) and run.primal >= best * (1 - 1e-9)
        assert run.primal == pytest.approx(l1_value(p, run.answer), rel=1e-12)
        assert np.all(run.a > 0.0) and np.all(run.a < p.cost) and min(run.qp.min(), run.qm.min()) > 0.0
        low, high = max(low, run.bound), min(high, run.primal)
        if high - low <= 1e-6 * high:
            break
    assert high - low <= 1e-6 * high and run.mu < 1e-4 * first


def l1_value(p: Problem, w: np.ndarray) -> float:
    """|w|_1, a free bias left out, + sum C max(0, 1 - y a.w)."""
    return float(np.sum(np.abs(p.R * w)) + p.cost @ np.maximum(p.slack(w), 0.0))


def l1_optimum(p: Problem) -> float:
    """By a linear program in w = plus - minus and the slacks."""
    n, d = p.A.shape
    prices = np.concatenate([p.R, p.R, p.cost])
    Z = p.y[:, None] * p.A
    found = scipy.optimize.linprog(prices, A_ub=-np.hstack([Z, -Z, np.eye(n)]), b_ub=-np.ones(n), method="highs")
    assert found.status == 0
    return float(found.fun)


class Solved:
    """Answer of -s 51 to a problem."""

    def __init__(self, p: Problem, layout: str = "csr", start=None, stop=None, report=None, number=51, **settings):
        self.settings = Settings(
            solver=number, C=1.0, bias=p.bias, regularize_bias=not p.free, solver_given=True,
            **{"gap": 1e-8, **settings},
        )  # fmt: skip
        problems = Problems(table_of(p.X, p.y), self.settings, p.cost)
        if layout == "dense":
            problems.rows = DenseRows(np.ascontiguousarray(p.X[p.cost > 0]), p.bias)
        first = problems.classes.labels[0]
        start = None if start is None else first * np.asarray(start)[:, None]
        [self.result] = problems.fit(start, report, stop)
        self.certificate = problems.judge(0, self.result)
        self.w, self.status = first * self.result.w, self.result.status
        self.f = l1_value(p, self.w)


@every_layout
@every_problem
def test_lp_svm_is_the_linear_programs_answer(name, layout, road):
    p = PROBLEMS[name]
    s, best = Solved(p, layout), l1_optimum(p)
    assert s.status.converged, s.status
    assert best * (1 - 1e-9) <= s.f <= best * (1 + 1e-7)
    assert s.certificate.primal == pytest.approx(s.f, rel=1e-12)
    assert s.certificate.gap <= 1e-7
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9)
        assert record["objective"] >= best * (1 - 1e-9)


@every_problem
def test_zero_weights_are_zeros(name, road):
    """A basic solution has no more weights than rows; none of ours is merely small."""
    p = PROBLEMS[name]
    w = Solved(p).w[: p.X.shape[1]]
    assert w[p.X.shape[1] // 2] == 0.0, "the column of zeros"
    assert np.count_nonzero(w) <= len(p.y)
    assert np.all((w == 0.0) | (np.abs(w) > 1e-6 * np.abs(w).max(initial=0.0)))


def test_some_weights_are_zeros(road):
    """What the test above rests on."""
    assert np.count_nonzero(Solved(PROBLEMS["wide"]).w) < PROBLEMS["wide"].X.shape[1] // 2


@pytest.mark.parametrize("gap", [0.5, 1e-3, 1e-6])
def test_lp_gap_is_what_was_asked_for(gap, road):
    for name in ("tall-hard", "tall-free", "wide"):
        s = Solved(PROBLEMS[name], gap=gap)
        assert s.status.converged and s.certificate.gap <= gap * (1 + 1e-6)


def test_lp_default_gap(road):
    s = Solved(PROBLEMS["tall-hard"], gap=None)
    assert s.status is base.GAP and s.certificate.gap <= registry.find(51).gap_default


@pytest.mark.parametrize("C", [1e-12, 1e-6, 1e6, 1e10])
def test_lp_extreme_costs(C, road):
    p = reference.random_problem(9, 40, 6, C, bias=1.0, free=True)
    s = Solved(p, gap=1e-6)
    assert s.status.converged, s.status
    assert s.f <= l1_optimum(p) * (1 + 1e-5)


def test_lp_laws(road):
    """Opposite labels, rows twice at half the cost, weight zero, a warm start: the same optimum."""
    p = PROBLEMS["tall-free"]
    f = Solved(p).f
    assert Solved(p._replace(y=-p.y)).f == pytest.approx(f, rel=1e-7)
    twice = p._replace(X=np.vstack([p.X, p.X]), y=np.tile(p.y, 2), cost=np.tile(p.cost / 2, 2))
    assert Solved(twice).f == pytest.approx(f, rel=1e-7)
    more = p._replace(X=np.vstack([p.X, p.X]), y=np.append(p.y, -p.y), cost=np.append(p.cost, 0 * p.cost))
    assert Solved(more).f == pytest.approx(f, rel=1e-7)
    assert Solved(p, start=np.full(p.A.shape[1], 0.5)).f == pytest.approx(f, rel=1e-7)


@every_layout
def test_lp_same_bits_for_any_number_of_threads(layout, road, monkeypatch):
    monkeypatch.setattr(rows_module, "BLOCK_WORK", 16)
    answers = []
    for count in (1, 2, 3):
        threads.set_count(count)
        try:
            answers.append(Solved(PROBLEMS["tall-free"], layout))
        finally:
            threads.set_count(None)
    for other in answers[1:]:
        assert other.w.tobytes() == answers[0].w.tobytes()
        assert other.result.history == answers[0].result.history


@pytest.mark.parametrize("number", [50, 51, 52])
@pytest.mark.parametrize("no_homotopy", [False, True])
def test_cut_short(number, no_homotopy, road):
    p = PROBLEMS["tall-hard"]
    s = Solved(p, number=number, no_homotopy=no_homotopy, max_iter=1, gap=1e-12)
    assert s.status is base.ITERATIONS or s.status.converged
    assert s.certificate.primal <= float(np.sum(p.cost)) * (1 + 1e-9), "worse than no weights"
    stop = StopFlag()
    stop.set = True
    s = Solved(p, number=number, no_homotopy=no_homotopy, stop=stop, gap=1e-12)
    assert s.status is base.INTERRUPTED or s.status.converged
    s = Solved(p, number=number, no_homotopy=no_homotopy, max_seconds=1e-9, gap=1e-12)
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
    nesvm.plain(o, Monitor(1e-14, 3000))
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
    s = Solved(PROBLEMS["tall-easy"], number=number, no_homotopy=True, gap=1e-2, **mu)
    assert s.status is base.GAP and s.certificate.gap <= 1e-2
    if kind != "ls":
        s = Solved(PROBLEMS["tall"], number=number, no_homotopy=True, gap=1e-4, mu=5.0)
        assert s.status is nesvm.BLURRED and not s.status.converged
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


@every_layout
@every_problem
def test_ls_svm_reaches_the_least_squares(name, layout, road):
    p = PROBLEMS[name]._replace(loss="least squares")
    s = Solved(p, layout, number=52, gap=1e-12)
    assert s.status.converged, s.status
    best = optimum(p).value
    assert s.certificate.gap <= 1e-8
    for record in s.result.history:
        assert record["bound"] <= best * (1 + 1e-9)
        assert record["objective"] >= best * (1 - 1e-9)
    # 1/2 w'Rw bends by 1 along each regularised weight
    reach = np.sqrt(2.0 * max(s.certificate.gap, 1e-15) * best)
    assert np.linalg.norm(p.R * (s.w - minimiser(p))) <= reach * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("name", ["tall", "tall-free", "wide", "wide-hard-bias", "wide-free"])
def test_two_sided_steps_are_the_best_of_all_directions_so_far(name, zero):
    """fallen and risen against ridge regressions over the subspaces that k products can reach, from any w.

    From w = 0 and with fewer rows than features the steps are combinations of rows.
    """
    p = PROBLEMS[name]
    o = LeastSquares(LAYOUTS["csr"](p), p.y, p.cost, p.free)
    rng = np.random.default_rng(0)
    start = np.zeros(p.A.shape[1]) if zero else rng.normal(size=p.A.shape[1])
    o.move(start)
    root = np.sqrt(2.0 * p.cost)
    centre = np.eye(len(root)) - np.outer(root, root) / float(root @ root) if p.free else np.eye(len(root))
    A, b = centre @ (root[:, None] * p.A) * p.R, centre @ (root * p.y)
    w = start * p.R
    s, steps = b - A @ w, o.two_sided()
    v, V, U = w - A.T @ s, [], []

    def best(Q, b0):  # of a quadratic 1/2 x'Qx - b0'x over a subspace with basis B: its gain
        return lambda B: 0.5 * float((B.T @ b0) @ np.linalg.solve(B.T @ Q @ B, B.T @ b0))

    gain_w = best(np.eye(A.shape[1]) + A.T @ A, -v)
    gain_s = best(np.eye(A.shape[0]) + A @ A.T, A @ v)
    for _ in range(4):
        V.append(v)
        U.append(A @ v)
        v = A.T @ (A @ v)
        steps.step()
        assert steps.fallen == pytest.approx(gain_w(np.linalg.qr(np.stack(V, 1))[0]), rel=1e-6)
        assert steps.risen == pytest.approx(gain_s(np.linalg.qr(np.stack(U, 1))[0]), rel=1e-6)
    fell, rose = steps.fallen, steps.risen
    P = 0.5 * float(w @ w) + 0.5 * float(s @ s)
    D = float(b @ s) - 0.5 * float(s @ s) - 0.5 * float((A.T @ s) @ (A.T @ s))
    f, bound, _ = o.both(steps)
    assert f == pytest.approx(P - fell, rel=1e-9)
    assert bound >= (D + rose) * (1 - 1e-9)


@pytest.fixture
def text():
    """Few rows, and features of which most are in one row alone, some rows without any; two features are empty."""
    rng = np.random.default_rng(3)
    shared = rng.normal(size=(12, 5)) * (rng.random((12, 5)) < 0.6)
    lone = np.zeros((12, 40))
    lone[rng.integers(2, 12, 40), np.arange(40)] = rng.normal(size=40)
    X = np.hstack([lone[:, :17], shared, np.zeros((12, 2)), lone[:, 17:]])
    return reference.random_problem(3, 12, X.shape[1], 3.0, bias=1.0, free=True)._replace(X=X)


def test_folded_features_are_the_same_problem(text):
    rows = LAYOUTS["csr"](text)
    folded = Folded(rows, Folded.possible(rows))
    assert folded.rows.d < rows.d // 2
    rng, y = np.random.default_rng(0), np.ones(12)
    v, z, wanted = rng.normal(size=folded.rows.d), np.empty(12), np.empty(12)
    w = folded.unfold(v)
    folded.rows.margins(v, y, wanted)
    rows.margins(w, y, z)
    np.testing.assert_allclose(z, wanted, atol=1e-12)
    assert float(w @ w) == pytest.approx(float(v @ v), rel=1e-12)
    np.testing.assert_allclose(folded.fold(w), v, atol=1e-12)
    w = rng.normal(size=rows.d)
    rows.margins(w, y, z)
    folded.rows.margins(folded.fold(w), y, wanted)
    np.testing.assert_allclose(z, wanted, atol=1e-12)


@pytest.mark.parametrize("number", [50, 52])
@pytest.mark.parametrize("warm", [False, True])
def test_folded_answer_is_the_answer(number, warm, text, monkeypatch):
    monkeypatch.setattr(nesvm, "GRAM_BELOW", 0)
    p = text._replace(loss="hinge" if number == 50 else "least squares", power=1.0)
    folds = []
    unfold = Folded.unfold
    monkeypatch.setattr(Folded, "unfold", lambda self, v: folds.append(v) or unfold(self, v))
    s = Solved(p, number=number, gap=1e-8, start=np.full(p.A.shape[1], 0.3) if warm else None)
    assert folds and s.status.converged and s.certificate.gap <= 1e-8 * (1 + 1e-6)
    assert s.certificate.primal <= optimum(p).value * (1 + 1e-7)


@pytest.mark.parametrize("C", [1e-12, 1e10])
@pytest.mark.parametrize("number", [50, 52])
def test_extreme_costs_in_many_features(number, C, monkeypatch):
    monkeypatch.setattr(nesvm, "GRAM_BELOW", 0)
    p = reference.random_problem(9, 40, 60, C, bias=1.0, free=True)
    s = Solved(p, number=number, gap=1e-3, max_seconds=20.0)
    assert s.certificate.primal <= float(np.sum(p.cost)) * (1 + 1e-9), "worse than no weights"
    assert s.status.converged == (s.certificate.gap <= 1e-3 * (1 + 1e-6))


def test_columns_that_came_in_stay(monkeypatch):
    """Else two choices of columns, each right about what the other lacks, may follow each other for ever."""
    monkeypatch.setattr(nesvm, "GRAM_BELOW", 0)
    monkeypatch.setattr(lp_columns, "COLUMNS", 2)
    counts = [r["active"] for r in Solved(PROBLEMS["wide"]).result.history]
    assert len(counts) > 3 and counts == sorted(counts)


def test_ls_svm_is_least_squares():
    p = PROBLEMS["tall-free"]._replace(loss="least squares")
    s = Solved(p, number=52, gap=1e-12)
    np.testing.assert_allclose(s.w, minimiser(p), rtol=1e-8, atol=1e-10)
