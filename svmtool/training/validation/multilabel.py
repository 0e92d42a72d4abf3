"""Rows with several labels, held out: micro and macro F1 of -v and -C, and the thresholds of --thresholds cv.

Of each fold only counts, or thresholds, are kept.

Thresholds: for each label and fold the threshold of the largest F1 on the rows held out; where that F1 is below
LEAST_F1, the largest decision value, so that rare labels are not given to many rows.  The mean over the folds counts.
Paper: Lewis, Yang, Rose and Li, RCV1: A New Benchmark Collection for Text Categorization Research, Journal of Machine
Learning Research 5 (2004) 361-397, SCutFBR.1 (Section 5.1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.data.label_sets import SetClasses
from svmtool.limits import StopFlag
from svmtool.metrics import LabelCounts
from svmtool.models.linear import THRESHOLDS_NOTE, LinearModel
from svmtool.params import Settings
from svmtool.progress import counted
from svmtool.solvers.shared.base import INTERRUPTED, TIME, Status
from svmtool.training.outcome import fold_warnings, worst_status
from svmtool.training.reductions.base import problems_of
from svmtool.training.validation import folds as draws
from svmtool.training.validation.cross_validation import Folds
from svmtool.training.validation.scores import PREDICTIONS, Measure

LEAST_F1 = 0.1  # the paper's fbr

# What takes a label, rows held out, i8[m], their decision values, f8[m], and whether each has the label, bool[m]
Take = Callable[[int, np.ndarray, np.ndarray, np.ndarray], object]


# of a HeldOut whose predictions are the LabelCounts of LabelFolds
MICRO_F1 = Measure("micro F1", ("classification",), PREDICTIONS, lambda held: held.predictions.micro_f1(), percent=True)
LABEL_MEASURES = {"micro-f1": LabelCounts.micro_f1, "macro-f1": LabelCounts.macro_f1}


class LabelFolds(Folds):
    """Folds of rows with several labels; `evaluate` gives LabelCounts in place of predictions.

    marks: where it is a list, `evaluate` adds the labels that each fold gives, with their rows.
    """

    marks: list[tuple[int, np.ndarray]] | None = None
    _before: Any = None

    def evaluate(self, settings: Settings, stop: StopFlag, *_: Any) -> tuple[Any, bool]:
        """Train every fold and count; also whether the counts are others than those of the last call."""
        counts = LabelCounts(SetClasses(self.table.sets).labels)
        place = {label: k for k, label in enumerate(counts.labels)}

        def _take(label: int, rows: np.ndarray, decisions: np.ndarray, has: np.ndarray) -> None:
            above = decisions > 0.0
            if self.marks is not None:
                self.marks.append((label, rows[above]))
            counts.predicted[place[label]] += np.count_nonzero(above)
            counts.right[place[label]] += np.count_nonzero(above & has)

        self.open_ends = _each_fold(self, settings, stop, _take)
        counts.actual[:] = SetClasses(self.table.sets).counts
        before, self._before = self._before, (counts.predicted, counts.right)
        return counts, not np.array_equal(before, self._before)


def add_thresholds(model: LinearModel, table: Dataset, settings: Settings, stop: StopFlag) -> list[str]:
    """Add the line with the thresholds of a model's labels, chosen by folds of the table; returns warnings.

    Where a limit or Ctrl-C ends the folds there are no thresholds.
    """
    found: dict[int, list[float]] = {label: [] for label in model.labels or ()}
    folds = LabelFolds(table.in_use(), settings, draws.FOLDS)
    try:
        ends = _each_fold(folds, settings, stop, lambda label, _, f, has: found[label].append(best_threshold(f, has)))
    except KeyboardInterrupt:
        ends = (INTERRUPTED,)
    why = "interrupted" if INTERRUPTED in ends else TIME.advice if TIME in ends else ""
    if why:
        return [f"WARNING: no thresholds (--thresholds cv): {why}: rows have the labels of decision values above 0"]
    means = (f"{np.mean(some) if some else 0.0:.17g}" for some in found.values())
    model.notes += (THRESHOLDS_NOTE + " ".join(means),)
    return fold_warnings(ends, folds.count, settings.row, "thresholds: ")


def best_threshold(decisions: np.ndarray, has: np.ndarray) -> float:
    """The threshold of the largest F1, see above; of equal ones the largest."""
    order = np.argsort(-decisions, kind="stable")
    values, right = decisions[order], np.cumsum(has[order])
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)  # equal values have one threshold
    f1 = 2.0 * right[ends] / (ends + 1 + max(int(right[-1]), 1))
    best = int(np.argmax(f1))
    if f1[best] < LEAST_F1:
        return float(values[0])
    above = float(values[ends[best]])
    below = float(values[ends[best] + 1]) if best + 1 < len(ends) else above - 1.0
    return 0.5 * (above + below)


def _each_fold(folds: Folds, settings: Settings, stop: StopFlag, take: Take) -> tuple[Status, ...]:
    """Call take for each label of each fold; returns the statuses that did not converge.

    KeyboardInterrupt once `stop` is set.
    """
    ends = []
    for k in counted("fold", range(folds.count)):
        inside, outside = draws.fold_rows(folds.order, folds.starts, k)
        problems, held = problems_of(folds.table.take(inside), settings), folds.table.take(outside)
        problems.seeded = problems.compact = True
        results = problems.fit(stop=stop)
        if stop.set:
            raise KeyboardInterrupt
        status = worst_status(results)
        if status is not None and not status.converged:
            ends.append(status)
        truth, problems.compact = SetClasses(held.sets), False
        rows = {label: truth.rows_of(c) for c, label in enumerate(truth.labels)}
        for label in reversed(problems.classes.labels):
            W, has = problems.weights([results.pop()]), np.zeros(len(held), bool)
            has[rows.get(label, [])] = True
            model = LinearModel(settings.row.word, (1, -1), problems.n_features, settings.problem.bias, W)
            take(label, outside, model.decision_values(held)[:, 0], has)
    return tuple(ends)
