"""Curves of scores: ROC, precision and recall, calibration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Curve(NamedTuple):
    """Points of a curve and the area under it."""

    x: np.ndarray
    y: np.ndarray
    area: float


def roc(scores: np.ndarray, positive: np.ndarray) -> Curve | None:
    """True positive rate over false positive rate, thresholds falling; None unless there are rows of both kinds.

    The area counts pairs of equal scores by half.
    """
    hits, misses = _cumulated(scores, positive)
    if not hits[-1] or not misses[-1]:
        return None
    x, y = misses / misses[-1], hits / hits[-1]
    return Curve(x, y, float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2.0))


def precision_recall(scores: np.ndarray, positive: np.ndarray) -> Curve | None:
    """Precision over recall; the area is the average precision.  None without positive rows."""
    hits, misses = _cumulated(scores, positive)
    if not hits[-1]:
        return None
    recall = hits / hits[-1]
    precision = hits[1:] / (hits[1:] + misses[1:])
    area = float(np.sum(np.diff(recall) * precision))
    return Curve(recall, np.concatenate([precision[:1], precision]), area)


def _cumulated(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positive and negative rows with a score of at least each distinct one, falling; a 0 in front."""
    order = np.argsort(-scores, kind="stable")
    sorted_scores = scores[order]
    last = np.flatnonzero(np.diff(sorted_scores, append=np.nan) != 0.0)
    hits = np.cumsum(positive[order])[last]
    return np.concatenate([[0], hits]), np.concatenate([[0], last + 1 - hits])


class Bin(NamedTuple):
    """Rows whose predicted probability lies in low .. high: their number, its mean, and the share that came true."""

    low: float
    high: float
    rows: int
    predicted: float
    observed: float


def calibration(probabilities: np.ndarray, came_true: np.ndarray, bins: int = 10) -> list[Bin]:
    """Bins of equal width that hold rows."""
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    found = []
    for k in range(bins):
        here = place == k
        if n := int(here.sum()):
            mean, share = float(probabilities[here].mean()), float(came_true[here].mean())
            found.append(Bin(k / bins, (k + 1) / bins, n, mean, share))
    return found


def thinned(curve: Curve, max_points: int) -> tuple[np.ndarray, np.ndarray]:
    """At most about `max_points` points of a curve, evenly along its length; its ends are kept."""
    if len(curve.x) <= max_points:
        return curve.x, curve.y
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(curve.x)) + np.abs(np.diff(curve.y)))])
    wanted = np.linspace(0.0, length[-1], max_points)
    kept = np.unique(np.concatenate([np.searchsorted(length, wanted).clip(max=len(length) - 1), [0, len(length) - 1]]))
    return curve.x[kept], curve.y[kept]
