"""The fallback solver: slow, robust methods, used when a result fails verification (training/verify.py).

    min over w of  R(w) + sum_i C_i l(target_i - y_i x_i.w),   R = 1/2 |w|^2 or |w|_1, a free bias left out

Squared hinge: a few factorised Newton steps (contest.py) from the result; if these do not suffice, orthogonal
factorisations of the active rows where these are cheap (objectives/orthogonal.py); then Newton steps from zero with
systems of the active rows, or with conjugate gradients if these are many or the bias is free.  Neither forms a Gram
matrix of features.
Hinge and its powers below 2: interior-point steps (interior_steps.py) if features are few.  If these do not suffice,
the hinge by dual coordinate descent.  Least squares: one orthogonal factorisation, where that is cheap.  Otherwise, and
for other losses: SciPy's L-BFGS-B (Byrd, Lu, Nocedal and Zhu, SIAM Journal on Scientific Computing 16 (1995) 1190-1208)
on the certifier's losses, each weight measured in 1 / sqrt(1 + sum_i C_i x_ij^2), so that columns of any scale are
alike; |w|_1 is the sum of two vectors >= 0 whose difference is w.

Stops when: f no longer decreases, after MAX_FALLBACK_ITERATIONS iterations, or by a limit of the run.
Memory: 5 vectors of n, about 25 of d.
"""

from __future__ import annotations

import contextlib

import numpy as np

from svmtool.coordinate.hinge import DualCoordinateDescent
from svmtool.errors import SvmtoolError
from svmtool.limits import EndedError
from svmtool.objectives.augmented import Augmented
from svmtool.objectives.losses import Loss
from svmtool.objectives.orthogonal import Orthogonal, all_rows, possible
from svmtool.objectives.power_interior import PowerInterior
from svmtool.objectives.squared_hinge import SquaredHinge
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result, Rule
from svmtool.solvers.shared.contest import newton_steps
from svmtool.solvers.shared.incumbent import Best
from svmtool.solvers.shared.interior_steps import interior_steps
from svmtool.solvers.shared.interior_steps import possible as possible_interior
from svmtool.tolerances import GRAM_BELOW, SUFFICIENT_RISE

MAX_FALLBACK_ITERATIONS = 1000  # most iterations, or coordinate epochs
MAX_FALLBACK_VISITS = 2e9  # most visits to a non-zero in all
MAX_REFINING_STEPS, REFINED_SHARE = 20, 0.1  # factorised steps from the result, and the share of the gap they go to


def solve(task: Task, loss: Loss, l1: bool, start: np.ndarray, gap: float, monitor: Monitor) -> Result | None:
    """Minimise from `start` (length d); the status is PRECISION or that of a limit: the certifier decides.

    None where no method is available: a hinge with |w|_1, or with a free bias and many features.
    """
    max_iter = max(10, int(min(MAX_FALLBACK_ITERATIONS, MAX_FALLBACK_VISITS / max(task.rows.nnz, 1))))
    interior = None
    if loss.hinge_power is not None and loss.hinge_power < 2.0 and not l1 and possible_interior(task):
        best = Best(task.objective(Augmented, p=loss.hinge_power, target=task.target))
        interior_steps(PowerInterior(task, loss.hinge_power), monitor.child(gap), best)
        interior = Result(best.w, base.PRECISION, monitor.iterations, monitor.history, best.alpha)
        if best.gap <= gap:
            return interior
    if loss.hinge_power == 1.0:
        other = None if l1 else _by_coordinates(task, gap, monitor, max_iter)
        return interior if other is None else other
    if loss.hinge_power == 2.0 and not l1:
        refined, f, bound = _refined(task, start, gap, monitor)
        return refined if f - bound <= gap * f < np.inf else _by_rows(task, refined, f, bound, gap, monitor, max_iter)
    if loss.floor < 0.0 and not l1 and possible(task.rows):
        with contextlib.suppress(SvmtoolError, EndedError):
            w, alpha = all_rows(task)
            return Result(w, base.PRECISION, monitor.iterations, monitor.history, alpha)
    objective = _Scaled(task, loss, l1, monitor)
    try:
        with np.errstate(all="ignore"):
            objective.minimise(start, max_iter)
        status = base.PRECISION
    except EndedError:
        status = monitor.limit() or base.PRECISION
    return Result(objective.best_w, status, objective.calls, monitor.history)


def _refined(task: Task, start: np.ndarray, gap: float, monitor: Monitor) -> tuple[Result, float, float]:
    """Return the result of factorised steps from freshly computed margins at `start`, its f, and a lower bound of f.

    Most results that come here are correct except for round-off accumulated in their margins over many steps.  Where a
    Gram matrix of the features loses its digits too, an orthogonal factorisation may still keep them.
    """
    if task.rows.d > GRAM_BELOW:
        return Result(start, base.PRECISION, monitor.iterations, monitor.history), np.inf, -np.inf
    objective = task.objective(SquaredHinge, target=task.target)
    objective.set_point(start)
    with contextlib.suppress(SvmtoolError):  # no factor: conjugate gradients need none
        newton_steps(objective, monitor.child(REFINED_SHARE * gap, MAX_REFINING_STEPS), Rule(), "primal")
    objective.set_point(objective.w.copy())
    f, _ = objective.gradient()
    if f - objective.bound > gap * f and possible(task.rows):
        with contextlib.suppress(SvmtoolError, EndedError):
            Orthogonal(objective).refine(REFINED_SHARE * gap)
        f, _ = objective.gradient()
    alpha, bound = _better(objective, None, -np.inf)
    return Result(objective.w, base.PRECISION, monitor.iterations, monitor.history, alpha), f, bound


def _by_rows(
    task: Task, known: Result, least: float, bound: float, gap: float, monitor: Monitor, max_iter: int
) -> Result:
    """Solve the squared hinge by Newton steps from zero, with systems of the active rows if these are few.

    known: a result with f(known.w) = least and a dual point of value `bound`.
    """
    rows = task.rows.as_csr()
    objective = SquaredHinge(rows, task.y, task.cost, task.free_bias, target=task.target)
    system = "dual" if objective.has_dual_system else "cg"
    best, alpha = known.w, known.alpha
    objective.set_point(np.zeros(objective.d))
    inner = monitor.child(gap, max_iter)
    newton_steps(objective, inner, Rule(), system, system == "dual", MAX_FALLBACK_VISITS)
    if objective.gradient()[0] <= least:
        best = objective.w
    alpha, _ = _better(objective, alpha, bound)
    return Result(best, base.PRECISION, inner.iterations, monitor.history, alpha)


def _better(objective: SquaredHinge, alpha: np.ndarray | None, bound: float) -> tuple[np.ndarray | None, float]:
    """Return the better of the objective's best dual point and alpha, whose dual value is `bound`, and its value."""
    own = max(objective.bound, objective.face_bound)
    if own <= bound:
        return alpha, bound
    alpha = objective.best_dual_point()
    return objective.dual_point() if alpha is None else alpha, own


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


def _by_coordinates(task: Task, gap: float, monitor: Monitor, max_iter: int) -> Result | None:
    """Run dual coordinate descent for the hinge; None where it is not possible.

    It ends when as many epochs as before raised the dual value by less than SUFFICIENT_RISE times the wanted gap.
    """
    if not DualCoordinateDescent.possible(task.rows, task.cost, task.free_bias, copied=True):
        return None
    descent, before = DualCoordinateDescent.of_power(task.rows, task.y, task.cost, 1.0, 1, task.target), -np.inf
    for k in range(max_iter):
        descent.run()
        if monitor.ended():
            break
        if k & (k + 1) == 0:  # epochs double from one evaluation to the next
            primal, dual = descent.primal_value(), descent.dual_value()
            if primal - dual <= gap * primal or dual - before <= SUFFICIENT_RISE * gap * abs(dual):
                break
            before = dual
            descent.unshrink()  # so that no row shrunk by mistake stays at its bound
    return Result(descent.w, monitor.limit() or base.PRECISION, descent.count, monitor.history, descent.alpha)
