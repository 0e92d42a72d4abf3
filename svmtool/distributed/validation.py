"""Cross-validation (-v), the search for C (-C) and sigmoids (-b 1) for partitioned rows.

Folds are those of training in memory; no row is moved.  The driver holds labels, folds and predictions, some 30 bytes a
row, and sends the folds to all ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.distributed.collective import Collective
from svmtool.distributed.kinds import reduction_of
from svmtool.distributed.reductions import DistributedReduction
from svmtool.errors import SvmtoolError
from svmtool.limits import StopFlag, TimeShares
from svmtool.params import Settings
from svmtool.solvers.shared.base import TIME, Status
from svmtool.training.calibration import FOLDS, NotCalibratedError, by_label, check, sigmoids
from svmtool.training.outcome import worst_status
from svmtool.training.validation.cross_validation import UNMOVED, Folds, checked_square
from svmtool.training.validation.folds import fold_rows


class Labels:
    """The part of a Dataset that Folds uses."""

    def __init__(self, labels: np.ndarray):
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)


class DistributedFolds(Folds):
    """Folds of distributed rows.  whole: whether rows of weight 0 are in the folds too, and so are predicted."""

    def __init__(self, ranks: Collective, settings: Settings, wanted: int, whole: bool = True):
        self.ranks = ranks
        parts = ranks.surviving(lambda: ranks.gather("labels"))
        labels, weights = np.concatenate(parts), ranks.weights
        self.of_table = np.arange(len(labels)) if whole or weights is None else np.flatnonzero(weights > 0.0)
        super().__init__(Labels(labels[self.of_table]), settings, None, wanted)
        self.fold = np.empty(len(self.table), np.int32)
        for k in range(self.count):
            self.fold[self.order[self.starts[k] : self.starts[k + 1]]] = k
        fold = np.full(len(labels), self.count, np.int32)  # rows in no fold have weight 0
        fold[self.of_table] = self.fold
        ranks.keep("take_folds", fold, np.cumsum([0, *map(len, parts)]))

    def largest_square(self, bias: float) -> float:
        parts = self.ranks.surviving(lambda: self.ranks.gather("largest_square", bias))
        return checked_square(max(parts, default=0.0))

    def problems(self, k: int, settings: Settings) -> DistributedReduction:
        """Hold out fold k from now on; returns the reduction of the other rows."""
        self.ranks.keep("hold_out", k)
        inside, _ = fold_rows(self.order, self.starts, k, False)
        if self.ranks.weights is not None:
            inside = inside[self.ranks.weights[self.of_table[inside]] > 0.0]
        return reduction_of(settings)(self.ranks, settings, self.table.labels[inside])

    def scores(self, problems: DistributedReduction, W: np.ndarray) -> np.ndarray:
        """Decision values f8[m, columns] of the rows held out."""
        return np.concatenate(problems.surviving(lambda: self.ranks.gather("scores", problems.decisions(W))))

    def evaluate(self, settings: Settings, stop: StopFlag, warm: list | None = None) -> tuple[np.ndarray, bool]:
        """See Folds; folds are trained one after the other."""
        predictions, moved, ends = np.empty(len(self.table)), False, []
        shares = TimeShares(stop, self.count, 1)
        warnings: dict[str, None] = {}
        for k in range(self.count):
            problems = self.problems(k, settings)
            warnings.update(dict.fromkeys(problems.warnings()))
            problems.any_start = warm is not None
            start = None if warm is None else warm[k]
            results, _ = problems.fit_and_certify(start, stop=shares.next())
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
    """Fit sigmoids, see training/calibration.py; afterwards the ranks still hold out rows."""
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
