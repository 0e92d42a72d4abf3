"""Functions that LIBLINEAR's and LIBSVM's Python modules share: reading data, measures, scaling."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import numpy as np

from svmtool.api.arrays import as_csr, floats
from svmtool.api.values import real
from svmtool.compat.errors import as_os_errors, as_value_errors
from svmtool.compat.inputs import as_dicts
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text.text_loops import PADDING, SOME_LABELLED
from svmtool.data.dataset import Dataset
from svmtool.formats.svmlight import table

__all__ = ["svm_read_problem", "evaluations", "csr_find_scale_param", "csr_scale"]


def svm_read_problem(data_source: Any, return_scipy: bool = False) -> tuple[Any, Any]:
    """Read labelled rows in LIBSVM's text format.

    Parameters
    ----------
    data_source : str, bytes, PathLike or open file
        Names that end in .gz, .bz2 or .xz are decompressed, `-` is standard input.
    return_scipy : bool
        Return arrays instead of lists.

    Returns
    -------
    y : list of float, or array of float64, (n,)
        Labels; nan for a row without one.
    x : list of dict, or scipy.sparse.csr_matrix
        Rows; column j of the matrix is the index j + 1, or j if an index 0 occurs in the file.

    Raises
    ------
    ValueError
        For a malformed line, which is named.
    OSError
        For a file that cannot be read.
    """
    rows = _of_file(data_source) if hasattr(data_source, "read") else _of_name(data_source)
    if not return_scipy:
        return rows.labels.tolist(), as_dicts(rows)
    from scipy import sparse

    shift = int(rows.indices.min(initial=0) < 0)
    shape = (len(rows), rows.n_features + shift)
    x = sparse.csr_matrix((rows.values, rows.indices + shift, rows.indptr), shape)
    x.eliminate_zeros()
    return rows.labels, x


def _of_name(name: Any) -> Dataset:
    path = os.fsdecode(name)
    if path != "-" and not os.path.exists(path):
        raise FileNotFoundError(2, "No such file", path)
    with as_os_errors():
        return table.read(path, 0, SOME_LABELLED)


def _of_file(file: Any) -> Dataset:
    """The rest of an open text or binary file."""
    text = file.read()
    data = text.encode() if isinstance(text, str) else bytes(text)
    if data and not data.endswith(b"\n"):
        data += b"\n"
    buffer = Buffer("u1", len(data) + PADDING)
    buffer.items[: len(data)] = data
    with as_value_errors():
        name = str(getattr(file, "name", "the file"))
        return table.parse_text(buffer, len(data), name, first_index=0, form=SOME_LABELLED).table()


def evaluations(ty: Any, pv: Any, useScipy: bool = True) -> tuple[float, float, float]:
    """Compare true values with predicted ones.

    Parameters
    ----------
    ty : list, tuple or 1-D array
        True values.
    pv : list, tuple or 1-D array
        Predicted values.
    useScipy : bool
        Has no effect: the original's two computations are the same here.

    Returns
    -------
    tuple of float
        Accuracy in percent, mean squared error, squared correlation coefficient (nan if either is constant).

    Raises
    ------
    ValueError
        For lengths that differ.
    """
    truth, predicted = floats(ty, "ty"), floats(pv, "pv")
    if truth.ndim != 1 or predicted.ndim != 1:
        raise ValueError("ty and pv must have one dimension")
    if len(truth) != len(predicted):
        raise ValueError("len(ty) must be equal to len(pv)")
    with np.errstate(all="ignore"):  # squares of large values become infinite
        return _measures(truth, predicted)


def evaluations_scipy(ty: Any, pv: Any) -> tuple[float, float, float]:
    """`evaluations` of arrays; TypeError for other types."""
    if not (isinstance(ty, np.ndarray) and isinstance(pv, np.ndarray)):
        raise TypeError("type of ty and pv must be ndarray")
    return evaluations(ty, pv)


def _measures(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float, float]:
    if not len(truth):
        return math.nan, math.nan, math.nan
    errors = truth - predicted
    accuracy = 100.0 * int(np.count_nonzero(truth == predicted)) / len(truth)
    t, p = truth - truth.mean(), predicted - predicted.mean()
    if np.ptp(truth) == 0.0 or np.ptp(predicted) == 0.0:
        correlation = math.nan
    else:
        correlation = float(t @ p / (t @ t) * (t @ p / (p @ p)))
    return accuracy, float(errors @ errors / len(truth)), correlation


def csr_find_scale_param(x: Any, lower: float = -1, upper: float = 1) -> dict[str, np.ndarray]:
    """Return the parameters that map each column linearly to [lower, upper].

    Parameters
    ----------
    x : scipy sparse matrix, (n, d)
        Rows; not changed.
    lower, upper : float
        The range of scaled values.

    Returns
    -------
    dict
        The arrays `coef` and `offset`, (d,): a value becomes coef * value + offset.  Both are 0 for a constant column.

    Raises
    ------
    TypeError
        Where x is not a sparse matrix.
    ValueError
        Where lower is not below upper.
    """
    csr, lower, upper = _csr(x), real("lower", lower), real("upper", upper)
    if not lower < upper:
        raise ValueError(f"lower = {lower} must be below upper = {upper}")
    d = csr.shape[1]
    low, high = (np.zeros(d), np.zeros(d))
    if csr.shape[0]:
        low, high = csr.min(axis=0).toarray().ravel(), csr.max(axis=0).toarray().ravel()
    varies = high > low
    coef = np.divide(upper - lower, high - low, out=np.zeros(d), where=varies)
    offset = np.where(varies, lower - coef * low, 0.0)
    return {"coef": coef, "offset": offset}


def csr_scale(x: Any, scale_param: dict[str, np.ndarray]) -> Any:
    """Return scaled rows.

    Parameters
    ----------
    x : scipy sparse matrix, (n, d)
        Rows; not changed.
    scale_param : dict
        See `csr_find_scale_param`.  Columns that it does not know become 0; where x has fewer columns the missing ones
        are taken as 0 and scaled as well.

    Returns
    -------
    scipy.sparse.csr_matrix
        Scaled rows, with at least the columns of scale_param.  A warning says where they have more nonzeros than x.
    """
    from scipy import sparse

    csr = _csr(x)
    coef, offset = (np.asarray(scale_param[name], np.float64) for name in ("coef", "offset"))
    n, d = csr.shape
    if d != len(coef):
        _warn("WARNING: The dimension of scaling parameters and feature number do not match.")
        width = max(d, len(coef))
        csr = sparse.csr_matrix((csr.data, csr.indices, csr.indptr), (n, width))
        coef, offset = (np.concatenate((some, np.zeros(width - len(some)))) for some in (coef, offset))
    shift = sparse.csr_matrix(np.ones((n, 1))) @ sparse.csr_matrix(offset[None, :])
    scaled = sparse.csr_matrix(csr @ sparse.diags(coef) + shift)
    scaled.eliminate_zeros()
    if scaled.nnz > csr.nnz:
        _warn(
            f"WARNING: scaling raises the number of nonzeros from {csr.nnz} to {scaled.nnz}: "
            "for sparse features that are never negative use lower=0"
        )
    return scaled


def _csr(x: Any) -> Any:
    if not hasattr(x, "tocsr"):
        raise TypeError(f"x must be a scipy sparse matrix, not {type(x).__name__}")
    csr = as_csr(x)
    return csr if csr.dtype == np.float64 else type(csr)((floats(csr.data, "x"), csr.indices, csr.indptr), csr.shape)


def _warn(text: str) -> None:
    print(text, file=sys.stderr)
