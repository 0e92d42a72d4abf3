"""Models that callers pass: their attributes can have been changed, and loops index by them without checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.api.result import Fit
from svmtool.compiled.loops.text.decision_loops import sparse_fault
from svmtool.models.kernel import CLASSIFIER_TYPES, DENSITY_MARKS, SVM_TYPES, KernelModel
from svmtool.models.kernel_functions import NAMES, Kernel
from svmtool.models.linear import SOLVER_WORDS, LinearModel, weight_rows
from svmtool.models.weights import SparseWeights
from svmtool.params import PRECOMPUTED

Model = LinearModel | KernelModel


def stored_of(model: Any) -> Model:
    """`model_of`, also for a fitted estimator, which makes the model that a file can hold."""
    make = getattr(type(model), "_file_model", None)
    return model_of(model if make is None else make(model), "a fitted estimator of svmtool.sklearn")


def model_of(model: Any, other: str = "") -> Model:
    """The model of a Fit, or the model itself; TypeError for anything else, ValueError if its attributes do not fit.

    other: what else the caller takes.
    """
    found = model.model if isinstance(model, Fit) else model
    if not isinstance(found, (LinearModel, KernelModel)):
        known = f"a LinearModel, a KernelModel or {other}" if other else "a LinearModel or a KernelModel"
        raise TypeError(f"model must be a Fit, {known}, not {type(model).__name__}")
    try:
        fits = _fits(found) and (_linear(found) if isinstance(found, LinearModel) else _kernel(found))
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError):  # of other types or shapes
        fits = False
    if not fits:
        raise ValueError(f"the attributes of the {type(found).__name__} do not fit each other: were they changed?")
    return found


def _fits(m: Model) -> bool:
    """What both kinds have: labels, if it classifies, and notes."""
    classifies = m.kind == "classification"
    labels = m.labels if classifies else ()
    if not classifies and m.labels is not None:
        return False
    known = all(_integer(label) and -(2**31) <= label < 2**31 for label in labels) and len(set(labels)) == len(labels)
    count = len(labels) if classifies else 2
    known = known and isinstance(m.notes, (list, tuple)) and all(isinstance(note, str) for note in m.notes)
    return known and _integer(m.nr_class) and m.nr_class == count


def _linear(m: LinearModel) -> bool:
    sized = m.word in SOLVER_WORDS and _integer(m.n_features) and 0 <= m.n_features < 2**31
    sized = sized and _number(m.bias) and (m.rho is None or _number(m.rho))
    shape = weight_rows(m.n_features, m.bias), m.columns
    return sized and (_sparse(m.W, shape) if isinstance(m.W, SparseWeights) else _array(m.W, np.float64, shape))


def _sparse(W: SparseWeights, shape: tuple[int, int]) -> bool:
    count = (len(W.values),)
    known = W.shape == shape and _array(W.indptr, np.int64, (shape[0] + 1,)) and W.indptr[-1] == count[0]
    known = known and _array(W.labels, np.int32, count) and _array(W.values, np.float64, count)
    return known and W.indptr[0] == 0 and sparse_fault(W.indptr, W.labels, W.values, shape[1]) < 0


def _kernel(m: KernelModel) -> bool:
    n, kernel = len(m.indptr) - 1, m.kernel
    known = m.svm_type in SVM_TYPES and isinstance(kernel, Kernel) and kernel.kind in range(len(NAMES))
    known = known and _integer(kernel.degree) and 0 <= kernel.degree < 2**31
    known = known and _number(kernel.gamma) and _number(kernel.coef0)
    if m.svm_type in CLASSIFIER_TYPES:
        known = known and len(m.nr_sv) == m.nr_class and all(_integer(k) and k >= 0 for k in m.nr_sv)
        known = known and sum(m.nr_sv) == n
    elif m.nr_sv is not None:
        return False
    pairs = (m.columns,)
    known = known and _array(m.rho, np.float64, pairs) and _array(m.coef, np.float64, (m.coef_rows, n))
    known = known and all(x is None or _array(x, np.float64, pairs) for x in (m.probA, m.probB))
    marks = [0.0] * DENSITY_MARKS if m.density_marks is None else m.density_marks
    known = known and len(marks) == DENSITY_MARKS and all(map(_number, marks))
    stored = len(m.indices)
    known = known and _array(m.indptr, np.int64, (n + 1,)) and m.indptr[0] == 0 and m.indptr[-1] == stored
    known = known and not np.any(m.indptr[1:] < m.indptr[:-1])
    known = known and _array(m.indices, np.int32, (stored,)) and _array(m.values, np.float64, (stored,))
    if kernel.kind == PRECOMPUTED:  # one value each, the number of a row
        serial = m.values[m.indices == -1]
        return known and stored == len(serial) == n and bool(np.all((serial >= 1) & (serial < 2**31)))
    return known and (not stored or int(m.indices.min()) >= 0)


def _array(x: Any, kind: type, shape: tuple[int, ...]) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == kind and x.shape == shape and x.flags.c_contiguous


def _number(x: Any) -> bool:
    return isinstance(x, float) or (_integer(x) and abs(x) < 2**63)


def _integer(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)
