"""Predictions of a model for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool import kernel_params
from svmtool.api import arrays
from svmtool.api.result import Fit
from svmtool.api.run import Run
from svmtool.data.dataset import Dataset
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel

Model = LinearModel | KernelModel


def model_of(model: Any) -> Model:
    found = model.model if isinstance(model, Fit) else model
    if not isinstance(found, (LinearModel, KernelModel)):
        raise TypeError(f"model must be a Fit, a LinearModel or a KernelModel, not {type(model).__name__}")
    return found


def _rows(model: Model, X: Any) -> Dataset:
    data = arrays.dataset(X)
    if isinstance(model, KernelModel) and model.kernel.kind == kernel_params.PRECOMPUTED:
        return arrays.with_serials(data, 1)
    return data


def decision_values(model: Any, X: Any, *, threads: int | None = None) -> np.ndarray:
    """Return the decision values of rows.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
    X : array or sparse matrix, (n, features)
        Features that the model does not know are left out.  Precomputed kernels: the values of each row with all
        training rows, (n, training rows).
    threads : int, optional
        As of `fit`.

    Returns
    -------
    ndarray, (n, columns)
        One column for two classes, regressions and one-class models, positive for the model's first label; else one a
        class, or with a kernel one a pair of classes.
    """
    found = model_of(model)
    rows = _rows(found, X)
    with Run(threads):
        return found.decision_values(rows)


def predict(model: Any, X: Any, *, threads: int | None = None) -> np.ndarray:
    """Return predicted labels or values, f8 (n,); one-class models: 1 inside, -1 outside.

    Parameters are those of `decision_values`.
    """
    found = model_of(model)
    rows = _rows(found, X)
    with Run(threads):
        return found.labels_from(found.decision_values(rows))


def probabilities(model: Any, X: Any, *, threads: int | None = None) -> np.ndarray:
    """Return the probability of each label, f8 (n, labels), in the order of `model.labels`.

    Parameters are those of `decision_values`.

    Raises
    ------
    ValueError
        For a model that is not logistic and was trained without `probability=True`.
    """
    found = model_of(model)
    rows = _rows(found, X)
    with Run(threads):
        return found.probabilities(found.decision_values(rows))
