"""Brings a model that was read into the form of the models of a problem: labels, features and bias must agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from svmtool.auditing.stated import Weights
from svmtool.data.dataset import Dataset
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import CRAMMER_SINGER_WORD, LinearModel, kind_of
from svmtool.params import Settings

SAME_RTOL = 1e-5  # of a kernel's parameters: LIBSVM's files round them
KERNEL = ("kernel", "gamma", "degree", "coef0")  # keywords
KINDS = {"all classes": "classification", "ordinal": "classification", "hard one-class": "one-class"}


def fitted(
    model: Weights | LinearModel | KernelModel, settings: Settings, data: Dataset, classes: np.ndarray | None
) -> LinearModel | KernelModel:
    """The model for the data's labels and features; ValueError for one of another problem.

    classes: what the data's labels number, if they were text.
    """
    row = settings.row
    kind, wanted = getattr(model, "kind", None), KINDS.get(row.kind, row.kind)
    if kind is not None and kind != wanted:
        raise ValueError(f"the model is of {kind}, but -s {row.number} ({row.name}) is {wanted}")
    if isinstance(model, KernelModel):
        return _kernel(model, data, classes)
    if row.kind == "ordinal":
        if not isinstance(model, LinearModel):
            raise ValueError("ordinal regression is audited of models in files alone")
        return model
    linear = model if isinstance(model, Weights) else _weights(model)
    labels = labels_of(linear.classes, data, classes) if wanted == "classification" else ()
    return built(linear, labels, row.word, settings.problem.bias, data.n_features)


def refuse_other_kernel(own: Mapping[str, Any], problem: Mapping[str, Any], n_features: int) -> None:
    """ValueError if the problem's keywords name another kernel than the model's own ones."""
    for name in KERNEL:
        given = {"poly": "polynomial", "auto": 1.0 / max(n_features, 1)}.get(problem.get(name), problem.get(name))
        there = own.get(name)
        numbers = isinstance(given, (int, float)) and isinstance(there, (int, float))
        near = numbers and math.isclose(given, there, rel_tol=SAME_RTOL)
        if given is not None and given != there and not near:
            raise ValueError(f"the model has {'no kernel' if there is None else f'{name} {there}'}, stated is {given}")


def _kernel(model: KernelModel, data: Dataset, classes: np.ndarray | None) -> KernelModel:
    most = int(model.indices.max(initial=-1)) + 1
    if most > data.n_features:
        raise ValueError(
            f"the model has support vectors with {most} features, the data have {data.n_features} features"
        )
    if model.labels is None:
        return model
    names = model.classes
    assert names is not None
    labels = labels_of(names.tolist(), data, classes)
    return KernelModel(
        model.svm_type, model.kernel, labels, model.nr_class, model.rho, model.coef, model.nr_sv,
        model.indptr, model.indices, model.values,
    )  # fmt: skip


def _weights(model: LinearModel) -> Weights:
    """The weights of a model, in one column for two classes the second one's."""
    W, d = np.asarray(model.W[:]), model.n_features
    intercept = model.bias * W[-1] if model.bias >= 0 else np.zeros(W.shape[1])
    classes = None if model.labels is None else list(model.classes)
    if classes is not None and model.columns == 1:
        classes.reverse()
    return Weights(W[:d].T, intercept, classes, model.rho)


def labels_of(names: Any, data: Dataset, classes: np.ndarray | None) -> tuple[int, ...]:
    """The data's labels of a model's classes; None: all in ascending order.  ValueError if they are not the same."""
    there = [int(v) for v in np.unique(data.labels)]
    if names is None:
        return tuple(there)
    shown = there if classes is None else classes.tolist()
    place = {str(name): k for k, name in zip(there, shown, strict=True)}
    whole = (isinstance(n, bool) or (isinstance(n, float) and n.is_integer()) for n in names)
    found = [place.get(str(int(n) if classes is None and w else n)) for n, w in zip(names, whole, strict=True)]
    if None in found or len(found) != len(there):
        raise ValueError(f"the model has the labels {_few(list(names))}, the data {_few(shown)}: they must agree")
    return tuple(k for k in found if k is not None)


def _few(names: list[Any]) -> str:
    return ", ".join(map(str, names[:10])) + (", .." if len(names) > 10 else "")


def built(linear: Weights, labels: tuple[int, ...], word: str, bias: float, n_features: int) -> LinearModel:
    """The LinearModel of weights; ValueError if features, classes or the bias do not fit.

    labels: of the columns, of two classes with one column the negative one first.
    """
    W, b = linear.coef, linear.intercept
    W = _resized(W, n_features)
    several = word == CRAMMER_SINGER_WORD
    wanted = 1 if len(labels) <= 2 and not several else len(labels)
    if len(labels) == 2 and {len(W), wanted} == {1, 2}:
        change = np.array([[-0.5], [0.5]] if several else [[-1.0, 1.0]])
        W, b = change @ W, change @ b
    if len(W) != wanted:
        raise ValueError(f"the model has {len(W)} columns of weights, the problem {wanted}")
    if len(labels) == 2 and wanted == 1:
        labels = labels[::-1]
    if not bias > 0.0 and np.any(b):
        raise ValueError(
            "the model has an intercept, but the stated problem has no bias: state -B, and -R if it is free"
        )
    if bias >= 0.0:
        W = np.column_stack([W, b / bias if bias > 0.0 else b])
    rho = linear.rho if kind_of(word) == "one-class" else None
    if kind_of(word) == "one-class" and rho is None:
        raise ValueError("the weights of a one-class model need its rho: give a model file")
    return LinearModel(word, labels or None, n_features, bias, np.ascontiguousarray(W.T), rho)


def _resized(W: np.ndarray, n_features: int) -> np.ndarray:
    """Weights of the data's features; ValueError for fewer, or for weights of others."""
    count = W.shape[1]
    if count < n_features or np.any(W[:, n_features:]):
        raise ValueError(f"the model has weights of {count} features, the data have {n_features} features")
    return W[:, :n_features]
