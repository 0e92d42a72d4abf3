"""Trains on the features that occur, if the largest index is far above the number of values.

A feature that no row has gets weight 0 from every solver.  Left out, it costs nothing; vectors of the feature space
are then as long as there are features that occur, and the model's text is written piece by piece.
"""

from __future__ import annotations

import copy

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.models.linear import LinearModel

LEAST, FAR = 1 << 20, 4  # features, and features for each value in the data, above which the used ones are found
LARGEST_COPY = 1 << 22  # values of rows on disk whose indices may be examined in memory


def used_features(table: Dataset) -> np.ndarray | None:
    """The features that occur, i4 ascending from 0 on; None where all may as well be taken."""
    values = len(table.values)
    if table.n_features <= max(LEAST, FAR * values) or (table.mapped is not None and values > LARGEST_COPY):
        return None
    return np.unique(table.indices)


def on_used(table: Dataset, used: np.ndarray) -> Dataset:
    """The same rows, their values shared, with the features `used` numbered from 0 on."""
    indices = np.searchsorted(used, table.indices).astype(np.int32)
    return Dataset(table.labels, table.indptr, indices, table.values, len(used), table.mapped)


def restricted(model: LinearModel, used: np.ndarray) -> LinearModel:
    """A model of the features `used` alone; those that it does not know have weight 0."""
    W = np.zeros((len(used) + (model.bias >= 0), model.columns))
    known = used[used < model.n_features]
    W[: len(known)] = model.W[known]
    if model.bias >= 0:
        W[-1] = model.W[-1]
    return LinearModel(model.word, model.labels, len(used), model.bias, W, model.rho, model.notes)


class SpreadWeights:
    """The weights of all features, made a slice of rows at a time: those of the features `used` (i4), then the bias's;
    all others are 0.  known: those weights."""

    def __init__(self, W: np.ndarray, used: np.ndarray, n_features: int):
        self.known, extra = W, np.arange(n_features, n_features + len(W) - len(used))
        self._places = np.concatenate((used, extra))
        self.shape = (n_features + len(extra), W.shape[1])

    def __getitem__(self, some: slice) -> np.ndarray:
        start, stop, _ = some.indices(self.shape[0])
        rows = np.zeros((stop - start, self.shape[1]))
        lo, hi = np.searchsorted(self._places, (start, stop))
        rows[self._places[lo:hi] - start] = self.known[lo:hi]
        return rows


def spread(model: LinearModel, used: np.ndarray, n_features: int) -> LinearModel:
    """The model of all features, for formats.linear_model.write alone."""
    whole = copy.copy(model)
    whole.n_features = n_features
    whole.W = SpreadWeights(model.W, used, n_features)  # type: ignore[assignment]
    return whole
