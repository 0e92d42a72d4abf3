"""Linear LS-SVM, in one go.      min_w  1/2 |w|^2 + C sum_i v_i (1 - y_i x_i.w)^2
Paper: T. Le, V. Nguyen, A. Nguyen, K. Nguyen, Adaptable Linear Support Vector Machine, NICS 2015: Section III, Eq. 2.

    G w = A y,   G = sum v_i x_i x_i' + nu I,   A y = sum v_i y_i x_i,   nu = 1/(2C)

Differs from the paper in:
 1. v_i: weights of classes and rows beside C.
 2. OneVsRest of several classes share G and its Cholesky factor wherever their weights agree
    (data/class_statistics.py).
 3. What rounding leaves of f'(w) is taken out by further steps with the same factor; where f is nothing beside f(0),
    by steps on the rows (solvers/shared/least_squares.py).
 4. Beyond 1500 features conjugate gradients climb on both sides of the gap instead (linalg/golub_kahan.py); where few
    rows take more steps than there are rows, a system with an unknown for each row ends the run.
Stops when: the certified relative gap is as small as asked for.
Memory: d x d for G and again for its factor; by conjugate gradients 9 vectors of n, 5 of d, and
up to 2048 rows perhaps n x n twice.
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives.least_squares import LeastSquares
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Monitor, Result, Rule
from svmtool.solvers.shared.least_squares import by_products, by_sums, in_fewer_features
from svmtool.solvers.shared.newton import newton_steps


def solve(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None, seed: int = 1) -> Result:
    """Solve from `start` (zeros if None); by the normal equations where the task has them."""
    if task.equations is not None:
        return by_sums(task.equations, task, monitor, rule, start)
    return in_fewer_features(_products, 0, task, monitor, rule, start, seed)


def _products(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int) -> Result:
    objective = task.objective(LeastSquares)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    if task.rows.distributed:  # vectors of n numbers would have to come here for steps on both sides
        status = newton_steps(objective, monitor, rule, "cg")
        return Result(objective.w, status, monitor.iterations, monitor.history)
    return by_products(objective, monitor)
