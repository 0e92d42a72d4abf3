"""The squared hinge regularised by |w|_1 by the method of multipliers: its loops, and whole runs."""

import numpy as np
import pytest
import reference
from l1_suite import check_course
from loop_suite import check_each_loop_is_called, close
from reference import csr_of

from svmtool import registry
from svmtool.compiled.loops.cd import l1_dual_loops
from svmtool.compiled.loops.cd.l1_dual_loops import l1_dual_epoch, l1_dual_newton
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.objectives.l1 import dual
from svmtool.objectives.l1.dual import L1Dual
from svmtool.objectives.l1.objective import L1Objective
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import proximal_newton
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, l1_dual_loops)


class Smooth:
    """phi of a random problem, its rows restricted to none, with a start that has zeros and others."""

    def __init__(self, n: int, d: int, bias: float, sigma: float = 0.7):
        p = self.p = reference.random_problem(4, n, d, 2.0, bias)._replace(l1=True)
        self.rows, self.sigma = CsrRows(*csr_of(p.X), d, bias), sigma
        self.B = p.y[:, None] * p.A
        rng = np.random.default_rng(n + d)
        self.a = np.maximum(rng.normal(size=n), 0.0)
        self.centre = rng.normal(size=p.A.shape[1])
        self.u = self.B.T @ self.a + self.centre

    def beyond(self) -> np.ndarray:
        return np.sign(self.u) * np.maximum(np.abs(self.u) - 1.0, 0.0)

    def value(self) -> float:
        s = self.beyond()
        return float(np.sum(self.a * (0.25 * self.a / self.p.cost - 1.0)) + 0.5 * self.sigma * s @ s)

    def slope(self) -> np.ndarray:
        return 0.5 * self.a / self.p.cost - 1.0 + self.sigma * self.B @ self.beyond()

    def left(self) -> float:
        g = self.slope()
        return float(np.max(np.where(self.a > 0.0, np.abs(g), np.maximum(-g, 0.0))))

    def run_epoch(self, order: np.ndarray) -> None:
        r, p = self.rows, self.p
        squares = np.sum(self.B**2, axis=1)
        l1_dual_epoch(
            r.indptr, r.indices, r.values, p.y, p.cost, squares, self.a, self.u, order, self.sigma, r.bias
        )  # fmt: skip

    def newton(self) -> tuple[float, np.ndarray]:
        r, p, n, out = self.rows, self.p, self.rows.n, np.zeros(4)
        face = np.zeros(n + 1, np.int64), np.empty(r.nnz + n, np.int32), np.empty(r.nnz + n)
        t = l1_dual_newton(
            r.indptr, r.indices, r.values, p.y, p.cost, self.a, self.u, *face, np.empty(6 * n),
            np.empty(len(self.u)), out, self.sigma, r.bias, 1e-12, 200,
        )  # fmt: skip
        return t, out


@pytest.mark.parametrize("n, d, bias", [(2, 1, -1.0), (12, 5, 0.5), (40, 60, -1.0)])
def test_epochs_and_newton_steps(n, d, bias):
    """They keep a positive and u as a has it, lower phi or leave all as it is, and get to the minimum."""
    s = Smooth(n, d, bias)

    def check(before: float) -> None:
        close(s.u, s.B.T @ s.a + s.centre)
        assert np.all(s.a >= 0.0) and s.value() <= before + 1e-12 * abs(before)

    for seed in range(30):
        before = s.value()
        s.run_epoch(np.random.default_rng(seed).permutation(n))
        check(before)
        before, left, a, face = s.value(), s.left(), s.a.copy(), np.count_nonzero(s.a)
        t, out = s.newton()
        check(before)
        assert out[0] == pytest.approx(left, rel=1e-9, abs=1e-12) and out[1] == face
        assert t > 0.0 or np.array_equal(s.a, a)
    assert s.left() <= 1e-9


def wide(n: int = 60, d: int = 300, seed: int = 3):
    """Sparse rows that can be separated, a large cost, and some features that all rows share."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.1, rng.exponential(2.0, (n, d)), 0.0)
    X[:, :5] = rng.normal(size=(n, 5)) + 1.0
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("kind", ["csr", "bias", "dense"])
def test_certified_from_anywhere(kind):
    """The bound holds and reaches the primal value from a distant start."""
    X, y = wide()
    n, d = X.shape
    bias = 1.0 if kind == "bias" else -1.0
    rows = DenseRows(X) if kind == "dense" else CsrRows(*csr_of(X), d, bias)
    objective = L1Objective.of_task(Task(rows, y, np.full(n, 50.0)))
    start = np.zeros(objective.d)
    start[::7] = 0.05
    A = X if bias < 0.0 else np.hstack([X, np.ones((n, 1))])
    check_course(L1Dual(objective, start), objective, A, y, objective.losses.cost, most=200, gap=1e-5, tolerance=1e-9)


def test_run_continues_by_multipliers_where_its_model_fails(monkeypatch):
    X, y = wide(d=1600)
    n, d = X.shape
    used = []
    step = dual.L1Dual.step
    monkeypatch.setattr(L1Dual, "step", lambda self: used.append(1) or step(self))
    task = Task(CsrRows(*csr_of(X), d), y, np.full(n, 1e3))
    result = registry.solver_of(proximal_newton)(task, Monitor(gap=1e-6), Rule())
    assert used and result.status is base.GAP
    final = result.history[-1]
    objective = L1Objective.of_task(task)
    objective.set_point(result.w)
    assert objective.value() == pytest.approx(final["objective"], rel=1e-12)
    assert np.abs(X.T @ (result.alpha * y)).max() <= 1 + 1e-9
    assert np.sum(result.alpha - result.alpha**2 / 4e3) >= (1 - 1e-6) * final["objective"] * (1 - 1e-9)
