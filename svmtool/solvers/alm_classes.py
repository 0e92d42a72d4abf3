"""Crammer-Singer: dual coordinate descent, and augmented Lagrangian multipliers in the simplex.

    min over W of  1/2 sum_m |w_m|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)

Papers: the problem is Crammer and Singer's (JMLR 2, 2001); epochs that minimise a row's multipliers together: Keerthi,
Sundararajan, Chang, Hsieh and Lin, A Sequential Dual Method for Large Scale Multi-Class Linear SVMs, KDD 2008; rounds:
Nie, Huang, Wang and Huang, ICML 2014 (alm.py), Algorithm 1.

Notation   paper: lambda_i   mu     code: p_i, a point of the simplex a row (beta, `multipliers`)   C_i sigma
Differs from the papers in:
 1. The multipliers of a row lie in the simplex in place of [0, 1], see objectives/crammer_singer.py; the rounds are
    those of alm_rounds.py; conjugate gradients there are preconditioned, and where few rows are off the simplex's
    corners a system with a number for each class of their faces takes their place (`face` of CrammerSingerLoss).
 2. Epochs and rounds alternate.  Epochs come first, until they are expected to take longer than Newton steps.  Rounds
    that cost more than expected end, and both alternate from there, each for twice as long as before.  Where d
    is large and -e decides, rounds also change to epochs once sigma says that the rule is near: epochs end the run.
 3. Where rounds do not end the run and both have cost a quarter of what interior-point steps are expected to cost,
    these take over (objectives/class_interior.py: few rows).  Data on raw scales need them.
 4. Epochs shrink classes as LIBLINEAR does, row by row, without delay; all are unshrunk each time that the largest
    violation has halved.
Stops when: the certified relative gap reaches the target; with -e, when LIBLINEAR's rule for -s 4 holds, and a gap of
RULE_MIN_GAP where d k is small.
Memory: 5 vectors of n k, 4 of d k; where features times classes are few, one matrix of their order and, for each pair
of classes, one of d x d, twice; for the dual system three of the order of all faces' classes, at most 2000; in
interior-point steps k n^2, at most 128 MB.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.crammer_singer import CrammerSingerDescent
from svmtool.coordinate.hinge import MAX_EPOCHS
from svmtool.engine.slower import still_needed
from svmtool.limits import EndedError
from svmtool.objectives import class_interior
from svmtool.objectives.class_rows import ClassTask
from svmtool.objectives.crammer_singer import MAX_CLASS_ORDER, CrammerSingerLoss
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.alm_rounds import RECENT_RANGES, SIGMA_COLD, SMOOTHING, WINDOW, Rounds
from svmtool.solvers.shared import base, interior_steps
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Status
from svmtool.solvers.shared.epochs import SWITCH, Epochs
from svmtool.tolerances import EPOCH_TOL, GRAM_BELOW, OPTIMAL_GAP, ROUNDOFF_GAP, RULE_MIN_GAP, SLOW_MIN_GAP

CG_SIGMA_GROWTH = 2.0  # of sigma by conjugate gradients, which a large sigma slows down
# Interior-point steps replace epochs and rounds once these have cost this share of what the steps are expected to cost.
# 300 rows of each of 17 sets with 3 to 77 classes, C = 1, 100 and 1e4: 0.3 to 1 times the time of the four runs above a
# second, whose gaps went from 0.23, 1.8e-3, 1e-7 and 3e-7 to 4e-3, 2e-5, 1e-8 and 2e-6; the others end before
CLASS_INTERIOR_SHARE = 0.25
TIGHTER_FACTOR = 0.3  # if the gap is not certified when -e holds, epochs continue to this share of -e
# The primal value is computed each time the cost of epochs has grown by this share, and by this many evaluations of it
CLASS_EVALUATIONS, MIN_MULTIPLE = 0.3, 10.0
# Where d is large, epochs continue towards EPOCH_TOL times LIBLINEAR's tolerance for at most this share of the cost at
# which its rule first held.  On banking77, la12, tdt2, conll2000 and isolet1, C = 1 and 100, the dual value of tdt2 is
# below LIBLINEAR's with 0, none with 0.5; banking77 at C = 100 takes 3.4 s (8.6 s without the limit, LIBLINEAR 2.2)
AFTER_RULE_SHARE = 0.5
EVALUATION_GAP_FACTOR = 1.5  # times the target gap, as epochs estimate it, from which on the primal is computed

METHODS = {
    "zero": "no weights: there are no rows, or one class",
    "turns": "alternating epochs of coordinate descent and multiplier rounds on a factorised matrix",
    "turns-dual": "alternating epochs of coordinate descent and multiplier rounds, by systems of rows or products",
    "epochs": "epochs of coordinate descent",
    "primal": "multiplier rounds on a factorised matrix",
    "dual": "multiplier rounds by systems of rows or conjugate gradients",
    "interior": interior_steps.NAME,
}


def plan(task: ClassTask, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of rows, classes and features."""
    d, k = task.rows.d, task.k
    if task.rows.n == 0 or k == 1:
        return Plan("zero", f"{task.rows.n} rows, {k} classes")
    if d * k <= GRAM_BELOW:
        return Plan("turns", f"{d} features times {k} classes, at most {GRAM_BELOW}")
    return Plan("turns-dual", f"{d} features times {k} classes, more than {GRAM_BELOW}")


def solve(task: ClassTask, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text.

    start and the answer's w: the flat W of class_rows.py; the answer's alpha has k numbers a row, f8[n, k].
    """
    n, k = task.rows.n, task.k
    if method == "zero":
        monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
        return Result(np.zeros(k * task.rows.d), base.OPTIMAL, 1, monitor.history, np.zeros((n, k)))
    objective = CrammerSingerLoss(task)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    run = ClassRounds(task, objective, monitor, rule, not method.endswith("dual"))
    descent = CrammerSingerDescent(task, objective.rows, seed, run.factorised)
    descent.newton_share = 0.0 if method in ("primal", "dual") else 1.0
    run.may_round = method != "epochs" and (run.factorised or objective.has_kronecker or 2 * n <= MAX_CLASS_ORDER)
    return run.alternated(descent, start is not None, method == "interior")


class ClassEpochs(Epochs):
    """Epochs until the rule or the gap holds, or multiplier rounds are expected to be cheaper.

    Epochs estimate the gap themselves.  After the run: multiple, of the descent's w, gives the best primal value.
    """

    def __init__(self, run: ClassRounds, descent: CrammerSingerDescent):
        super().__init__(descent, run.monitor)
        self.objective, self.rounds, self.reached = run.objective, run.may_round, run.reached
        self.after_rule, self.multiple, monitor, rule = run.after_rule, 1.0, run.monitor, run.rule
        self.gap = rule.certified.gap if monitor.gap is None else monitor.gap
        self.target_gap = self.gap if self.gap >= 0.0 else RULE_MIN_GAP
        self.plain = -1.0 if rule.dual is None else rule.dual.width
        self.range_tol = EPOCH_TOL * self.plain
        self.ruled = np.inf  # the cost at which LIBLINEAR's rule held first
        self.evaluated, self.within_tol, self.limit = 0.0, False, None
        self.gaps, self.pg_ranges, self.costs = [1.0], [1.0], [0.0]
        self.certified_gaps, self.certified_costs = [1.0], [0.0]  # the gap and the cost where the primal is known

    def measure(self) -> None:
        descent, plain = self.descent, self.plain
        self.gaps.append(descent.gap_estimate)
        self.pg_ranges.append(self.pg_ranges[-1] ** SMOOTHING * max(descent.pg_range, 1e-300) ** (1.0 - SMOOTHING))
        self.costs.append(self.spent)
        if descent.complete and descent.pg_range <= plain:
            self.ruled = min(self.ruled, self.spent)
        over = not descent.factorised and self.spent >= (1.0 + self.after_rule) * self.ruled
        self.within_tol = descent.pg_range <= self.range_tol
        if over and not self.within_tol and descent.pg_range <= plain:  # measured at the time of each visit
            self.within_tol = not descent.complete or self.objective.projected_range(descent.alpha) <= plain
        self.limit = self.monitor.limit(descent.count)

    def unshrinks(self) -> bool:
        return self.within_tol and self.limit is None

    def evaluate(self) -> Status | None:
        """Compute the primal where it is worth its cost, and compare with the expected cost of rounds."""
        descent, since = self.descent, self.spent - self.evaluated
        near = self.gaps[-1] <= EVALUATION_GAP_FACTOR * self.gap and since >= descent.evaluation_cost
        early = self.gap >= 0.0 and since >= max(MIN_MULTIPLE * descent.evaluation_cost, CLASS_EVALUATIONS * self.spent)
        if near or early or self.within_tol or self.limit:
            status = self._ended()
            if status is not None:
                return status
        if not self.rounds:
            return None
        expected = min(
            still_needed(self.gaps, self.costs, self.target_gap, WINDOW),
            still_needed(self.certified_gaps, self.certified_costs, self.target_gap, WINDOW),
        )
        if not descent.factorised and self.plain > 0.0:  # the gap falls evenly; the range fluctuates
            window = len(self.costs) // RECENT_RANGES
            expected = min(expected, still_needed(self.pg_ranges, self.costs, self.range_tol, window))
        cheaper = expected > descent.newton if self.within_tol else descent.newton_is_cheaper(self.spent, expected)
        return SWITCH if cheaper else None

    def value(self) -> float:
        """Return the least value along the descent's w, at `multiple`: rows just short of the margin cost most."""
        self.multiple, primal = self.objective.least_multiple(self.descent.w)
        return primal

    def _ended(self) -> Status | None:
        """Compute the primal; return why the run ends, or None."""
        descent, limit = self.descent, self.limit
        self.evaluated = self.spent
        if limit:  # early epochs overshoot: use the best multiple of their w
            descent.scale(self.objective.best_multiple(descent.w))
        primal, bound = self.value(), descent.dual_value()
        certified_gap = relative_gap(primal, bound)
        self.certified_gaps.append(certified_gap)
        self.certified_costs.append(self.spent)
        ruled = self.within_tol and (min(certified_gap, self.reached) <= RULE_MIN_GAP or not descent.factorised)
        if certified_gap <= self.gap or limit or ruled:
            support = int(np.count_nonzero(descent.alpha))
            status = self.monitor.step(primal, bound, active=support, epochs=descent.count)
            return status or limit or base.RULE
        if self.within_tol:  # LIBLINEAR's objective may be lower where its rule holds
            self.range_tol *= TIGHTER_FACTOR
        return None


class ClassRounds(Rounds):
    """A run that alternates between epochs and rounds.

    max_epochs, after_rule: see the constants.
    """

    max_epochs, after_rule = MAX_EPOCHS, AFTER_RULE_SHARE
    may_round = True  # whether epochs may give way to rounds
    handing_over = False  # whether epochs end the run once the multipliers' steps say that -e is near
    near = False  # whether the steps say so
    reached = 1.0  # the certified gap before epochs continue
    interior, spent = np.inf, 0.0  # what interior-point steps are expected to cost; what epochs and rounds have cost
    rounded_cost = np.inf  # at which a gap of SLOW_MIN_GAP ends a run whose interior-point steps ended by rounding
    descent: CrammerSingerDescent | None = None  # rounds return to it where they cost more than it expects

    def __init__(self, task: ClassTask, objective: CrammerSingerLoss, monitor: Monitor, rule: Rule, factorised: bool):
        super().__init__(objective, monitor, rule, factorised)
        self.task, self.interior = task, class_interior.cost(task)
        if not factorised:
            self.growth, self.handing_over = CG_SIGMA_GROWTH, rule.dual is not None

    def alternated(self, descent: CrammerSingerDescent, started: bool = False, interior: bool = False) -> Result:
        """Minimise from the objective's w.

        started: rounds begin, from the starting point; interior: interior-point steps begin.
        """
        objective, monitor, n, k = self.objective, self.monitor, self.task.rows.n, self.task.k
        objective.sigma, self.descent = SIGMA_COLD, descent

        def result(w: np.ndarray, status: Status, iterations: int, alpha: np.ndarray) -> Result:
            places = objective.rows.narrowed(alpha).reshape(n, k)  # type: ignore[attr-defined]
            return Result(w, status, iterations, monitor.history, places)

        status, begun = None, started  # begun: whether there are weights other than those of epochs
        while status is None:
            if not (started or interior) or descent.count > 0:
                epochs = ClassEpochs(self, descent)
                if descent.count > 0:
                    monitor.uses("epochs of coordinate descent", "rounds have not ended the run")
                status = epochs.run(max_epochs=self.max_epochs)
                self.spent += epochs.spent
                if status is not None and not begun:
                    return result(epochs.multiple * descent.w, status, descent.count, descent.alpha)
                primal = epochs.value()
                self.best.update(primal, epochs.multiple * descent.w, descent.dual_value(), descent.alpha)
                if status is not None:  # -e is about the dual point of epochs; rounds may know a better primal
                    alpha = descent.alpha if status.converged else self.best.alpha
                    return result(self.best.w, status, descent.count, alpha)
                objective.set_point(descent.w)
                objective.beta[:] = descent.multipliers
                objective.sigma = SIGMA_COLD
            begun, before = True, monitor.iterations
            status = None if interior else self.multiplier_rounds()
            # stuck: round-off stopped the rounds; epochs may still help
            rounding = status is base.PRECISION and self.descent is not None and self.best.gap > RULE_MIN_GAP
            stuck = interior or rounding
            status = None if stuck else status
            started = interior = False
            alpha = -objective.u if self.near else self.best.alpha
            other = status is None and not self.near  # whether another method may be next
            if other and self.interior < np.inf and (stuck or self.spent > CLASS_INTERIOR_SHARE * self.interior):
                status = self.interior_steps()
                if self.best.gap <= SLOW_MIN_GAP:  # otherwise round-off has made these points inaccurate
                    alpha = self.best.alpha
            elif other and (descent.count >= self.max_epochs or self.rounded):
                status = base.OPTIMAL if self.best.gap <= ROUNDOFF_GAP else base.PRECISION
            if status is not None:
                break
            if self.near or stuck:  # only once: then epochs end the run or are too many
                self.may_round, self.handing_over, self.descent = False, False, None
            else:
                descent.expect_more_steps()
            self.reached = self.best.gap
            descent.resume(objective.multipliers(alpha), monitor.iterations - before)
        return result(self.best.w, status, monitor.iterations, self.best.alpha)

    @property
    def rounded(self) -> bool:
        """Whether interior-point steps have led to a gap of SLOW_MIN_GAP, and epochs and rounds have cost as much."""
        return self.spent > self.rounded_cost and self.best.gap <= SLOW_MIN_GAP

    @property
    def max_products(self) -> int:
        products = super().max_products
        return products if self.descent is None or self.factorised else min(products, self.descent.max_products)

    def multiplier_rounds(self) -> Status | None:
        self._gaps, self._costs = [1.0], [0.0]  # costs: in usual Newton steps
        return super().multiplier_rounds()

    def switches(self, ends: bool, cg: int) -> bool:
        o, descent = self.objective, self.descent
        tolerance = -1.0 if self.rule.dual is None else EPOCH_TOL * self.rule.dual.width
        self.near = ends and self.handing_over and o.multiplier_range() <= tolerance
        if self.near or descent is None:
            return self.near
        gap, costs = self.rule.certified.gap if self.monitor.gap is None else self.monitor.gap, self._costs
        self._gaps.append(self.best.gap)
        costs.append(costs[-1] + descent.usual_steps(o.step_cost(cg)))
        self.spent += descent.newton / descent.steps * (costs[-1] - costs[-2])
        if costs[-1] <= descent.least_steps:
            return False
        return still_needed(self._gaps, costs, gap if gap > 0.0 else RULE_MIN_GAP, len(self._gaps) // 2) > descent.steps

    def interior_steps(self) -> Status | None:
        """Take interior-point steps, at most once in a run.

        None if epochs take over: LIBLINEAR's rule is for dual points most of whose numbers are zero.
        """
        ruled = self.rule.dual is not None
        self.rounded_cost = self.interior
        self.interior = np.inf
        try:
            with np.errstate(all="ignore"):  # overflow ends the steps
                start = class_interior.ClassInterior(self.task)
            gap_tol = RULE_MIN_GAP if ruled else OPTIMAL_GAP
            status = interior_steps.interior_steps(start, self.monitor, self.best, gap_tol)
        except EndedError:
            return self.monitor.end()
        goes_on = status is base.PRECISION or (ruled and status in (base.RULE, base.OPTIMAL))
        return None if goes_on else status
