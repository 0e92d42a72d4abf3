"""LP-SVM in many features: some columns at a time, those that the dual point asks for (see nesvm.py).

    min |w|_1 + sum_i C_i max(0, target_i - y_i x_i.w)      dual: |sum_i a_i y_i x_ij| <= 1 for each column j

The answer over some columns is feasible for all, and its dual point is once it is shrunk to the largest of these sums:
no more than a part of the gap so far is left of each choice's own.  Columns that are idle leave again.  Column
generation as in A. Dedieu, R. Mazumder and H. Wang, Solving L1-regularized SVMs and related linear programs, JMLR 23
(2022).  A choice is solved by interior point steps (problem/l1_interior.py); gaps too small and choices too large for
these are left to the homotopy's stages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.problem.certify import relative_gap
from svmtool.problem.l1_hinge import L1Columns, balanced
from svmtool.problem.l1_interior import L1Interior
from svmtool.problem.rows import CsrRows
from svmtool.problem.task import Task
from svmtool.solvers import base
from svmtool.solvers.base import Monitor, Result, Status
from svmtool.solvers.best import Best
from svmtool.solvers.newton import rounded

COLUMNS = 200  # at least so many columns come in at a time
NEARLY = 0.8  # sums from which a column comes in, where there are any above 1
IDLE = 0.8  # sums below which a column whose weight is zero leaves again, ...
PROGRESS = 0.95  # ... but only where the gap has fallen to this share since some last did: none comes and goes for ever
FAR, INWARD = 1.5, 0.95  # a largest sum from which the next steps begin at the shrunk dual point, and its sum there
INNER_GAP = 0.3  # share of the whole gap to which a choice of columns is solved
INTERIOR_TO = 1e-4  # gaps up to which the steps keep inside
INTERIOR_COLUMNS = 6000  # columns up to which they do: three matrices of this order are held
MOST_STEPS = 100  # of a choice
EXACT = 1e-12  # certified gap of an exact minimiser


def by_columns(task: Task, monitor: Monitor, start: np.ndarray | None, stages: Callable) -> Result:
    """The answer, from `start` (zeros if None); stages(task, monitor, w, before) makes the homotopy of a choice."""
    rows, m = task.rows, task.rows.plain
    assert isinstance(rows, CsrRows)
    whole = L1Columns(task)
    w = np.zeros(rows.d) if start is None else start.copy()
    primal, answer, dual, alpha = whole.primal(w), w, 0.0, np.zeros(rows.n)
    pull = whole.pull(whole.slopes(w))
    status = monitor.step(primal, dual, gradient=0.0, active=0, cg=0, step=0.0)
    inside: L1Interior | None = None  # the last choice's steps, and its stages
    kept: Any = None
    used, left, wished, last = np.flatnonzero(w[:m]), 1.0, 1.0, alpha  # left: the gap of the last choice's answer, ...
    a, shrunk, apart = alpha, 1.0, primal  # ... its balanced dual point, the largest sum of that, and P - D
    support, least = w[:m] != 0.0, 1.0  # weights of the last answer that are not zero; the gap when columns left last
    interior = True
    while status is None:
        first = inside is None and kept is None
        size = np.abs(pull[:m])
        most = max(COLUMNS, int(np.count_nonzero(support)))
        wanted = np.setdiff1d(np.argsort(-size, kind="stable")[:most], used)
        if not first:
            wanted = wanted[size[wanted] > (NEARLY if size.max(initial=0.0) > 1.0 else 1.0)]
        gap = relative_gap(primal, dual)
        if gap < PROGRESS * least:
            least = gap
            used = used[support[used] | (size[used] > IDLE)]
        used = np.union1d(used, wanted)
        at = np.append(used, m) if rows.bias >= 0 else used
        part = Task(rows.columns(used), task.y, task.cost, task.free_bias, task.target)
        before, wished = wished, max(INNER_GAP * left, 0.3 * (monitor.gap or 0.0))
        if not first and not len(wanted):  # it is not for want of columns that the gap is what it is
            wished = min(wished, 0.1 * before)
        inner = Monitor(wished, None, monitor.max_seconds, None, monitor.stop, monitor.started)
        interior = interior and wished >= INTERIOR_TO and len(used) <= INTERIOR_COLUMNS
        if interior:
            inside, best, ended = _steps_inside(_start_inside(part, w[at], inside, a, shrunk, apart), inner)
            interior = ended is not base.PRECISION
            v = inside.w
        else:
            run = stages(part, inner, w[at], kept)
            if not first:
                run.follow(last, pull[at[: run.objective.m]], kept)
            ended, kept, best = run.stages(), run, run.best
            v = best.w
        w, found, last = np.zeros(rows.d), np.zeros(rows.d), best.alpha
        w[at], found[at] = v, best.w
        support = found[:m] != 0.0
        if best.primal < primal:
            primal, answer = best.primal, found
        a = balanced(task, best.alpha)
        pull = whole.pull(a)
        shrunk = max(1.0, float(np.abs(pull).max(initial=0.0)))
        bound = float(whole.target @ a) / shrunk
        if bound > dual:
            dual, alpha = bound, best.alpha
        left, apart = relative_gap(best.primal, bound), best.primal - bound
        status = monitor.step(primal, dual, gradient=shrunk - 1.0, active=len(used), cg=0, step=1.0)
        if status is None and relative_gap(primal, dual) <= EXACT:
            status = base.OPTIMAL
        if status is None and ended is base.OPTIMAL and not len(wanted):
            status = rounded(primal, dual)
        if status is None and not ended.converged and (kept is not None or interior):
            status = ended
    return Result(answer, status, monitor.iterations, monitor.history, alpha)


def _start_inside(
    task: Task, w: np.ndarray, before: L1Interior | None, a: np.ndarray, shrunk: float, apart: float
) -> L1Interior:
    """Where steps for a choice begin: at w and the last choice's dual variables.

    a: its dual point (f8[n]), balanced; shrunk: the largest sum of it; apart: P - D of its answer over all columns.
    Where a is far from feasible the steps are no longer than the little room that new columns are given: a is brought
    inside, and mu is the mean of all products there.
    """
    if before is None:
        return L1Interior(task, w)
    if shrunk <= FAR:
        return L1Interior(task, w, before.a, before.mu)
    mean = apart / (2.0 * (task.rows.n + task.rows.d))
    return L1Interior(task, w, (INWARD / shrunk) * a, max(before.mu, mean))


def _steps_inside(run: L1Interior, monitor: Monitor) -> tuple[L1Interior, Best, Status]:
    """Interior point steps until the monitor ends them or they fail."""
    best = Best(run)
    for _ in range(MOST_STEPS):
        moved = run.step()
        run.judge()
        best.take(run.primal, run.answer, run.bound, run.alpha)
        status = monitor.step(best.primal, best.dual)
        if status is None and not moved:
            status = base.PRECISION
        if status is not None:
            return run, best, status
    return run, best, base.PRECISION
