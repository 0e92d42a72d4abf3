"""Measures of predictions, accumulated block by block; `svm-predict --metrics` prints them.

Percentages are formatted as LIBLINEAR's accuracy; 0 / 0 counts as 0, as in scikit-learn.  Only the area under the ROC
curve keeps data of each row, nine bytes: its decision value and whether it is positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

COPIED_ROWS = 1 << 16  # rows copied at a time
BINS = 10  # of probabilities
MIN_TRUE_PROBABILITY = float(np.finfo(np.float64).eps)  # of the true class, so that the logarithm is finite
NO_EXPONENT = -4096  # exponent of values that are all 0
SAME_PREDICTIONS = "WARNING: all predictions are equal: their correlation with the targets is not defined"


class ClassCounts:
    """Counts of true and predicted labels, for precision, recall and F1."""

    def __init__(self, classes: tuple[float, ...] = ()):
        self.actual: dict[float, int] = dict.fromkeys(map(float, classes), 0)
        self.predicted: dict[float, int] = dict(self.actual)
        self.right: dict[float, int] = dict(self.actual)

    def add(self, labels: np.ndarray, predictions: np.ndarray) -> None:
        """Count n more rows: true and predicted labels, f8[n] each."""
        for counts, which in zip(self._all(), (labels, predictions, labels[labels == predictions]), strict=True):
            for label, n in zip(*(a.tolist() for a in np.unique(which, return_counts=True)), strict=True):
                counts[label] = counts.get(label, 0) + n

    def merge(self, other: ClassCounts) -> None:
        """Add the counts of another object."""
        for mine, more in zip(self._all(), other._all(), strict=True):
            for label, n in more.items():
                mine[label] = mine.get(label, 0) + n

    def _all(self) -> tuple[dict[float, int], ...]:
        return self.actual, self.predicted, self.right

    def rows(self) -> list[tuple[float, float, float, float, int]]:
        """(label, precision, recall, F1, true rows) of the model's classes, then of labels that only the data have."""
        found = []
        for label, actual in self.actual.items():
            right, predicted = self.right.get(label, 0), self.predicted.get(label, 0)
            found.append(
                (label, share(right, predicted), share(right, actual), share(2 * right, predicted + actual), actual)
            )
        return found

    def balanced_accuracy(self) -> float:
        """Unweighted mean of the recall of the classes that the data have; nan without rows."""
        recalls = [recall for _, _, recall, _, rows in self.rows() if rows]
        return sum(recalls) / len(recalls) if recalls else math.nan

    def macro(self) -> tuple[float, float, float]:
        """Unweighted means of precision, recall and F1 over all classes."""
        rows = self.rows()
        precision, recall, f1 = (share(sum(r[k] for r in rows), len(rows)) for k in (1, 2, 3))
        return precision, recall, f1


class LabelCounts:
    """Counts of rows that have each of many labels, true and predicted, i8[labels] each."""

    def __init__(self, labels: Sequence[int]):
        self.labels = list(labels)
        self.actual, self.predicted, self.right = np.zeros((3, len(self.labels)), np.int64)

    def micro_f1(self) -> float:
        """F1 of all decisions about a row and a label."""
        return share(2 * int(self.right.sum()), int(self.predicted.sum() + self.actual.sum()))

    def macro_f1(self) -> float:
        """Mean of F1 over the labels; 0 for a label that no row has and none is given."""
        total = self.predicted + self.actual
        return float(np.mean(2.0 * self.right / np.maximum(total, 1))) if len(total) else 0.0


class RankCurve:
    """ROC and precision-recall curves of decision values for one positive label against all others."""

    def __init__(self, positive: float, negative: float | None = None):
        self.positive, self.negative = positive, negative
        self.scores: list[np.ndarray] = []
        self.is_positive: list[np.ndarray] = []

    def add(self, labels: np.ndarray, scores: np.ndarray) -> None:
        """Add n rows; those of neither label are ignored (negative None: every other label is negative)."""
        is_positive = labels == self.positive
        if self.negative is not None:
            counted = is_positive | (labels == self.negative)
            is_positive, scores = is_positive[counted], scores[counted]
        self.is_positive.append(is_positive)
        self.scores.append(scores.copy())

    def merge(self, other: RankCurve) -> None:
        """Add the rows of another object."""
        self.is_positive += other.is_positive
        self.scores += other.scores

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Positive and negative rows that score at least each distinct score, the highest first, after a 0; i8 each.

        Divided by their last entries they are the ROC curve's rates.
        """
        scores = np.concatenate([np.zeros(0), *self.scores])
        is_positive = np.concatenate([np.zeros(0, bool), *self.is_positive])
        order = np.argsort(-scores, kind="stable")
        scores, right = scores[order], np.cumsum(is_positive[order])
        ends = np.flatnonzero(np.append(scores[1:] != scores[:-1], True)[: len(scores)])  # equal: one threshold
        return np.append(0, right[ends]), np.append(0, ends + 1 - right[ends])

    def area(self) -> float:
        """Probability that a positive row scores above a negative one, ties count half; nan if one kind is absent."""
        right, wrong = self.counts()
        pairs = int(right[-1]) * int(wrong[-1])
        return int(np.sum(np.diff(wrong) * (right[1:] + right[:-1]))) / 2 / pairs if pairs else math.nan

    def average_precision(self) -> float:
        """Sum over all thresholds of the precision times the gain in recall; nan without positive rows."""
        right, wrong = self.counts()
        if not right[-1]:
            return math.nan
        return float(np.sum(right[1:] / (right[1:] + wrong[1:]) * np.diff(right)) / right[-1])


class RegressionErrors:
    """Errors of a regression and the correlation of predictions and targets, accumulated block by block.

    Moments are central and scaled by a power of two.  LIBLINEAR's sums of squares lose digits where values lie close
    together far from 0, and overflow or underflow beyond 1e77 and 1e-81.  Arrays hold two entries: predictions,
    targets.
    """

    def __init__(self) -> None:
        self.n, self.squared, self.absolute = 0, 0.0, 0.0
        self.lowest, self.highest = np.full(2, math.inf), np.full(2, -math.inf)
        self.exponents, self.means, self.products = np.full(2, NO_EXPONENT), np.zeros(2), np.zeros((2, 2))

    def add(self, labels: np.ndarray, predictions: np.ndarray) -> None:
        """Add n rows: targets and predictions, f8[n] each."""
        for at in range(0, len(labels), COPIED_ROWS):
            self._add(np.stack((predictions[at : at + COPIED_ROWS], labels[at : at + COPIED_ROWS])))

    def merge(self, other: RegressionErrors) -> None:
        """Add the rows of another object."""
        if other.n == 0:
            return
        n = self.n + other.n
        self.squared, self.absolute = self.squared + other.squared, self.absolute + other.absolute
        self.lowest = np.minimum(self.lowest, other.lowest)
        self.highest = np.maximum(self.highest, other.highest)
        exponents = np.maximum(self.exponents, other.exponents)
        mine, theirs = np.ldexp(1.0, self.exponents - exponents), np.ldexp(1.0, other.exponents - exponents)
        shift = theirs * other.means - mine * self.means
        self.products = (
            self.products * np.outer(mine, mine)
            + other.products * np.outer(theirs, theirs)
            + np.outer(shift, shift) * (self.n / n * other.n)
        )
        self.means = mine * self.means + shift * (other.n / n)
        self.exponents, self.n = exponents, n

    def _add(self, values: np.ndarray) -> None:
        """Add rows given as the columns of f8[2, n]."""
        block = RegressionErrors()
        with np.errstate(over="ignore", invalid="ignore"):  # infinite labels give nan, as in C
            errors = np.abs(values[0] - values[1])
            block.squared, block.absolute = float(np.dot(errors, errors)), float(np.sum(errors))
            block.n, block.lowest, block.highest = len(errors), values.min(axis=1), values.max(axis=1)
            largest = np.maximum(-block.lowest, block.highest)
            block.exponents = np.where(largest > 0.0, np.frexp(largest)[1], NO_EXPONENT)
            values = np.ldexp(values, -block.exponents[:, None])
            block.means = values.mean(axis=1)
            values -= block.means[:, None]
            block.products = values @ values.T
            self.merge(block)

    @property
    def constant(self) -> tuple[bool, bool]:
        """Whether the predictions, and the targets, are all equal."""
        predictions, targets = (self.lowest == self.highest).tolist()
        return predictions, targets

    def mean_squared(self) -> str:
        """As C prints it with %g."""
        return quotient(self.squared, self.n)

    def mean_absolute(self) -> str:
        return quotient(self.absolute, self.n)

    def squared_correlation(self) -> str:
        """As LIBLINEAR prints it: -nan (undefined) if all predictions or all targets are equal."""
        if self.n == 0 or any(self.constant):
            return quotient(0.0, 0.0)
        (pp, py), (_, yy) = self.products.tolist()
        return quotient(py / pp * py, yy)

    def determination(self) -> float:
        """R2 = 1 - squared error / total sum of squares of the targets; nan if all targets are equal."""
        if self.n == 0 or self.constant[1]:
            return math.nan
        total = float(np.ldexp(self.products[1, 1], 2 * self.exponents[1]))
        return 1.0 - self.squared / total if 0.0 < total < math.inf else math.nan

    def warnings(self) -> list[str]:
        """Warnings for stderr: all predictions are equal.  Equal targets are in the user's data and need no warning."""
        return [SAME_PREDICTIONS] if self.n and self.constant == (True, False) else []


def calibration(probabilities: np.ndarray, came_true: np.ndarray, bins: int = BINS) -> tuple[np.ndarray, ...]:
    """Of bins of equal width that hold rows: lower end, rows, mean probability, and the share that came true."""
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    rows = np.bincount(place, minlength=bins)
    held = np.flatnonzero(rows)
    mean, observed = (np.bincount(place, values, bins)[held] / rows[held] for values in (probabilities, came_true))
    return held / bins, rows[held], mean, observed


def log_loss(likely: np.ndarray) -> float:
    """Mean of -log of the probabilities of the true labels, f8[n]; nan without rows."""
    return float(-np.mean(np.log(np.maximum(likely, MIN_TRUE_PROBABILITY)))) if len(likely) else math.nan


def class_scores(model: Any, decisions: np.ndarray) -> dict[int, np.ndarray]:
    """A score of each label that a model knows, f8[n], by decision values f8 (n, columns)."""
    labels = (1, -1) if model.labels is None else model.labels  # None: one-class
    if len(labels) == 2:
        return {labels[0]: decisions[:, 0], labels[1]: -decisions[:, 0]}
    return _pair_votes(labels, decisions) if hasattr(model, "kernel") else dict(zip(labels, decisions.T, strict=True))


def _pair_votes(labels: tuple[int, ...], decisions: np.ndarray) -> dict[int, np.ndarray]:
    """Votes of one-vs-one for each label, between which sums of decision values, squeezed below 1/2, decide ties."""
    votes = {label: np.zeros(len(decisions)) for label in labels}
    sums = {label: np.zeros(len(decisions)) for label in labels}
    for (a, b), values in zip(combinations(labels, 2), decisions.T, strict=True):
        votes[a] += values > 0.0
        votes[b] += values <= 0.0
        sums[a] += values
        sums[b] -= values
    return {label: votes[label] + 0.5 * sums[label] / (1.0 + np.abs(sums[label])) for label in labels}


def rank_places(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Index of each value (f8[n]) in `ranks` (ascending); halfway between two indices if it is no rank."""
    return 0.5 * (np.searchsorted(ranks, values, "left") + np.searchsorted(ranks, values, "right") - 1.0)


def quotient(a: float, b: float) -> str:
    """a / b as C prints it with %g; 0 / 0 is -nan there."""
    if b:
        return "-nan" if a / b != a / b else "%g" % (a / b)
    return "inf" if a > 0 else "-inf" if a < 0 else "-nan"


def share(part: float, whole: float) -> float:
    """part / whole; 0 if the whole is 0."""
    return part / whole if whole else 0.0
