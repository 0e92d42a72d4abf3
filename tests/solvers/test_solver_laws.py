"""Laws that need no oracle, for every row of the registry: what must not change when a problem is put differently."""

from __future__ import annotations

import numpy as np
import pytest
from naming import case_of
from optima import Problem, minimiser
from sampling import every_turn
from solver_suite import SOME, Case, Solved, every_path, layout_of, posed, share

from svmtool.solvers.shared import base

# Laws: each is checked on a case, a problem p and its solution a


def all_rows_twice_at_half_the_cost(case: Case, p: Problem, a: Solved) -> None:
    b = Solved(case, p._replace(X=np.vstack([p.X, p.X]), y=np.tile(p.y, 2), cost=np.tile(p.cost / 2, 2)))
    assert np.linalg.norm(a.w - b.w) <= a.radius
    assert a.f == pytest.approx(b.f, rel=1e-9)


def features_twice_over_root_two(case: Case, p: Problem, a: Solved) -> None:
    """With |w|_1 features twice as they are; how a weight is divided among the two is then left open."""
    l1, d = posed(case, p).l1, p.X.shape[1]
    b = Solved(case, p._replace(X=np.hstack([p.X, p.X]) / (1.0 if l1 else np.sqrt(2))))
    assert a.f == pytest.approx(b.f, rel=1e-9)
    if l1:
        assert np.linalg.norm(b.w[:d] + b.w[d : 2 * d] - a.w[:d]) <= 2 * a.radius
    else:
        assert np.linalg.norm(b.w[:d] - b.w[d : 2 * d]) <= 2 * a.radius


def scaled_features(case: Case, p: Problem, a: Solved) -> None:
    degree = 1 if posed(case, p).l1 else 2  # of the regulariser
    for factor in (0.125, 30.0):
        bias = factor * p.bias if p.bias >= 0 else p.bias
        b = Solved(case, p._replace(X=factor * p.X, cost=p.cost / factor**degree, bias=bias))
        assert np.linalg.norm(factor * b.w - a.w) <= 2 * a.radius, factor
        assert factor**degree * b.f == pytest.approx(a.f, rel=1e-9), factor


def opposite_labels(case: Case, p: Problem, a: Solved) -> None:
    b = Solved(case, p._replace(y=-p.y))
    assert np.linalg.norm(a.w + b.w) <= a.radius


def a_column_of_zeros_changes_nothing(case: Case, p: Problem, a: Solved) -> None:
    b = Solved(case, p._replace(X=np.insert(p.X, 3, 0.0, axis=1)))
    assert b.w[3] == 0.0
    assert np.linalg.norm(a.w - np.delete(b.w, 3)) <= a.radius


def order_of_rows(case: Case, p: Problem, a: Solved) -> None:
    k = np.random.default_rng(0).permutation(len(p.y))
    b = Solved(case, p._replace(X=p.X[k], y=p.y[k], cost=p.cost[k]))
    assert np.linalg.norm(a.w - b.w) <= a.radius


def dense_is_sparse(case: Case, p: Problem, a: Solved) -> None:
    b = Solved(case, p, "dense")
    assert np.linalg.norm(a.w - b.w) <= a.radius
    assert a.f == pytest.approx(b.f, rel=1e-9)


def warm_start_elsewhere_gives_the_same_answer(case: Case, p: Problem, a: Solved) -> None:
    b = Solved(case, p, start=np.random.default_rng(3).normal(size=p.A.shape[1]))
    assert np.linalg.norm(a.w - b.w) <= a.radius


def weight_two_is_the_row_twice(case: Case, p: Problem, a: Solved) -> None:
    twice = Problem(np.vstack([p.X, p.X[:9]]), np.append(p.y, p.y[:9]), np.append(p.cost, p.cost[:9]), p.bias)
    b, c = Solved(case, twice), Solved(case, p._replace(cost=np.append(2 * p.cost[:9], p.cost[9:])))
    assert np.linalg.norm(b.w - c.w) <= b.radius
    assert b.f == pytest.approx(c.f, rel=1e-9)


def rows_of_cost_zero_have_no_effect(case: Case, p: Problem, a: Solved) -> None:
    kept = (np.arange(len(p.y)) % 4 != 1) | (np.arange(len(p.y)) < 5)
    b = Solved(case, p._replace(cost=np.where(kept, p.cost, 0.0)))
    c = Solved(case, p._replace(X=p.X[kept], y=p.y[kept], cost=p.cost[kept]))
    assert np.linalg.norm(b.w - c.w) <= b.radius


LAWS = (
    all_rows_twice_at_half_the_cost, features_twice_over_root_two, scaled_features, opposite_labels,
    a_column_of_zeros_changes_nothing, order_of_rows, dense_is_sparse, warm_start_elsewhere_gives_the_same_answer,
    weight_two_is_the_row_twice, rows_of_cost_zero_have_no_effect,
)  # fmt: skip


@every_turn
@every_path
def test_laws(case, turn):
    for number in share(case, turn, 2 * len(SOME)):
        half, k = divmod(number, len(SOME))
        p = SOME[k]
        a = Solved(case, p)
        for law in LAWS[half::2]:
            with case_of(law.__name__, f"problem {k}"):
                law(case, p, a)


@every_turn
@every_path
def test_warm_start_at_the_answer_stops_at_once(case, turn):
    if case.path == "interior":
        pytest.skip("interior-point steps begin at a point of their own")
    for k, p in enumerate(SOME):
        best, layout = minimiser(posed(case, p)), layout_of(case, turn, k)
        with case_of(f"problem {k}", layout):
            s = Solved(case, p, layout, start=best, gap=1e-6)
            assert s.result.history[0]["objective"] == pytest.approx(s.p.value(best), rel=1e-12)
            assert s.status is base.GAP
            if not case.hinge:  # weights say nothing of the multipliers of rows on the hinge's breakpoint
                assert s.result.iterations == 1, s.result.history
            assert np.linalg.norm(s.w - best) <= 1e-3 * np.linalg.norm(best)
