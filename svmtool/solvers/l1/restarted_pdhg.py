"""LP-SVM with many features by restarted PDHG (see nesvm_lp.py).

The steps, and the choice of rows and columns that they go over: objectives/l1/pdhg.py.  They need thousands of passes,
but over few rows and columns, and solve no system.
"""

from __future__ import annotations

from svmtool.objectives.l1.pdhg import FEWEST, L1Pdhg
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Status
from svmtool.solvers.shared.incumbent import Best
from svmtool.tolerances import OPTIMAL_GAP

FIRST, EVALUATIONS = 40, 0.1  # steps before rows and columns are chosen; their share between evaluations
FASTER, PATIENCE, LEAST = 0.7, 2.0, 4000  # the gap falls to that share while steps grow by that factor and number
LONGEST = 1 << 23  # numbers that steps go over between two checks of the limits


def in_rounds(
    task: Task, monitor: Monitor, best: Best, fewest: int = FEWEST, faster: float = FASTER, slow_steps: int = LEAST
) -> Status | None:
    """Improve `best` until the gap reaches the target; returns why the run ended, None where steps are too slow.

    fewest: rows and columns that are kept at least.  faster, slow_steps: FASTER and LEAST.
    """
    run, status = L1Pdhg(task, best.w, fewest), None
    least, at = best.gap, 0  # the gap when it last fell well, and after how many steps that was
    burst = max(1, LONGEST // max(task.rows.nnz, 1))
    while status is None:
        wanted = run.steps + max(FIRST, int(EVALUATIONS * run.steps))
        while run.steps < wanted and status is None:
            run.run(min(burst, wanted - run.steps))
            status = monitor.limit()
        run.evaluate()
        best.take(run.primal, run.answer, run.bound, run.alpha)
        now = monitor.step(best.primal, best.dual, gradient=run.excess, active=run.columns, cg=0, step=1.0)
        status = now or status
        if status is None and best.gap <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if best.gap <= faster * least:
            least, at = best.gap, run.steps
        elif run.steps > PATIENCE * at + slow_steps:
            break
        if status is None:
            run.choose()
    return status
