"""Linear LS-SVM: --method fast of -s 52 and 70.       min_w  1/2 |w|^2 + C sum_i v_i (1 - y_i x_i.w)^2
The problem is that of T. Le, V. Nguyen, A. Nguyen, K. Nguyen, Adaptable Linear Support Vector Machine, NICS 2015:
Section III, Eq. 2, with weights v_i of classes and rows; of -s 52 with a free bias: T. Zhou, D. Tao, X. Wu, NESVM: a
Fast Gradient Method for Support Vector Machines, ICDM 2010: Eq. 53.

    G w = A y,   G = sum v_i x_i x_i' + nu I,   A y = sum v_i y_i x_i,   nu = 1/(2C)

 1. Where d is small G is factorised; OneVsRest of several classes without a free bias share G and its Cholesky factor
    wherever their weights agree (data/class_statistics.py).
 2. What rounding leaves of f'(w) is taken out by further steps with the same factor; where f is tiny relative to f(0),
    by steps on the rows (solvers/shared/least_squares.py).
 3. Where d is large conjugate gradients improve the primal and the dual value instead (linalg/golub_kahan.py); where
    few rows take more steps than there are rows, a system with an unknown for each row ends the run.
Stops when: the certified relative gap reaches the target.
Memory: d x d for G and again for its factor; by conjugate gradients 9 vectors of n, 5 of d, and
up to 2048 rows perhaps n x n twice.
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives.task import Task
from svmtool.solvers.shared import least_squares
from svmtool.solvers.shared.base import BIAS, BIAS_WHY, Monitor, Plan, Result, Rule, bias_only
from svmtool.tolerances import GRAM_BELOW

METHODS = {
    "bias": BIAS,
    "sums": least_squares.SUMS,
    "golub-kahan": "conjugate gradients on primal and dual",
    "primal": least_squares.PRIMAL,
    "cg": "Newton steps by conjugate gradients, from sums over the rows",
}


def plan(task: Task, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose normal equations where the task has them; else by the number of features."""
    if task.bias_only_solution() is not None:
        return Plan("bias", BIAS_WHY)
    if task.equations is not None:
        return Plan("sums", "few enough features for a matrix of features x features")
    if task.rows.d <= GRAM_BELOW:
        return Plan("primal", f"{task.rows.d} features, at most {GRAM_BELOW}")
    if not task.rows.row_vectors:  # steps on primal and dual need some of n numbers
        return Plan("cg", "other processes hold the rows")
    return Plan("golub-kahan", "too many features for a matrix of features x features")


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str) -> Result:
    """Solve from `start` (zeros if None); `sums` needs a task with equations."""
    if method == "bias":
        return bias_only(monitor, task.bias_only_solution(), np.zeros(task.rows.n))
    if method == "sums":
        return least_squares.by_sums(task.equations, task, monitor, rule, start)
    if method == "golub-kahan":
        return least_squares.by_golub_kahan(task, monitor, start)
    return least_squares.by_newton(task, monitor, rule, start, method)
