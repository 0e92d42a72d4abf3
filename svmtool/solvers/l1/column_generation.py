"""LP-SVM with many features by column generation: columns enter where the dual point violates their constraint.

    min |w|_1 + sum_i C_i max(0, target_i - y_i x_i.w)      dual: |sum_i a_i y_i x_ij| <= 1 for each column j

The answer over some columns is feasible for all of them, and so is its dual point once it is shrunk by the largest of
these sums.  Each choice is solved to a part of the gap so far.  Columns of weight zero leave again.  Column
generation as in A. Dedieu, R. Mazumder and H. Wang, Solving L1-regularized SVMs and related linear programs, JMLR 23
(2022).  A choice is solved by the homotopy's stages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1.hinge import L1Columns
from svmtool.objectives.task import Task
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Status
from svmtool.solvers.shared.incumbent import Best
from svmtool.solvers.shared.newton import rounded
from svmtool.tolerances import OPTIMAL_GAP

COLUMNS = 200  # least number of columns that enter at a time
NEARLY = 0.8  # sums from which a column enters, if any sum is above 1
IDLE = 0.8  # sums below which a column of weight zero leaves again, ...
PROGRESS = 0.95  # ... but only where the gap has fallen to this share since some last did: none comes and goes for ever
INNER_GAP = 0.3  # share of the whole gap to which a choice of columns is solved


def by_columns(
    task: Task, monitor: Monitor, best: Best, stages: Callable, columns: int = COLUMNS, progress: float = PROGRESS
) -> Status:
    """Improve `best` until the gap reaches the target; returns why the run ended.

    stages(task, monitor, w, before) makes the homotopy of a choice.  columns: COLUMNS; progress: PROGRESS.
    """
    rows, m = task.rows, task.rows.plain
    whole = L1Columns(task)
    w, last, pull = best.w, best.alpha, whole.pull(best.alpha)
    run: Any = None  # the last choice's stages
    used, left, wished = np.flatnonzero(w[:m]), best.gap, 1.0  # left: the gap of the last choice
    support, least = w[:m] != 0.0, 1.0  # non-zero weights of the last choice; the gap when columns left last
    status = None
    while status is None:
        size = np.abs(pull)
        most = max(columns, int(np.count_nonzero(support)))
        wanted = np.setdiff1d(np.argsort(-size[:m], kind="stable")[:most], used)
        if run is not None:
            wanted = wanted[size[wanted] > (NEARLY if size.max(initial=0.0) > 1.0 else 1.0)]
        if best.gap < progress * least:
            least = best.gap
            used = used[support[used] | (size[used] > IDLE)]
        used = np.union1d(used, wanted)
        at = np.append(used, m) if rows.bias >= 0 else used
        part = Task(rows.columns(used), task.y, task.cost, task.free_bias, task.target)
        before, wished = wished, max(INNER_GAP * left, 0.3 * (monitor.gap or 0.0))
        if not len(wanted):  # no column to enter: solve this choice more accurately
            wished = min(wished, 0.1 * before)
        inner = monitor.child(wished)
        kept, run = run, stages(part, inner, w[at], run)
        run.follow(last, pull[at[: run.objective.m]], kept)
        ended = run.stages()
        w, last = np.zeros(rows.d), run.best.alpha
        w[at] = run.best.w
        support = w[:m] != 0.0
        pull, largest, alpha = whole.feasible(last)
        bound = float(whole.target @ alpha)
        best.take(run.best.primal, w, bound, alpha)
        left = relative_gap(run.best.primal, bound)
        status = monitor.step(best.primal, best.dual, gradient=largest - 1.0, active=len(used), cg=0, step=1.0)
        if status is None and best.gap <= OPTIMAL_GAP:
            status = base.OPTIMAL
        if status is None and ended is base.OPTIMAL and not len(wanted):
            status = rounded(best.primal, best.dual)
        if status is None and not ended.converged:
            status = ended
    return status
