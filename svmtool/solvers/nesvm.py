"""NESVM: Nesterov's smoothing.      min_w  R(w) + sum_i C_i l(1 - y_i x_i.w)
Paper: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010.
Algorithm 1, Eqs. 33-35, 43; Algorithm 2, homotopy (solvers/shared/homotopy.py), Eq. 44.
C-SVM (45-48): R = 1/2 |w|^2, l hinge.  LP-SVM: solvers/nesvm_lp.py.  LS-SVM: solvers/nesvm_ls.py.

Notation   paper: L(y X_i, w)   u_i      mu |X_i|_inf   w*      code: sum of l   C_i u_i = a_i   mu s_i   start
Algorithm 1 differs from the paper in:
 1. L_mu by power iteration: (48) is n times too large at worst, and (56) is not an upper bound.
 2. It stops by the certified gap of the unsmoothed problem, or where the rest of it comes from mu.
Algorithm 2 differs from the paper in:
 1. The prox-function is sum (u_i - u0_i)^2, and u0 moves to the last stage's u: the smoothing vanishes with u - u0
    and mu need not go to zero for the exact answer.  mu falls geometrically.
 2. A stage ends when its gradient is small relative to the remaining distance of u.
 3. Where d is small, step (33) is taken in the metric of F_mu's curvature at w instead of L_mu I, to the exact
    minimiser along its direction, which gains more than momentum does.
 4. On sparse rows of few features one epoch of dual coordinate descent gives the point where stages begin.
 5. Where d is large, the stage's dual is maximised by coordinate descent, each coordinate with its own Lipschitz
    constant |x_i|^2; a free bias is kept by a proximal term, whose centre moves as u0 does.
 6. Where d is large, identical rows with opposite labels start at their upper bounds (`cancelling` in
    objectives/duality.py).
Stops when: the certified relative gap reaches the target.
Memory: 9 vectors of n, 5 of d; d x d once for the Gram matrix and once for its factor.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.singleton_features import SingletonFeatures
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.task import Task
from svmtool.solvers.shared import homotopy
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_only
from svmtool.solvers.shared.homotopy import Homotopy
from svmtool.solvers.shared.least_squares import MANY_SINGLETONS, MERGED, merged
from svmtool.tolerances import GRAM_BELOW

MU_FIRST = 0.3  # the first mu of Algorithm 2, times C where that is above 1
MU_AFTER_EPOCH, STAGE_RTOL_AFTER_EPOCH = 1.0, 1.5  # the first mu and STAGE after one epoch
MU_AFTER_EPOCHS = 10.0  # the first mu after epochs

STAGES = "stages of the smoothed loss"
METHODS = {
    "bias": BIAS,
    "plain": homotopy.PLAIN,
    "merged": MERGED,
    "descent": f"epochs of dual coordinate descent, then {STAGES} if these are slow",
    "epoch": f"one epoch of dual coordinate descent, then {STAGES}",
    "stages": STAGES,
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose Algorithm 1, or what comes before the stages of Algorithm 2."""
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    if not task.options.homotopy:
        return Plan("plain", homotopy.NO_HOMOTOPY)
    if task.rows.d > GRAM_BELOW and SingletonFeatures.possible(task.rows):
        return Plan("merged", MANY_SINGLETONS)
    if start is not None:
        return Plan("stages", "initial weights are given")
    if not (task.rows.offers_coordinate_descent and task.rows.n):
        return Plan("stages", "no coordinate descent for this layout")
    if task.rows.d > GRAM_BELOW:
        return Plan("descent", f"{task.rows.d} features, more than {GRAM_BELOW}")
    return Plan("epoch", f"{task.rows.d} features, at most {GRAM_BELOW}")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Hinge loss, from `start` (None: from zeros or what coordinate descent finds); see the module's text."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    if method == "plain":
        return homotopy.plain(homotopy.smoothed_hinge(task, False), monitor, start)
    if method == "merged":
        return merged(lambda less, w: solve(less, monitor, rule, w, seed, plan(less, rule, w).method), task, start)
    objective = task.objective(Augmented, target=task.target)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    run, status, mu = Homotopy(objective, monitor), None, MU_FIRST
    if start is None and method == "descent":
        status, mu = run.epochs(seed), MU_AFTER_EPOCHS
    elif start is None and method == "epoch":
        run.one_epoch(seed)
        mu, run.stage = MU_AFTER_EPOCH, STAGE_RTOL_AFTER_EPOCH
    if status is None:
        objective.sigma = 1.0 / homotopy.first_mu(task, mu)
        status = run.stages()
    return Result(run.best.w, status, monitor.iterations, monitor.history, run.best.alpha)
