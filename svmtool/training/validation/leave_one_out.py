"""--loo: exact leave-one-out predictions without training again.

With H = I + 2 sum c_i x_i x_i' and w the minimiser of the least-squares SVM, leaving out row i moves its decision value

    from x_i.w  to  (x_i.w - h_i y_i) / (1 - h_i),   h_i = 2 c_i x_i'H^-1 x_i < 1     (Eqs. 8-10 of the ALSVM paper)
"""

from __future__ import annotations

import numpy as np

from svmtool.linalg.systems import Factored
from svmtool.models.linear import LinearModel
from svmtool.objectives.normal_equations import Matrix, NormalEquations
from svmtool.objectives.task import Task
from svmtool.tolerances import EPS


def decision_values(tasks: list[Task]) -> np.ndarray:
    """Decision values of each row without it, f8 (n, problems); the tasks have their normal equations."""
    shared: dict[Matrix, np.ndarray] = {}
    columns = []
    for task in tasks:
        equations, few = task.equations, task.rows.n <= task.rows.d
        assert isinstance(equations, NormalEquations)
        matrix = equations.matrix
        if matrix not in shared:
            shared[matrix] = _inverse_by_rows(task) if few else task.rows.quadratic_forms(matrix.factor().inverse())
        f = np.empty(task.rows.n)
        task.rows.margins(equations.minimiser(), np.ones(task.rows.n), f)
        if few:
            M, s = shared[matrix], np.sqrt(2.0 * task.cost)
            carry = s > 0.0
            f[carry] = task.y[carry] - (M @ (s * task.y))[carry] / (s * M.diagonal())[carry]
        else:
            h = 2.0 * task.cost * shared[matrix]
            f = (f - h * task.y) / np.maximum(1.0 - h, EPS)  # round-off can make it negative
        columns.append(f)
    return np.stack(columns, axis=1)


def _inverse_by_rows(task: Task) -> np.ndarray:
    """M = (I + S X X' S)^-1, S = diag(sqrt(2 c)), f8[n, n]; used if rows are fewer than features."""
    rows, n, s = task.rows, task.rows.n, np.sqrt(2.0 * task.cost)
    K = np.zeros((n, n))
    rows.as_csr().fill_kernel(np.arange(n), K, 0)
    H = K.T * np.outer(s, s)
    H.flat[:: n + 1] += 1.0
    return Factored(H).inverse()


def right(tasks: list[Task], model: LinearModel, number: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Whether each row is predicted correctly without it, bool[n]; number: index of its label in the model.

    The only row of a class is not: without it the class is unknown.
    """
    found = model.labels_from(np.ascontiguousarray(decision_values(tasks)))
    return (found == np.array(model.labels, dtype=float)[number]) & (counts[number] > 1)
