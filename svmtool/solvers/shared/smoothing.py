"""What the solvers of NESVM share: Algorithm 1, and the first mu of Algorithm 2 (solvers/nesvm.py)."""

from __future__ import annotations

import numpy as np

from svmtool.objectives.duality import relative_gap
from svmtool.objectives.smoothed import Smoothed
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result, Status
from svmtool.tolerances import OPTIMAL_GAP

MU = 5.0  # the paper's, for Algorithm 1
MU_RISE = 1e2  # the first mu rises with C up to this many times: beyond, rounding coarsens the dual point
SMOOTHED = 0.1  # Algorithm 1: share of the gap that may come from F_mu's minimum not being reached

BLURRED = Status("blurred", False, "this smoothing cannot bring a smaller gap: lower --mu or leave out --no-homotopy")

# Texts of METHODS and plans.
PLAIN = "Algorithm 1: smoothed gradient steps with one mu"
NO_HOMOTOPY = "--no-homotopy"


def smoothed_hinge(task: Task, l1: bool) -> Smoothed:
    """The smoothed hinge of Algorithm 1, with --mu or the paper's mu."""
    return Smoothed(task, "hinge", l1, MU if task.options.mu is None else float(task.options.mu))


def first_mu(task: Task, unit: float) -> float:
    """The first mu of the homotopy: `--mu`, or one with which F_mu is no more curved at a large C than at 1.

    Where classes are separable a_i stays the same as C grows, and so must the curvature C_i / mu.
    """
    if task.options.mu is not None:
        return float(task.options.mu)
    return unit * rise(task)


def rise(task: Task) -> float:
    """The factor by which a large C raises costs, and with them curvatures, while a_i stays the same."""
    return min(max(1.0, float(np.mean(task.cost)) if task.rows.n else 1.0), MU_RISE)


def plain(objective: Smoothed, monitor: Monitor, start: np.ndarray | None = None) -> Result:
    """Run the paper's Algorithm 1."""
    L = objective.lipschitz()
    w_star = np.zeros(objective.d) if start is None else start
    w, total = w_star.copy(), np.zeros(objective.d)
    primal, dual, smooth, answer, alpha = np.inf, 0.0, -np.inf, w, np.zeros(objective.n)
    for k in range(1 << 30):
        # Steps 1 and 2: u and the gradient of F_mu
        g = objective.gradient(w)
        if objective.primal < primal:
            primal, answer = objective.primal, objective.answer
        if objective.bound > dual:
            dual, alpha = objective.bound, objective.alpha
        smooth = max(smooth, objective.smooth_bound)
        status = monitor.step(primal, dual, gradient=float(np.sqrt(g @ g)), active=0, cg=0, step=1.0 / L)
        if status is None and relative_gap(primal, dual) <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if status is None and objective.value - smooth <= SMOOTHED * (monitor.gap or 0.0) * primal:
            status = BLURRED
        if status is not None:
            return Result(answer, status, monitor.iterations, monitor.history, alpha)
        # Steps 3 and 4
        total += 0.5 * (k + 1) * g
        y = w - g / L  # (33)
        z = w_star - total / L  # (34)
        w = (2.0 * z + (k + 1.0) * y) / (k + 3.0)  # (35)
    raise AssertionError
