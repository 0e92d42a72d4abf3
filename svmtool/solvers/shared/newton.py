"""The finite Newton method: its steps, and the epochs of coordinate descent that may precede them.

Paper, departures from it and notation: mfn.py.  The objective decides which loss is minimised.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.cd.dcd_loops import REMAINING_SHARE
from svmtool.coordinate.hinge import MAX_EPOCHS, DualCoordinateDescent
from svmtool.data.row_storage import Rows
from svmtool.engine.slower import still_needed
from svmtool.objectives.base import Objective
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Rule, Status
from svmtool.solvers.shared.epochs import RATE_EVALUATIONS, Epochs
from svmtool.tolerances import EPOCH_TOL, NEWTON_RTOL, OPTIMAL_GAP, ROUNDOFF_GAP, RULE_MIN_GAP, RULE_SHARE, SLOW_MIN_GAP

CG_CAP_FIRST = 10  # heuristic 1: CG steps of the first least squares problem
# Largest and smallest tolerance of CG: the root of what a step is about to gain, as a share of f.  Measured on twelve
# wide sets (one-hot, text, counts, bigrams, dense; -s 2 -c 10 -B 1 -R --gap 1e-3, at most 6 s, one thread) compared
# with the paper's eps in (13), 1e-2 and then 1e-6: three reached the gap with both, in 0.26, 0.29 and 0.45 times the
# products; one with this alone; on the other eight the objective was lower by 1.5 to 73 times
CG_LOOSE, CG_TIGHT = 0.1, 1e-6
# First steps need not be accurate where rows are long and a Gram matrix costs much: their tolerance, and most products
# of each and of all
CG_BRIEF_RTOL, CG_BRIEF_STEPS, CG_BRIEF_SUM = 0.1, 8, 16
LONG_ROWS = 64  # non-zeros a row from which a product is that much cheaper than a Gram matrix
FIRST_EVALUATION = 4  # epochs before the first evaluation of the gap, where there is a target
# Epochs between two evaluations: the share REMAINING_SHARE of those expected at the rate of RATE_EVALUATIONS
# evaluations, at least MIN_BETWEEN and at most the share MAX_BETWEEN of all so far
MIN_BETWEEN, MAX_BETWEEN = 2, 0.5
UNSHRINK_SHARE = 0.1  # share of the gap at which projected gradients are examined again
# The sample of a first guess holds at least one row in SAMPLE_GROUP, SAMPLE_ROWS_PER_FEATURE rows for each feature and
# SAMPLE_ROWS in all; none is used that would hold more than one row in MIN_GROUP.  Its solution need not be exact
SAMPLE_GROUP, SAMPLE_ROWS_PER_FEATURE, SAMPLE_ROWS, MIN_GROUP = 16, 8, 400, 3
SAMPLE_GAP, SAMPLE_ROUNDS = 1e-2, 20


def sample_group(rows: Rows) -> int:
    """Return in how many rows one may be in the sample of a first guess."""
    return min(SAMPLE_GROUP, rows.n // max(SAMPLE_ROWS, SAMPLE_ROWS_PER_FEATURE * rows.d))


def newton_steps(
    objective: Objective, monitor: Monitor, rule: Rule, system: str, max_rows: int = 0, work: float = np.inf,
    known: float = -np.inf, near: float = -1.0,
) -> Status | None:  # fmt: skip
    """Take Newton steps with exact line search from the objective's w; return why they ended.

    system: how least squares on the active rows is solved: "primal" by a factorised d x d matrix, "dual"
    by one with a row for each active row, where these are at most `max_rows`, "cg" by conjugate gradients until
    they take longer than "dual" would.
    known: a lower bound of the minimum.  work: of "cg" and "dual", as `product_cost` measures it; None is
    returned where it is done, or the certified gap is at most `near`, before anything else ends the steps.
    """
    gradient_tol = -1.0 if rule.primal is None else rule.primal.share * objective.gradient_at_zero()
    systems = _Systems(objective, monitor, system, max_rows, work)
    lowest, stalled, t = np.inf, 0, 0.0
    range_rule_gap = -1.0 if rule.dual is None or systems.features else SLOW_MIN_GAP  # from where that rule may hold
    best, best_w = objective.value_at_zero(), np.zeros(objective.d)  # f(0): a guess may be worse
    while True:
        # Step 1: value, gradient and active rows I(w)
        f, g = objective.gradient()
        norm = float(np.sqrt(g @ g))
        bound = objective.bound
        if not objective.free_bias:
            bound = max(bound, f - 0.5 * norm * norm, known, objective.face_bound)
        if f < best:
            best, best_w[:] = f, objective.w
        status = monitor.step(f, bound, gradient=norm, active=objective.active, cg=systems.products, step=t)
        of_features = rule.confirmed.at_start if systems.first else RULE_MIN_GAP
        rule_gap = of_features if systems.features else rule.confirmed.slow
        if status is None and norm <= gradient_tol and f - bound <= rule_gap * f:
            status = base.RULE
        if status is None and 0.0 <= range_rule_gap and f - bound <= min(range_rule_gap, rule.confirmed.slow) * f:
            if objective.projected_range(objective.dual_point()) <= rule.dual.width:
                status = base.RULE
            range_rule_gap *= UNSHRINK_SHARE
        if status is None and f - bound <= rule.certified.gap * f:
            status = base.RULE
        exact = systems.exact and objective.changed == 0
        if status is None and (norm == 0.0 or f - bound <= OPTIMAL_GAP * f or exact):
            status = base.OPTIMAL
        if status is None:
            stalled = 0 if lowest - f > NEWTON_RTOL * abs(f) else stalled + 1  # also where f is nan
            status = rounded(f, bound) if stalled >= 3 else None
        if status is not None:
            if f > best and not status.converged:
                objective.set_point(best_w)
            return status
        if systems.done >= work or f - bound <= near * f:
            return None
        lowest = min(lowest, f)
        p = systems.direction(f, g, stalled > 0)  # Step 2
        monitor.uses(f"Newton steps by {objective.way}")
        # Step 3 (Section 4.4): exact line search
        t = objective.line_search(p)
        objective.step(t, p)
        systems.exact = systems.exact and abs(t - 1.0) <= 1e-9


class _Systems:
    """The systems of `newton_steps`; features: whether of the features.  done: their cost so far, as `work` counts it.

    Of the last direction, products: by conjugate gradients; exact: whether it leads to the minimiser on its pieces.
    """

    def __init__(self, objective: Objective, monitor: Monitor, system: str, max_rows: int, work: float):
        self.objective, self.monitor, self.max_rows, self.work = objective, monitor, max_rows, work
        self.features, self.rows = system == "primal", system == "dual"
        self.brief = CG_BRIEF_SUM if self.features and objective.mean_row_length >= LONG_ROWS else 0
        self.products, self.done, self.exact = 0, 0.0, False
        self.first, self.cold = True, not np.any(objective.w)

    def direction(self, f: float, g: np.ndarray, stalled: bool) -> np.ndarray:
        """Step 2 (Section 4.3): least squares on the active rows, p = w_bar - w."""
        o, first, self.first = self.objective, self.first, False
        if self.brief > 0:
            p, few = self._by_products(g, CG_BRIEF_RTOL, CG_BRIEF_STEPS)
            self.exact, self.brief = False, self.brief - self.products if few else 0
        elif self.features or (self.rows and 0 < o.active <= self.max_rows):
            found = o.factorised_direction(g, stalled) if self.features else o.newton_direction(g, "dual")
            p, self.products, self.exact = found
            self.done += o.face_cost
        else:
            tolerance, cap = _tolerance(o, f, g), CG_CAP_FIRST if first and self.cold else 10 * o.d
            cap = int(min(cap, (self.work - self.done) / max(o.product_cost, 1.0) + 1.0))
            p, reached = self._by_products(g, tolerance, cap)
            self.exact = reached and tolerance == CG_TIGHT
            self.done += (self.products + 1) * o.product_cost
            costly = o.active <= self.max_rows and self.products * o.product_cost > o.face_cost
            self.rows = self.rows or costly
        return p

    def _by_products(self, g: np.ndarray, tolerance: float, max_products: int) -> tuple[np.ndarray, bool]:
        """The direction by conjugate gradients, and whether they reached the tolerance within `max_products`."""
        direction = self.objective.newton_direction
        p, self.products, reached = direction(g, "cg", tolerance, max_products, self.monitor.ended)
        return p, reached


def _tolerance(objective: Objective, f: float, g: np.ndarray) -> float:
    """Return the tolerance of conjugate gradients for a step from a point with value f and gradient g."""
    decrement = float(g @ (g / objective.hessian_diagonal()))  # about twice the decrease of the step
    return min(CG_LOOSE, max(CG_TIGHT, (decrement / f) ** 0.5)) if f > 0.0 else CG_TIGHT


def rounded(f: float, bound: float) -> Status:
    """Return the status of a run at which round-off stopped progress."""
    return base.OPTIMAL if f - bound <= ROUNDOFF_GAP * f else base.PRECISION


class RuleEpochs(Epochs):
    """Epochs until a rule of -e or a gap holds, or Newton steps are cheaper.

    max_rows: of the row system of such a step.  If epochs end the run, descent.w is the best w that was evaluated.
    """

    def __init__(
        self, objective: Objective, descent: DualCoordinateDescent, monitor: Monitor, rule: Rule, max_rows: int
    ):
        super().__init__(descent, monitor)
        self.objective, self.rule, self.max_rows = objective, rule, max_rows
        self.tolerance = EPOCH_TOL * rule.dual.width if rule.dual is not None else descent.unit
        self.gradient_tol = rule.primal.share * objective.gradient_at_zero() if rule.primal is not None else -1.0
        self.gap = monitor.gap or 0.0
        self.gradient_sum = RULE_SHARE * rule.certified.gradient_sum
        self.gaps, self.counts = [1.0], [0.0]
        self.next_evaluation = FIRST_EVALUATION if self.gap > 0.0 else MAX_EPOCHS
        self.least, self.best = np.inf, descent.w
        self.small = self.over = self.within_tol = False  # of the last epoch; see `measure`

    def begin(self) -> Status | None:
        o, descent = self.objective, self.descent
        status = self.monitor.limit(descent.count)
        if status is None:
            return None
        descent.scale(o.best_multiple(descent.w))  # early epochs overshoot: use the best multiple of their w
        o.set_point(descent.w)
        f = o.primal_value()
        self.monitor.step(f, descent.dual_value(), active=o.active, epochs=descent.count)
        if f > self.least:
            descent.w[:] = self.best
        return status

    def measure(self) -> None:
        descent = self.descent
        self.small = descent.gradient_sum <= self.gradient_sum
        self.over = descent.enough_after_rule(self.rule.certified.gradient_sum)
        self.within_tol = descent.pg_range <= self.tolerance or self.small or self.over

    def due(self) -> bool:
        return self.within_tol or self.descent.count >= self.next_evaluation

    def switches(self) -> bool:
        return not self.due() and self.descent.newton_is_cheaper(self.spent, self.max_rows)

    def unshrinks(self) -> bool:
        return self.within_tol and not self.over

    def evaluate(self) -> Status | None:
        o, descent, rule, within_tol = self.objective, self.descent, self.rule, self.within_tol
        o.set_point(descent.w)
        if rule.primal is None:
            f, norm, known = o.primal_value(), 0.0, {}
        else:
            f, g = o.gradient()
            norm = float(np.sqrt(g @ g))
            known = {"gradient": norm}
        bound = descent.dual_value()
        status = self.monitor.step(f, bound, **known, active=o.active, epochs=descent.count)
        reached = f - bound <= (rule.certified.loose if self.small else rule.certified.gap) * f
        met = norm <= self.gradient_tol or (within_tol and rule.dual is not None)
        held = met and f - bound <= rule.confirmed.slow * f
        if status is None and (held or reached or self.over):
            status = base.RULE
        if f <= self.least or norm <= self.gradient_tol:  # early epochs overshoot: a later w may be worse
            self.least, self.best = f, descent.w.copy()
        if status is not None:
            descent.w[:] = self.best
            return status
        if self.gap > 0.0:
            self.gaps.append(relative_gap(f, bound))
            self.counts.append(float(descent.count))
            coming = REMAINING_SHARE * still_needed(self.gaps, self.counts, self.gap, RATE_EVALUATIONS)
            between = max(MIN_BETWEEN, min(coming, MAX_BETWEEN * descent.count))
            self.next_evaluation = descent.count + int(between)
        if within_tol and self.small:
            self.gradient_sum *= 0.3
        elif within_tol:
            self.tolerance *= 0.3
        return None
