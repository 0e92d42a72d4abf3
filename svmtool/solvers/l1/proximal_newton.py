"""Proximal Newton with working sets.      min_w  |w|_1 + sum_i C_i l(y_i x_i.w)
Papers: G.-X. Yuan, C.-H. Ho and C.-J. Lin, An Improved GLMNET for L1-regularized Logistic Regression, Journal of
Machine Learning Research 13 (2012) 1999-2030: Algorithm 1 (newGLMNET), eqs. (12), (13).  M. Massias, A. Gramfort and
J. Salmon, Celer: a Fast Solver for the Lasso with Dual Extrapolation, ICML 2018: growing working sets (Section 4).

Notation   paper: w   d   H   grad L     q(d)            code: w   p = v - w   H   g   the model
Differs from the papers in:
 1. l is the squared hinge as well; its H is that of the rows with a positive slack.  There epochs of coordinate descent
    on f itself take turns with steps by a model, whichever has lowered f the most for its work.
 2. H is not made regular by a multiple of I: the curvature of a row has a floor that follows its slope instead
    (MIN_CURVATURE_RATIO in compiled/loops/loss/logistic_loops.py), whatever the scale of the features.  A step
    ends where f falls no more on the search direction (t <= 1), not by Armijo's rule on powers of a constant.
 3. Models of the squared hinge and of distributed rows have a working set: weights that are not zero, and the largest
    violations, as many as there are non-zero weights (all of them where d is small).  Violations take the place of
    Celer's distances.  Epochs on f visit all weights with a violation, and at first all weights, where that takes at
    most WHOLE_BELOW times as long.
 4. Between epochs the weights that are not zero move together; a model whose epochs have cost as much as H does is
    solved with H as a matrix (quadratic.py).  Where rows are distributed, products with H take the place of columns.
    While f falls much, epochs over columns take about as long as the rest of a step, and the weights do not move
    together.
 5. Where d is large the squared hinge takes turns with the method of multipliers (objectives/l1/dual.py).
 6. Interior-point iterations take over where they are expected to be cheaper, or where round-off ends the others:
    their number depends little on the costs and on the scale of the features, on which the step length of Newton's
    method depends strongly.
Stops when: the certified relative gap reaches the target; -e asks for L1_GAP_AN_EPS e (Rule.gap).  -e also ends a run
where LIBLINEAR's rule holds and the gap is at most SLOW_MIN_GAP; the run's budget begins there, too.  That rule is
V <= e max(1, min(pos, neg)) / l V_0.  -s 6: V is the sum of violations, V_0 that at w = 0.  -s 5: V_0 is the sum of
those that an epoch on f meets from w = 0 (on the model, until epochs on f run), V that of a point, with EPOCH_TOL e;
the budget begins where e V_0 is reached in an epoch and by the weights that it leaves out, together.  Distributed rows
stop by the gap alone.
Memory: 5 vectors of n, 6 of d; the rows once more by columns, and for the method of multipliers those of its weights
twice in float64; or d x d twice, and once for all classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.engine.slower import still_needed
from svmtool.errors import SvmtoolError
from svmtool.limits import EndedError
from svmtool.linalg.columns import order
from svmtool.linalg.systems import CALLS_NS, ROW_VISIT_NS, VISIT_NS
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1.dual import L1Dual
from svmtool.objectives.l1.objective import L1Objective
from svmtool.objectives.logistic import ZERO_MARGIN
from svmtool.objectives.task import Task
from svmtool.solvers.l1 import quadratic
from svmtool.solvers.l1.quadratic import ColumnQuadratic, MatrixQuadratic, Quadratic, SumsQuadratic, minimise
from svmtool.solvers.shared import base, interior_steps
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Status, bias_only
from svmtool.solvers.shared.contest import Contest
from svmtool.tolerances import (
    EPOCH_TOL,
    GRAM_BELOW,
    NEWTON_RTOL,
    ROUNDOFF_GAP,
    SLOW_MIN_GAP,
    STALL_STEPS,
    SUFFICIENT_DECREASE,
    SUM_RTOL,
)

# Models: least size of a working set; tolerance as a share of the largest violation, at first and at last: it is
# halved each time that epochs alone reach it; share of the work so far that one may take, and passes in any case
MIN_SET_SIZE, LOOSE, TIGHT, MODEL_SHARE, MODEL_PASSES = 200, 0.5, 0.03, 0.5, 20.0
FAR = 0.1  # share of f from which on a step's fall means that the minimum is far: models have one turn of epochs
FACE_EPOCHS = 10  # epochs over columns that take as long as a step of the non-zero weights by these
# Times the work of an epoch over the working set up to which epochs on f visit all violations.  Nine sets of 300 to
# 518,658 features, C = 1 to 100, 12 runs of whole commands: 0.89 of the time (0.57 to 1.35) that working sets take
WHOLE_BELOW = 2.0
SHORT_STEP = 0.5  # after a shorter step the model is valid only near w
# Epochs on f: those of the first turn, and the share of the violation at which a turn ends
FIRST_EPOCHS, DESCENT_SHARE = 10, 0.03
POLISHING_STEPS = 20  # most of them after interior-point steps
MULTIPLIER_PASSES = 100.0  # of a turn of the method of multipliers that the first turn is compared with

METHODS = {
    "bias": "the bias alone: every loss is 0 up to round-off",
    "steps": "proximal Newton steps, models over columns of a working set or, where that is cheaper, as a matrix",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Return the bias alone where all rows fit, else steps."""
    if task.bias_only_solution(ZERO_MARGIN) is not None:
        return Plan("bias", "one value of the free bias fits all rows")
    return Plan("steps", f"{task.rows.n} rows, {task.rows.d} features")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None, or if those are better); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(ZERO_MARGIN))
    objective = L1Objective.of_task(task)
    if rule.gradient is not None:
        share = 1.0 if objective.logistic else EPOCH_TOL
        rule = rule._replace(gradient=share * rule.gradient if objective.here else None)
    run = Contest(objective, monitor, rule, gap_of_rule=SLOW_MIN_GAP, early=1.0)
    try:
        _ = run.gradient_tol  # computed at zero weights, once
    except EndedError:  # the first step ends the run
        run.rule = rule._replace(gradient=None)
    objective.set_point(np.zeros(objective.d))
    if start is not None:
        objective.set_point(start)
        if objective.value() > objective.value_at_zero():
            objective.set_point(np.zeros(objective.d))
    steps, multipliers, interior = ProximalSteps(run), None, None
    if not objective.logistic and objective.rows.in_memory:
        if objective.d > GRAM_BELOW and not objective.free_bias:
            multipliers = Multipliers(run)
        interior = interior_steps.candidate(task, 2.0, run, l1=True)
        if interior is not None:
            interior = steps.after(interior[0]), interior[1]
    status = run.run(steps, multipliers, *(interior or ()))
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)


class ProximalSteps:
    """Candidate: steps by quadratic models, and epochs of coordinate descent on the squared hinge itself.

    work: so far; primal, dual: at the last step.
    """

    def __init__(self, contest: Contest):
        self.contest, self.objective = contest, contest.objective
        self.work, self.primal, self.dual = 0.0, np.inf, -np.inf
        self.over = False  # the other candidate never runs alone
        self._tolerance, self._ridge, self._epochs = LOOSE, quadratic.RIDGE, 1.0
        self._short = False
        # Violations that the last epoch on f met, and the weights that it visited
        self._total, self._visited = np.inf, np.empty(0, np.int64)
        self._previous = self._apart = np.inf
        self._stalled, self._t, self._products = 0, 0.0, 0
        # Work of the last turn of models, and of epochs on f, and what each gained for its work
        self._spent, self._rates = {"model": 0.0, "epochs": 0.0}, {"model": np.inf, "epochs": np.inf}
        self._kind, self._random = "model", np.random.default_rng(1)
        self._gaps, self._works = [1.0], [0.0]

    def begin(self, other: Any = None) -> None:
        """Begin another turn, at the best weights."""
        self.objective.set_point(self.contest.best.w)
        self._previous = np.inf
        self.contest.monitor.uses("proximal Newton steps")

    def turn(self, work: float, other: Any = None) -> Status | None:
        """Take steps for about `work` (0: as long as `other` would take); return why the run ends, if it does."""
        length = other.expected if other is not None and work == 0.0 else work
        end = self.work + length
        while True:
            status = self.step()
            if status is not None:
                return status
            if self.work >= end and self._rest() > length:
                return None

    def _rest(self) -> float:
        """Work expected until the gap is reached, at the rate of the last steps."""
        return still_needed(self._gaps, self._works, self.contest.target_gap, 4)

    def after(self, interior: Callable[[], Status]) -> Callable[[], Status]:
        """Interior-point steps, followed by these until the weights alone certify the gap, too."""

        def run() -> Status:
            status, c, o = interior(), self.contest, self.objective
            self.begin()
            for _ in range(POLISHING_STEPS):
                _, g, violations = self._evaluate()
                if relative_gap(c.best.primal, o.bound) <= c.target_gap:  # the multipliers of the weights
                    c.best.dual, c.best.alpha = o.bound, o.dual_point()
                    break
                if c.monitor.ended():
                    break
                try:
                    self._move(g, violations)
                except (EndedError, SvmtoolError):
                    break
            return status

        return run

    def step(self) -> Status | None:
        """Evaluate, and take a step unless the run ends."""
        status, g, violations = self._evaluate()
        if status is None:
            try:
                self._move(g, violations)
            except EndedError:
                status = self.contest.monitor.end()
        return status

    def _evaluate(self) -> tuple[Status | None, np.ndarray, np.ndarray]:
        """Record the present weights; return why the run ends, the gradient of the losses, and violations."""
        c, o = self.contest, self.objective
        f, g = o.gradient()
        violations = o.violations(g)
        fall = self._previous - f
        self._rates[self._kind] = fall / max(self._spent[self._kind], 1.0)
        others = float(violations.sum()) - float(violations[self._visited].sum())
        if EPOCH_TOL * (self._total + others) <= c.gradient_tol:
            c.monitor.liblinear_ends()
        self.primal, self.dual = f, max(o.bound, self.dual)
        if not o.here and f <= c.best.primal * (1.0 + SUM_RTOL):  # the answer's dual point is that of its weights
            c.best.primal, c.best.w[:] = f, o.w
        status = c.record(
            f, o.w, o.bound, o.dual_point, float(violations.sum()), gradient=float(violations.max(initial=0.0)),
            active=int(np.count_nonzero(o.w)), cg=self._products, step=self._t,
        )  # fmt: skip
        apart = f - c.best.dual
        stalls = fall <= NEWTON_RTOL * abs(f) and apart > SUFFICIENT_DECREASE * self._apart
        self._stalled, self._apart = self._stalled + 1 if stalls else 0, apart
        if status is None and (self._stalled >= STALL_STEPS or not f <= c.best.primal * (1.0 + SUM_RTOL)):
            status = base.OPTIMAL if c.best.gap <= ROUNDOFF_GAP else base.PRECISION
        self._gaps.append(c.best.gap)
        self._works.append(self.work)
        self._fall, self._previous = fall / max(f, 1e-300), f
        return status, g, violations

    def _move(self, g: np.ndarray, violations: np.ndarray) -> None:
        """Take a step of either kind."""
        o = self.objective
        chosen, whole = self._working_sets(violations)
        epoch = o.epoch_work(chosen)
        before = self.work
        self._total = np.inf
        self._kind = self._next_kind(epoch, o.matrix_work(chosen))
        if self._kind == "epochs":
            # A gradient at zero weights tells little of the others
            most = np.arange(o.d) if self._rates["epochs"] == np.inf else whole
            sets = (some for some in (most, whole) if o.epoch_work(some) <= WHOLE_BELOW * epoch)
            p = self._epochs_on_f(next(sets, chosen))
        else:
            p = self._by_model(chosen, g, violations, epoch)
        self._t = o.search(p, g)
        if self._kind == "model":
            self._short = self._t < SHORT_STEP
            if self._short:
                self._tolerance = LOOSE
        o.step(self._t, p)
        self.work += 3.0 * o.pass_work + CALLS_NS
        self._spent[self._kind] = self.work - before
        self.contest.monitor.spend(self.work - before)

    def _working_sets(self, violations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The working set and all weights that are not zero or have a violation: i8, ascending.

        The working set holds the non-zero weights and as many others, those with the largest violations: all of them
        where d is small.
        """
        o = self.objective
        used = o.w != 0.0
        used[o.rows.n_features :] = True
        whole = np.flatnonzero(used | (violations > 0.0))
        outside, more = whole[~used[whole]], max(MIN_SET_SIZE, int(np.count_nonzero(used)))
        if o.d <= GRAM_BELOW or len(outside) <= more or (o.logistic and o.here):
            return whole, whole
        used[outside[np.argpartition(-violations[outside], more)[:more]]] = True
        return np.flatnonzero(used), whole

    def _next_kind(self, epoch: float, matrix: float) -> str:
        """The kind of the next step: what has gained the most for its work, where the other's rate doubles.

        Where the fall of f is round-off, which says nothing, a model.
        """
        o = self.objective
        at_end = abs(self._fall) <= NEWTON_RTOL
        if not o.has_epochs or at_end or (matrix <= epoch + o.turning_work and not self._short):
            return "model"
        if self._rates["epochs"] == np.inf:
            return "epochs"
        kind, other = ("model", "epochs") if self._rates["model"] >= self._rates["epochs"] else ("epochs", "model")
        self._rates[other] *= 2.0
        return kind

    def _epochs_on_f(self, chosen: np.ndarray) -> np.ndarray:
        """A step by epochs of coordinate descent on f: about as long as that by the last model, within the budget."""
        o, c = self.objective, self.contest
        w, z, first, epoch = o.w.copy(), o.losses.z.copy(), None, o.descent_work(chosen)
        columns = o.columns().some(chosen)
        if not o.epoch_at_zero and c.gradient_tol >= 0.0:  # one on the model meets up to twice the violations
            c.at_zero = o.first_epoch()
        most = max(FIRST_EPOCHS, int(self._spent["model"] / epoch))
        for _ in range(int(min(most, max(c.monitor.work_left / epoch, 1.0)))):
            total = o.epoch(chosen[order(self._random, columns)], w, z)
            self.work += epoch
            first = total if first is None else first
            self._total, self._visited = total, chosen
            # LIBLINEAR's rule ends a turn, unless it has held before
            ends = EPOCH_TOL * total <= c.gradient_tol and c.monitor.work_left == np.inf
            if ends or total <= DESCENT_SHARE * first or c.monitor.ended():
                break
        return w - o.w

    def _by_model(self, chosen: np.ndarray, g: np.ndarray, violations: np.ndarray, epoch: float) -> np.ndarray:
        """p = v - w from the model over the weights `chosen`; the others stay as they are."""
        o = self.objective
        tolerance = max(self._tolerance * float(violations.max()), 1e-13 * float(np.abs(g).max()))
        far = self._fall > FAR
        most = 0.0 if far else max(MODEL_PASSES * VISIT_NS * o.rows.nnz, MODEL_SHARE * self.work)
        turn = max(1, min(quadratic.EPOCHS, int((3.0 * o.pass_work + CALLS_NS) / max(epoch, 1.0) + 1.0)))
        most = min(most, self.contest.monitor.work_left)
        part, matrix = (g[chosen], o.w[chosen], o.penalty[chosen]), o.matrix_work(chosen)
        model: Quadratic
        if not o.here:
            model = self._distributed(chosen, part)
        elif matrix <= (turn + 1.0 if far else self._epochs) * epoch + o.turning_work:
            model = MatrixQuadratic(o.matrix(chosen), *part)
            self.work += matrix
        else:
            model = ColumnQuadratic(o.columns().some(chosen), o.losses.c, *part)
            self.work += 0.5 * epoch
            if far:
                model.epochs_a_turn = turn
        begun, hurried = model, far and not isinstance(model, MatrixQuadratic)
        model, self._ridge = minimise(
            model, tolerance, most, self._ridge, self.contest.monitor.ended, lambda: o.matrix(chosen), matrix
        )
        if model is begun and model.epochs <= model.epochs_a_turn and not hurried:  # epochs alone were enough
            self._tolerance = max(0.5 * self._tolerance, TIGHT)
        self._epochs = model.epochs + FACE_EPOCHS * model.faces
        self.work += model.work
        self._products = model.products
        p = np.zeros(o.d)
        p[chosen] = model.v - model.w
        return p

    def _distributed(self, chosen: np.ndarray, part: tuple) -> Quadratic:
        """The model of distributed rows."""
        o = self.objective
        if len(chosen) <= GRAM_BELOW:
            return MatrixQuadratic(o.losses.part_of_hessian(chosen), *part)

        def product(x: np.ndarray) -> np.ndarray:
            whole = np.zeros(o.d)
            whole[chosen] = x
            return o.rows.curvature_product(o.losses.c, whole)[chosen]

        return SumsQuadratic(product, o.rows.diagonal(o.losses.c)[chosen], *part)


class Multipliers:
    """Candidate: the method of multipliers on the dual of the squared hinge."""

    alone = False  # it may stall at points of which LIBLINEAR's rule says nothing

    def __init__(self, contest: Contest):
        self.contest, self.objective, self.work = contest, contest.objective, 0.0
        self.primal, self.dual = np.inf, -np.inf
        self._run: Any = None  # L1Dual, from the first turn on

    @property
    def expected(self) -> float:
        """Work of a first turn."""
        return MULTIPLIER_PASSES * self._pass

    @property
    def _pass(self) -> float:
        """Nanoseconds of visits to all rows."""
        return VISIT_NS * self.objective.rows.nnz + ROW_VISIT_NS * self.objective.n

    def begin(self, other: Any) -> None:
        """Begin a turn."""
        self.contest.monitor.uses("method of multipliers", "proximal Newton steps have not ended the run")
        if self._run is None:
            self._run = L1Dual(self.objective, self.contest.best.w)

    def turn(self, work: float) -> Status | None:
        """Take steps until `work` is done; return why the run ends, if it does."""
        c, o, end = self.contest, self.objective, self.work + work
        while self.work < end:
            done = self._run.work
            try:
                o.set_point(self._run.step(min(end - self.work, c.monitor.work_left) / self._pass))
            except EndedError:
                return c.monitor.end()
            except SvmtoolError:  # its systems overflow
                self.work = end
                return None
            f, g = o.gradient()
            spent = (self._run.work - done) * self._pass + 2.0 * o.pass_work
            self.work += spent
            c.monitor.spend(spent)
            violations = o.violations(g)
            bound, alpha = self._run.bound()
            if o.bound > bound:
                bound, alpha = o.bound, o.dual_point()
            self.primal, self.dual = min(f, self.primal), max(bound, self.dual)
            status = c.record(
                f, o.w, bound, lambda alpha=alpha: alpha,
                gradient=float(violations.max(initial=0.0)), active=int(np.count_nonzero(o.w)),
                cg=int(self._run.work - done), step=self._run.sigma,
            )  # fmt: skip
            if status is not None:
                return status
        return None
