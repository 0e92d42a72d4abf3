"""Small problems: all steps of a solver in one compiled call, which ends sooner than Python could follow it.

A call makes at most MOST_ROUNDS rounds, or as many as visit MOST_VISITS non-zeros: limits are checked between calls.
"""

from __future__ import annotations

from svmtool.data.replicated import of_data
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Status
from svmtool.solvers.shared.newton import rounded

# Most features, most non-zeros of a lone problem, and of one among several, which share the cores
MOST_FEATURES, MOST_VALUES, MOST_VALUES_OF_SEVERAL = 64, 1 << 16, 1 << 21
MOST_ROUNDS, MOST_VISITS = 200, 1 << 26
ENDS = (None, base.OPTIMAL, base.GAP, base.RULE, base.PRECISION)  # statuses by the return code of a call


def fits(task: Task) -> bool:
    """Return whether a round takes less time than its calls from Python: few features, little data, no bias feature."""
    rows, most = of_data(task.rows), MOST_VALUES_OF_SEVERAL if task.one_of_several else MOST_VALUES
    small = rows.n > 0 and rows.d <= MOST_FEATURES and rows.nnz <= most
    return small and rows.bias < 0 and rows.offers_coordinate_descent


def most_rounds(monitor: Monitor, numbers: int, visits: int = MOST_VISITS) -> int:
    """Return how many rounds a call may make in which each visits this many numbers, and all at most `visits`."""
    most = min(MOST_ROUNDS, visits // max(numbers, 1), monitor.call_rounds)
    return most if monitor.max_iter is None else min(most, monitor.max_iter + 1)


def end(monitor: Monitor, records: list[list[float]], code: int) -> Status | None:
    """Record the rounds of a call (`fused_newton` of the objectives); return why it ended.

    None if it made all its rounds and nothing else ends the run.
    """
    status = None
    for f, bound, norm, active, t in records:
        status = monitor.step(f, bound, gradient=norm, active=int(active), cg=0, step=t)
    if ENDS[code] is base.PRECISION:
        return rounded(*records[-1][:2])
    if ENDS[code] is base.GAP and monitor.gap is None:
        return base.RULE
    return ENDS[code] or status
