"""Every compiled loop of the hinges' solvers compared with numpy (reference.py); see test_row_loops.py."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from loop_suite import check_each_loop_is_called, close, halves
from reference import csr_of

from svmtool.compiled.loops.cd import dcd_loops
from svmtool.compiled.loops.loss import hinge_loops
from svmtool.compiled.loops.rows import solve_loops
from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.data.csr import CsrRows
from svmtool.data.replicated import RepeatedRows
from svmtool.objectives.task import Task

MODULES = (dcd_loops, hinge_loops, solve_loops)


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, *MODULES)


@pytest.mark.parametrize("n", [0, 5, 200])
def test_hinge_state(n):
    rng = np.random.default_rng(n)
    z, cost, y = rng.normal(1.0, 1.0, n), rng.random(n) * (rng.random(n) < 0.9), rng.choice([-1.0, 1.0], n)
    target = rng.normal(size=n)
    z[: n // 4] = target[: n // 4]  # on the breakpoint: not active
    before = 2.0 * cost * (rng.random(n) < 0.5)
    for lo, hi in halves(n):
        u, c, change, counts = np.zeros(n), before.copy(), np.zeros(n), np.zeros(3)
        loss = hinge_loops.hinge2_state(z, target, cost, y, u, c, change, counts, lo, hi)
        part = slice(lo, hi)
        wanted = reference.hinge2_state(z[part], target[part], cost[part], y[part], before[part])
        for got, right in zip((loss, u[part], c[part], change[part], counts), wanted, strict=True):
            close(got, right)


@pytest.mark.parametrize("n", [0, 5, 200])
def test_hinge_line_search_and_add_scaled(n):
    rng = np.random.default_rng(n)
    z, dz, cost, target = rng.normal(1.0, 1.0, n), rng.normal(size=n), rng.random(n), rng.normal(size=n)
    for lo, hi in halves(n):
        for t in (0.0, 0.3, 4.0):
            out = np.full(2, 9.0)
            hinge_loops.hinge2_line_search(z, dz, target, cost, out, t, lo, hi)
            close(out, reference.hinge2_line_search(*(v[lo:hi] for v in (z, dz, target, cost)), t))
        moved = z.copy()
        hinge_loops.add_scaled(moved, dz, -0.7, lo, hi)
        wanted = z.copy()
        wanted[lo:hi] -= 0.7 * dz[lo:hi]
        close(moved, wanted)


SMOOTHINGS = [
    (1.0, 0.7, 1.0),
    (1.0, 3.0, 2.0),
    (1.0, 1e6, 1.0),
    *((p, s, 1.0) for p, s in ((1.3, 50.0), (1.5, 0.2), (1.9, 0.2))),
]
every_smoothing = pytest.mark.parametrize("p, sigma, cap", SMOOTHINGS, ids=str)


def slacks(n: int):
    """rng, margins, targets, signs, costs and multipliers, some rows on a breakpoint."""
    rng = np.random.default_rng(n)
    z, target = rng.normal(1.0, 1.0, n), 1.0 + 0.5 * rng.normal(size=n)
    beta = rng.random(n) * (rng.random(n) < 0.5)
    z[: n // 4] = target[: n // 4]
    return rng, z, target, rng.choice([-1.0, 1.0], n), 0.1 + rng.random(n), beta


@every_smoothing
@pytest.mark.parametrize("n", [0, 5, 200])
def test_power_state(n, p, sigma, cap):
    rng, z, target, y, cost, beta = slacks(n)
    before = cost * (rng.random(n) < 0.5)
    u_before = -y * np.where(before > 0, 0.5 * cost, cap * cost * (rng.random(n) < 0.5))
    value, b, bend = reference.smoothed(target - z, beta, p, sigma, cap)
    c_now = cost * bend / (sigma if p == 1.0 else 1.0)
    conjugate = b * (b / p) ** (1.0 / (p - 1.0)) if p > 1.0 else 0.0 * b  # b^q / p^(q-1)
    for lo, hi in halves(n):
        u, c, change, sums = u_before.copy(), before.copy(), np.zeros(n), np.full(8, 9.0)
        hinge_loops.power_state(z, target, cost, y, beta, u, c, change, sums, p, sigma, cap, lo, hi)
        part = slice(lo, hi)
        weighted = lambda x, part=part: float(cost[part] @ x[part])  # noqa: E731
        loss = cap * np.maximum(target - z, 0.0) ** p
        wanted = [value, loss, target * b, (b - beta) ** 2, conjugate]
        np.testing.assert_allclose(sums[:5], [weighted(x) for x in wanted], rtol=1e-10, atol=1e-9)
        assert sums[5] == np.count_nonzero(b[part] > 0) and sums[7] == np.count_nonzero(c_now[part] > 0)
        left = c != before
        if p == 1.0:  # or from one end of b to the other, where the curvature is 0 both times
            left |= (b > 0) != (u_before != 0)
        assert sums[6] == np.count_nonzero(left[part])
        np.testing.assert_allclose(u[part], (-cost * b * y)[part], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(c[part], c_now[part], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(change[part], (c - before)[part], rtol=1e-12, atol=1e-12)
        assert np.array_equal(u[:lo], u_before[:lo]) and np.array_equal(u[hi:], u_before[hi:])


@every_smoothing
@pytest.mark.parametrize("n", [0, 5, 200])
def test_power_search(n, p, sigma, cap):
    rng, z, target, _, cost, beta = slacks(n)
    dz = rng.normal(size=n)
    for lo, hi in halves(n):
        part = slice(lo, hi)
        for t in (0.3, 4.0):
            out = np.full(2, 9.0)
            hinge_loops.power_line_search(z, dz, target, cost, beta, out, t, p, sigma, cap, lo, hi)
            _, b, bend = reference.smoothed((target - z - t * dz)[part], beta[part], p, sigma, cap)
            wanted = [-float((cost * dz)[part] @ b), float((cost * dz * dz)[part] @ bend)]
            np.testing.assert_allclose(out, wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("bias", [-1.0, 1.5])
@pytest.mark.parametrize("loss", ["hinge", "squared hinge"])
@pytest.mark.parametrize("n, d", [(1, 1), (12, 5), (9, 40)])
def test_dcd_epoch(n, d, loss, bias):
    """dcd_epochs(...) of dcd_epoch(...), six with shrinking: row after row the same as in numpy."""
    p = reference.random_problem(5, max(n, 2), d, C=2.0, bias=bias)._replace(loss=loss)
    hinge = loss == "hinge"
    diagonal, upper = (0 * p.cost, p.cost.copy()) if hinge else (0.5 / p.cost, np.full(len(p.y), np.inf))
    descent = DualCoordinateDescent(CsrRows(*csr_of(p.X), d, bias), p.y, diagonal, upper, 3)
    alpha, w, active, shrunk = descent.alpha.copy(), descent.w.copy(), list(range(len(p.y))), False
    for _ in range(6):
        random, (above, below) = int(descent.state[1]), descent.limits[:2].tolist()
        descent.run()
        largest, smallest, active, random = reference.dcd_epoch(
            p.A, p.y, diagonal, upper, alpha, w, active, above, below, random, descent.chunk
        )
        close(descent.limits[2:4], [largest, smallest])
        assert [int(descent.state[0]), int(descent.state[1])] == [len(active), random]
        close(descent.alpha, alpha)
        close(descent.w, w)
        assert descent.dual_value() == pytest.approx(p.dual_value(alpha), rel=1e-12)
        shrunk |= not descent.complete
    assert shrunk or n != 12, "no row was shrunk away: the problem tests too little"


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_epochs_over_a_tube(power):
    """dcd_epochs(...) of tube_epoch(...): the minimum over both sides of a row, never above zero on both."""
    p = reference.random_problem(5, 12, 5, C=2.0)
    task = tube_of(p, CsrRows(*csr_of(p.X), 5), power)
    diagonal, upper = (np.zeros(24), task.cost) if power == 1.0 else (0.5 / task.cost, np.full(24, np.inf))
    descent = DualCoordinateDescent(task.rows, task.y, diagonal, upper, 3, target=task.target)
    A, last = np.vstack([p.X, p.X]), 0.0
    for _ in range(400):
        descent.run()
        assert not np.any((descent.alpha[:12] > 0.0) & (descent.alpha[12:] > 0.0))
        close(descent.w, A.T @ (descent.alpha * task.y))
        assert descent.dual_value() >= last - 1e-12
        last = descent.dual_value()
        if descent.pg_range < 1e-9 and not descent.complete:
            descent.unshrink()
    gradient = task.y * (A @ descent.w) - task.target + diagonal * descent.alpha
    low, high = descent.alpha == 0.0, descent.alpha >= upper
    assert np.max(np.where(low, -gradient, np.where(high, gradient, np.abs(gradient)))) <= 1e-8


def tube_of(p, rows: CsrRows, power: float) -> Task:
    """A regression on the rows of a problem of two classes."""
    t = 3.0 * p.y + p.X[:, 0]
    signs, targets = np.repeat((1.0, -1.0), rows.n), np.concatenate((t - 0.1, -t - 0.1))
    return Task(RepeatedRows(rows, 2), signs, np.tile(p.cost, 2), False, targets, power)


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_substitute(d):
    rng = np.random.default_rng(d)
    B = rng.normal(size=(d, d))
    A, b = B @ B.T + 0.1 * np.eye(d), rng.normal(size=d)
    y = b.copy()
    solve_loops.substitute(np.ascontiguousarray(np.linalg.cholesky(A)), y, d)
    np.testing.assert_allclose(A @ y, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "wrong",
    [np.zeros(8)[::2], np.zeros((3, 2), order="F"), np.zeros(4, np.float32), np.zeros(4, np.int64)],
    ids=["gaps", "columns first", "single precision", "whole numbers"],
)
def test_unfit_arrays_are_refused(wrong):
    """The loop must not access memory beyond its arrays."""
    right = np.ones(4)
    hinge_loops.add_scaled(right, right, 1.0, 0, 4)
    with pytest.raises(TypeError, match="add_scaled"):
        hinge_loops.add_scaled(right, wrong, 1.0, 0, 4)
    with pytest.raises(TypeError):
        hinge_loops.add_scaled(right)
    hinge_loops.add_scaled(right, right, 1.0, 0, 4)
    assert right[0] == 4.0


@pytest.mark.parametrize("bias", [-1.0, 0.5])
@pytest.mark.parametrize("sides", [1, 2])
def test_face_product(sides, bias):
    """The product with the matrix of some dual variables, beside dense sums."""
    rng, (n, d) = np.random.default_rng(sides), (30, 12)
    X = reference.random_rows(rng, n, d)
    A = np.vstack([X if bias < 0 else np.column_stack([X, np.full(n, bias)])] * sides)
    y = np.repeat((1.0, -1.0), n) if sides == 2 else np.where(rng.random(n) < 0.5, 1.0, -1.0)
    A *= y[:, None]
    face = np.flatnonzero(rng.random(len(y)) < 0.6)
    m, v, diagonal = len(face), np.empty(A.shape[1]), rng.random(len(face))
    factors, product = rng.normal(size=m), np.empty(m)
    dcd_loops.face_product(*csr_of(X), face % n, y[face], diagonal, factors, v, product, bias)
    np.testing.assert_allclose(v, A[face].T @ factors, rtol=1e-9, atol=1e-12)
    again = np.empty_like(v)
    dcd_loops.face_combination(*csr_of(X), face % n, y[face], factors, again, bias)
    assert np.array_equal(again, v)
    np.testing.assert_allclose(product, A[face] @ v + diagonal * factors, rtol=1e-9, atol=1e-12)
