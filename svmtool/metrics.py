"""Measures of predictions, gathered block by block.  Needs numpy; `svm-predict --metrics` prints them.

Percentages follow LIBLINEAR's accuracy line; what is 0 / 0 counts as 0, as scikit-learn does.
Only the area under the ROC curve must keep something of each row: its decision value and its side, nine bytes.
"""

from __future__ import annotations

import numpy as np


class ClassCounts:
    """Counts of true and predicted labels, for precision, recall and F1."""

    def __init__(self, classes: tuple[float, ...] = ()):
        self.actual: dict[float, int] = dict.fromkeys(map(float, classes), 0)
        self.predicted: dict[float, int] = dict(self.actual)
        self.right: dict[float, int] = dict(self.actual)

    def add(self, labels: np.ndarray, predictions: np.ndarray) -> None:
        """Count n more rows: true and predicted labels, f8[n] each."""
        for counts, which in (
            (self.actual, labels),
            (self.predicted, predictions),
            (self.right, labels[labels == predictions]),
        ):
            for label, n in zip(*(a.tolist() for a in np.unique(which, return_counts=True)), strict=True):
                counts[label] = counts.get(label, 0) + n

    def take(self, other: ClassCounts) -> None:
        """Count what another has counted."""
        for mine, more in zip(self._all(), other._all(), strict=True):
            for label, n in more.items():
                mine[label] = mine.get(label, 0) + n

    def _all(self) -> tuple[dict[float, int], ...]:
        return self.actual, self.predicted, self.right

    def rows(self) -> list[tuple[float, float, float, float, int]]:
        """(label, precision, recall, F1, true rows): the model's classes first, then labels only the data has."""
        found = []
        for label, actual in self.actual.items():
            right, predicted = self.right.get(label, 0), self.predicted.get(label, 0)
            found.append(
                (label, share(right, predicted), share(right, actual), share(2 * right, predicted + actual), actual)
            )
        return found

    def macro(self) -> tuple[float, float, float]:
        """Unweighted means of precision, recall and F1 over all classes."""
        rows = self.rows()
        precision, recall, f1 = (share(sum(r[k] for r in rows), len(rows)) for k in (1, 2, 3))
        return precision, recall, f1


class RankCurve:
    """Area under the ROC curve of decision values for one positive label against all others."""

    def __init__(self, positive: float, negative: float | None = None):
        self.positive, self.negative = positive, negative
        self.scores: list[np.ndarray] = []
        self.sides: list[np.ndarray] = []

    def add(self, labels: np.ndarray, scores: np.ndarray) -> None:
        """Take n more rows; rows of neither label do not count (negative None: all others are negative)."""
        sides = labels == self.positive
        if self.negative is not None:
            counted = sides | (labels == self.negative)
            sides, scores = sides[counted], scores[counted]
        self.sides.append(sides)
        self.scores.append(scores.copy())

    def take(self, other: RankCurve) -> None:
        """Take the rows that another has taken."""
        self.sides += other.sides
        self.scores += other.scores

    def area(self) -> float:
        """Chance that a positive row scores above a negative one, ties half; nan where one side is empty."""
        if not self.scores:
            return float("nan")
        scores, sides = np.concatenate(self.scores), np.concatenate(self.sides)
        positives, negatives = int(sides.sum()), int(len(sides) - sides.sum())
        if positives == 0 or negatives == 0:
            return float("nan")
        _, place, ties = np.unique(scores, return_inverse=True, return_counts=True)
        mean_rank = np.cumsum(ties) - (ties - 1) / 2  # ranks from 1, equal scores share theirs
        ranks = mean_rank[place.reshape(-1)][sides].sum()
        return float((ranks - positives * (positives + 1) / 2) / (positives * negatives))


def rank_places(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Place of each value (f8[n]) among `ranks` (ascending), from 0 on; halfway between two for what is no rank."""
    return 0.5 * (np.searchsorted(ranks, values, "left") + np.searchsorted(ranks, values, "right") - 1.0)


def squared_correlation(sums: np.ndarray, n: int) -> str:
    """LIBLINEAR's squared correlation coefficient from the sums of decision_loops.add_errors, as it prints it."""
    _, p, y, pp, yy, py, _ = sums.tolist()
    covariance = n * py - p * y
    return quotient(covariance * covariance, (n * pp - p * p) * (n * yy - y * y))


def quotient(a: float, b: float) -> str:
    """a / b as C prints it with %g; 0 / 0 is -nan there."""
    if b:
        return "-nan" if a / b != a / b else "%g" % (a / b)
    return "inf" if a > 0 else "-inf" if a < 0 else "-nan"


def share(part: float, whole: float) -> float:
    """part / whole, 0 where the whole is 0."""
    return part / whole if whole else 0.0


def determination(squared_error: float, sum_y: float, sum_yy: float, n: int) -> float:
    """R2 = 1 - squared error / spread of the true values; nan where these are all equal."""
    spread = sum_yy - sum_y * sum_y / n if n else 0.0
    return 1.0 - squared_error / spread if spread > 0 else float("nan")
