"""Modified Huber loss by finite Newton steps.      min_w  1/2 w'Rw + sum_i C_i L_h(1 - y_i x_i.w)
L_h(xi) = 0 for xi <= 0, xi^2 / 2 for 0 < xi < 2, 2 (xi - 1) for xi >= 2
Paper: that of mfn.py, Section 6, Eqs. 21-23.  The index sets I_0, I_1, I_2 are the pieces that rows lie on; with them
held fixed, f is the shifted least squares problem (23), which a step solves, and then the exact line search watches
all three.  Steps, notation and departures from the paper: mfn.py.

In the dual's terms a row's multiplier lies in [0, 2 C_i]: the epochs of coordinate descent that come first where d
is large solve the same problem as in mfn.py with another diagonal and an upper bound.
Stops when: no row leaves its piece in a full step (the exact minimiser), or -e or --gap holds.
Memory: as mfn.py, and 3 vectors of n.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.objectives.augmented import ModifiedHuber
from svmtool.objectives.task import Task
from svmtool.solvers.shared import contest
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule
from svmtool.solvers.shared.contest import Contest, Epochs, NewtonSteps
from svmtool.tolerances import GRAM_BELOW

METHODS = {
    "primal": "Newton steps on a factorised matrix of the features",
    "epochs": "epochs of coordinate descent, alternating with Newton steps if these do not end the run",
    "dual": "Newton steps with a system of the active rows",
    "cg": "Newton steps by conjugate gradients",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose one of METHODS by the number of features, the layout of the rows, the bias and the targets."""
    d = task.rows.d
    if d <= GRAM_BELOW:
        return Plan("primal", f"{d} features, at most {GRAM_BELOW}")
    if task.target is None and DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias):
        return Plan("epochs", f"{d} features, more than {GRAM_BELOW}")
    return Plan("cg", f"{d} features, more than {GRAM_BELOW}, and no coordinate descent for this layout or bias")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    objective = task.objective(ModifiedHuber, target=task.target)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    run, epochs = Contest(objective, monitor, rule), None
    if method == "epochs":
        alpha = None  # the dual point that belongs to w
        if np.any(objective.w):
            objective.value()
            alpha = objective.dual_point()
        upper = objective.cap * task.cost
        epochs = Epochs(run, DualCoordinateDescent(task.rows, task.y, 1.0 / task.cost, upper, seed, alpha))
    return contest.result(run, epochs, NewtonSteps(run, "cg" if method == "epochs" else method))
