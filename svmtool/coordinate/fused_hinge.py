"""Coordinate descent and multiplier rounds of a small hinge problem in one compiled call; see solvers/alm.py."""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.fused import fused_alm_loops
from svmtool.coordinate.hinge import chunk_of, random_state
from svmtool.data.replicated import stored_rows
from svmtool.objectives.task import Task


def fused_hinge(
    task: Task, w: np.ndarray, gap: float, pg_range: float, rounds: tuple[float, ...], epochs: int, worth: int,
    max_records: int, seed: int,
) -> tuple[list[list[float]], int, np.ndarray]:  # fmt: skip
    """Minimise from w (length d, overwritten by the best weights) in `max_records` steps; rows without a bias feature.

    pg_range: of the projected gradients, at which a run ends; epochs: before the rounds; worth: how many may be tried.
    rounds: sigma without and with first epochs, its largest value and its growth, and the share at which a round ends.
    Returns a record for each step (f, lower bound, |gradient|, rows with a multiplier, step, epochs so far), the code
    of why it ended (0 the limit of records, 1 the minimum, 2 the gap, 3 pg_range, 4 round-off) and the best dual point.
    """
    rows, n, d = stored_rows(task.rows), task.rows.n, task.rows.d
    chunk, alpha = chunk_of(rows), np.zeros(n)
    history = np.empty((max_records + 2, fused_alm_loops.ALM_FIELDS))
    code = fused_alm_loops.fused_hinge(
        *rows.narrow_arrays, task.y, task.cost, np.ones(n) if task.target is None else task.target, w, alpha,
        np.empty(6 * n + 2 * d * d + 3 * d + 17), np.empty(rows.n + rows.n // chunk + 1, np.int64),
        random_state(rows.n, seed), history, gap, pg_range, *rounds, chunk, epochs, worth, max_records,
    )  # fmt: skip
    return history[: int(history[-1, 0])].tolist(), code, alpha
