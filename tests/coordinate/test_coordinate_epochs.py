"""Runs that coordinate descent ends by the gap alone: rows shrunk too early are unshrunk."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from reference import csr_of

from svmtool import registry
from svmtool.coordinate.hinge import MEMORY_CHECK_CHUNKS, DualCoordinateDescent
from svmtool.data.csr import CsrRows
from svmtool.data.mapped_arrays import MappedArrays
from svmtool.data.replicated import RepeatedRows
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers import mfn
from svmtool.solvers.shared import contest
from svmtool.solvers.shared.base import GAP, LATE, RULE, Monitor, Result, Rule
from svmtool.tolerances import LATE_EPOCHS

solve_mfn = registry.solver_of(mfn)


def by_epochs(task: Task, monitor: Monitor, rule: Rule) -> Result:
    """Epochs alone."""
    kind, more = (Augmented, {"p": 1.0}) if task.p == 1.0 else (SquaredHinge, {})
    run = contest.Contest(task.objective(kind, target=task.target, **more), monitor, rule)
    descent = DualCoordinateDescent.of_power(task.rows, task.y, task.cost, task.p, 1, task.target)
    return contest.result(run, contest.Epochs(run, descent), None)


POWERS = {"hinge": 1.0, "squared hinge": 2.0}


@pytest.fixture
def unshrunk(monkeypatch):
    """A list to which each unshrinking appends the share of rows left."""
    shares, plain = [], DualCoordinateDescent.unshrink
    monkeypatch.setattr(DualCoordinateDescent, "unshrink", lambda self: (shares.append(self.active_share), plain(self)))
    return shares


@pytest.mark.parametrize("loss", POWERS)
@pytest.mark.parametrize("n, d, C", [(60, 8, 1.0), (400, 100, 0.1)])
def test_epochs_do_not_stall_over_the_rows_that_are_left(n, d, C, loss, unshrunk):
    """In most of these runs a row leaves that has a part in the answer."""
    for seed in range(10):
        p = reference.random_problem(seed, n, d, C)._replace(loss=loss)
        task = Task(CsrRows(*csr_of(p.X), d), p.y, p.cost, p=POWERS[loss])
        found = by_epochs(task, Monitor(gap=1e-4), Rule())
        assert found.status is GAP
        assert p.value(found.w) - p.dual_value(found.alpha) <= 1.0001e-4 * p.value(found.w)
    assert unshrunk and min(unshrunk) < 1.0, "nothing was shrunk away: the problems test too little"


def regression_on_noise(rows: CsrRows, p: float) -> Task:
    """A regression on noise at a large C; p: power of the loss."""
    noise = np.random.default_rng(1).normal(size=rows.n)
    targets = np.concatenate((noise - 0.1, -noise - 0.1))
    signs, cost = np.repeat((1.0, -1.0), rows.n), np.full(2 * rows.n, 1e4)
    return Task(RepeatedRows(rows, 2), signs, cost, False, targets, p)


@pytest.mark.parametrize("loss", POWERS)
@pytest.mark.parametrize("budget", [0.0, 0.5])
def test_work_beyond_liblinears_rule_is_limited(loss, budget, monkeypatch):
    """With a large C the gap stays large long after that rule holds."""
    p = reference.random_problem(3, 1000, mfn.GRAM_BELOW + 1)
    task = regression_on_noise(CsrRows(*csr_of(p.X), p.X.shape[1]), POWERS[loss])
    work, held, plain = [], [], DualCoordinateDescent.run

    def run(self, *most):
        work.append(plain(self, *most))
        if not held and self.gradient_sum <= 0.1 and self.complete:
            held.append((1.0 + budget) * sum(work))
        return work[-1]

    monkeypatch.setattr(DualCoordinateDescent, "run", run)
    found = by_epochs(task, Monitor(budget=budget), Rule(sums=0.1, gap=1e-12))
    assert found.status is RULE and found.history[-1]["gap"] > 1e-12
    assert sum(work[:-1]) < held[0] <= sum(work) * (1 + 1e-12)


def test_liblinears_limit_of_epochs_begins_the_budget_too():
    task = regression_on_noise(uneven().rows, 1.0)
    found = by_epochs(task, Monitor(budget=0.5), Rule(sums=1e-9, gap=1e-12))
    assert found.status is LATE and LATE_EPOCHS < found.iterations


def test_passes_over_rows_on_disk_look_at_the_memory(monkeypatch, tmp_path):
    """Every few chunks, and chunks of rows that are left after shrinking lie no further apart than all rows' do."""
    n, d = 40_000, 50
    p = reference.random_problem(4, n, d, 1e-3)._replace(loss="hinge")
    evaluations = []
    monkeypatch.setattr(MappedArrays, "check", lambda self: evaluations.append(1))
    rows = CsrRows(*csr_of(p.X), d, mapped=MappedArrays(10**12, str(tmp_path)))
    descent = DualCoordinateDescent(rows, p.y, np.zeros(n), p.cost, 1)
    least = n // descent.chunk // 2 // MEMORY_CHECK_CHUNKS
    assert least >= 2
    for _ in range(20):
        evaluations.clear()
        descent.run()
        assert len(evaluations) >= least
    assert descent.active_share < 0.9
    assert p.value(descent.w) - p.dual_value(descent.alpha) <= 0.1 * p.value(descent.w)


def uneven(n: int = 1000, d: int = 100, C: float = 100.0) -> Task:
    """Sparse features on scales from 0.01 to 10: epochs and conjugate gradients are slow at a large cost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2) * 10.0 ** rng.uniform(-2.0, 1.0, d)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    return Task(CsrRows(*csr_of(X), d), y, np.full(n, C))


def test_dual_rule_is_followed_by_the_primal_rule():
    task, late = uneven(), 1e-3

    def norms(w: np.ndarray) -> float:
        z = np.empty(task.rows.n)
        task.rows.margins(w, task.y, z)
        g = w - 2.0 * task.rows.transpose_product(task.cost * task.y * np.maximum(1.0 - z, 0.0))
        return float(np.linalg.norm(g))

    def share_of(rule: Rule) -> tuple[float, float]:
        """Work of a run, and the gradient where it ends as a share of that at 0."""
        found = solve_mfn(task, monitor := Monitor(), rule, method="epochs")
        assert found.status.converged
        return monitor.work, norms(found.w) / norms(np.zeros(task.rows.d))

    exact, _ = share_of(Rule(range=1e-6))
    early, share = share_of(Rule(range=1e-6, late=late))
    assert share <= late and early <= exact
