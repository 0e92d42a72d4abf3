"""NESVM's LS-SVM: -s 52.      min_w  1/2 |w|^2 + sum_i C_i (1 - y_i x_i.w)^2
Paper: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010: Eqs. 53-56.

Algorithm 1 is that of solvers/nesvm.py, without smoothing.  Algorithm 2 differs from the paper in:
 1. There is nothing to smooth: one stage.
 2. The stage is one system where d is small.  Where d is large conjugate gradients improve the primal and the dual
    value (linalg/golub_kahan.py), or a system of few rows ends the run.
Stops when: the certified relative gap reaches the target.
Memory: 9 vectors of n, 5 of d; d x d twice where d is small.
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives.smoothed import Smoothed
from svmtool.objectives.task import Task
from svmtool.solvers.shared import least_squares
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_only
from svmtool.solvers.shared.homotopy import NO_HOMOTOPY, PLAIN, plain
from svmtool.tolerances import GRAM_BELOW

METHODS = {"bias": BIAS, "plain": PLAIN, **least_squares.METHODS}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose Algorithm 1, or one stage by the number of features."""
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    if not task.options.homotopy:
        return Plan("plain", NO_HOMOTOPY)
    if task.rows.d <= GRAM_BELOW:
        return Plan("primal", f"{task.rows.d} features, at most {GRAM_BELOW}")
    return least_squares.plan_wide(task, f"{task.rows.d} features, more than {GRAM_BELOW}")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None)."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    if method == "plain":
        return plain(Smoothed(task, "least squares", False, 1.0), monitor, start)
    return least_squares.by_method(method, plan, task, monitor, rule, start)
