"""The fallback solver: slow, robust methods, used when a result fails verification (training/verify.py).

    min over w of  R(w) + sum_i C_i l(target_i - y_i x_i.w),   R = 1/2 |w|^2 or |w|_1, a free bias left out

Squared hinge: Newton steps from the result.  If these do not suffice, and for the hinge: interior-point steps
(interior_steps.py) if a system of the features or the rows is small; then the hinge by dual coordinate descent.  Least
squares: one orthogonal factorisation, where that is cheap.  Otherwise, and for other losses: SciPy's L-BFGS-B (Byrd,
Lu, Nocedal and Zhu, SIAM Journal on Scientific Computing 16 (1995) 1190-1208) on the certifier's losses, each weight
measured in 1 / sqrt(1 + sum_i C_i x_ij^2), so that columns of any scale are alike; |w|_1 is the sum of two vectors
>= 0 whose difference is w.

Stops when: f no longer decreases, after MAX_FALLBACK_ITERATIONS iterations, or by a limit of the run.
Memory: 5 vectors of n, about 25 of d.
"""

from __future__ import annotations

import contextlib

import numpy as np

from svmtool import limits
from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.data.row_storage import Rows
from svmtool.errors import SvmtoolError
from svmtool.limits import EndedError
from svmtool.linalg.systems import MAX_DENSE_WORK, least_squares
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.losses import Loss
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base, interior_steps
from svmtool.solvers.shared.base import Monitor, Result, Rule
from svmtool.solvers.shared.contest import Contest, Epochs, NewtonSteps
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import GRAM_BELOW, MANY_VALUES, OPTIMAL_GAP

MAX_FALLBACK_ITERATIONS = 1000  # most iterations, Newton steps or coordinate epochs
MAX_FALLBACK_VISITS = 2e9  # most visits to a non-zero in all


def solve(task: Task, loss: Loss, l1: bool, start: np.ndarray, gap: float, monitor: Monitor) -> Result | None:
    """Minimise from `start` (length d); the status is PRECISION or that of a limit: the certifier decides.

    None where no method is available: a hinge with |w|_1, or with a free bias and many features.
    """
    max_iter = max(10, int(min(MAX_FALLBACK_ITERATIONS, MAX_FALLBACK_VISITS / max(task.rows.nnz, 1))))
    p, alpha = loss.hinge_power, None
    if p == 2.0 and not l1:
        best = _refined(task, start, monitor.child(gap, max_iter))
        if best.gap <= max(gap, OPTIMAL_GAP):
            return Result(best.w, base.PRECISION, monitor.iterations, monitor.history, best.alpha)
    if p is not None and not l1 and (best := _hinge(task, p, gap, monitor.child(gap, max_iter))) is not None:
        alpha = best.alpha
        if p == 1.0 or best.gap <= gap:
            return Result(best.w, base.PRECISION, monitor.iterations, monitor.history, alpha)
    if p == 1.0:
        return None
    if loss.floor < 0.0 and not l1 and factorisation_possible(task.rows):
        with contextlib.suppress(SvmtoolError, EndedError):
            w, alpha = orthogonally(task)
            return Result(w, base.PRECISION, monitor.iterations, monitor.history, alpha)
    scaled = _Scaled(task, loss, l1, monitor)
    try:
        with np.errstate(all="ignore"):
            scaled.minimise(start, max_iter)
        status = base.PRECISION
    except EndedError:
        status = monitor.limit() or base.PRECISION
    return Result(scaled.best_w, status, scaled.calls, monitor.history, alpha)


def _refined(task: Task, start: np.ndarray, monitor: Monitor) -> Best:
    """Newton steps for the squared hinge from `start`."""
    objective = task.objective(SquaredHinge, target=task.target)
    objective.set_point(start)
    run = Contest(objective, monitor, Rule())
    run.run(None, NewtonSteps(run, "primal" if objective.d <= GRAM_BELOW else "cg"))
    return run.best


def _hinge(task: Task, p: float, gap: float, monitor: Monitor) -> Best | None:
    """Interior-point steps, and for the hinge coordinate descent where these leave a larger gap; None: neither."""
    run = Contest(task.objective(SquaredHinge if p == 2.0 else Augmented, target=task.target), monitor, Rule())
    interior = interior_steps.candidate(task, p, run)
    if interior is not None:
        interior[0]()
    epochs = p == 1.0 and DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias, dense=True)
    if epochs and run.best.gap > gap:
        run.run(Epochs(run, DualCoordinateDescent.of_power(task.rows, task.y, task.cost, p, 1, task.target)), None)
    return run.best if epochs or interior is not None else None


def factorisation_possible(rows: Rows) -> bool:
    """Whether an orthogonal factorisation of a copy of the rows is cheap enough."""
    return rows.in_memory and (rows.n + rows.d) * rows.d * max(rows.d, MAX_DENSE_WORK // MANY_VALUES) <= MAX_DENSE_WORK


def orthogonally(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """The w that minimises 1/2 w'Rw + sum_i C_i (t_i - y_i x_i.w)^2, and its multipliers; errors as of least_squares.

    Normal equations square the condition number, and lose the digits of residuals that are differences of large sums.
    """
    limits.check()
    root, X = np.sqrt(2.0 * task.cost), task.rows.dense_of(np.arange(task.rows.n)) * task.y[:, None]
    penalties = np.eye(X.shape[1] - task.free_bias, X.shape[1])
    b = np.concatenate([root * (1.0 if task.target is None else task.target), np.zeros(len(penalties))])
    w, r = least_squares(np.vstack([root[:, None] * X, penalties]), b)
    return w, root * r[: len(root)]


class _Scaled:
    """The objective in scaled weights; best_w: the best weights so far."""

    def __init__(self, task: Task, loss: Loss, l1: bool, monitor: Monitor):
        self.task, self.loss, self.l1, self.monitor = task, loss, l1, monitor
        self.penalty = np.ones(task.rows.d)
        if task.free_bias:
            self.penalty[-1] = 0.0
        self.target = 1.0 if task.target is None else task.target
        self.unit = 1.0 / np.sqrt(1.0 + task.rows.diagonal(task.cost))
        self.least, self.best_w, self.calls = np.inf, np.zeros(task.rows.d), 0

    def minimise(self, start: np.ndarray, max_iter: int) -> None:
        """Run L-BFGS-B from `start`."""
        from scipy.optimize import minimize

        v, bounds = start / self.unit, None
        if self.l1:
            v, bounds = np.concatenate((np.maximum(v, 0.0), np.maximum(-v, 0.0))), [(0.0, None)] * (2 * len(v))
        self._scale = 1.0 / max(self.value_and_gradient(v, 1.0)[0], 1e-300)
        options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 1e-15, "gtol": 0.0, "maxcor": 20}
        minimize(self.value_and_gradient, v, (self._scale,), "L-BFGS-B", jac=True, bounds=bounds, options=options)

    def value_and_gradient(self, v: np.ndarray, scale: float) -> tuple[float, np.ndarray]:
        """Return `scale` times the objective and its gradient at scaled weights v."""
        if self.monitor.ended():
            raise EndedError
        self.calls += 1
        d, t = self.task.rows.d, self.task
        w = self.unit * (v[:d] - v[d:] if self.l1 else v)
        z = np.empty(t.rows.n)
        t.rows.margins(w, t.y, z)
        xi = self.target - z
        inner = self.penalty * w
        regular = float(self.penalty @ np.abs(w)) if self.l1 else 0.5 * float(inner @ w)
        f = regular + float(t.cost @ self.loss.value(xi))
        if f < self.least and np.all(np.isfinite(w)):
            self.least, self.best_w[:] = f, w
        g = -t.rows.transpose_product(t.cost * self.loss.slope(xi) * t.y)
        if not self.l1:
            return scale * f, scale * self.unit * (g + inner)
        return scale * f, scale * np.concatenate((self.unit * (g + self.penalty), self.unit * (self.penalty - g)))
