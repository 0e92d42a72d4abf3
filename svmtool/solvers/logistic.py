"""Logistic regression by truncated Newton steps.      min_w  1/2 w'Rw + sum_i C_i log(1 + exp(-y_i x_i.w))
Paper: C.-J. Lin, R. C. Weng and S. S. Keerthi, Trust Region Newton Method for Large-Scale Logistic Regression,
Journal of Machine Learning Research 9 (2008) 627-650.

Notation   paper: w   C   D (diagonal)          H = I + C X'DX      s         code: w   C_i   curvatures c_i   H   p
Differs from the paper in:
 1. A line search in place of a trust region: f is convex, and a step on it costs a pass over two vectors (mfn.py).
 2. Where d is small, H is factorised (Gram matrix).  The factor of an earlier H is the preconditioner of later
    steps, until they need more products than a new one costs; large d: the diagonal of H, until CG has taken as long
    as a system of the rows does, where these are few.
 3. CG ends where its residual is to the Newton step what that step is to f: the gap then falls as its square.
    It goes no further than what ends the run (TIGHTER).
 4. Where d is large and a dual point exists, epochs of dual coordinate descent (coordinate/logistic.py) come first
    and end the run unless steps promise to be cheaper.
Stops when: -e holds and the certified gap is at most RULE_MIN_GAP, or SLOW_MIN_GAP where conjugate gradients solve many
features (base.py); or --gap holds.
Memory: 5 vectors of n, 8 of d; epochs 4 more of n; d x d (few rows: n x n) once for the Gram matrix and once for
its factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.coordinate.logistic import LogisticCoordinateDescent
from svmtool.limits import EndedError
from svmtool.linalg.systems import VISIT_NS, Factored, conjugate_gradient
from svmtool.objectives.logistic import ZERO_MARGIN, Logistic
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Status, rounded
from svmtool.solvers.shared.contest import RECENT
from svmtool.tolerances import (
    GRAM_BELOW,
    NEWTON_RTOL,
    OPTIMAL_GAP,
    RULE_MIN_GAP,
    SLOW_MIN_GAP,
    STALL_STEPS,
    TIGHTER,
)

CUBE_PACE = 12.0  # operations of the d^3 of a factorisation that cost what a non-zero costs in a Hessian product
EARLY_CG_SHARE = 0.6  # share of a Gram matrix's cost that CG with the diagonal may take before the first one
LOGISTIC_CG_LOOSE, LOGISTIC_CG_TIGHT = 0.3, 1e-4  # largest and smallest tolerance of CG
ROW_NS = 100.0  # nanoseconds of a row in an epoch or a step, besides its non-zeros
# Newton steps take over where this many more epochs would be needed.  Ten sets of 2,348 to 518,658 features, -s 0 and
# 7, C = 1 and 100, 40 runs: 0.91 of the time that 100 takes (0.40 to 1.10 of those above 0.6 s), as with 10 (0.39 to
# 1.63)
MAX_MORE_EPOCHS = 30

METHODS = {
    "primal": "truncated Newton steps, with a factorised Hessian as the preconditioner of conjugate gradients",
    "epochs": "epochs of dual coordinate descent, and truncated Newton steps when expected to be faster",
    "cg": "truncated Newton steps by conjugate gradients, or by a system of the rows where these are few",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features and rows, their layout and the bias."""
    d = task.rows.d
    if d <= GRAM_BELOW:
        return Plan("primal", f"{d} features, at most {GRAM_BELOW}")
    if DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias):
        return Plan("epochs", f"{d} features, more than {GRAM_BELOW}")
    return Plan("cg", f"{d} features, more than {GRAM_BELOW}, and no coordinate descent for this layout or bias")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    objective = task.objective(Logistic)
    if (answer := task.bias_only_solution(ZERO_MARGIN)) is not None:  # f has no minimiser, its infimum is 0
        start = answer
    run = TruncatedNewton(objective, monitor, rule, method in ("epochs", "cg"))
    objective.set_point(np.zeros(objective.d) if start is None else start)
    if method == "epochs":
        descent = LogisticCoordinateDescent(task.rows, task.y, task.cost, seed, None if start is None else -objective.z)
        status = run.descent(descent)
        if status is not None:
            return Result(objective.w, status, descent.count, monitor.history, descent.alpha())
    status = run.steps()
    return Result(objective.w, status, monitor.iterations, monitor.history)


class TruncatedNewton:
    """A run of Newton steps and of epochs, which end by the same rules.

    wide: whether H is too large to be factorised.
    factor: of an earlier H; products: how many CG has needed since it was formed; worth: how many it is worth.
    """

    def __init__(self, objective: Logistic, monitor: Monitor, rule: Rule, wide: bool = False):
        self.objective, self.monitor, self.rule = objective, monitor, rule
        self.factor: Factored | None = None
        o, self.products, self.worth = objective, 0, np.inf
        if not wide:
            self.worth = o.mean_row_length / o.rows.gram_entries + o.d**3 / (CUBE_PACE * max(o.rows.nnz, 1))
        self.few_rows = wide and o.n <= GRAM_BELOW and o.rows.offers_coordinate_descent and o.rows.in_memory
        # up to which gap steps go that -e may end: one by conjugate gradients costs as much as all before it
        costly = wide and not self.few_rows and rule.gradient is not None
        self.rule_gap = SLOW_MIN_GAP if costly else RULE_MIN_GAP
        self.target_gap = RULE_MIN_GAP if monitor.gap is None else monitor.gap
        self.gradient_tol = -1.0 if rule.gradient is None else rule.gradient * o.gradient_at_zero()

    def ended(self, f: float, bound: float, norm: float, steepest: Callable[[], float]) -> Status | None:
        """Whether the rule holds, with a gap of at most `rule_gap`, or the minimum is reached.

        norm: |gradient|; steepest: the dual's largest derivative.
        """
        held = norm <= self.gradient_tol
        if held or (self.rule.range is not None and steepest() <= self.rule.range):
            self.monitor.liblinear_ends()
            if f - bound <= self.rule_gap * f or self.monitor.limit() is base.RULE:
                return base.RULE
        exact = OPTIMAL_GAP if self.monitor.gap is None else min(OPTIMAL_GAP, self.monitor.gap)
        return base.OPTIMAL if norm == 0.0 or f - bound <= exact * f else None

    def steps(self) -> Status:
        """Truncated Newton steps from the objective's w."""
        o, monitor = self.objective, self.monitor
        best, best_w = np.inf, np.zeros(o.d)
        previous, stalled, cg_steps, t = np.inf, 0, 0, 0.0
        while True:
            f, g = o.gradient()
            norm, bound = float(np.sqrt(g @ g)), o.bound
            if f < best:
                best, best_w[:] = f, o.w
            status = monitor.step(f, bound, weights=best_w, gradient=norm, active=o.active, cg=cg_steps, step=t)
            if status is None:
                status = self.ended(f, bound, norm, lambda: o.steepest_dual(g))  # noqa: B023  called at once
            if status is None:
                stalled = 0 if previous - f > NEWTON_RTOL * abs(f) else stalled + 1  # also where f is nan
                status = rounded(f, bound) if stalled >= STALL_STEPS else None
            if previous == np.inf and base.empty(status, norm, o.w):
                status = None
            if status is not None:
                if f > best and not status.converged:
                    o.set_point(best_w)
                return status
            previous = f
            p, cg_steps = self.direction(f, g, norm)
            monitor.uses("Newton steps by conjugate gradients" if cg_steps else "Newton steps by a factorised system")
            t = o.line_search(p)
            o.step(t, p)
            self._spend(cg_steps)

    def _spend(self, cg_steps: int) -> None:
        """Count the work of a step: three passes, and its products or its factorised system."""
        o = self.objective
        system = o.row_system_work(o.n) if self.few_rows else o.feature_system_work(o.n)
        work = cg_steps * o.product_cost if cg_steps else system
        self.monitor.spend(work + 3.0 * VISIT_NS * o.rows.nnz + ROW_NS * o.n)

    def direction(self, f: float, g: np.ndarray, norm: float) -> tuple[np.ndarray, int]:
        """Return p with H p = -g, as accurate as the next step needs, and the number of products used."""
        o = self.objective
        if self.few_rows and self.products * o.product_cost >= o.face_cost:
            try:
                return o.by_rows(g), 0
            except EndedError:
                return -g, 0
        due = np.floor(EARLY_CG_SHARE * self.worth) if self.factor is None else self.worth
        if self.products >= due:
            try:
                self.factor, self.products = Factored(o.hessian()), 0
            except EndedError:  # f falls along -g too
                return -g, 0
            return -self.factor.solve(g), 0
        diagonal = o.hessian_diagonal() if self.factor is None else np.ones(o.d)
        inverse = (lambda r: r / diagonal) if self.factor is None else self.factor.solve
        decrement = float(g @ inverse(g))  # g'H^-1 g: twice what the step will gain
        target_gap = self.rule_gap if self.monitor.gap is None else self.target_gap
        goal = (2.0 * target_gap * f) ** 0.5  # |gradient| that certifies the gap to stop at
        if self.gradient_tol > 0.0:
            goal = min(goal, self.gradient_tol)
        tolerance = min(LOGISTIC_CG_LOOSE, max(LOGISTIC_CG_TIGHT, (decrement / f) ** 0.5, TIGHTER * goal / norm))
        most = int(min(10 * o.d, self.monitor.work_left / max(o.product_cost, 1.0) + 1.0))
        p, steps, _ = conjugate_gradient(o.hessian_product, g, inverse, tolerance, most, self.monitor.ended)
        self.products += steps
        return -p, steps

    def descent(self, descent: LogisticCoordinateDescent) -> Status | None:
        """Run epochs until the rule or the gap holds; None where more than MAX_MORE_EPOCHS would still be needed."""
        o, monitor = self.objective, self.monitor
        target_gap = self.target_gap
        gaps: list[float] = []
        while True:
            status = monitor.limit(descent.count)
            if status is not None:  # early epochs overshoot: use the best multiple of their w
                o.set_point(o.best_multiple(descent.w) * descent.w)
                descent.t[:] = -o.z
                self._record(0.0, descent.count)
                return status
            descent.run()
            monitor.spend(VISIT_NS * o.rows.nnz + ROW_NS * o.n)
            gaps.append(descent.gap)
            dual = descent.dual_value()
            if monitor.due():
                o.set_point(descent.w)
                monitor.note(o.value(), dual, epochs=descent.count)
            rate = gaps[-1] / max(gaps[-2], 1e-300) if len(gaps) > 1 else 1.0
            if descent.gap * min(1.0, rate) <= target_gap * dual:  # the gap was reached earlier: it is smaller now
                o.set_point(descent.w)
                f, bound, norm, status = self._record(dual, descent.count)
                steepest = float(np.abs(descent.t + o.z).max(initial=0.0))
                status = status or self.ended(f, bound, norm, lambda: steepest)  # noqa: B023  called at once
                if status is not None:
                    return status
                target_gap *= TIGHTER
            if len(gaps) > RECENT:
                fall = _log(gaps[-1 - RECENT]) - _log(gaps[-1])
                if fall * MAX_MORE_EPOCHS / RECENT < _log(gaps[-1]) - _log(target_gap * dual):
                    monitor.uses("Newton steps", f"more than {MAX_MORE_EPOCHS} further epochs would be needed")
                    o.set_point(o.best_multiple(descent.w) * descent.w)
                    return None

    def _record(self, dual: float, epochs: int) -> tuple[float, float, float, Status | None]:
        """Record the point that epochs reached; return f, the better of both bounds, |gradient| and the status."""
        o = self.objective
        f, g = o.gradient()
        bound, norm = max(dual, o.bound), float(np.sqrt(g @ g))
        return f, bound, norm, self.monitor.step(f, bound, weights=o.w, gradient=norm, active=o.active, epochs=epochs)


def _log(x: float) -> float:
    """log(max(x, 1e-300)): round-off may make x 0 or negative."""
    return math.log(max(x, 1e-300))
