"""Interior-point steps where another method is too slow: powers of the hinge, Crammer-Singer.

Any solver of such a problem can continue with them.  Their number varies little, so their cost can be compared with the
expected remaining cost of the other method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.engine.slower import Slower
from svmtool.limits import EndedError
from svmtool.objectives import power_interior
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Status
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import GRAM_BELOW, OPTIMAL_GAP, ROUNDOFF_GAP

if TYPE_CHECKING:
    from svmtool.objectives.class_interior import ClassInterior

NAME = "interior-point steps"  # in METHODS and the solver log


def possible(task: Task) -> bool:
    """Return whether the matrix of the features or of the rows is small, and all rows are in local memory."""
    rows = task.rows
    small = rows.d <= GRAM_BELOW or (power_interior.by_rows(rows) and rows.n <= GRAM_BELOW)
    return rows.in_memory and small and bool(np.all(task.cost > 0.0))


def slower(task: Task, iteration_cost: float, target_gap: float) -> Slower:
    """Decides whether an iterative method is slower than interior-point steps, by the number of its iterations.

    task: one for which they are `possible`; iteration_cost: cost of one of the method's iterations, in the units of
    coordinate/hinge.py; target_gap: the gap that ends it.
    """
    steps = power_interior.USUAL_STEPS * power_interior.step_cost(task.rows) / max(iteration_cost, 1.0)
    return Slower(steps, target_gap, 1.0)


def interior_steps(
    run: power_interior.PowerInterior | ClassInterior, monitor: Monitor, best: Best, gap_tol: float = OPTIMAL_GAP
) -> Status:
    """Improve `best` until the requested gap is reached; return why the steps ended.

    gap_tol: the gap that ends a run for which none was requested.
    """
    monitor.progress = None  # it monitored the other method
    monitor.uses(NAME, "they are expected to cost less than continuing")
    try:
        for t in run.steps():
            best.update(run.primal, run.w, run.dual, run.alpha)
            gap = relative_gap(best.primal, best.dual)
            status = monitor.step(
                best.primal, best.dual, inner_gradient=run.gradient, active=int(np.count_nonzero(run.alpha)), step=t
            )
            if status is None and gap <= gap_tol:
                status = base.OPTIMAL if gap <= OPTIMAL_GAP else base.RULE
            if status is not None:
                _take_dual_at_bounds(run, best, monitor)
                return status
    except EndedError:
        return monitor.end()
    return base.OPTIMAL if best.gap <= ROUNDOFF_GAP else base.PRECISION


def _take_dual_at_bounds(run: power_interior.PowerInterior | ClassInterior, best: Best, monitor: Monitor) -> None:
    """Take a dual point with multipliers at their bounds if the gap remains small enough."""
    with np.errstate(all="ignore"):
        alpha, value = run.dual_at_bounds()
    if relative_gap(best.primal, value) <= max(best.gap, OPTIMAL_GAP if monitor.gap is None else monitor.gap):
        best.dual, best.alpha = value, alpha
