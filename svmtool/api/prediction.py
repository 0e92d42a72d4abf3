"""Predictions of a model for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.api import arrays
from svmtool.api.models import Model, model_of
from svmtool.api.run import RunContext
from svmtool.data.dataset import Dataset
from svmtool.models.kernel import KernelModel
from svmtool.params import PRECOMPUTED
from svmtool.progress import doing


def _rows(model: Model, X: Any) -> Dataset:
    data = arrays.dataset(X)
    if isinstance(model, KernelModel) and model.kernel.kind == PRECOMPUTED:
        return arrays.with_serials(data, training=False)
    return data


def decision_values(model: Any, X: Any, *, threads: int | None = None, progress: bool = False) -> np.ndarray:
    """Compute the decision values of rows.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        The model.
    X : array or sparse matrix, (n, features)
        Rows; features that the model does not have are ignored.  Precomputed kernels: the values of each
        row with all training rows, (n, training rows).
    threads : int, optional
        As of `fit`.
    progress : bool
        As of `fit`.

    Returns
    -------
    ndarray, (n, columns)
        One column for two classes, regressions and one-class models, positive for the model's first label;
        else one for each class, or with a kernel one for each pair of classes.
    """
    found = model_of(model)
    rows = _rows(found, X)
    with RunContext(threads, progress=progress), doing("predicting"):
        return found.decision_values(rows)


def predict(model: Any, X: Any, *, threads: int | None = None, progress: bool = False) -> np.ndarray:
    """Predict the label or value of each row.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        The model.
    X : array or sparse matrix, (n, features)
        Rows; features that the model does not have are ignored.  Precomputed kernels: the values of each
        row with all training rows, (n, training rows).
    threads : int, optional
        As of `fit`.
    progress : bool
        As of `fit`.

    Returns
    -------
    ndarray of float64, (n,)
        Labels or values; of one-class models 1 inside and -1 outside.
    """
    found = model_of(model)
    rows = _rows(found, X)
    with RunContext(threads, progress=progress), doing("predicting"):
        return found.labels_from(found.decision_values(rows))


def probabilities(model: Any, X: Any, *, threads: int | None = None, progress: bool = False) -> np.ndarray:
    """Predict the probability of each label.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        The model.
    X : array or sparse matrix, (n, features)
        Rows; features that the model does not have are ignored.  Precomputed kernels: the values of each
        row with all training rows, (n, training rows).
    threads : int, optional
        As of `fit`.
    progress : bool
        As of `fit`.

    Returns
    -------
    ndarray, (n, labels)
        In the order of `model.labels`.

    Raises
    ------
    ValueError
        For a model that is not logistic and was trained without `probability=True`.
    """
    found = model_of(model)
    rows = _rows(found, X)
    with RunContext(threads, progress=progress), doing("predicting"):
        return found.probabilities(found.decision_values(rows))
