"""Cross-validation (-v), the search for C (-C) and sigmoids (-b 1) for partitioned rows.

Folds are as in memory, and no row is moved.  The driver holds labels, folds and predictions of all rows, some 30 bytes
each; every rank receives the folds of all rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.distributed.collective import Collective
from svmtool.distributed.kinds import kind_of
from svmtool.distributed.problems import DistributedReduction
from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag, Turns
from svmtool.params import Settings
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.calibration import FOLDS, NotCalibratedError, by_label, check, sigmoids
from svmtool.training.outcome import worst_status
from svmtool.training.validation.cross_validation import UNMOVED, Folds, checked_square
from svmtool.training.validation.folds import fold_rows


class Labels:
    """The part of a Dataset that Folds needs."""

    def __init__(self, labels: np.ndarray):
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)


class DistributedFolds(Folds):
    """See Folds.  whole: whether rows without weight are in the folds too, to be predicted."""

    def __init__(self, ranks: Collective, settings: Settings, wanted: int, whole: bool = True):
        self.ranks = ranks
        parts = ranks.surviving(lambda: ranks.gather("labels"))
        labels, weights = np.concatenate(parts), ranks.weights
        self.of_table = np.arange(len(labels)) if whole or weights is None else np.flatnonzero(weights > 0.0)
        if settings.row.task == "classification":
            ranks.surviving(lambda: ranks.gather("classes"))  # raises where labels are no classes
        super().__init__(Labels(labels[self.of_table]), settings, None, wanted)
        self.fold = np.empty(len(self.table), np.int32)
        for k in range(self.count):
            self.fold[self.order[self.starts[k] : self.starts[k + 1]]] = k
        fold = np.full(len(labels), self.count, np.int32)  # rows that are in no fold have no weight
        fold[self.of_table] = self.fold
        ranks.keep("take_folds", fold, np.cumsum([0, *map(len, parts)]))

    def largest_square(self, bias: float) -> float:
        parts = self.ranks.surviving(lambda: self.ranks.gather("largest_square", bias))
        return checked_square(max(parts, default=0.0))

    def problems(self, k: int, settings: Settings) -> DistributedReduction:
        """The problems of all rows but fold k, which is held out from now on."""
        self.ranks.keep("hold_out", k)
        inside, _ = fold_rows(self.order, self.starts, k, False)
        if self.ranks.weights is not None:
            inside = inside[self.ranks.weights[self.of_table[inside]] > 0.0]
        return kind_of(settings)(self.ranks, settings, self.table.labels[inside])

    def scores(self, problems: DistributedReduction, W: np.ndarray) -> np.ndarray:
        """Decision values of the rows held out, in their order, f8[m, columns]."""
        return np.concatenate(problems.surviving(lambda: self.ranks.gather("scores", problems.decisions(W))))

    def evaluate(self, settings: Settings, stop: StopFlag, warm: list | None = None) -> tuple[np.ndarray, bool]:
        """See Folds; one fold after the other."""
        predictions, moved, ends = np.empty(len(self.table)), False, []
        turns = Turns(stop, self.count, 1)
        warnings: dict[str, None] = {}
        for k in range(self.count):
            problems = self.problems(k, settings)
            warnings.update(dict.fromkeys(problems.warnings()))
            problems.any_start = warm is not None
            start = None if warm is None else warm[k]
            results, _ = problems.fit_and_certify(start, stop=turns.next())
            W = problems.weights(results)
            ends.append(TIME if any(r.status is TIME for r in results) else worst_status(results))
            moved |= start is not None and float(np.sqrt(np.sum((W - start) ** 2))) > UNMOVED
            if warm is not None:
                warm[k] = W
            predictions[self.fold == k] = problems.model(W).labels_from(self.scores(problems, W))
        if stop.set:
            raise KeyboardInterrupt
        self.open_ends: tuple[Status, ...] = tuple(end for end in ends if end is not None and not end.converged)
        self.warnings += warnings
        return predictions, moved


def calibrate(
    ranks: Collective, settings: Settings, labels: tuple[int, ...], stop: StopFlag, console: Any
) -> list[tuple[float, float]]:
    """See training/calibration.py; the ranks hold rows out from now on."""
    try:
        folds = DistributedFolds(ranks, settings.replace(stratified=True), FOLDS, whole=False)
    except SvmtoolError as e:
        raise NotCalibratedError(str(e)) from e
    values = np.empty((len(folds.table), 1 if len(labels) == 2 else len(labels)))
    for k in range(folds.count):
        check(stop)
        problems = folds.problems(k, settings)
        results, _ = problems.fit_and_certify(stop=stop)
        check(stop)
        W = problems.weights(results)
        model = problems.model(W)
        values[folds.fold == k] = by_label(model, model.class_values(folds.scores(problems, W)), labels)
    weights = np.ones(len(values)) if ranks.weights is None else ranks.weights[folds.of_table]
    return sigmoids(values, folds.table.labels, weights, labels)
