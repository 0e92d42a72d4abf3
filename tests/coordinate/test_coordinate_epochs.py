"""Runs that coordinate descent ends by the gap alone: rows shrunk too early are unshrunk."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from reference import csr_of

from svmtool import registry
from svmtool.coordinate.hinge import (
    LATE_EPOCHS,
    MAX_EPOCHS,
    MEMORY_CHECK_CHUNKS,
    READING_VISITS,
    STARTUP_VISITS,
    VISITS_AFTER_RULE,
    DualCoordinateDescent,
)
from svmtool.data.csr import CsrRows
from svmtool.data.mapped_arrays import MappedArrays
from svmtool.data.replicated import RepeatedRows
from svmtool.linalg.systems import VISIT_NS
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers import alm, mfn
from svmtool.solvers.alm_epochs import HingeEpochs
from svmtool.solvers.shared.base import GAP, RULE, GapRule, Monitor, RangeRule, Result, Rule
from svmtool.tolerances import RULE_SHARE

solve_mfn = registry.solver_of(mfn)


def squared_hinge(
    task: Task, monitor: Monitor, rule: Rule, first_turn: float = 1000.0, max_epochs: int = MAX_EPOCHS
) -> Result:
    """Alternate epochs and conjugate gradients, beginning with enough epochs to end the run."""
    objective = task.objective(SquaredHinge, target=task.target)
    objective.set_point(np.zeros(objective.d))
    descent = mfn.descent_from(objective, 1)
    return mfn.alternated(objective, descent, monitor, rule, 5000.0, 0, first_turn, max_epochs)


def hinge_loss(task: Task, monitor: Monitor, rule: Rule) -> Result:
    """Epochs alone."""
    objective, descent = hinge_descent(task)
    epochs = HingeEpochs(objective, descent, monitor, rule, wide=True, max_rows=0, cheap=0.0)
    status = epochs.run()
    assert status is not None, "the epochs did not end the run"
    return Result(epochs.multiple * descent.w, status, descent.count, monitor.history, descent.alpha)


def hinge_descent(task: Task) -> tuple[Augmented, DualCoordinateDescent]:
    objective = task.objective(Augmented, p=1.0, target=task.target)
    return objective, DualCoordinateDescent.of_power(task.rows, task.y, task.cost, 1.0, 1, objective.target)


SOLVERS = {"hinge": hinge_loss, "squared hinge": squared_hinge}


@pytest.fixture
def unshrunk(monkeypatch):
    """A list to which each unshrinking appends the share of rows left; Newton steps are an error."""

    def none(*_, **__):
        raise AssertionError("the epochs did not end the run")

    monkeypatch.setattr(mfn, "newton_steps", none)
    shares, plain = [], DualCoordinateDescent.unshrink
    monkeypatch.setattr(DualCoordinateDescent, "unshrink", lambda self: (shares.append(self.active_share), plain(self)))
    return shares


@pytest.mark.parametrize("loss", SOLVERS)
@pytest.mark.parametrize("n, d, C", [(60, 8, 1.0), (400, 100, 0.1)])
def test_epochs_do_not_stall_over_the_rows_that_are_left(n, d, C, loss, unshrunk):
    """In most of these runs a row leaves that has a part in the answer."""
    for seed in range(10):
        p = reference.random_problem(seed, n, d, C)._replace(loss=loss)
        task = Task(CsrRows(*csr_of(p.X), d), p.y, p.cost, p=1.0 if loss == "hinge" else 2.0)
        found = SOLVERS[loss](task, Monitor(gap=1e-4), Rule())
        assert found.status is GAP
        assert p.value(found.w) - p.dual_value(found.alpha) <= 1.0001e-4 * p.value(found.w)
    assert unshrunk and min(unshrunk) < 1.0, "nothing was shrunk away: the problems test too little"


@pytest.mark.parametrize("loss", SOLVERS)
@pytest.mark.parametrize("loose", [0.1, 1e-3])
def test_small_gradients_and_a_loose_gap_end_a_wide_regression(loss, loose, unshrunk, monkeypatch):
    """Both together and not one alone, where LIBLINEAR's rule has not held for long: a run goes on until each holds."""
    p = reference.random_problem(3, 60, mfn.GRAM_BELOW + 1)
    targets, size = np.concatenate((p.X[:, 0] - 0.1, -p.X[:, 0] - 0.1)), 0.1
    rows = RepeatedRows(CsrRows(*csr_of(p.X), p.X.shape[1]), 2)
    signs, cost = np.repeat((1.0, -1.0), 60), np.full(120, 1.0)
    watched, plain = [], DualCoordinateDescent.run
    monkeypatch.setattr(DualCoordinateDescent, "run", lambda self: (watched.append(self), plain(self))[1])

    def end(rule: GapRule) -> tuple[float, float]:
        """The certified gap and the size of the projected gradients where a run with this rule ends."""
        task = Task(rows, signs, cost, False, targets, 1.0 if loss == "hinge" else 2.0)
        found = SOLVERS[loss](task, Monitor(), Rule(certified=rule))
        assert found.status is RULE and watched[-1].complete, "rows that were shrunk away say nothing"
        z = rows.products(found.w) * np.array([[1.0], [-1.0]])
        slack = np.maximum(targets - z.ravel(), 0.0)
        primal = 0.5 * found.w @ found.w + np.sum(slack if loss == "hinge" else slack**2)
        v = rows.transpose_product(found.alpha * signs)
        bent = 0.0 if loss == "hinge" else 0.25 * np.sum(found.alpha**2)
        dual = targets @ found.alpha - 0.5 * v @ v - bent
        return (primal - dual) / primal, watched[-1].gradient_sum

    gap, reached = end(GapRule(1e-9, size, loose))
    exact, _ = end(GapRule(1e-9))
    assert 1e-9 < gap <= loose and reached <= RULE_SHARE * size
    assert exact <= 1e-9


def regression_on_noise(rows: CsrRows, p: float) -> Task:
    """A regression on noise at a large C; p: power of the loss."""
    noise = np.random.default_rng(1).normal(size=rows.n)
    targets = np.concatenate((noise - 0.1, -noise - 0.1))
    signs, cost = np.repeat((1.0, -1.0), rows.n), np.full(2 * rows.n, 1e4)
    return Task(RepeatedRows(rows, 2), signs, cost, False, targets, p)


@pytest.mark.parametrize("loss", SOLVERS)
def test_work_beyond_liblinears_rule_of_a_wide_regression_is_limited(loss, unshrunk, monkeypatch):
    """With a large C the gap stays large long after that rule holds; the run ends by it after about as many again."""
    p = reference.random_problem(3, 1000, mfn.GRAM_BELOW + 1)
    task = regression_on_noise(CsrRows(*csr_of(p.X), p.X.shape[1]), 1.0 if loss == "hinge" else 2.0)
    visits, held, plain = [], [], DualCoordinateDescent.run

    def run(self):
        spent = plain(self)
        visits.append(self.visits)
        if not held and self.gradient_sum <= 0.1:
            start = (READING_VISITS * self.data.nnz + STARTUP_VISITS) * VISIT_NS / self.cost
            held.append((1.0 + VISITS_AFTER_RULE) * self.visits + start)
        return spent

    monkeypatch.setattr(DualCoordinateDescent, "run", run)
    rule = Rule(certified=GapRule(1e-12, 0.1, 1e-12))
    found = SOLVERS[loss](task, Monitor(), rule)
    assert found.status is RULE and found.history[-1]["gap"] > 1e-12
    assert visits[-2] < held[0] <= visits[-1]


@pytest.mark.parametrize("rounding", [False, True])
def test_cheap_newton_steps_certify_a_wide_regression_after_liblinears_rule(rounding):
    """Where rounding ends them, the run still ends by the rule."""
    task = regression_on_noise(uneven(200, mfn.GRAM_BELOW + 1).rows, 1.0)
    gap = 0.0 if rounding else 1e-6
    monitor, rule = Monitor(), Rule(certified=GapRule(gap, 0.1, gap))
    objective, descent = hinge_descent(task)
    epochs = HingeEpochs(objective, descent, monitor, rule, wide=True, max_rows=4000, cheap=np.inf)
    assert epochs.run() is None and epochs.ruled
    run = alm.HingeRounds(objective, monitor, rule, factorised=False)
    run.ruled = True
    if rounding:
        run.stall_steps = run.roundoff_gap = 0
    run.follow(descent.w, descent.alpha, descent.dual_value())
    found = run.finished(task)
    assert found.status is RULE and found.history[-1]["gap"] <= (1e-4 if rounding else 1e-6)


@pytest.mark.parametrize("factorised, max_rows", [(True, 0), (False, 4000), (False, 0)])
def test_the_dual_point_of_the_epochs_is_kept(factorised, max_rows):
    """Newton steps that follow begin below it: until they are better, it is the bound."""
    for seed in range(5):
        p = reference.random_problem(seed, 60, 8)._replace(loss="hinge")
        task = Task(CsrRows(*csr_of(p.X), 8), p.y, p.cost, p=1.0)
        objective, descent = hinge_descent(task)
        for _ in range(2):
            descent.run()
        run = alm.HingeRounds(objective, Monitor(gap=1e-12), Rule(), factorised)
        run.max_rows = max_rows
        run.follow(descent.w, descent.alpha.copy(), value := descent.dual_value())
        found = run.finished(task)
        assert found.history[0]["bound"] >= value * (1 - 1e-12)
        assert p.dual_value(found.alpha) >= value * (1 - 1e-12)


def descent_of(kind: str, p, X) -> DualCoordinateDescent:
    """A descent of each kind over the rows X of a problem; C = 1."""
    n = X.n
    if kind == "tube":
        targets = np.concatenate((p.X[:, 0] - 0.1, -p.X[:, 0] - 0.1))
        signs = np.repeat((1.0, -1.0), n)
        return DualCoordinateDescent(RepeatedRows(X, 2), signs, np.zeros(2 * n), np.ones(2 * n), 1, None, targets)
    bent, upper = (0.5, np.inf) if kind == "squared hinge" else (0.0, 1.0)
    return DualCoordinateDescent(X, p.y, np.full(n, bent), np.full(n, upper), 1)


@pytest.mark.parametrize("kind", ["hinge", "squared hinge", "tube"])
def test_an_epoch_in_pieces_is_the_epoch(kind, monkeypatch, tmp_path):
    """The same bits for pieces of any length, with shrinking: on disk the memory is examined between them."""
    p = reference.random_problem(4, 1000, 100)
    X = CsrRows(*csr_of(p.X), 100, mapped=MappedArrays(10**12, str(tmp_path)))
    whole, cut = (descent_of(kind, p, X) for _ in range(2))
    pieces, shares = [], []
    for k in range(12):
        whole.run()
        with monkeypatch.context() as m:
            m.setattr(CsrRows, "pieces", lambda self, lo, hi, step=0, by=1 + k % 5: (
                pieces.append(a) or (a, min(a + by, hi)) for a in range(lo, hi, by)
            ))  # fmt: skip
            cut.run()
        assert np.array_equal(whole.alpha, cut.alpha) and np.array_equal(whole.w, cut.w)
        assert np.array_equal(whole.limits, cut.limits) and np.array_equal(whole.state[:2], cut.state[:2])
        shares.append(whole.active_share)
    assert len(pieces) > 24 and min(shares) < 1.0


@pytest.mark.parametrize("kind", ["hinge", "squared hinge", "tube"])
def test_epochs_in_one_call_are_those_of_several(kind):
    """The same bits and counts; a call ends where the range of the gradients or the visits say so."""
    p = reference.random_problem(5, 200, 10)
    X = CsrRows(*csr_of(p.X), 10)

    one, several = (descent_of(kind, p, X) for _ in range(2))
    ranges, visits = [], []
    for _ in range(20):
        one.run()
        ranges.append(one.pg_range)
        visits.append(one.visits)
    limits = ((5, -1.0, np.inf), (9, -1.0, np.inf), (6, ranges[9], np.inf), (9, -1.0, 0.5 * (visits[11] + visits[12])))
    for most, range_tol, max_visits in limits:
        before = several.count
        several.run(most, range_tol, max_visits)
        ends = next(k + 1 for k in range(before, 20) if k + 1 - before >= (most if before else 1)
                    or ranges[k] <= range_tol or visits[k] >= max_visits)  # fmt: skip
        assert several.count == ends
    while several.count < 20:
        several.run(20 - several.count)
    assert np.array_equal(one.alpha, several.alpha) and np.array_equal(one.w, several.w)
    assert np.array_equal(one.limits, several.limits) and one.visits == pytest.approx(several.visits, rel=1e-12)
    assert min(np.diff(visits)) < 1.0


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


def test_turns_end_though_no_epoch_is_left():
    """Epochs that may not run any more leave the rest to Newton steps."""
    p = reference.random_problem(4, 60, 30, 10.0)._replace(loss="squared hinge")
    found = squared_hinge(Task(CsrRows(*csr_of(p.X), 30), p.y, p.cost), Monitor(gap=1e-6), Rule(), max_epochs=1)
    assert found.status.converged


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

    def visits(rule: RangeRule) -> tuple[float, float]:
        """Visits of a run, and the gradient where it ends as a share of that at 0."""
        found = squared_hinge(task, Monitor(), Rule(dual=rule), first_turn=mfn.FIRST_TURN_VISITS)
        assert found.status.converged
        return found.visits, norms(found.w) / norms(np.zeros(task.rows.d))

    exact, _ = visits(RangeRule(1e-6))
    early, share = visits(RangeRule(1e-6, late))
    assert share <= late and early < exact


def test_a_rule_that_epochs_meet_is_not_replaced():
    task = uneven(C=0.01)
    plain, late = (
        solve_mfn(task, Monitor(), Rule(dual=RangeRule(0.1, share)), method="epochs") for share in (None, 1.0)
    )
    assert plain.status is late.status is RULE and np.array_equal(plain.w, late.w)


def test_liblinears_cap_on_epochs_counts_as_its_rule():
    """Where so many epochs have not met its rule, as many visits again, and some more, end a wide regression."""
    task, size = regression_on_noise(uneven().rows, 1.0), 1e-9
    with_rule, without = (
        DualCoordinateDescent.of_power(task.rows, task.y, task.cost, 1.0, 1, task.target) for _ in range(2)
    )
    more = (READING_VISITS * with_rule.data.nnz + STARTUP_VISITS) * VISIT_NS / with_rule.cost
    ended, visits = [], []
    for _ in range(1200):
        with_rule.run()
        without.run()
        assert with_rule.gradient_sum > size, "its rule itself is met"
        ended.append(with_rule.enough_after_rule(size))
        visits.append(with_rule.visits)
        assert not without.enough_after_rule(-1.0)
    limit = (1.0 + VISITS_AFTER_RULE) * visits[LATE_EPOCHS - 1] + more
    assert ended == [sofar >= limit for sofar in visits] and ended[-1]
