"""Augmented Lagrangian multipliers for    min_{w,b}  1/2 w'w + C sum_i max(0, 1 - y_i (w.x_i + b))^p
-s 3 and 13; -s 30, 31, 42 and 50 with --method fast.  Lagrangian (Eq. 7) and multipliers (Eq. 9) of F. Nie, Y. Huang,
X. Wang, H. Huang, New Primal SVM Solver with Linear Computational Cost for Big Data Classifications, ICML 2014.

Notation   paper: e_i   lambda_i   mu   gamma       code: y_i v_i   -C_i y_i beta_i   C_i sigma   1 / sigma
Differs from the paper in:
 1. Each round of its Algorithm 1 minimises over e and w one after the other; here both are minimised
    together: e is eliminated (objectives/augmented.py), and what is left in w, smooth and quadratic in pieces for
    p = 1, is solved by Newton steps with the exact line search, factorised where d is small, by conjugate
    gradients or a system of the active rows where it is large, only as far as the multiplier step deserves
    (NewtonSteps in shared/contest.py).  sigma grows geometrically.  For p = 2 the loss is smooth: no multipliers.
 2. C_i for each row, and sigma in units of it: the same number of rounds whatever C.
 3. The bias is free (the paper), regularised or absent, as the problem says.
 4. Where the dual allows coordinate descent (p = 1 or 2, no free bias), epochs come first, give the first multipliers
    and take turns with the rounds (shared/contest.py).  From a start these come first where it gives them (p = 2), or
    a matrix of the features is factorised; otherwise epochs do, from zero, and the rounds continue the better point.
 5. Where interior-point steps are possible and both have cost as much as these would, these take over.
Several classes at once: alm_classes.py.
Stops when: the certified relative gap reaches the target; with -e, when LIBLINEAR's rule for -s 3 holds, and a gap of
RULE_MIN_GAP where d is small.
Memory: 9 vectors of n, 4 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base, contest, interior_steps
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_only
from svmtool.solvers.shared.contest import SIGMA_FEATURES, Contest, Epochs, NewtonSteps
from svmtool.tolerances import GRAM_BELOW

# unit of slacks and of 1 / sigma: 1, or the mean |target| divided by TARGET_UNITS (by less above SIGMA_FEATURES
# features)
TARGET_UNITS = 10.0

METHODS = {
    "bias": BIAS,
    "epochs": "epochs of coordinate descent in turns with multiplier rounds on a factorised matrix",
    "epochs-dual": "epochs of coordinate descent in turns with multiplier rounds, by a system of the free rows",
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
    by_epochs = DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias, dense=True)
    first = (task.p == 1.0 or (task.p == 2.0 and not narrow)) if start is None else (task.p == 1.0 and not narrow)
    if by_epochs and first:
        return Plan("epochs" if narrow else "epochs-dual", why)
    return Plan("primal" if narrow else "dual", why)


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Minimise from `start` (zeros if None); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    more: dict[str, Any] = {} if task.p == 2.0 else {"p": task.p}
    objective = task.objective(SquaredHinge if task.p == 2.0 else Augmented, target=task.target, **more)
    run, epochs, rounds = Contest(objective, monitor, rule), None, task.p < 2.0
    interior = interior_steps.candidate(task, task.p, run)
    if method == "interior":
        status = interior[0]() if interior else base.PRECISION
        return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)
    factorised = method in ("epochs", "primal")
    system = "primal" if factorised else "dual" if task.p == 1.0 and not task.free_bias and method != "cg" else "cg"
    steps = NewtonSteps(run, system, rounds, _unit(task), method != "cg")
    if method.startswith("epochs") and (start is None or task.p == 1.0):
        descent = DualCoordinateDescent.of_power(task.rows, task.y, task.cost, task.p, seed, task.target)
        epochs = Epochs(run, descent)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    if epochs is not None and start is not None:  # weights of a hinge give no dual point: epochs begin at zero
        run.best.update(objective.primal_value(), start, -np.inf, run.best.alpha)
    if rounds:
        if start is not None and task.p > 1.0:
            objective.start_multipliers()
        objective.sigma = contest.SIGMA / steps.unit
    return contest.result(run, epochs, steps, interior)


def _unit(task: Task) -> float:
    """The unit of the slacks."""
    if task.target is None or task.p != 1.0 or not np.any(task.target):
        return 1.0
    parts = max(1.0, TARGET_UNITS * min(1.0, SIGMA_FEATURES / max(task.rows.d, 1)))
    return float(np.mean(np.abs(task.target))) / parts
