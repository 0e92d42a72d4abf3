"""PDHG for LP-SVM: the compiled steps against a numpy version, bounds, and restarts."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from loop_suite import check_each_loop_is_called, close
from lp_suite import Solved, l1_optimum, l1_value
from reference import csr_of
from solver_suite import PROBLEMS

from svmtool.compiled.loops.loss import pdhg_loops
from svmtool.data.csr import CsrRows
from svmtool.linalg.weighted_columns import Columns
from svmtool.objectives.l1.pdhg import L1Pdhg
from svmtool.objectives.task import Task
from svmtool.solvers import lp_svm

WIDE = ["wide", "wide-hard-bias", "tall-free"]


def task_of(p, X=None):
    rows = CsrRows(*csr_of(p.X if X is None else X), p.X.shape[1], p.bias)
    return Task(rows, p.y, p.cost, p.free)


def test_each_loop_is_called():
    check_each_loop_is_called(__file__, pdhg_loops)


def soft(v, t):
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0)


@pytest.mark.parametrize("n, d, penalty", [(1, 1, 0.0), (12, 5, 0.7), (7, 40, 0.7)])
def test_steps_are_those_of_the_twin(n, d, penalty):
    """pdhg_steps(...) at once and one by one, until the round ends; the twin keeps all points of the round."""
    rng = np.random.default_rng(n)
    X = reference.random_rows(rng, n, d)
    rows = CsrRows(*csr_of(X), d)
    by_column = Columns(rows)
    y, target, cost = np.where(rng.random(n) < 0.5, 1.0, -1.0), 0.5 + rng.random(n), 2.0 * rng.random(n)
    fixed, centre, outside = rng.normal(size=d), rng.normal(size=d), float(rng.normal())
    tau, sigma, step = 0.1 * rng.random(d) + 0.01, 0.1 * rng.random(n) + 0.01, 0.02
    w0, a0, b0 = rng.normal(size=d), cost * rng.random(n), float(rng.normal())
    given = (
        by_column.starts, by_column.row_numbers, by_column.values, rows.indptr, rows.indices, rows.values, y, target,
        cost, fixed, centre, tau, sigma, w0, a0,
    )  # fmt: skip

    def run(parts):
        w, a, near_w, near_a = w0.copy(), a0.copy(), np.empty(d), np.empty(n)
        state = np.array([b0, b0, b0, step, penalty, outside, 0.0, 0.0, 0.0])
        done = 0
        for most in parts:
            if state[8]:
                break
            done = pdhg_loops.pdhg_steps(
                *given, w, a, near_w, near_a, np.empty(d), np.empty(n), state, done, most
            )  # fmt: skip
        return done, w, a, near_w, near_a, state

    K = X - centre
    w, a, b, first, before = w0, a0, b0, None, None
    for k in range(200):
        signed = float(y @ a) + outside
        near_w = soft(w + tau * (fixed + X.T @ (y * a) - centre * signed), tau)
        near_b = float(soft(b + step * signed, step * penalty))
        slack = target - y * (K @ (2.0 * near_w - w) + 2.0 * near_b - b)
        near_a = np.clip(a + sigma * slack, 0.0, cost)
        moved = [near_w - w, near_b - b, near_a - a]
        length = np.sqrt(np.sum(moved[0] ** 2 / tau) + moved[1] ** 2 / step + np.sum(moved[2] ** 2 / sigma))
        first = length if first is None else first
        keep = (k + 1.0) / (k + 2.0)
        w, a = keep * (w + 2.0 * moved[0]) + (1 - keep) * w0, keep * (a + 2.0 * moved[2]) + (1 - keep) * a0
        b = keep * (b + 2.0 * moved[1]) + (1 - keep) * b0
        if k and (length <= 0.2 * first or (length <= 0.8 * first and length > before)):
            break
        before = length
    assert 0 < k < 199, "the round never ended"
    for parts in ([1000], range(1, 300)):
        done, *found, state = run(parts)
        assert done == k + 1 and state[8] == 1.0
        for one, other in zip(found, (w, a, near_w, near_a), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
        close(state[[1, 2, 6, 7]], np.array([b, near_b, first, length]))


@pytest.mark.parametrize("name", WIDE)
def test_evaluations_bound_the_optimum_and_converge(name):
    """Against the linear program; some rows and columns stay out, and the values are those of all."""
    p = PROBLEMS[name]
    run, best = L1Pdhg(task_of(p), np.zeros(p.A.shape[1]), min_size=4), l1_optimum(p)
    low, high, fewest = 0.0, np.inf, len(p.y) + p.X.shape[1]
    for _ in range(400):
        run.run(50)
        run.evaluate()
        assert run.bound <= best * (1 + 1e-9) and run.primal >= best * (1 - 1e-9)
        assert run.primal == pytest.approx(l1_value(p, run.answer), rel=1e-12)
        v = p.A.T @ (run.alpha * p.y)
        assert np.abs(v * p.R).max() <= 1 + 1e-9 and np.abs(v * (1 - p.R)).max() <= 1e-9 * (1 + p.cost.sum())
        assert np.all(run.alpha >= 0.0) and np.all(run.alpha <= p.cost * (1 + 1e-12))
        low, high = max(low, run.bound), min(high, run.primal)
        if high - low <= 1e-6 * high:
            break
        run.choose()
        fewest = min(fewest, len(run._rows) + run.columns)
    assert high - low <= 1e-6 * high
    assert fewest < len(p.y) + p.X.shape[1], "nothing ever stayed out"


def test_rows_of_both_signs_keep_their_multipliers():
    """Shrinking to where all sums are feasible leaves what cancels as it is: at a large C that is most of f."""
    p = reference.random_problem(7, 20, 60, 1e3, bias=1.0, free=True)
    X, y = np.vstack([p.X, p.X[:3]]), np.append(p.y, -p.y[:3])
    p = p._replace(X=X, y=y, cost=np.full(23, 1e3))
    run = L1Pdhg(task_of(p), np.zeros(61))
    run.evaluate()
    assert run.bound == pytest.approx(6e3)
    run.a[3:20] += 1.0  # far from feasible
    run.evaluate()
    assert run.excess > 1.0 and run.bound > 6e3


def test_interior_point_steps_replace_too_slow_ones():
    """Rows near a space of five dimensions, at a large cost."""
    rng, p = np.random.default_rng(0), reference.random_problem(0, 40, 300, 1e3, bias=1.0, free=True)
    p = p._replace(X=rng.normal(size=(40, 5)) @ rng.normal(size=(5, 300)) + 1e-3 * rng.normal(size=(40, 300)))
    seen: list[str] = []
    s = Solved(p, gap=1e-6, system={51: "pdhg"}, report=lambda **record: seen.append(record["method"]))
    assert [lp_svm.METHODS["pdhg"], lp_svm.METHODS["interior"]] == list(dict.fromkeys(seen))
    assert s.status.converged and s.f == pytest.approx(l1_optimum(p), rel=2e-6)


@pytest.mark.parametrize("filled", [0.03, 1.0])
def test_sparse_rows_take_these_steps_with_fewer_features(filled):
    """Where a pass is much less work than a system of d: these took seconds there, or did not end at a large C."""
    rng, seen = np.random.default_rng(5), []
    p = reference.random_problem(5, 60, 400, 10.0, bias=1.0, free=True)
    p = p._replace(X=rng.normal(size=p.X.shape) * (rng.random(p.X.shape) < filled))
    s = Solved(p, gap=1e-6, report=lambda **record: seen.append(record["method"]))
    assert (lp_svm.METHODS["pdhg"] in seen) == (filled < 1.0)
    assert s.status.converged and s.certificate.gap <= 1e-6 * (1 + 1e-6)
    assert s.f == pytest.approx(l1_optimum(p), rel=2e-6)
