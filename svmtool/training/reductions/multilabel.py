"""Reduction of rows with several labels each to one two-class problem for each label.

The problems are those of several classes (one_vs_rest.py).  Labels are in ascending order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.data.label_sets import LabelSets, SetClasses
from svmtool.errors import RowsError
from svmtool.models.linear import MULTILABEL_NOTE, LinearModel, stored_word
from svmtool.params import Settings
from svmtool.training.reductions.one_vs_rest import OneVsRest


class MultiLabel(OneVsRest):
    """The two-class problems of labels; see Reduction."""

    several = True
    by_sums = False  # sums by class are of rows with one class each

    def __init__(self, table: Dataset, settings: Settings):
        assert table.sets is not None
        used = table.used()
        self._sets: LabelSets = table.sets if used is None else table.sets.take(used)
        if not len(self._sets.labels):
            raise RowsError("no row has a label: --multilabel has nothing to train")
        super().__init__(table, settings)

    def _read_labels(self, labels: np.ndarray) -> None:
        self.classes: Any = SetClasses(self._sets)
        self.factor, self.missing = self.classes.weights(self.settings.problem.class_weights)

    def name(self, k: int) -> int:
        return self.classes.labels[k]

    def model(self, W: Any, notes: tuple[str, ...] = ()) -> LinearModel:
        """See Reduction."""
        labels, bias = tuple(self.classes.labels), self.settings.problem.bias
        word, count = stored_word(self.solver.word, len(labels)), self._sets.count
        note = MULTILABEL_NOTE + self.solver.word + ("" if count is None else f" of {count}")
        return LinearModel(word, labels, self.n_features, bias, W, notes=(note, *notes))

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction; columns are matched by label."""
        return self._start_with(model.W[:][:, self._columns_of(model)], model)
