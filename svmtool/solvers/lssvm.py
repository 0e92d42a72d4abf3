"""Linear LS-SVM.       min_w  1/2 |w|^2 + C sum_i v_i (1 - y_i x_i.w)^2
Paper: T. Le, V. Nguyen, A. Nguyen, K. Nguyen, Adaptable Linear Support Vector Machine, NICS 2015: Section III, Eq. 2.

    G w = A y,   G = sum v_i x_i x_i' + nu I,   A y = sum v_i y_i x_i,   nu = 1/(2C)

Differs from the paper in:
 1. v_i: weights of classes and rows, in addition to C.
 2. OneVsRest of several classes share G and its Cholesky factor wherever their weights agree
    (data/class_statistics.py).
 3. What rounding leaves of f'(w) is taken out by further steps with the same factor; where f is tiny relative to f(0),
    by steps on the rows (solvers/shared/least_squares.py).
 4. Beyond 1500 features conjugate gradients improve the primal and the dual value instead (linalg/golub_kahan.py);
    where few rows take more steps than there are rows, a system with an unknown for each row ends the run.
Stops when: the certified relative gap reaches the target.
Memory: d x d for G and again for its factor; by conjugate gradients 9 vectors of n, 5 of d, and
up to 2048 rows perhaps n x n twice.
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives.task import Task
from svmtool.solvers.shared import least_squares
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule

METHODS = {"sums": least_squares.SUMS, **least_squares.METHODS}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose normal equations where the task has them; else merge singleton features where they are many."""
    if task.equations is not None:
        return Plan("sums", "few enough features for a matrix of features x features")
    return least_squares.plan_wide(task, "too many features for a matrix of features x features")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None); `sums` needs a task with equations."""
    if method == "sums":
        return least_squares.by_sums(task.equations, task, monitor, rule, start)
    return least_squares.by_method(method, plan, task, monitor, rule, start)
