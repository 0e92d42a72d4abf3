"""Restriction to the features that occur, if the largest index is far above the number of values.

A feature that occurs in no row has weight 0.  Without such features, vectors of the feature space are as long as the
number of features that occur, and the model file is written in slices.
"""

from __future__ import annotations

import copy

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.models.linear import LinearModel

LEAST, FAR = 1 << 20, 4  # features, and features per value of the data, above which the features are restricted
LARGEST_COPY = 1 << 22  # values of rows on disk whose indices may be examined in memory


def used_features(table: Dataset) -> np.ndarray | None:
    """The features that occur, i4, ascending, 0-based; None if restricting is not worthwhile."""
    values = len(table.values)
    if table.n_features <= max(LEAST, FAR * values) or (table.mapped is not None and values > LARGEST_COPY):
        return None
    return np.unique(table.indices)


def on_used(table: Dataset, used: np.ndarray) -> Dataset:
    """The same rows, sharing their values, with the features `used` renumbered from 0."""
    indices = np.searchsorted(used, table.indices).astype(np.int32)
    return Dataset(table.labels, table.indptr, indices, table.values, len(used), table.mapped)


def restricted(model: LinearModel, used: np.ndarray) -> LinearModel:
    """The model restricted to the features `used`; features that it lacks get weight 0."""
    W = np.zeros((len(used) + (model.bias >= 0), model.columns))
    known = used[used < model.n_features]
    W[: len(known)] = model.W[known]
    if model.bias >= 0:
        W[-1] = model.W[-1]
    return LinearModel(model.word, model.labels, len(used), model.bias, W, model.rho, model.notes)


class SpreadWeights:
    """Weights of all features, computed in slices; W holds those of the features `used` (i4), then that of the bias.

    All other weights are 0.  known: W.
    """

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


def with_all_features(model: LinearModel, used: np.ndarray, n_features: int) -> LinearModel:
    """The model of all features; only for writing it."""
    whole = copy.copy(model)
    whole.n_features = n_features
    whole.W = SpreadWeights(model.W, used, n_features)  # type: ignore[assignment]
    return whole
