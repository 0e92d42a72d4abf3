"""The certifier: its values against the reference optimum, and its certificates of wrong results."""

from __future__ import annotations

import numpy as np
import pytest
from optima import Problem, minimiser, optimum
from reference import random_problem, rows_in

from svmtool.certify.linear import Certificate, Certifier
from svmtool.objectives import losses
from svmtool.objectives.duality import relative_gap

LAYOUTS = ("csr", "dense")
BIASES = {"absent": (-1.0, False), "regularised": (2.0, False), "zero": (0.0, False), "free": (1.0, True)}
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
LOSSES = {
    "hinge": ("hinge", 1.0), "squared": ("squared hinge", 2.0), "Huber": ("modified Huber", 2.0),
    "least squares": ("least squares", 2.0), **{f"p{p:g}": ("Lp hinge", p) for p in (1.3, 1.7)},
}  # fmt: skip
every_bias = pytest.mark.parametrize("bias", BIASES)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def problem(bias: str, seed: int = 4, n: int = 50, d: int = 7, C: float = 1.0, loss: str = "squared") -> Problem:
    return random_problem(seed, n, d, C, *BIASES[bias])._replace(loss=LOSSES[loss][0], power=LOSSES[loss][1])


def certify(p: Problem, w: np.ndarray, alpha: np.ndarray | None = None, layout: str = "csr") -> Certificate:
    return Certifier(rows_in(layout, p.X, p.bias), losses.of(p.loss, p.power), p.y, p.cost, p.free).certify(w, alpha)


@every_layout
@every_bias
@every_loss
@pytest.mark.parametrize("C", [0.01, 100.0])
def test_the_optimum_gets_gap_zero(layout, bias, C, loss):
    p = problem(bias, C=C, loss=loss)
    best = optimum(p)
    found = certify(p, best.w, best.a, layout)
    assert found.primal == pytest.approx(best.value, rel=1e-12)
    assert found.dual == pytest.approx(best.value, rel=1e-11)
    assert 0 <= found.gap <= 1e-11
    assert found.violation <= 1e-4


@every_bias
@every_loss
def test_no_dual_value_is_above_the_optimum(bias, loss):
    p = problem(bias, loss=loss)
    best, rng = optimum(p).value, np.random.default_rng(1)
    for scale in (1e-6, 0.1, 1.0, 30.0):
        for _ in range(6):
            w = scale * rng.normal(size=p.A.shape[1])
            alpha = scale * rng.random(len(p.y)) * rng.integers(0, 2, len(p.y))
            found = certify(p, w, alpha)
            assert found.dual <= best * (1 + 1e-12)
            assert found.primal >= best * (1 - 1e-12)
            plain = relative_gap(found.primal, found.dual)
            assert plain <= found.gap <= plain * (1 + 1e-9) + 1e-13  # it counts the rounding of P


def test_rows_of_cost_0_carry_no_multiplier():
    """Least squares with a free bias: no dual value is above the minimum over the other rows."""
    p = problem("free", loss="least squares")
    used = np.arange(len(p.y)) % 3 > 0
    best, rng = optimum(p._replace(X=p.X[used], y=p.y[used], cost=p.cost[used])), np.random.default_rng(2)
    p = p._replace(cost=np.where(used, p.cost, 0.0))
    alpha = np.zeros(len(p.y))
    alpha[used] = best.a
    assert certify(p, best.w, alpha).gap <= 1e-11 and certify(p, best.w, alpha).violation <= 1e-9
    for _ in range(50):
        found = certify(p, rng.normal(size=p.A.shape[1]), alpha + 0.1 * rng.normal(size=len(alpha)))
        assert found.dual <= best.value * (1 + 1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_dual_point_of_another_problem_is_made_feasible(sign):
    """Without a bias the optimum is higher, and its dual point has sum a y != 0: not allowed under a free bias."""
    p = problem("free")
    p = p._replace(y=sign * p.y)
    best = optimum(p).value
    a = optimum(p._replace(bias=-1.0, free=False)).a
    assert p._replace(bias=-1.0, free=False).dual_value(a) > best * 1.001 and abs(a @ p.y) > 1e-3
    for w in (np.zeros(p.A.shape[1]), minimiser(p)):
        assert certify(p, w, a).dual <= best * (1 + 1e-12)


def test_empty_and_featureless_problems():
    nothing = Problem(np.zeros((0, 3)), np.zeros(0), np.zeros(0))
    found = certify(nothing, np.zeros(3))
    assert (found.primal, found.dual, found.gap, found.violation) == (0.0, 0.0, 0.0, 0.0)
    blank = Problem(np.zeros((4, 0)), np.array([1.0, -1, 1, 1]), np.full(4, 2.0))
    found = certify(blank, np.zeros(0))
    assert (found.primal, found.dual, found.gap) == (8.0, pytest.approx(8.0), pytest.approx(0.0, abs=1e-14))
