"""Methods of objectives against numpy: both layouts, all kinds of bias, after any sequence of steps."""

from __future__ import annotations

import numpy as np
import pytest
from optima import Problem, minimiser
from reference import line_minimiser, random_problem, rows_in

from svmtool.data import row_storage
from svmtool.objectives.squared_hinge import SquaredHinge

LAYOUTS = ("csr", "dense")
BIASES = {"absent": (-1.0, False), "regularised": (2.0, False), "zero": (0.0, False), "free": (1.0, True)}


@pytest.fixture(params=[(layout, bias) for layout in LAYOUTS for bias in BIASES], ids="-".join)
def case(request, monkeypatch) -> tuple[Problem, SquaredHinge]:
    layout, bias = request.param
    if bias in ("regularised", "free"):
        monkeypatch.setattr(row_storage, "BLOCK_WORK", 16)  # several blocks
    p = random_problem(21, 70, 6, 2.0, *BIASES[bias])
    return p, SquaredHinge(rows_in(layout, p.X, p.bias), p.y, p.cost, p.free)


def active_rows(p: Problem, w: np.ndarray) -> np.ndarray:
    return p.y * (p.A @ w) < 1.0


def curvature(p: Problem, w: np.ndarray) -> np.ndarray:
    A = p.A[active_rows(p, w)]
    return np.diag(p.R) + 2.0 * A.T @ (p.cost[active_rows(p, w), None] * A)


def test_value_gradient_and_curvature_along_a_walk(case):
    """The Gram matrix follows the rows that changed, also over several moves at once."""
    p, f = case
    rng = np.random.default_rng(0)
    for k in range(12):
        w = rng.normal(size=f.d) * (0.3 if k % 3 else 0.0)
        f.set_point(w)
        value, g = f.gradient()
        assert value == pytest.approx(p.value(w), rel=1e-12)
        assert f.value() == pytest.approx(value, rel=1e-12)
        assert f.changed == 0, "nothing has moved since the gradient"
        np.testing.assert_allclose(g, p.gradient(w), rtol=1e-10, atol=1e-10)
        assert f.active == np.count_nonzero(active_rows(p, w))
        assert f.active_rows().tolist() == np.flatnonzero(active_rows(p, w)).tolist()
        if k % 2:  # every other time: two changes between two checks of the matrix
            H = curvature(p, w)
            tolerance = 1e-8 * np.abs(H).max()
            np.testing.assert_allclose(np.triu(f.hessian()), np.triu(H), atol=tolerance)
            v = rng.normal(size=f.d)
            np.testing.assert_allclose(f.hessian_product(v), H @ v, atol=10 * tolerance)
            np.testing.assert_allclose(f.hessian_diagonal(), np.diag(H), atol=tolerance)


def test_line_search_is_exact_and_step_moves_the_point(case):
    p, f = case
    rng = np.random.default_rng(1)
    for _ in range(10):
        w = rng.normal(size=f.d)
        f.set_point(w)
        step = -f.gradient()[1] * rng.choice([1e-4, 1e-2, 1.0])
        t = f.line_search(step)
        assert t == pytest.approx(line_minimiser(p, w, step), rel=1e-8)
        f.step(t, step)
        np.testing.assert_allclose(f.w, w + t * step, rtol=1e-14)
        assert f.gradient()[0] == pytest.approx(p.value(w + t * step), rel=1e-11)


def test_bound_is_below_the_optimum(case):
    p, f = case
    best = p.value(minimiser(p))
    for scale in (0.0, 0.1, 1.0):
        f.set_point(scale * np.random.default_rng(2).normal(size=f.d))
        f.gradient()
        assert 0.0 <= f.bound <= best * (1 + 1e-12)
    f.set_point(minimiser(p))
    f.gradient()
    assert f.bound == pytest.approx(best, rel=1e-9)
