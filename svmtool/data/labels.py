"""Maps labels to classes in LIBLINEAR's order and computes the cost of each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmtool.compiled.loops.text.text_loops import number_classes
from svmtool.errors import RowsError

MAX_SEARCHED_CLASSES = 32  # up to this many classes a search is faster than sorting


def whole_labels(labels: np.ndarray) -> np.ndarray:
    """Labels truncated towards zero, as LIBLINEAR does.

    Raises RowsError if this maps two different labels (1.2 and 1.9) to one class, and for labels beyond 32 bits.
    """
    whole = np.trunc(labels)
    refuse_large(whole)
    if np.array_equal(whole, labels):
        return whole.astype(np.int64)
    for k in np.unique(whole[whole != labels]):
        inside = np.unique(labels[whole == k])
        if len(inside) > 1:
            raise RowsError(
                f"labels {inside[0]:g} and {inside[1]:g} would both become class {int(k)}: use whole numbers as labels"
            )
    return whole.astype(np.int64)


def refuse_large(labels: np.ndarray) -> None:
    """Raise RowsError for labels that no model file holds; beyond 2^53 they may not be what was given."""
    large = (labels < -(2.0**31)) | (labels >= 2.0**31)
    if large.any():
        raise RowsError(f"label {labels[large][0]:.17g} does not fit into 32 bits: use smaller numbers as labels")


def first_appearance(labels: np.ndarray) -> tuple[list[int], np.ndarray, np.ndarray]:
    """The different labels in order of appearance, the index of each row's label (i8[n]), and their row counts (i8).

    Labels are truncated, see `whole_labels`.
    """
    number, values = np.empty(len(labels), np.int64), np.empty(MAX_SEARCHED_CLASSES)
    counts = np.zeros(len(values), np.int64)
    classes = number_classes(labels, values, number, counts)
    if classes >= 0:
        return [int(v) for v in values[:classes].tolist()], number, counts[:classes]
    found, first, inverse = np.unique(whole_labels(labels), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    number = rank[inverse.reshape(-1)]
    return [int(v) for v in found[order]], number, np.bincount(number, minlength=len(order))


Weighting = tuple[tuple[int, float], ...]


def cost_factors(labels: Sequence[int], class_weights: tuple[tuple[int, float], ...]) -> tuple[np.ndarray, list[int]]:
    """Cost factor of each label (repeated -wi multiply), and the labels of -wi that do not occur."""
    factor, missing = [1.0] * len(labels), []  # numbers of Python become infinite without a warning
    for label, value in class_weights:
        if label in labels:
            factor[labels.index(label)] *= value
        else:
            missing.append(label)
    return np.array(factor), missing


def two_class_problems(factor: Sequence[float]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The sign and the factor of each label's rows, f8[labels], in each two-class problem; factor: of the labels.

    Two labels: one problem, with +1 for the first, and both factors.  Otherwise one problem for each label, with +1 for
    its rows, and the factor of this label only.
    """
    k = len(factor)
    if k == 2:
        return [(np.array([1.0, -1.0]), np.array(factor))]
    found = []
    for j in range(k):
        signs, carried = np.full(k, -1.0), np.ones(k)
        signs[j], carried[j] = 1.0, factor[j]
        found.append((signs, carried))
    return found


def weightings(labels: Sequence[int], factor: Sequence[float]) -> list[Weighting]:
    """What determines the weights of rows in each of `two_class_problems`: equal where they are equal.

    A weighting is the labels whose factor is not 1, with it; so a label that has no rows yet changes nothing.
    """
    return [
        tuple((label, f) for label, f in zip(labels, carried.tolist(), strict=True) if f != 1.0)
        for _, carried in two_class_problems(factor)
    ]


def balanced_weights(labels: np.ndarray, weights: np.ndarray | None) -> tuple[tuple[int, float], ...]:
    """(label, n / (classes * rows of the class)) of each class of the labels f8[n]: all classes cost the same.

    With weights (f8[n]) their sums stand for numbers of rows, without the rows of weight 0 or below.
    """
    used = slice(None) if weights is None else np.flatnonzero(weights > 0.0)
    found, number = np.unique(whole_labels(labels[used]), return_inverse=True)
    with np.errstate(all="ignore"):
        sums = np.bincount(number.reshape(-1), None if weights is None else weights[used])
        factors = sums.sum() / (len(found) * sums)
    if not np.all(np.isfinite(factors)):
        raise RowsError("weights of classes that differ too much, or overflow in a sum, cannot be balanced")
    return tuple(zip(found.tolist(), factors.tolist(), strict=True))


class Classes:
    """The classes of a training set, in LIBLINEAR's order.

    labels: class labels by first appearance (exactly two, -1 before 1: swapped); number i8[n]: the
    class of each row as an index into `labels`; counts: rows of each class.
    """

    def __init__(self, file_labels: np.ndarray):
        self.labels, self.number, self.counts = first_appearance(file_labels)
        if self.labels == [-1, 1]:
            self.labels, self.number, self.counts = [1, -1], 1 - self.number, self.counts[::-1]

    @property
    def problems(self) -> int:
        """Number of two-class problems: one for two classes, else one for each class."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    def signs(self, k: int) -> np.ndarray:
        """+1 for rows of class k, -1 for the rest, f8[n]."""
        return 2.0 * (self.number == k) - 1.0

    def weights(self, class_weights: tuple[tuple[int, float], ...]) -> tuple[np.ndarray, list[int]]:
        """Cost factor of each class (repeated -wi multiply), and the labels of -wi that do not occur."""
        return cost_factors(self.labels, class_weights)

    def costs(self, k: int, C: float, factor: np.ndarray) -> np.ndarray:
        """C_i of the k-th two-class problem, f8[n], without weights of rows.

        With two classes both have their factor; in one-vs-rest only the positive class, as in LIBLINEAR.
        """
        if len(self.labels) == 2:
            return C * factor[self.number]
        return np.where(self.number == k, C * factor[k], C)
