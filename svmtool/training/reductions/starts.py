"""Weights of an initial model as the start of a run."""

from __future__ import annotations

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.models.linear import LinearModel

LARGEST_START = 1e100  # weights of an initial model: their squares must stay numbers


def resized(W: np.ndarray, model: LinearModel, n_features: int, bias: float) -> np.ndarray:
    """Columns W of a model's weights for rows of n_features features and a bias feature of value `bias`.

    Features are cut or padded with zeros.  SvmtoolError if only one of the two has a bias, or for weights that are not
    finite or too large.
    """
    if (model.bias >= 0) != (bias >= 0):
        raise SvmtoolError(f"the initial model has bias {model.bias:g}, this run -B {bias:g}")
    start = np.zeros((n_features + (bias >= 0), W.shape[1]))
    shared = min(n_features, model.n_features)
    start[:shared] = W[:shared]
    if model.bias >= 0:  # keep the same shift where the bias feature has another value
        start[-1] = W[-1] * (model.bias / bias if bias > 0 else 1.0)
    return checked(start)


def checked(start: np.ndarray) -> np.ndarray:
    """`start` itself; SvmtoolError for weights that are not finite or too large."""
    if not np.all(np.abs(start) < LARGEST_START):
        raise SvmtoolError("the initial model has weights that are no numbers, or too large to start from")
    return start
