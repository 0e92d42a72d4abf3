"""The judge is judged: its values against the oracle's, and what it says of wrong answers."""

from __future__ import annotations

import numpy as np
import pytest
from reference import Problem, csr_of, hinge2_dual, hinge2_minimiser, random_problem

from svmtool.problem.certify import Certificate, certify, relative_gap, worst
from svmtool.problem.rows import CsrRows, DenseRows

LAYOUTS = {"csr": lambda p: CsrRows(*csr_of(p.X), p.X.shape[1], p.bias), "dense": lambda p: DenseRows(p.X, p.bias)}
BIASES = {"absent": (-1.0, False), "regularised": (2.0, False), "zero": (0.0, False), "free": (1.0, True)}
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
every_bias = pytest.mark.parametrize("bias", BIASES)


def problem(bias: str, seed: int = 4, n: int = 50, d: int = 7, C: float = 1.0) -> Problem:
    return random_problem(seed, n, d, C, *BIASES[bias])


def judge(p: Problem, w: np.ndarray, alpha: np.ndarray | None = None, layout: str = "csr") -> Certificate:
    return certify(LAYOUTS[layout](p), p.y, p.cost, w, p.free, alpha)


def optimum(p: Problem) -> float:
    return p.value(hinge2_minimiser(p))


@pytest.mark.parametrize("n, d, C", [(50, 7, 1.0), (50, 7, 0.01), (12, 40, 10.0)])
@pytest.mark.parametrize("bias", ["absent", "regularised", "zero"])
def test_the_two_oracles_agree(n, d, C, bias):
    p = problem(bias, 4, n, d, C)
    assert p.dual_value(hinge2_dual(p)) == pytest.approx(optimum(p), rel=1e-9)


@every_layout
@every_bias
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_optimum_gets_gap_zero(layout, bias, C):
    p = problem(bias, C=C)
    w = hinge2_minimiser(p)
    found = judge(p, w, layout=layout)
    assert found.primal == pytest.approx(p.value(w), rel=1e-12)
    assert found.dual == pytest.approx(found.primal, rel=1e-7)
    assert 0 <= found.gap <= 1e-7
    assert found.violation <= 1e-4


@every_bias
def test_no_dual_value_is_above_the_optimum(bias):
    p = problem(bias)
    best, rng = optimum(p), np.random.default_rng(1)
    for scale in (1e-6, 0.1, 1.0, 30.0):
        for _ in range(20):
            w = scale * rng.normal(size=p.A.shape[1])
            alpha = scale * rng.random(len(p.y)) * rng.integers(0, 2, len(p.y))
            found = judge(p, w, alpha)
            assert found.dual <= best * (1 + 1e-12)
            assert found.primal >= best * (1 - 1e-12)
            assert found.gap == relative_gap(found.primal, found.dual)


@every_bias
def test_a_wrong_w_gets_a_large_gap(bias):
    p = problem(bias)
    w = hinge2_minimiser(p)
    best = p.value(w)
    for wrong in (0.0 * w, -w, 3.0 * w, w + 0.3):
        found = judge(p, wrong)
        assert found.gap >= (p.value(wrong) - best) / p.value(wrong) * (1 - 1e-9), "the gap bounds the true error"
        assert found.gap > 1e-3


def test_small_errors_have_small_gaps_above_the_truth():
    p = problem("absent")
    w = hinge2_minimiser(p)
    best, gaps = p.value(w), []
    for size in (1e-1, 1e-2, 1e-3, 1e-4):
        wrong = w + size * np.linspace(-1, 1, len(w))
        found = judge(p, wrong)
        assert found.gap >= (p.value(wrong) - best) / p.value(wrong) - 1e-12
        gaps.append(found.gap)
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] < 1e-6


@pytest.mark.parametrize("bias", ["absent", "regularised"])
def test_a_good_dual_point_is_used(bias):
    p = problem(bias)
    a = hinge2_dual(p)
    wrong = 0.5 * hinge2_minimiser(p)
    with_point = judge(p, wrong, a)
    assert with_point.dual == pytest.approx(p.dual_value(a), rel=1e-7)
    assert with_point.gap < judge(p, wrong).gap
    worthless = judge(p, wrong, np.zeros_like(a))
    assert worthless.dual == judge(p, wrong).dual, "a useless point costs nothing"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_dual_point_of_another_problem_is_made_feasible(sign):
    """Without a bias the optimum is higher, and its dual point has sum a y != 0: not allowed under a free bias."""
    p = problem("free")
    p = p._replace(y=sign * p.y)
    best = optimum(p)
    a = hinge2_dual(p._replace(bias=-1.0, free=False))
    assert p._replace(bias=-1.0, free=False).dual_value(a) > best * 1.001 and abs(a @ p.y) > 1e-3
    for w in (np.zeros(p.A.shape[1]), hinge2_minimiser(p)):
        assert judge(p, w, a).dual <= best * (1 + 1e-12)


def test_rows_that_cost_nothing_do_not_count():
    p = problem("regularised")
    cost = p.cost.copy()
    cost[::3] = 0.0
    p = p._replace(cost=cost)
    kept = cost > 0
    less = Problem(p.X[kept], p.y[kept], cost[kept], p.bias)
    w = hinge2_minimiser(less)
    found, fewer = judge(p, w, np.ones(len(cost))), judge(less, w)
    assert found.gap <= 1e-7
    assert (found.primal, found.dual) == pytest.approx((fewer.primal, fewer.dual), rel=1e-9)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("bias", BIASES)
def test_one_class_alone(bias, side):
    p = problem(bias)._replace(y=np.full(50, side))
    found = judge(p, hinge2_minimiser(p))
    assert found.gap <= 1e-7 or found.primal < 1e-12, "with a free bias the optimum is 0"
    assert found.dual <= found.primal


def test_empty_and_featureless_problems():
    nothing = Problem(np.zeros((0, 3)), np.zeros(0), np.zeros(0))
    found = judge(nothing, np.zeros(3))
    assert (found.primal, found.dual, found.gap, found.violation) == (0.0, 0.0, 0.0, 0.0)
    blank = Problem(np.zeros((4, 0)), np.array([1.0, -1, 1, 1]), np.full(4, 2.0))
    found = judge(blank, np.zeros(0))
    assert (found.primal, found.dual, found.gap) == (8.0, pytest.approx(8.0), pytest.approx(0.0, abs=1e-15))


def test_worst_of_several():
    whole = worst([Certificate(2.0, 1.9, 0.1), Certificate(8.0, 8.0, 0.3)])
    assert (whole.primal, whole.violation) == (10.0, 0.3)
    assert whole.dual == pytest.approx(9.9)
    assert whole.gap == pytest.approx(0.05), "that of the worst problem, not of the sums"
    assert worst([]).gap == 0.0


def test_the_line_holds_all_numbers():
    text = Certificate(2.0, 1.5, 0.125).line()
    assert text.startswith("Certified relative gap = 0.25 (primal 2, dual 1.5, KKT violation 0.125)")
