"""Methods that the solvers of least squares share: normal equations, conjugate gradients, fewer features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.data.singleton_features import SingletonFeatures
from svmtool.limits import EndedError
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.least_squares import LeastSquares
from svmtool.objectives.normal_equations import NormalEquations
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result, Rule, Status
from svmtool.solvers.shared.newton import newton_steps, rounded
from svmtool.tolerances import OPTIMAL_GAP, ROUNDOFF_GAP

# certified gaps: of an exact minimiser, and of as good a one where round-off stalls progress
CG_MIN_GAP, CG_ROUND = 0.9, 1e-13  # steps go on to this share of the gap, or of the first difference of P and D
CG_FLAT = 3  # after so many rounds that do not halve the gap round-off stalls progress
DIRECT, FEW_ROWS = 100, 2048  # least steps before a direct solution, and the most rows of one
DIRECT_STALL_STEPS = 2  # the same of steps on normal equations


def by_sums(
    equations: NormalEquations, task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None
) -> Result:
    """Solve the normal equations of the task: one exact step, and further steps as long as they reduce round-off.

    Where f is too small relative to f(0) for the sums to resolve it, Newton steps on the rows end the run.
    """
    w = np.zeros(equations.d) if start is None else start.copy()
    best, answer, flat, t = equations.value_at_zero(), np.zeros(equations.d), 0, 0.0
    while True:
        f, g = equations.gradient(w)
        if equations.cancels(f):
            return _on_rows(task, monitor, rule, w)
        status = _record(monitor, task, f, g, t)
        flat = 0 if f < best or t == 0.0 else flat + 1
        if f <= best:
            best, answer = f, w
        gap = 0.5 * float(g @ g)
        if status is None and gap <= OPTIMAL_GAP * f:
            status = base.OPTIMAL
        if status is None and flat >= DIRECT_STALL_STEPS:
            status = rounded(f, f - gap)
        if status is not None:
            return Result(answer, status, monitor.iterations, monitor.history)
        try:
            w, t = w + equations.step(g), 1.0
        except EndedError:
            return Result(answer, monitor.end(), monitor.iterations, monitor.history)


def _on_rows(task: Task, monitor: Monitor, rule: Rule, w: np.ndarray) -> Result:
    objective = task.objective(LeastSquares)
    objective.set_point(w)
    status = newton_steps(objective, monitor, rule, "primal")
    return Result(objective.w, status, monitor.iterations, monitor.history)


def _record(monitor: Monitor, task: Task, f: float, g: np.ndarray, t: float) -> Status | None:
    norm = float(np.sqrt(g @ g))
    return monitor.step(f, max(f - 0.5 * norm * norm, 0.0), gradient=norm, active=task.rows.n, cg=0, step=t)


def in_fewer_features(
    solve: Callable[..., Result],
    most: int,
    task: Task,
    monitor: Monitor,
    rule: Rule,
    start: np.ndarray | None,
    seed: int,
) -> Result:
    """Solve with singleton features folded, where there are more than `most` features and many singletons."""
    counts = SingletonFeatures.possible(task.rows) if task.rows.d > most else None
    if counts is None:
        return solve(task, monitor, rule, start, seed)
    singletons = SingletonFeatures(task.rows, counts)
    less = Task(singletons.rows, task.y, task.cost, task.free_bias, task.target, options=task.options)
    result = solve(less, monitor, rule, None if start is None else singletons.merged_weights(start), seed)
    result.w = singletons.original_weights(result.w)
    return result


def by_products(objective: LeastSquares, monitor: Monitor) -> Result:
    """Solve with many features: conjugate gradients on primal and dual, restarted when round-off has degraded them.

    If rows are few and the steps outnumber them, a system with one unknown per row ends the run: without round-off that
    many steps would have.
    """
    answer, alpha = np.zeros(objective.d), np.zeros(objective.n)
    primal, dual, flat, count = objective.value_at_zero(), 0.0, 0, 0
    most = max(DIRECT, objective.n) if objective.n <= FEW_ROWS and objective.rows.mapped is None else np.inf
    while True:
        steps, f = objective.golub_kahan(), objective.value()
        whole = 0.5 * steps.first**2  # P - D at the start
        status, left, k = None, whole, 0
        wanted = max(CG_MIN_GAP * (monitor.gap or 0.0), OPTIMAL_GAP)
        directly = count >= most
        while not (directly or steps.over) and left > max(wanted * (f - steps.fallen), CG_ROUND * whole):
            steps.step()
            k, left = k + 1, whole - steps.fallen - steps.risen
            status = monitor.limit(count + k)
            if status is not None or count + k >= most:
                break
        count += k
        try:
            f, bound, a = objective.both(objective.whole_step() if directly else steps)
        except EndedError:
            return Result(answer, monitor.end(), monitor.iterations, monitor.history, alpha)
        if f < primal:
            primal, answer = f, objective.w.copy()
        before = relative_gap(primal, dual)
        if bound > dual:
            dual, alpha = bound, a
        limit = monitor.step(primal, dual, gradient=steps.first, active=objective.n, cg=k, step=1.0)
        status = limit or status
        gap = relative_gap(primal, dual)
        flat = 0 if gap < 0.5 * before else flat + 1
        if status is None and (gap <= OPTIMAL_GAP or flat >= CG_FLAT):
            status = base.OPTIMAL if gap <= ROUNDOFF_GAP else base.PRECISION
        if status is not None:
            return Result(answer, status, monitor.iterations, monitor.history, alpha)
