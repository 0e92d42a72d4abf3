"""Checks and changes of what a training receives: ranges of values, features that occur, weights to start from.

A feature that occurs in no row has weight 0.  If the largest index is far above the number of values, or there are many
problems, such features are left out, so that vectors of the feature space are as long as the number of features that
occur.  The model file is written in slices then.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.data.labels import Weighting, cost_factors
from svmtool.errors import RowsError, SvmtoolError
from svmtool.models.kernel import FEATURES_NOTE, KernelModel
from svmtool.models.linear import LinearModel
from svmtool.models.weights import PIECE_VALUES, Columns, SparseWeights, by_feature
from svmtool.numbers import distinct
from svmtool.params import Settings
from svmtool.tolerances import MANY_VALUES, VALUES_AT_ONCE

# Features of all problems with several labels a row: above both, and per value of the data, they are restricted
MANY_FEATURES, FEATURES_PER_VALUE = 1 << 20, 4
MAX_DIGITS = 290  # decimal digits that sums may have at most
MAX_START_WEIGHT = 1e100  # weights of an initial model: their squares must stay numbers


def refuse_overflow(
    table: Dataset, C: float, class_weights: Weighting, largest: float = 1.0, labels: float = 1.0, shares: bool = False
) -> None:
    """SvmtoolError if sums of squares would overflow.

    largest: of |values| that the table does not hold; labels: the largest |label| in the problem; shares: see
    `refuse_range`.
    """
    largest = max(largest, table.largest or 1.0, 1.0)
    for at in range(0, len(table.values) if table.largest is None else 0, VALUES_AT_ONCE):
        some = table.values[at : at + VALUES_AT_ONCE]
        largest = max(float(some.max()), -float(some.min()), largest)
        if table.mapped is not None:
            table.mapped.check()
    refuse_range(len(table), C, class_weights, table.weights, largest, labels, shares)


def refuse_range(
    n: int, C: float, class_weights: Weighting, row_weights: np.ndarray | None, largest: float, labels: float,
    shares: bool = False,
) -> None:  # fmt: skip
    """Raise SvmtoolError if sums of squares of numbers up to `largest` over n rows would overflow.

    shares: the dual variables of a one-class problem sum to a share of the weights, whose squares count.
    """
    cost = largest_cost(1.0, (), row_weights) if shares else largest_cost(C, class_weights, row_weights)
    digits = 2 * math.log10(max(largest, labels)) + math.log10(n + 1)
    digits += 2 * (math.log10(cost) + math.log10(n + 1)) if shares else math.log10(cost)
    if digits > MAX_DIGITS:
        also = f" and labels up to {labels:g}" if labels > largest else ""
        advice = "scale the features (svm-scale)" + ("" if shares else " or choose a smaller -c")
        smaller = weights_named(advice, row_weights)
        raise RowsError(
            f"feature values up to {largest:g}{also} at a cost of {cost:g} overflow when squared and summed: {smaller}"
        )


def largest_cost(C: float, class_weights: Weighting, row_weights: np.ndarray | None) -> float:
    """The largest cost of a row: C, the factor of its class and its weight; at least 1."""
    factors, _ = cost_factors(list(dict(class_weights)), class_weights)
    return max(C * max(factors.tolist(), default=1.0) * largest_weight(row_weights), 1.0)


def largest_weight(row_weights: np.ndarray | None) -> float:
    """The largest weight of a row; at least 1."""
    return 1.0 if row_weights is None else float(row_weights.max(initial=1.0))


def weights_named(advice: str, row_weights: np.ndarray | None) -> str:
    """Advice against an overflow that also names the largest weight of a row, if it is above 1."""
    largest = largest_weight(row_weights)
    return advice if largest <= 1.0 else f"{advice}, or smaller --weights: the largest is {largest:g}"


def used_features(table: Dataset) -> np.ndarray | None:
    """The features that occur, i4, ascending, 0-based; None if restricting is not worthwhile."""
    values, problems = len(table.values), 1 if table.sets is None else len(distinct(table.sets.labels))
    too_long = table.mapped is not None and values > MANY_VALUES
    if table.n_features * problems <= max(MANY_FEATURES, FEATURES_PER_VALUE * values) or too_long:
        return None
    used = distinct(table.indices)
    return used if len(used) < table.n_features else None


def on_used(table: Dataset, used: np.ndarray) -> Dataset:
    """The same rows, sharing their values, with the features `used` renumbered from 0."""
    indices = np.searchsorted(used, table.indices).astype(np.int32)
    return table.as_sparse().replace(indices=indices, n_features=len(used))


def narrowed(
    table: Dataset, settings: Settings, initial: LinearModel | None = None
) -> tuple[Dataset, LinearModel | None, np.ndarray | None]:
    """The rows and the initial model on the features that occur, and these; None: on all.

    An adaptable model's state needs all.
    """
    used = None if "--add" in settings.row.supported else used_features(table)
    if used is None:
        return table, initial, None
    return on_used(table, used), initial and restricted(initial, used), used


def on_known(table: Dataset, used: np.ndarray) -> Dataset:
    """`on_used` of rows that may have other features too, which are left out."""
    known = np.isin(table.indices, used)
    indptr = np.concatenate(([0], np.cumsum(known)))[table.indptr]
    found = Dataset(table.labels, indptr, table.indices[known], table.values[known], table.n_features)
    return on_used(found, used)


def restricted(model: LinearModel, used: np.ndarray) -> LinearModel:
    """The model restricted to the features `used`; features that it lacks get weight 0."""
    W = np.zeros((len(used) + (model.bias >= 0), model.columns))
    known = used[used < model.n_features]
    whole = model.W[:]
    W[: len(known)] = whole[known]
    if model.bias >= 0:
        W[-1] = whole[-1]
    return LinearModel(model.word, model.labels, len(used), model.bias, W, model.rho, model.notes)


class SpreadWeights:
    """Weights of all features, computed in slices: `known` for the features `used` (i4) and the bias, 0 for others."""

    def __init__(self, W: np.ndarray, used: np.ndarray, n_features: int):
        self.known, extra = W, np.arange(n_features, n_features + len(W) - len(used))
        self._places = np.concatenate((used, extra))
        self.shape = (n_features + len(extra), W.shape[1])

    def counts(self) -> np.ndarray:
        """How many weights each feature has, i8[features]."""
        found = np.zeros(self.shape[0], np.int64)
        found[self._places] = np.count_nonzero(self.known.view(np.int64), axis=1)
        return found

    def pieces(self) -> Iterator[SparseWeights]:
        """The weights of consecutive features without their zeros."""
        step = max(1, PIECE_VALUES // max(self.shape[1], 1))
        for first in range(0, self.shape[0], step):
            yield by_feature(self[first : first + step])

    def __getitem__(self, some: slice) -> np.ndarray:
        start, stop, _ = some.indices(self.shape[0])
        rows = np.zeros((stop - start, self.shape[1]))
        lo, hi = np.searchsorted(self._places, (start, stop))
        rows[self._places[lo:hi] - start] = self.known[lo:hi]
        return rows


def with_all_features(model: Any, used: np.ndarray | None, n_features: int) -> Any:
    """The model of all features, from one of the features `used`; a LinearModel only for writing it."""
    if used is None:
        return model
    whole = copy.copy(model)
    if isinstance(model, KernelModel):
        whole.indices = used[model.indices].astype(np.int32)
        own, new = f"{FEATURES_NOTE}{len(used)}", f"{FEATURES_NOTE}{n_features}"
        whole.notes = tuple(new if note == own else note for note in model.notes)
        return whole
    whole.n_features = n_features
    if isinstance(model.W, Columns):
        extra = np.arange(n_features, n_features + len(model.W) - len(used))
        whole.W = model.W.spread(np.concatenate((used, extra)), n_features + len(extra))
    else:
        whole.W = SpreadWeights(model.W, used, n_features)
    return whole


def resized(W: np.ndarray, model: LinearModel, n_features: int, bias: float) -> np.ndarray:
    """Columns W of a model's weights for rows of n_features features and a bias feature of value `bias`.

    Features are cut or padded with zeros.  SvmtoolError if only one of the two has a bias, or for weights that are not
    finite or too large.
    """
    if (model.bias >= 0) != (bias >= 0):
        raise SvmtoolError(f"the initial model has bias {model.bias:g}, this run -B {bias:g}")
    W, start = W[:], np.zeros((n_features + (bias >= 0), W.shape[1]))
    shared = min(n_features, model.n_features)
    start[:shared] = W[:shared]
    if model.bias >= 0:  # keep the same shift where the bias feature has another value
        start[-1] = W[-1] * (model.bias / bias if bias > 0 else 1.0)
    return checked_start(start)


def checked_start(start: np.ndarray) -> np.ndarray:
    """`start` itself; SvmtoolError for weights that are not finite or too large."""
    if not np.all(np.abs(start) < MAX_START_WEIGHT):
        raise SvmtoolError("the initial model has weights that are not finite, or too large to start from")
    return start
