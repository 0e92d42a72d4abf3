"""What a model states: its weights, and its problem as keywords of `fit`, as far as it is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import NAMES, WITH_COEF0, WITH_DEGREE, WITH_GAMMA, Kernel
from svmtool.models.linear import LinearModel


class Weights(NamedTuple):
    """A linear model: decision values X coef' + intercept, coef f8 (columns, features), intercept f8[columns].

    classes: in the order of the columns, of two classes with one column the negative one first; None: -1 and 1 of the
    data, or no classes at all.
    """

    coef: np.ndarray
    intercept: np.ndarray
    classes: Sequence[Any] | None = None
    rho: float | None = None


class Stated(NamedTuple):
    """model, and keywords of `fit` that the model states; without C it must be given.

    share: of |w|_1 in a multinomial model or an elastic net, which no solver's number has; else None.
    row_weight: class weights that count for a row in the problems of all classes.
    """

    model: Weights | LinearModel | KernelModel
    keywords: dict[str, Any]
    share: float | None = None
    row_weight: Any = None


def weights(coef: Any, intercept: Any = 0.0, classes: Any = None) -> Weights:
    """Weights of arrays or sparse matrices, one column or several."""
    try:
        given = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
        W, b = np.atleast_2d(given.astype(np.float64, casting="same_kind")), np.asarray(intercept, np.float64).ravel()
    except (TypeError, ValueError):
        raise TypeError("weights are an array of numbers; several models are given as a dict") from None
    if W.ndim > 2 or len(b) not in (1, len(W)):
        raise ValueError(f"weights of shape {W.shape} with {len(b)} intercepts are no model")
    b = np.broadcast_to(b, (len(W),)).copy()
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
        raise ValueError("the model has weights that are not finite")
    return Weights(W, b, None if classes is None else list(np.asarray(classes).tolist()))


def keywords_of(kernel: Kernel) -> dict[str, Any]:
    """A kernel as keywords of `fit`."""
    found: dict[str, Any] = {"kernel": NAMES[kernel.kind]}
    for name, kinds in (("gamma", WITH_GAMMA), ("degree", WITH_DEGREE), ("coef0", WITH_COEF0)):
        if kernel.kind in kinds:
            found[name] = getattr(kernel, name)
    return found
