"""Augmented Lagrangian multipliers for    min_{w,b}  1/2 w'w + C sum_i max(0, 1 - y_i (w.x_i + b))^p
-s 3 and 13; -s 30, 31, 42 and 50 with --method fast.  Lagrangian (Eq. 7) and multipliers (Eq. 9) of F. Nie, Y. Huang,
X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data Classifications, ICML 2014.

Notation and the rounds: alm_rounds.py.  Several classes: alm_classes.py.
Differs from the paper in:
 1. Each round of its Algorithm 1 minimises over e and w one after the other; here both are minimised
    together: e is eliminated (objectives/augmented.py), and what is left in w, smooth and quadratic in pieces for
    p = 1 and 2, is solved by Newton steps with the exact line search, factorised where d is small, by conjugate
    gradients where it is large, only as far as the multiplier step deserves (GRADIENT_TOL).  sigma grows
    geometrically.
 2. C_i for each row, and sigma in units of it: the same number of rounds whatever C.
 3. The bias is free (the paper), regularised or absent, as the problem says.
 4. Where the dual allows coordinate descent (hinge, or its square where d is large; no free bias), a few epochs
    give the first multipliers, and they end the run where they certify first (alm_epochs.py).
 5. Where d is small, there is a target gap and Newton steps make no progress, or would take much longer than
    interior-point steps, these take over (interior_steps.py).
Stops when: the certified relative gap reaches the target; with -e, when LIBLINEAR's rule for -s 3 holds, and a gap of
RULE_MIN_GAP where d is small.
Memory: 9 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.hinge import MAX_VISITS, DualCoordinateDescent
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.power_interior import PowerInterior, step_cost
from svmtool.objectives.task import Task
from svmtool.solvers.alm_epochs import HingeEpochs
from svmtool.solvers.alm_rounds import SIGMA_COLD, Rounds
from svmtool.solvers.shared import base, interior_steps
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_only
from svmtool.tolerances import DUAL_ROWS, GRAM_BELOW

SIGMA_WARM = 5.0  # first sigma with multipliers from coordinate descent
# With more features more rows are on the margin; steps with a smaller sigma, SIGMA_MIN or more, cross fewer breakpoints
SIGMA_FEATURES, SIGMA_MIN = 64, 1.0
# unit of slacks and of 1 / sigma: 1, or the mean |target| divided by TARGET_UNITS (by less above SIGMA_FEATURES
# features)
TARGET_UNITS = 10.0
SIGMA_SMOOTH = 1e6  # p = 2: nearly the loss itself
# cost of a Newton step relative to an interior-point step: where few rows change in the Gram matrix, and where all do
KEPT_STEP_COST, NEWTON_STEP_COST = 0.2, 0.5

METHODS = {
    "bias": BIAS,
    "epochs": "epochs of coordinate descent, then multiplier rounds on a factorised matrix",
    "epochs-dual": "epochs of coordinate descent, then multiplier rounds with a system of the free rows",
    "primal": "multiplier rounds: Newton steps on a factorised matrix",
    "dual": "multiplier rounds: Newton steps with a system of the free rows where these are few",
    "cg": "multiplier rounds: Newton steps by conjugate gradients",
    "interior": interior_steps.NAME,
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features, the layout of the rows, the loss, the bias and the start."""
    d, narrow = task.rows.d, task.rows.d <= GRAM_BELOW
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    why = f"{d} features, " + (f"at most {GRAM_BELOW}" if narrow else f"more than {GRAM_BELOW}")
    by_epochs = DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias, copied=True)
    if start is None and (task.p == 1.0 or (task.p == 2.0 and not narrow)) and by_epochs:
        return Plan("epochs" if narrow else "epochs-dual", why)
    return Plan("primal" if narrow else "dual", why)


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    objective = task.objective(Augmented, p=task.p, target=task.target)
    run = HingeRounds(objective, monitor, rule, method in ("epochs", "primal"))
    run.max_rows = 0 if method == "cg" else DUAL_ROWS
    run.unit = _unit(task)
    if method == "interior":
        status = interior_steps.interior_steps(PowerInterior(task, task.p), monitor, run.best)
        return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)
    if method.startswith("epochs") and start is None:
        descent = DualCoordinateDescent.of_power(task.rows, task.y, task.cost, task.p, seed, objective.target)
        epochs = HingeEpochs(objective, descent, monitor, rule, not run.factorised, run.max_rows)
        status = epochs.run(MAX_VISITS)
        if status is not None:
            result = Result(epochs.multiple * descent.w, status, descent.count, monitor.history, descent.alpha)
            result.visits = descent.visits
            return result
        run.ruled = epochs.ruled
        run.follow(descent.w, descent.alpha, descent.dual_value())
        return run.finished(task)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    if start is not None and task.p > 1.0:
        objective.start_multipliers()
    objective.sigma = SIGMA_SMOOTH if task.p == 2.0 else SIGMA_COLD / run.unit
    return run.finished(task)


def _unit(task: Task) -> float:
    """The unit of the slacks."""
    if task.target is None or task.p != 1.0 or not np.any(task.target):
        return 1.0
    parts = max(1.0, TARGET_UNITS * min(1.0, SIGMA_FEATURES / max(task.rows.d, 1)))
    return float(np.mean(np.abs(task.target))) / parts


class HingeRounds(Rounds):
    """Multiplier rounds, and interior-point steps where these are too slow."""

    steps, slower = 0, None  # Newton steps so far, and whether they are too slow

    @property
    def sigma_warm(self) -> float:
        """The first sigma after coordinate descent, for slacks of unit size."""
        if not self.factorised:
            return SIGMA_WARM
        return max(min(SIGMA_WARM, SIGMA_WARM * SIGMA_FEATURES / self.objective.d), SIGMA_MIN)

    def follow(self, w: np.ndarray, alpha: np.ndarray, value: float) -> None:
        """Begin at weights and a dual point from coordinate descent, whose dual value is `value`."""
        o = self.objective
        self.best.dual, self.best.alpha = value, alpha
        o.set_point(w)
        np.divide(alpha, o.cost, out=o.beta)
        o.sigma = SIGMA_SMOOTH if o.p == 2.0 else self.sigma_warm / self.unit

    def finished(self, task: Task) -> Result:
        """Run the rounds, then interior-point steps if those took over; return the result."""
        monitor, best = self.monitor, self.best
        direct = monitor.gap is not None and interior_steps.possible(task)
        if direct:
            share = KEPT_STEP_COST if self.objective.piecewise_quadratic else NEWTON_STEP_COST
            self.slower = interior_steps.slower(task, share * step_cost(task.rows), monitor.gap)
        status = self.multiplier_rounds()
        if status is None or (direct and status is base.PRECISION):
            status = interior_steps.interior_steps(PowerInterior(task, task.p), monitor, best)
        return Result(best.w, status, monitor.iterations, monitor.history, best.alpha)

    def switches(self, ends: bool, cg: int) -> bool:
        self.steps += 1
        return self.slower is not None and self.slower.shown(self.steps, self.best.gap)
