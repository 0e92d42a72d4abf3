"""LP-SVM with a kernel: -s 51 with --method fast.    min over w, b of  |w|_1 + sum_i C_i max(0, 1 - y_i (K_i w + b))

The problem is the linear LP-SVM of the rows K(x_i, .) (kernels/lp.py), which lp_svm.py solves over
columns of mean 0.  The kernel matrix is held whole, in double precision.
Stops when: the certified relative gap is small enough.
"""

from __future__ import annotations

import numpy as np

from svmtool import registry
from svmtool.kernels.lp import LpSvc
from svmtool.kernels.results import KernelResult
from svmtool.solvers.shared.base import Monitor, Plan, Rule

LINEAR = registry.find(51)
METHODS = {name: text for name, text in registry.methods(LINEAR).items() if name != "bias"}


def plan(problem: LpSvc, rule: Rule, start: np.ndarray | None = None) -> Plan:
    """Choose as for the linear problem."""
    plan: Plan = registry.planner(LINEAR)(problem.task, rule)
    return plan


def solve(
    problem: LpSvc, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve from alpha `start` (zeros if None), whose bias is 0."""
    coef = None if start is None else problem.coefficients(start)
    w0 = None if coef is None else np.append(coef, coef @ problem.means)
    found = registry.entry(LINEAR)(problem.task, monitor, rule, w0, seed, method)
    last = monitor.history[-1]
    w = np.append(found.w[:-1], found.w[-1] - found.w[:-1] @ problem.means)
    return problem.result(w, found.alpha, last["objective"], last["gap"], monitor.iterations, found.status)
