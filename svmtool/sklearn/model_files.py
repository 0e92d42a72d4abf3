"""Estimators as the models that LIBLINEAR's and LIBSVM's files hold, for `svmtool.save_model` and `dumps`."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from svmtool.models.kernel import KernelModel
from svmtool.models.linear import BOUNDS_NOTES, LinearModel, classes_note


def labels_of(classes: np.ndarray) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The label of each class in a file, and notes.

    Ascending integers of 32 bits are the labels; other classes are numbered 0, 1, .. and named in a note.
    """
    numbers = classes.astype(np.float64) if classes.dtype.kind in "biuf" else np.full(len(classes), np.nan)
    whole = np.array_equal(np.trunc(numbers), numbers) and bool(np.all(np.diff(numbers) > 0.0))
    if whole and numbers[0] >= -(2.0**31) and numbers[-1] < 2.0**31:
        return tuple(int(v) for v in numbers), ()
    return tuple(range(len(classes))), (classes_note(classes.tolist()),)


def linear(
    word: str, labels: tuple[int, ...] | None, W: Any, b: Any, notes: tuple[str, ...], rho: float | None = None
) -> LinearModel:
    """A model of weights W (columns, features) and intercepts b (columns), the weights of a feature of value 1."""
    W = W.toarray() if sp.issparse(W) else np.atleast_2d(np.asarray(W, np.float64))
    b = np.broadcast_to(np.asarray(b, np.float64), len(W))
    bias = 1.0 if np.any(b) else -1.0
    rows = np.vstack([W.T, b]) if bias > 0 else W.T
    notes = tuple(note for note in notes if not note.startswith(BOUNDS_NOTES))  # of other columns, or another bias
    return LinearModel(word, labels, W.shape[1], bias, rows, rho, notes)


def classifier(word: str, classes: np.ndarray, W: Any, b: Any, notes: tuple[str, ...]) -> LinearModel:
    """`linear` of a classifier: one column for `classes[1]` of two classes, else one for each class."""
    labels, named = labels_of(classes)
    return linear(word, labels[::-1] if len(labels) == 2 else labels, W, b, (*notes, *named))


def kernel(model: KernelModel, classes: np.ndarray | None) -> KernelModel:
    """The model with the labels of its classes."""
    found = copy.copy(model)
    if classes is not None:
        found.labels, named = labels_of(classes)
        found.notes = (*found.notes, *named)
    return found
