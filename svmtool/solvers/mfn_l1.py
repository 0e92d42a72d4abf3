"""The hinge as the limit of Huber's loss.      min_w  1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)
Paper: that of mfn.py, Section 6: stages j = 0, 1, ... minimise f with (tau_j / 2) L_h(xi / tau_j + 1) for the hinge,
tau_j = 2^-j, each from where the last ended.

The smoothed loss has the slope clip(1/2 + xi / (2 tau), 0, 1): it is the augmented Lagrangian of
objectives/augmented.py with multipliers beta = 1/2 and sigma = 1 / (2 tau), so that each step gives a feasible dual
point and a lower bound of the true hinge objective.  The paper leaves the end open.  Here:
 1. A stage ends, and its steps are, as in solvers/shared/homotopy.py.
 2. Polish: once the gap is small the multipliers so far take the place of 1/2, and sigma grows faster.  A Newton step
    then holds the rows on the margin as equality constraints (up to a proximal term 1 / (sigma C), which keeps
    dependent rows solvable), rows inside the margin at C, rows beyond it at 0; the line search and the next clip move
    rows whose multiplier left [0, C] or whose margin is violated.  Repeated from the new multipliers, it ends at the
    exact minimiser, for the proximal term vanishes with their change.
 3. Where d is large and a dual point exists, epochs of coordinate descent come first, as in mfn.py.
Stops when: the certified gap reaches the target, at whatever stage.
Memory: 9 vectors of n, 5 of d; d x d twice, or the inner products of the rows that were ever on the margin.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.data.replicated import stored_rows
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule
from svmtool.solvers.shared.homotopy import Homotopy
from svmtool.solvers.shared.newton import RuleEpochs
from svmtool.tolerances import GRAM_BELOW

MAX_STAGE_VISITS = 3000.0  # to each row before the polish takes over: epochs are cheap compared with its systems
POLISH_GAP = 1e-2  # certified gap from which the polish takes over
SIGMA_EPOCHS = 100.0  # first sigma of a polish that follows epochs
POLISH_SIGMA_GROWTH, POLISH_SIGMA_MAX = 5.0, 1e8  # of sigma in the polish

METHODS = {
    "primal": "stages of Huber's loss by Newton steps on a factorised matrix of the features",
    "epochs": "epochs of coordinate descent, then a polish by Newton steps with a system of the rows on the margin",
    "dual": "stages of Huber's loss by Newton steps with a system of the rows on the margin",
    "cg": "stages of Huber's loss by Newton steps by conjugate gradients",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features, the layout of the rows, the bias and the start."""
    d = task.rows.d
    if d <= GRAM_BELOW:
        return Plan("primal", f"{d} features, at most {GRAM_BELOW}")
    possible = task.target is None and DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias)
    if start is None and possible:
        return Plan("epochs", f"{d} features, more than {GRAM_BELOW}")
    if stored_rows(task.rows).have_kernel and not task.free_bias:
        return Plan("dual", f"{d} features, more than {GRAM_BELOW}, and {'no epochs' if start is None else 'a start'}")
    return Plan("cg", f"{d} features, more than {GRAM_BELOW}, and a free bias or rows elsewhere")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    objective = task.objective(Augmented, target=task.target)
    objective.fill_multipliers(0.5)
    objective.sigma = 0.5  # tau_0 = 1
    objective.set_point(np.zeros(objective.d) if start is None else start)
    run = L1Homotopy(objective, monitor, "dual" if method == "epochs" else method)
    if start is not None:
        run.enter()
    elif method == "epochs":
        descent = DualCoordinateDescent(task.rows, task.y, np.zeros(task.rows.n), task.cost, seed)
        status = RuleEpochs(objective, descent, monitor, rule, 0).run(MAX_STAGE_VISITS)
        if status is not None:
            return Result(descent.w, status, descent.count, monitor.history, descent.alpha)
        run.follow(descent)
    status = run.stages()
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)


class L1Homotopy(Homotopy):
    """Run stages with beta = 1/2, which halve tau, then the polish with its multiplier steps."""

    polishing = False

    def enter(self) -> None:
        """Choose the stage whose dual point at w is best."""
        o = self.objective
        bound = -np.inf
        while o.sigma < POLISH_SIGMA_MAX and not self.monitor.ended():
            o.gradient()
            if o.bound <= bound:
                break
            bound = o.bound
            o.sigma *= 2.0
        o.sigma *= 0.5

    def follow(self, descent: DualCoordinateDescent) -> None:
        """Polish from the dual point of coordinate descent."""
        o = self.objective
        o.set_point(descent.w)
        np.divide(descent.alpha, o.cost, out=o.beta)
        o.sigma, self.polishing = SIGMA_EPOCHS, True
        self.best.dual, self.best.alpha = descent.dual_value(), descent.alpha

    def next_stage(self) -> np.ndarray:
        o = self.objective
        self.polishing = self.polishing or self.best.gap <= POLISH_GAP
        if not self.polishing:
            o.sigma *= 2.0
            return o.gradient()[1]
        o.accept()
        o.sigma = min(o.sigma * POLISH_SIGMA_GROWTH, POLISH_SIGMA_MAX)
        return o.gradient_on_pieces()
