"""The largest weights of a linear model or a kernel model with a linear kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmtool.compiled.buffers import Buffer
from svmtool.formats.names import Names
from svmtool.models.certain import radii_of
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import NAMES
from svmtool.models.linear import LinearModel

Model = LinearModel | KernelModel


class Column(NamedTuple):
    """Weights of one decision value: the meaning of a positive value, and w, f8[features].

    radius: how far each can be from the optimum's, as far as that is known.
    """

    meaning: str
    label: int | None
    w: np.ndarray
    radius: float = 0.0


def columns(model: Model, names: Names) -> list[Column]:
    """The weights of each decision value; empty for kernels other than the linear one, or weights beyond memory."""
    found, radii = _columns(model, names), radii_of(model)
    if not found or not len(radii):
        return found
    return [c._replace(radius=float(r)) for c, r in zip(found, np.broadcast_to(radii, (len(found),)), strict=True)]


def _columns(model: Model, names: Names) -> list[Column]:
    W = model.W[: model.n_features] if isinstance(model, LinearModel) else _of_support_vectors(model)
    if W is None:
        return []
    if model.kind != "classification":
        meaning = "a larger predicted value" if model.kind == "regression" else "a row inside"
        return [Column(meaning, None, W[:, 0])]
    if model.is_ordinal:  # its columns are multiples of one vector, less constants
        return [Column("a higher rank", None, (W[:, -1] - W[:, 0]) / (W.shape[1] - 1) if W.shape[1] > 1 else W[:, 0])]
    labels = model.labels or ()
    text = [names.of_class(label) for label in labels]
    if isinstance(model, KernelModel) and model.nr_class > 2:
        pairs = [(i, j) for i in range(len(text)) for j in range(i + 1, len(text))]
        return [Column(f"{text[i]} against {text[j]}", None, W[:, k]) for k, (i, j) in enumerate(pairs)]
    if W.shape[1] == 1 and len(text) == 2:
        return [Column(f"{text[0]} (negative: {text[1]})", labels[0], W[:, 0])]
    return [Column(text[k], labels[k], W[:, k]) for k in range(W.shape[1])]


def _of_support_vectors(model: KernelModel) -> np.ndarray | None:
    """Weights f8 (features, pairs) of a linear kernel; None for other kernels and too many weights."""
    if NAMES[model.kernel.kind] != "linear" or model.scores.W is None or model.scores.n_places < 2:
        return None
    W = model.scores.W
    found = (W.array() if isinstance(W, Buffer) else W).reshape(model.scores.n_places, model.scores.pairs)
    if not model.scores.features.size:
        return found[1:]  # index 0 of a file is no feature
    return None  # features far apart: there are too many names for a table


def largest(w: np.ndarray, count: int) -> np.ndarray:
    """Indices of the `count` largest weights in absolute value that are not zero, the largest first."""
    size = np.abs(w)
    count = min(count, len(w))
    chosen = np.argpartition(-size, count - 1)[:count] if count else np.zeros(0, np.int64)
    chosen = chosen[np.lexsort((chosen, -size[chosen]))]
    return chosen[size[chosen] > 0.0]
