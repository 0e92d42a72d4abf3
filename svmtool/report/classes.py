"""Predictions of a classifier on a test set, counted by class."""

from __future__ import annotations

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.formats.names import Names
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.report.curves import Curve, precision_recall, roc

MIN_LIKELIHOOD = 1e-15  # probabilities in the log loss are at least this


class Classes:
    """Counts, scores and curves of each class.

    labels         those of the model, then those that only the test set has
    names          their texts
    counts         i8 (labels, labels): rows by true and predicted label
    scores         f8 (rows, model's labels): the larger, the more the row looks like the class
    score_text     what the scores are
    probabilities  f8 (rows, model's labels), or None
    roc, pr        curves of the model's labels, None for one without rows of both kinds; with two labels only the
                   first has curves
    """

    def __init__(self, model: LinearModel | KernelModel, table: Dataset, names: Names):
        decisions = model.decision_values(table)
        own = (1, -1) if model.labels is None else model.labels
        truth = np.where(table.labels == 1.0, 1.0, -1.0) if model.kind == "one-class" else table.labels
        predicted = model.labels_from(decisions)
        self.probabilities = None
        if model.gives_probabilities and model.kind == "classification":
            self.probabilities = model.probabilities(decisions)
        others = sorted(set(np.unique(truth).tolist()) - set(map(float, own)))
        self.labels = [*map(float, own), *others]
        if model.kind == "one-class" and not names.classes:
            self.names = ["inside", "outside"]
        else:
            self.names = [names.of_class(label) for label in self.labels]
        self.known, self.unknown_rows = len(own), int(np.isin(truth, others).sum())
        order = np.argsort(self.labels)
        place = order[np.searchsorted(np.array(self.labels)[order], truth)]
        place_predicted = order[np.searchsorted(np.array(self.labels)[order], predicted)]
        k = len(self.labels)
        self.counts = np.bincount(place * k + place_predicted, minlength=k * k).reshape(k, k)
        self.place = place
        self.scores, self.score_text = _class_scores(model, decisions, self.probabilities)
        curved = range(1 if self.known == 2 else self.known)
        self.roc: list[Curve | None] = [roc(self.scores[:, c], place == c) for c in curved]
        self.pr: list[Curve | None] = [precision_recall(self.scores[:, c], place == c) for c in curved]

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    @property
    def accuracy(self) -> float:
        return float(np.trace(self.counts)) / self.rows

    @property
    def recall(self) -> np.ndarray:
        """Share of each class's rows that are predicted right, nan without rows."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=1))

    @property
    def precision(self) -> np.ndarray:
        """Share of the rows predicted as each class that are right, nan without such rows."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def f1(self) -> np.ndarray:
        """Harmonic mean of precision and recall of each class, 0 without right rows, nan without any rows."""
        return _shares(2 * np.diag(self.counts), self.counts.sum(axis=0) + self.counts.sum(axis=1))

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes with rows."""
        return float(np.nanmean(self.recall))

    def log_loss(self) -> float | None:
        """Mean of -log P(true label) over the rows with a label of the model; None without probabilities."""
        if self.probabilities is None:
            return None
        known = np.flatnonzero(self.place < self.known)
        if not len(known):
            return None
        return float(-np.mean(np.log(np.maximum(self.probabilities[known, self.place[known]], MIN_LIKELIHOOD))))


def ranked(curves: list[Curve | None]) -> tuple[int, int] | None:
    """The classes with the worst and the median area under their curve; None without curves."""
    order = sorted((curve.area, k) for k, curve in enumerate(curves) if curve is not None)
    return (order[0][1], order[len(order) // 2][1]) if order else None


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return part / whole


def _class_scores(
    model: LinearModel | KernelModel, decisions: np.ndarray, probabilities: np.ndarray | None
) -> tuple[np.ndarray, str]:
    """A score of each class for each row, and what it is."""
    if decisions.shape[1] == 1 or model.nr_class == 2:
        return np.column_stack([decisions[:, 0], -decisions[:, 0]]), "decision value"
    if isinstance(model, LinearModel):
        return decisions, "decision values"
    if probabilities is not None:
        return probabilities, "probabilities"
    k = model.nr_class
    votes, sums = np.zeros((2, len(decisions), k))
    pair = 0
    for i in range(k):
        for j in range(i + 1, k):
            f = decisions[:, pair]
            votes[:, i] += f > 0.0
            votes[:, j] += f <= 0.0
            sums[:, i] += f
            sums[:, j] -= f
            pair += 1
    return votes + sums / (3.0 * (1.0 + np.abs(sums))), "votes of the pairs, and the sums of their values where equal"
