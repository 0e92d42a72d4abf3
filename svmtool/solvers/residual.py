"""Rounds of any method for least squares with a kernel, until its residuals are as small as asked for."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from svmtool.problem.certify_kernel import relative
from svmtool.problem.kernel_least_squares import Residuals
from svmtool.problem.kernel_problem import KernelResult, LeastSquaresSvc
from svmtool.solvers.base import GAP, ITERATIONS, OPTIMAL, PRECISION, RULE, Monitor, Status

BURST = 1000  # steps between two looks at limits and the gap
CLEAR = 0.05  # share of the tolerance up to which errors of the residuals do not matter
PATIENCE = 5  # rounds from exact residuals without a larger dual value: rounding rules
INDEFINITE = Status(
    "indefinite",
    False,
    "the kernel is not positive definite on these rows, or rounding keeps it from being: scale the features "
    "(svm-scale), lower -c, or choose another kernel, -g or -r",
)


class Method(Protocol):
    """What moves the state; count: its steps so far."""

    state: Residuals
    count: int

    def run(self, eps: float, most: int) -> bool:
        """One step or several, `most` at most; False where the program is not convex along one."""

    def restart(self) -> None:
        """The residuals have been set right."""


def rounds(method: Method, monitor: Monitor, eps: float) -> KernelResult:
    """Run to residuals (the gradient of the dual) of eps, 0: to the monitor's gap."""
    state = method.state
    at_zero = float(np.sum(state.problem.cost))  # the primal value of w = 0, which no dual value exceeds
    best, stalled, convex = -np.inf, 0, True
    while True:
        dual, gap = state.values()
        worst, found = float(np.abs(state.left()).max()), relative(dual + gap, dual)
        level = worst
        if monitor.gap is not None and found <= monitor.gap:
            level = (gap / at_zero) ** 0.5
        exact = state.exact
        if not exact and (not convex or state.error() > CLEAR * max(level, eps)):
            state.refresh()
            method.restart()
            convex = True
            continue
        status = monitor.step(dual + gap, dual, found, violation=worst)
        if worst <= eps and status is not GAP:
            status = RULE
        elif status is None and monitor.max_iter is not None and method.count >= monitor.max_iter:
            status = ITERATIONS
        elif status is None and not (convex and dual <= 2.0 * at_zero):
            status = INDEFINITE
        elif status is None and exact:
            stalled = 0 if dual > best else stalled + 1
            best = max(best, dual)
            status = PRECISION if stalled >= PATIENCE else None
        if status is not None:
            return state.result(method.count, status)
        most = BURST if monitor.max_iter is None else min(BURST, monitor.max_iter - method.count)
        convex = method.run(eps, most)


def without_rows(problem: LeastSquaresSvc, monitor: Monitor) -> KernelResult:
    """The answer where no row has a cost."""
    monitor.step(0.0, 0.0, 0.0)
    return KernelResult(np.zeros(0), 0.0, 0.0, 0.0, 0.0, 0, OPTIMAL, np.zeros(0))
