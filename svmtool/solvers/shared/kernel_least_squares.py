"""Least squares with a kernel, by conjugate gradients until the residuals are small enough, or directly."""

from __future__ import annotations

import numpy as np

from svmtool.kernels.conjugate import Conjugate
from svmtool.kernels.least_squares import Residuals, direct_solution
from svmtool.kernels.problems import LeastSquaresSvc
from svmtool.kernels.results import KernelResult
from svmtool.kernels.whole import kernel_matrix
from svmtool.limits import EndedError
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import (
    GAP,
    INDEFINITE,
    ITERATIONS,
    OPTIMAL,
    PRECISION,
    RULE,
    Monitor,
    Plan,
    Rule,
)
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import FIRST_CHECK_STEPS, MATRIX_ROWS, NEGLIGIBLE_ERROR, ROUNDOFF_GAP, SAME_RTOL

METHODS = {
    "cg": "conjugate gradients",
    "direct": "a direct solution, then conjugate gradients",
}


def plan(problem: LeastSquaresSvc, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Conjugate gradients; the reason says whether a direct solution can follow."""
    after = direct_after(problem)
    if after < np.inf:
        return Plan("cg", f"{problem.n} rows: if {after:.0f} steps do not end the run a direct solution follows")
    return Plan("cg", f"{problem.n} rows, too many for a direct solution ({MATRIX_ROWS})")


def solve(
    problem: LeastSquaresSvc, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve by conjugate gradients to residuals of rule.range, else to the monitor's gap."""
    if problem.n == 0:
        monitor.step(0.0, 0.0, 0.0)
        return KernelResult(np.zeros(0), 0.0, 0.0, 0.0, 0.0, 0, OPTIMAL, np.zeros(0))
    after = direct_after(problem) if method == "cg" else -1
    return _rounds(Conjugate(problem, problem.cache_mb, start), monitor, rule.range or 0.0, after)


def direct_after(problem: LeastSquaresSvc) -> float:
    """Steps after which a direct solution in double precision costs less than more steps; inf for many rows."""
    return problem.n if problem.n <= MATRIX_ROWS else np.inf


def _rounds(steps: Conjugate, monitor: Monitor, eps: float, direct_after: float) -> KernelResult:
    """Run to residuals (the gradient of the dual) of eps, 0: to the monitor's gap.

    direct_after: steps after which the run continues from a direct solution, also where steps fail before; inf: never.
    """
    state = steps.state
    at_zero = float(np.sum(state.problem.cost))  # the primal value of w = 0, which no dual value exceeds
    directly = direct_after < np.inf
    # a dual value below the start's, or above P(0): round-off, or a negative eigenvalue
    least = min(state.values()[0], 0.0) - SAME_RTOL * at_zero
    convex, progress = True, Progress(FIRST_CHECK_STEPS, base.STALL_ROUNDS)
    while True:
        dual, gap = state.values()
        sound = convex and least <= dual <= (1.0 + SAME_RTOL) * at_zero
        worst, relative_gap = float(np.abs(state.residuals()).max()), state.problem.relative(dual + gap, dual)
        close = monitor.gap is not None and relative_gap <= monitor.gap  # as certified: in double precision
        exact, before = state.exact, (state.c.copy(), state.e.copy())
        try:
            if not exact and (not sound or close or state.error() > NEGLIGIBLE_ERROR * max(worst, eps)):
                state.refresh()
                steps.restart()
                convex = True
                continue
            status = monitor.step(dual + gap, dual, relative_gap, violation=worst)
            if worst <= eps and status is not GAP:
                status = RULE if eps > 0.0 else OPTIMAL
            elif status is None and monitor.max_iter is not None and steps.count >= monitor.max_iter:
                status = ITERATIONS
            elif status is None:
                still = progress.stalls(min(gap, at_zero - dual), dual, -dual if exact and sound else None)
                if directly and (not sound or still or steps.count > direct_after):
                    directly = False
                    if _go_to_solution(state, least):
                        steps.restart()
                        convex, progress = True, Progress(FIRST_CHECK_STEPS, base.STALL_ROUNDS)
                        continue
                if not sound:
                    status = INDEFINITE
                elif still:
                    status = OPTIMAL if relative_gap <= ROUNDOFF_GAP else PRECISION
            if status is not None:
                return state.result(steps.count, status)
            convex = steps.step()
        except EndedError:
            state.c, state.e = before
            return state.result(steps.count, monitor.end())


def _direct_solution(problem: LeastSquaresSvc) -> np.ndarray | None:
    """That of the whole matrix."""
    return direct_solution(kernel_matrix(problem.points), problem.y, problem.cost, problem.shift)


def _go_to_solution(state: Residuals, least: float) -> bool:
    """Take the direct solution, or else recompute the residuals of the last point; return whether the state is better.

    Better: the gap is smaller, and the dual value at least `least`.
    """
    before, (_, gap) = state.c, state.values()
    c = _direct_solution(state.problem)
    if c is None:
        return False
    for point in (c, before):
        state.c = point
        state.refresh()
        value, new_gap = state.values()
        if value >= least and new_gap < gap:
            return True
    return False


def directly(problem: LeastSquaresSvc, monitor: Monitor, *_: object) -> KernelResult | None:
    """Solve least squares of few rows by a factorisation; None if there are many rows.  Arguments as a solver's."""
    if not 0 < problem.n <= MATRIX_ROWS:
        return None
    state = Residuals(problem, 0.0)
    c = _direct_solution(problem)
    if c is None:
        return None
    state.c = c
    state.refresh()
    dual, gap = state.values()
    relative_gap = problem.relative(dual + gap, dual)
    monitor.uses("a direct solution", "the solver's result failed verification")
    status = monitor.step(dual + gap, dual, relative_gap) or (OPTIMAL if relative_gap <= ROUNDOFF_GAP else PRECISION)
    return state.result(1, status)
