"""-s 4: the gap by the formulas, a general-purpose solver, laws that need no oracle, the course of a run."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.optimize
from class_problems import PROBLEMS, ROWS, SOME, Problem, Solved, every_row, random_problem, task_of
from reference import csr_of
from sampling import every_turn, in_turn

from svmtool.coordinate.crammer_singer import CrammerSingerDescent
from svmtool.data.csr import CsrRows
from svmtool.objectives import class_interior
from svmtool.objectives.class_rows import ClassTask
from svmtool.objectives.crammer_singer import USUAL_PRODUCTS, CrammerSingerLoss
from svmtool.solvers import alm_classes
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule, StopFlag

TOLERANCES = (None, 0.5, 1e-4, 1e-7)
METHODS = ("turns", "turns-dual", "epochs", "primal", "dual", "interior")
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


@every_row
def test_optimum_of_a_general_purpose_solver(row):
    """SLSQP over W and one slack a row: 1/2 |W|^2 + sum C xi under xi_i >= [m != y_i] + (w_m - w_{y_i}).x_i."""
    p = random_problem(11, 15, 2, 3)
    (n, d), k = p.A.shape, p.k
    lines = []
    for i in range(n):
        for m in range(k):
            row_of_W = np.zeros((d, k))
            row_of_W[:, m] += p.A[i]
            row_of_W[:, p.number[i]] -= p.A[i]
            lines.append(np.concatenate([row_of_W.reshape(-1), -np.eye(n)[i]]))
    G, h = np.array(lines), (np.arange(k) == p.number[:, None]).reshape(-1) - 1.0
    found = scipy.optimize.minimize(
        lambda x: 0.5 * x[: d * k] @ x[: d * k] + p.cost @ x[d * k :],
        np.append(np.zeros(d * k), np.ones(n)),
        jac=lambda x: np.append(x[: d * k], p.cost),
        constraints=scipy.optimize.LinearConstraint(G, -np.inf, h),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    # whether its last line search succeeds depends on rounding: its value, an upper bound of the minimum, decides
    assert Solved(row, p).f == pytest.approx(p.value(found.x[: d * k]), rel=1e-6)


def test_large_costs_leave_the_minimum_of_a_piece_exact():
    """C sigma up to 1e10: neither what a face's projector takes away nor the multipliers' sizes may hide the step."""
    rng = np.random.default_rng(2)
    X, number = rng.random((60, 90)), rng.integers(0, 5, 60)
    task = ClassTask(CsrRows(*csr_of(X), 90), number, 5, np.where(number == 2, 1e9, 1e5))
    o = CrammerSingerLoss(task)
    descent = CrammerSingerDescent(task, o.rows, 1)
    for _ in range(100):
        descent.run()
    o.set_point(descent.w)
    o.beta[:], o.sigma = descent.multipliers, 3.0
    _, g = o.gradient()
    p, _, _ = o.newton_direction(g, "dual")
    assert o.active > 30 and np.linalg.norm(o.hessian_product(p) + g) <= 1e-3 * np.linalg.norm(g)


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
        twice = p._replace(cost=p.cost * np.where(np.arange(len(p.y)) < 9, 2.0, 1.0))
        same = {
            "rows twice": (p, p._replace(X=np.vstack([p.X] * 2), y=np.tile(p.y, 2), cost=np.tile(p.cost / 2, 2))),
            "order": (p, p._replace(X=p.X[k], y=p.y[k], cost=p.cost[k])),
            "names": (p, p._replace(y=10.0 * p.y + 77.0)),
            "a row of weight 2": (
                twice,
                p._replace(X=np.vstack([p.X, p.X[:9]]), y=np.append(p.y, p.y[:9]), cost=np.append(p.cost, p.cost[:9])),
            ),
            "no cost, no row": (
                p, p._replace(X=np.vstack([p.X, p.X]), y=np.append(p.y, p.y[::-1]),
                              cost=np.append(p.cost, np.zeros(len(p.y)))),
            ),
        }  # fmt: skip
        for law, (one, other) in same.items():
            first, second = a if one is p else solved(one), solved(other)
            assert np.linalg.norm(first.W - second.W) <= 2 * first.radius, law
            assert second.f == pytest.approx(first.f, rel=1e-9), law
        zero = solved(p._replace(X=np.insert(p.X, 2, 0.0, axis=1)))
        assert not np.any(zero.W[2]) and np.linalg.norm(np.delete(zero.W, 2, axis=0) - a.W) <= 2 * a.radius
        scaled = solved(p._replace(X=4.0 * p.X, bias=4.0 * p.bias, cost=p.cost / 16.0))
        assert np.linalg.norm(4.0 * scaled.W - a.W) <= 8 * a.radius
        assert np.linalg.norm(solved(p, "dense").W - a.W) <= 2 * a.radius


@every_row
def test_warm_start_at_the_answer_stops_early(row):
    for p in SOME:
        cold = Solved(row, p)
        warm = Solved(row, p, start=cold.model, gap=1e-6)
        assert warm.status.converged and warm.f <= cold.f * (1 + 1e-6)
        assert Solved(row, p, start=cold.model, max_iter=1, gap=1e-6).f <= cold.f * (1 + 1e-12), "the start is kept"


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
        if method not in ("turns-dual", "dual"):  # as the row promises for few features
            assert s.certificate.gap <= 1e-6 * (1 + 1e-6)


@every_row
def test_same_bits_from_any_number_of_threads_and_another_seed_the_same_optimum(row):
    from svmtool.compiled import threads

    p = random_problem(20, 20000, 12, 5)
    found = []
    for k in (1, 2, 3):
        threads.set_count(k)
        found.append(Solved(row, p, gap=1e-4).W)
    threads.set_count(None)
    assert all(np.array_equal(found[0], W) for W in found)
    p = PROBLEMS["tall"]
    a, b = Solved(row, p, seed=5), Solved(row, p)
    assert np.linalg.norm(a.W - b.W) <= 2 * a.radius


@pytest.mark.parametrize("method", ["turns", "turns-dual"])
def test_rounds_that_are_behind_take_turns_with_epochs(method, monkeypatch):
    """Many separable classes and a large C: epochs alone end by the rule of -e, Newton steps do not."""
    made, product = [], CrammerSingerLoss.hessian_product
    monkeypatch.setattr(CrammerSingerLoss, "hessian_product", lambda self, v: (made.append(1), product(self, v))[1])
    monkeypatch.setattr(class_interior, "cost", lambda task: np.inf)
    rng = np.random.default_rng(1)
    n, d, k, eps = 80, 8, 40, 1e-3
    y = np.arange(n) % k
    p = Problem(rng.normal(size=(k, d))[y] + 0.1 * rng.normal(size=(n, d)), 1.0 * y, np.full(n, 1e4))
    found = alm_classes.solve(task_of(p), Monitor(), Rule(range=eps), None, 1, method)
    assert found.status is base.RULE
    assert violation(p, p.A.T @ found.alpha, found.alpha) <= eps * (1 + 1e-6)
    assert len(made) <= 10 * 30 * USUAL_PRODUCTS, "of 59510 without epochs"


@pytest.mark.parametrize("method", ["turns", "turns-dual", "epochs"])
def test_a_start_is_kept(method):
    rng = np.random.default_rng(1)
    p = Problem(rng.normal(size=(60, 8)), 1.0 * rng.integers(0, 5, 60), np.full(60, 10.0))
    W = Solved(ROWS[0], p, eps=0.1).W
    found = alm_classes.solve(task_of(p), Monitor(max_iter=1), Rule(range=1e-3), W.reshape(-1), 1, method)
    assert p.value(found.w.reshape(W.shape)) <= p.value(W) * (1 + 1e-12)
