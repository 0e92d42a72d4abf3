"""Methods that the solvers of least squares share: normal equations, conjugate gradients."""

from __future__ import annotations

import numpy as np

from svmtool.limits import EndedError
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.least_squares import LeastSquares
from svmtool.objectives.normal_equations import NormalEquations
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result, Rule, Status, rounded
from svmtool.solvers.shared.contest import newton_steps
from svmtool.tolerances import AIM_SHARE, DIRECT_AFTER, DUAL_RTOL, MATRIX_ROWS, OPTIMAL_GAP, ROUNDOFF_GAP, STALL_STEPS

# Texts of the methods `by_sums` and `by_newton` with a matrix
SUMS = "normal equations, solved exactly"
PRIMAL = "Newton steps, matrix of features x features factorised"


def by_sums(
    equations: NormalEquations, task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None = None
) -> Result:
    """Solve the normal equations of the task: one exact step, and further steps as long as they reduce round-off.

    Where f is too small relative to f(0) for the sums to resolve it, Newton steps on the rows end the run.
    """
    w = np.zeros(equations.d) if start is None else start.copy()
    best, answer, stalled, t = np.inf, np.zeros(equations.d), 0, 0.0
    while True:
        f, g = equations.gradient(w)
        if equations.cancels(f):
            monitor.uses(PRIMAL, "the sums cancel: f is tiny relative to f(0)")
            return by_newton(task, monitor, rule, w, "primal")
        stalled = 0 if f < best or t == 0.0 else stalled + 1
        if f <= best:
            best, answer = f, w
        status = _record(monitor, task, f, g, t, answer)
        gap = 0.5 * float(g @ g)
        if status is None and gap <= OPTIMAL_GAP * f:
            status = base.OPTIMAL
        if status is None and stalled >= STALL_STEPS:
            status = rounded(f, f - gap)
        if t == 0.0 and base.empty(status, gap, w):
            status, best = None, np.inf
        if status is not None:
            return Result(answer, status, monitor.iterations, monitor.history)
        try:
            w, t = w + equations.step(g), 1.0
        except EndedError:
            return Result(answer, monitor.end(), monitor.iterations, monitor.history)


def _from_start(task: Task, start: np.ndarray | None) -> LeastSquares:
    """The objective of the task at `start`, zeros if None."""
    objective = task.objective(LeastSquares, target=task.target)
    objective.set_point(np.zeros(objective.d) if start is None else start)
    return objective


def by_newton(task: Task, monitor: Monitor, rule: Rule, start: np.ndarray | None, system: str) -> Result:
    """Solve by Newton steps on the rows with this system, "primal" or "cg"."""
    objective = _from_start(task, start)
    status = newton_steps(objective, monitor, rule, system)
    return Result(objective.w, status, monitor.iterations, monitor.history)


def _record(monitor: Monitor, task: Task, f: float, g: np.ndarray, t: float, w: np.ndarray) -> Status | None:
    norm = float(np.sqrt(g @ g))
    return monitor.step(f, max(f - 0.5 * norm * norm, 0.0), None, w, gradient=norm, active=task.rows.n, cg=0, step=t)


def by_golub_kahan(task: Task, monitor: Monitor, start: np.ndarray | None) -> Result:
    """Solve with many features: conjugate gradients on primal and dual, restarted when round-off has degraded them.

    If rows are few and the steps outnumber them, a system with one unknown per row ends the run: without round-off that
    many steps would have.
    """
    objective = _from_start(task, start)
    answer, alpha = np.zeros(objective.d), np.zeros(objective.n)
    primal, dual, stalled, count = np.inf, 0.0, 0, 0
    small = objective.n <= MATRIX_ROWS and objective.rows.in_memory
    direct_after = max(DIRECT_AFTER, objective.n) if small else np.inf
    while True:
        steps, f = objective.golub_kahan(), objective.value()
        initial = 0.5 * steps.first**2  # P - D at the start; apart: now
        status, apart, k = None, initial, 0
        target_gap = max(AIM_SHARE * (monitor.gap or 0.0), OPTIMAL_GAP)
        directly = count >= direct_after
        while not (directly or steps.over) and apart > max(target_gap * (f - steps.primal.gain), DUAL_RTOL * initial):
            steps.step()
            k, apart = k + 1, initial - steps.primal.gain - steps.dual.gain
            status = monitor.limit(count + k)
            if status is not None or count + k >= direct_after:
                break
        count += k
        try:
            f, bound, a = objective.both(*(objective.whole_step() if directly else (steps.primal.x, steps.dual.x)))
        except EndedError:
            return Result(answer, monitor.end(), monitor.iterations, monitor.history, alpha)
        if f < primal:
            primal, answer = f, objective.w.copy()
        before = relative_gap(primal, dual)
        if bound > dual:
            dual, alpha = bound, a
        limit = monitor.step(primal, dual, None, answer, inner_gradient=steps.first, active=objective.n, cg=k)
        status = limit or status
        gap = relative_gap(primal, dual)
        stalled = 0 if gap < 0.5 * before else stalled + 1
        if status is None and (gap <= OPTIMAL_GAP or stalled >= STALL_STEPS):
            status = base.OPTIMAL if gap <= ROUNDOFF_GAP else base.PRECISION
        if status is not None:
            return Result(answer, status, monitor.iterations, monitor.history, alpha)
