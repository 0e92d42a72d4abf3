"""Interior-point steps where another method is too slow, for powers of the hinge.

Any solver of such a problem can continue with them.  Their number varies little, so their cost can be compared with the
expected remaining cost of the other method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from svmtool.limits import EndedError
from svmtool.objectives import power_interior
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Status
from svmtool.solvers.shared.incumbent import Best
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import GRAM_BELOW, OPTIMAL_GAP, ROUNDOFF_GAP

if TYPE_CHECKING:
    from svmtool.solvers.shared.contest import Contest

NAME = "interior-point steps"  # in METHODS and the solver log


def possible(task: Task) -> bool:
    """Return whether the matrix of the features or of the rows is small, and all rows are in local memory."""
    rows = task.rows
    small = rows.d <= GRAM_BELOW or (power_interior.by_rows(rows) and rows.n <= GRAM_BELOW)
    return rows.in_memory and small and bool((task.cost > 0.0).all())


def candidate(task: Task, p: float, run: Contest, l1: bool = False) -> tuple[Callable[[], Status], float] | None:
    """What runs these steps on a task with this power of the hinge, and about their work; None: not possible."""
    if not possible(task):
        return None
    usual = power_interior.PROGRAMME_STEPS if l1 and p == 1.0 else power_interior.USUAL_STEPS
    work = usual * power_interior.step_cost(task.rows, l1)
    return lambda: interior_steps(power_interior.PowerInterior(task, p, l1), run.monitor, run.best), work


def interior_steps(run: power_interior.PowerInterior, monitor: Monitor, best: Best) -> Status:
    """Improve `best` until the requested gap is reached; return why the steps ended."""
    progress, monitor.progress = monitor.progress, None  # it monitored the other method
    monitor.uses(NAME, "they are expected to cost less than continuing")
    try:
        for t in run.steps():
            best.update(run.primal, run.w, run.dual, run.alpha)
            gap = relative_gap(best.primal, best.dual)
            status = monitor.step(
                best.primal, best.dual, inner_gradient=run.gradient, active=int(np.count_nonzero(run.alpha)), step=t
            )
            if status is None and gap <= OPTIMAL_GAP:
                status = base.OPTIMAL
            if status is not None:
                _take_dual_at_bounds(run, best, monitor)
                return status
    except EndedError:
        return monitor.end()
    monitor.progress = None if progress is None else Progress(progress.first)
    return base.OPTIMAL if best.gap <= ROUNDOFF_GAP else base.PRECISION


def _take_dual_at_bounds(run: power_interior.PowerInterior, best: Best, monitor: Monitor) -> None:
    """Take a dual point with multipliers at their bounds if the gap remains small enough."""
    with np.errstate(all="ignore"):
        alpha, value = run.dual_at_bounds()
    if relative_gap(best.primal, value) <= max(best.gap, OPTIMAL_GAP if monitor.gap is None else monitor.gap):
        best.dual, best.alpha = value, alpha
