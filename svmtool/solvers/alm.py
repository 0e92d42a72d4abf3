"""SVM-ALM: augmented Lagrangian multipliers.    min_{w,b}  1/2 w'w + C sum_i max(0, 1 - y_i (w.x_i + b))^p
Paper: F. Nie, Y. Huang, X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data
Classifications, ICML 2014.  Algorithm 1 (exact) and Algorithm 2 (inexact); e-step Eqs. 11-13, multipliers Eq. 9.

Notation   paper: e_i   lambda_i   mu   gamma       code: y_i v_i   -C_i y_i beta_i   C_i sigma   1 / sigma
Differs from the paper in:
 1. Exact: each round of Algorithm 1 minimises over e and w one after the other; here both are minimised
    together: e is eliminated (problem/augmented.py), and what is left in w, smooth and quadratic in pieces for
    p = 1 and 2, is solved by Newton steps with the exact ray search, factorised where d is small, by conjugate
    gradients where it is large, only as far as the multiplier step deserves (INNER).  sigma grows geometrically.
 2. C_i for each row, and sigma in units of it: the same number of rounds whatever C.
 3. The bias is free (the paper), regularised or absent, as the problem says.
 4. Where the dual allows coordinate passes (hinge, no free bias), a few of them give the first multipliers, and
    they end the run where they certify first.
Stops when: the certified relative gap is as small as asked for; with -e, LIBLINEAR's rule for its -s 3 besides.
Memory: 9 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.problem.augmented import Augmented
from svmtool.problem.dual_passes import DualPasses
from svmtool.problem.linalg import conjugate_gradient, solve_positive
from svmtool.problem.task import Task
from svmtool.solvers import base
from svmtool.solvers.base import Monitor, Result, Rule, Status

GRAM_BELOW = 1500  # features up to which the Gram matrix is formed
SIGMA_COLD, SIGMA_WARM = 3.0, 5.0  # first sigma without and with multipliers from coordinate passes
TARGETS = 10.0  # the unit of slacks and of 1 / sigma: 1, or the mean size of the rows' own targets by this
SIGMA_SMOOTH = 1e6  # p = 2: nearly the loss itself
GROWTH, SIGMA_MOST = 3.0, 1e8
INNER = 0.3  # a round ends when the gradient is this small beside the way the multipliers want to go
SURE = 1e-6  # certified gap at which -e may end a run, where the rule does not name one
EXACT = 1e-12  # certified gap of an exact minimiser: what is left is rounding
ROUNDED = 1e-8  # certified gap up to which an answer that rounding stopped is as good as exact
FLAT, FLAT_STEPS = 1e-13, 12  # after so many steps without a better gap or a lower phi rounding has the last word,
IDLE_ROUNDS = 40  # ... and after so many multiplier steps without a better gap
CG_TOLERANCE = 0.1  # of a Newton direction, beside the gradient
PASSES = 2  # coordinate passes before Newton steps take over ...
MORE_PASSES = 6  # ... unless, at the rate of the last one, so many more would reach the gap


def exact(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    objective = Augmented(task.rows, task.y, task.cost, task.p, task.free_bias, task.target)
    objective.move(np.zeros(objective.d) if start is None else start)
    unit = 1.0
    if task.target is not None and task.p == 1.0 and np.any(task.target):
        unit = float(np.mean(np.abs(task.target))) / TARGETS
    objective.sigma = SIGMA_SMOOTH if task.p == 2.0 else SIGMA_COLD / unit
    run = _Run(objective, monitor, rule, SIGMA_MOST / unit)
    if start is None and task.p == 1.0 and DualPasses.possible(task.rows, task.cost, task.free_bias):
        passes = DualPasses(task.rows, task.y, np.zeros(task.rows.n), task.cost, seed, target=task.target)
        status = run.coordinate_passes(passes)
        if status is not None:
            return Result(passes.w, status, passes.count, monitor.history, passes.alpha)
        objective.move(passes.w)
        np.divide(passes.alpha, task.cost, out=objective.beta)
        objective.sigma = SIGMA_WARM / unit
    status = run.multiplier_rounds()
    return Result(run.best_w, status, monitor.iterations, monitor.history, run.best_alpha)


class _Run:
    """One run: the best weights and the best dual point so far, which need not come from the same step."""

    def __init__(self, objective: Augmented, monitor: Monitor, rule: Rule, sigma_most: float):
        self.objective, self.monitor, self.rule, self.sigma_most = objective, monitor, rule, sigma_most
        self.best_w, self.best_alpha = np.zeros(objective.d), np.zeros(objective.n)
        at_zero = np.maximum(objective.target, 0.0) ** objective.p
        self.primal, self.dual = float(objective.cost @ at_zero), 0.0  # at w = 0
        self.passes = 0

    def coordinate_passes(self, passes: DualPasses) -> Status | None:
        """Passes until the rule or the gap holds; None where Newton steps shall take over."""
        objective, monitor, rule = self.objective, self.monitor, self.rule
        gap = rule.gap if monitor.gap is None else monitor.gap
        wanted = gap if gap >= 0.0 else SURE
        enough = base.SAFETY * rule.projected if rule.projected is not None else -1.0
        before = np.inf
        while True:
            passes.run()
            settled = rule.projected is not None and passes.spread <= enough
            estimate = passes.primal_estimate()
            left = base.relative_gap(estimate, passes.dual_value())
            rate, before = left / max(before, 1e-300), left
            near = left <= 1.2 * gap
            limit = monitor.limit(passes.count)
            if not (settled or near or limit):
                if passes.count < PASSES or (rate < 1.0 and left * rate**MORE_PASSES <= wanted):
                    continue
                return None
            if not passes.complete and limit is None:
                passes.restore()
                continue
            objective.move(passes.w)
            objective.value()
            status = monitor.step(
                objective.primal, passes.dual_value(), gradient=0.0, active=int(np.count_nonzero(passes.alpha)),
                cg=0, step=1.0,
            )  # fmt: skip
            if status is None and (settled or base.relative_gap(objective.primal, passes.dual_value()) <= rule.gap):
                status = base.RULE
            if status or limit:
                return status or limit

    def multiplier_rounds(self) -> Status:
        """Newton steps and multiplier steps until the gap is as small as asked for."""
        o, monitor = self.objective, self.monitor
        cg, t, flat, idle, first = 0, 0.0, 0, 0, True
        smallest = lowest = np.inf
        while True:
            f, g = o.gradient()
            self._keep(g)
            status = monitor.step(
                self.primal, self.dual, gradient=float(np.sqrt(g @ g)), active=o.support, cg=cg, step=t
            )
            gap = base.relative_gap(self.primal, self.dual)
            if status is None:
                idle = 0 if gap < 0.999 * smallest else idle
                flat = 0 if gap < 0.999 * smallest or f < lowest - FLAT * abs(f) else flat + 1
                smallest, lowest = min(gap, smallest), min(f, lowest)
                status = self._end(gap, flat, idle)
            if status is not None:
                return status
            if not first and float(g @ g) <= INNER * INNER * o.moved / o.sigma:
                o.accept()
                o.sigma = min(o.sigma * GROWTH, self.sigma_most)
                first, lowest, idle = True, np.inf, idle + 1
                continue
            first = False
            if o.d <= GRAM_BELOW:
                p, cg = -solve_positive(o.hessian(), g), 0
            else:
                p, cg, _ = conjugate_gradient(
                    o.hessian_product, g, o.hessian_diagonal(), CG_TOLERANCE, 10 * o.d,
                    lambda: monitor.limit() is not None,
                )  # fmt: skip
                p = -p
            t = o.ray(p)
            o.advance(t, p)

    def _keep(self, g: np.ndarray) -> None:
        """Remember the objective's w and its slopes where they are better than the best so far."""
        o = self.objective
        if o.primal < self.primal:
            self.primal, self.best_w[:] = o.primal, o.w
        if o.bound > self.dual:
            self.dual, self.best_alpha = o.bound, o.dual_point()

    def _end(self, gap: float, flat: int, idle: int) -> Status | None:
        """Whether the run ends here though neither --gap nor a limit says so."""
        if gap <= EXACT:
            return base.OPTIMAL
        if gap <= (SURE if self.rule.projected is not None else self.rule.gap):
            return base.RULE
        if flat >= FLAT_STEPS or idle >= IDLE_ROUNDS:
            return base.OPTIMAL if gap <= ROUNDED else base.PRECISION
        return None
