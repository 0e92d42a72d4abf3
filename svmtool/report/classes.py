"""Predictions of a classifier on a test set: measures, and what the pictures show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.formats.names import Names
from svmtool.metrics import ClassCounts, RankCurve, class_scores, log_loss, rank_places
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel


class Curve(NamedTuple):
    """Rows of a class and of the others that score at least each threshold, i8 each; the areas under both curves."""

    right: np.ndarray
    wrong: np.ndarray
    area: float
    average_precision: float


class Classes:
    """Counts, scores and curves of each class.

    labels         those of the model, then those that only the test set has; the first `known` are the model's
    names          their texts
    place          index of each row's label
    matrix         i8 (labels, labels): rows by true and predicted label
    counts         precision, recall and F1
    score_text     what the scores are
    probabilities  f8 (rows, model's labels), or None
    curves         of the model's labels, None for one without rows of both kinds; of two labels only the first has one
    log_loss       over the rows with a label of the model; nan without such rows or probabilities
    rank_error     mean distance of true and predicted rank; None unless labels are ranks
    """

    def __init__(self, model: LinearModel | KernelModel, table: Dataset, names: Names):
        decisions = model.decision_values(table)
        own = tuple(map(float, (1, -1) if model.labels is None else model.labels))
        truth = np.where(table.labels == 1.0, 1.0, -1.0) if model.kind == "one-class" else table.labels
        predicted = model.labels_from(decisions)
        self.probabilities = None
        if model.gives_probabilities and model.kind == "classification":
            self.probabilities = model.probabilities(decisions)
        self.counts = ClassCounts(own)
        self.counts.add(truth, predicted)
        self.labels, self.known = list(self.counts.actual), len(own)
        if model.kind == "one-class" and not names.classes:
            self.names = ["inside", "outside"]
        else:
            self.names = [names.of_class(label) for label in self.labels]
        order, k = np.argsort(self.labels), len(self.labels)
        ascending = np.array(self.labels)[order]
        self.place, place_predicted = (order[np.searchsorted(ascending, some)] for some in (truth, predicted))
        self.matrix = np.bincount(self.place * k + place_predicted, minlength=k * k).reshape(k, k)
        scores, self.score_text = _class_scores(model, decisions, self.probabilities)
        self.curves = [_curve(scores[:, c], self.place == c) for c in range(1 if self.known == 2 else self.known)]
        known = np.flatnonzero(self.place < self.known)
        likely = np.zeros(0) if self.probabilities is None else self.probabilities[known, self.place[known]]
        self.log_loss = log_loss(likely) if len(likely) else np.nan
        self.rank_error = None
        if model.is_ordinal:
            ranks = np.sort(np.array(own))
            self.rank_error = float(np.mean(np.abs(rank_places(predicted, ranks) - rank_places(truth, ranks))))

    @property
    def rows(self) -> int:
        return len(self.place)

    @property
    def right(self) -> int:
        """Rows that are predicted right."""
        return sum(self.counts.right.values())

    def ranked(self) -> list[int]:
        """The classes with a curve, the smallest area under it first."""
        return [k for _, k in sorted((curve.area, k) for k, curve in enumerate(self.curves) if curve is not None)]


def _curve(scores: np.ndarray, positive: np.ndarray) -> Curve | None:
    curve = RankCurve(1.0)
    curve.add(positive, scores)
    right, wrong = curve.counts()
    return Curve(right, wrong, curve.area(), curve.average_precision()) if right[-1] and wrong[-1] else None


def _class_scores(
    model: LinearModel | KernelModel, decisions: np.ndarray, probabilities: np.ndarray | None
) -> tuple[np.ndarray, str]:
    """A score of each class for each row, and what it is."""
    of_pairs = isinstance(model, KernelModel) and model.nr_class != 2
    if of_pairs and probabilities is not None:
        return probabilities, "probabilities"
    scores = np.column_stack(list(class_scores(model, decisions).values()))
    if of_pairs:
        return scores, "votes of the pairs, and the sums of their values where equal"
    return scores, "decision value" if model.nr_class <= 2 else "decision values"
