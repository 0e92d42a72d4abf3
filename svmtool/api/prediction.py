"""Predictions of a model for arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.api import arrays
from svmtool.api.models import Model, model_of
from svmtool.api.result import Fit
from svmtool.api.run import RunContext
from svmtool.data.dataset import Dataset
from svmtool.models.certain import certain, why_none
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel, array_of_classes
from svmtool.params import PRECOMPUTED
from svmtool.progress import doing


def _rows(given: Any, model: Model, X: Any) -> Dataset:
    """The rows, which must have the features of a Fit; of a model, whose file may know fewer, at least its features."""
    data = arrays.dataset(X)
    if isinstance(model, KernelModel):
        data = data.as_double()
    precomputed = isinstance(model, KernelModel) and model.kernel.kind == PRECOMPUTED
    exact = isinstance(given, Fit) and given._features is not None
    if exact:
        wanted = given._features
    elif isinstance(model, LinearModel):
        wanted = model.n_features
    elif model.noted_features is not None:
        wanted = model.noted_features
    else:  # the numbers of training rows, or the features, of the support vectors
        wanted = int((model.values if precomputed else model.indices + 1).max(initial=0))
    if data.n_features < wanted or (exact and data.n_features > wanted):
        expected = f"{'' if exact else 'at least '}{wanted} features"
        what = "values of a precomputed kernel" if precomputed else "input"
        raise ValueError(f"X has {data.n_features} features, but the model is expecting {expected} as {what}")
    return arrays.with_serials(data, training=False) if precomputed else data


def decision_values(model: Fit | Model, X: Any, *, threads: int | None = None, progress: bool = False) -> np.ndarray:
    """Compute the decision values of rows.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        The model.
    X : array or sparse matrix, (n, features)
        Rows with the features of the training rows; features beyond those of a LinearModel or KernelModel are
        ignored.  Precomputed kernels: the values of each row with all training rows, (n, training rows).
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
    rows = _rows(model, found, X)
    with RunContext(threads, progress=progress), doing("predicting"):
        return found.decision_values(rows)


def predict(model: Fit | Model, X: Any, *, threads: int | None = None, progress: bool = False) -> np.ndarray:
    """Predict the label or value of each row.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        The model.
    X : array or sparse matrix, (n, features)
        Rows with the features of the training rows; features beyond those of a LinearModel or KernelModel are
        ignored.  Precomputed kernels: the values of each row with all training rows, (n, training rows).
    threads : int, optional
        As of `fit`.
    progress : bool
        As of `fit`.

    Returns
    -------
    ndarray, (n,)
        Labels or values, float64; of one-class models 1 inside and -1 outside.  Of a model whose labels stand for other
        classes, of text or of an estimator, these classes.  Of a model of several labels a row csr_matrix of int64,
        (n, labels), which marks them by 1.
    """
    found = model_of(model)
    rows = _rows(model, found, X)
    with RunContext(threads, progress=progress), doing("predicting"):
        if isinstance(found, LinearModel) and found.is_multilabel:
            return _indicator(found, *found.predict_sets(rows))
        labels = found.predict(rows)
    names = found.class_names
    return labels if names is None else array_of_classes(names)[labels.astype(np.intp)]


def certified_mask(model: Fit | Model, X: Any, *, threads: int | None = None, progress: bool = False) -> np.ndarray:
    """Find the rows whose label is that of the exact optimum for sure.

    The certified gap bounds how far the weights are from the optimum, and so each decision value; see "The certificate"
    in the documentation.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        The model, of a linear classifier with the regulariser 1/2 \\|w\\|^2, or of C-SVC for two classes with a kernel.
    X : array or sparse matrix, (n, features)
        Rows with the features of the training rows; features beyond those of a LinearModel are ignored.
    threads : int, optional
        As of `fit`.
    progress : bool
        As of `fit`.

    Returns
    -------
    ndarray of bool, (n,)
        True where no model with a lower objective, the optimum included, can predict another label than the optimum's,
        which is that of `predict`.

    Raises
    ------
    ValueError
        For a model whose gap bounds no labels: with \\|w\\|_1, several classes and a kernel, regression, one class.
    """
    found = model_of(model)
    if why := why_none(found):
        raise ValueError(f"no label is certified: {why}")
    rows = _rows(model, found, X)
    with RunContext(threads, progress=progress), doing("predicting"):
        return certain(found, rows, found.decision_values(rows))


def _indicator(model: LinearModel, counts: np.ndarray, columns: np.ndarray) -> Any:
    """The matrix that marks the columns of a model as labels of rows."""
    from scipy.sparse import csr_matrix

    labels = np.array(model.labels, np.int64)
    if len(labels) and labels.min() < 0:
        raise ValueError("a matrix has no columns for labels below 0: use svm-predict or decision_values")
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return csr_matrix((np.ones(len(columns), np.int64), labels[columns], indptr), (len(counts), model.label_count))


def probabilities(model: Fit | Model, X: Any, *, threads: int | None = None, progress: bool = False) -> np.ndarray:
    """Predict the probability of each label.

    Parameters
    ----------
    model : Fit, LinearModel or KernelModel
        The model.
    X : array or sparse matrix, (n, features)
        Rows with the features of the training rows; features beyond those of a LinearModel or KernelModel are
        ignored.  Precomputed kernels: the values of each row with all training rows, (n, training rows).
    threads : int, optional
        As of `fit`.
    progress : bool
        As of `fit`.

    Returns
    -------
    ndarray, (n, labels)
        In the order of `model.labels` and `model.classes`.

    Raises
    ------
    ValueError
        For a model that is not logistic and was trained without `probability=True`.
    """
    found = model_of(model)
    if found.kind == "regression":
        raise ValueError("a regression has no probabilities")
    if not found.gives_probabilities:
        raise ValueError("no probabilities: the model is not logistic and was not trained with probability=True")
    rows = _rows(model, found, X)
    with RunContext(threads, progress=progress), doing("predicting"):
        return found.probabilities(found.decision_values(rows))
