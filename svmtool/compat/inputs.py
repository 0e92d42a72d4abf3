"""Rows and labels in the forms that LIBLINEAR's and LIBSVM's Python modules take, as a Dataset."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from svmtool.api import arrays
from svmtool.compiled.loops.text.text_loops import LAST_INDEX
from svmtool.data.dataset import Dataset

ROW_FORMS = "a row is a dict, a list, a tuple, a 1-D array, or a tuple of two arrays: indices and values"


def dataset(y: Any, x: Any, serial: bool = False) -> Dataset:
    """Return the labelled rows of a problem.

    Parameters
    ----------
    y : list, tuple, 1-D array or None
        Labels; None: zeros.
    x : list or tuple of rows, 2-D array, or scipy sparse matrix
        The first element of a list, tuple or array and the first column of a matrix have the index 1.
    serial : bool
        Whether they are rows of a precomputed kernel: their first element has the index 0, and zeros are kept.

    Returns
    -------
    Dataset
        It shares the values of a matrix where it can.

    Raises
    ------
    TypeError
        For other types.
    ValueError
        For values that are not finite numbers, indices out of range, and lengths that differ.
    """
    if hasattr(x, "tocsr"):
        arrays.refuse_unsound(x, "x")
        rows = _table(arrays.floats(x.toarray(), "x"), True) if serial else arrays.dataset(x)
    elif isinstance(x, np.ndarray) and x.ndim == 2:
        rows = _table(arrays.floats(x, "x"), serial)
    elif isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.ndim):
        rows = _of_sequence(x, serial)
    else:
        raise TypeError(f"type of x: {type(x)} is not supported!")
    if y is not None:
        labels = labels_of(y)
        if len(labels) != len(rows):
            raise ValueError("len(y) != len(x)")
        rows = rows.replace(labels=labels)
    return rows


def labels_of(y: Any, needed: bool = True) -> np.ndarray:
    """Return labels as f8[n]; raises as `dataset`.  Unless needed they may be nan, for rows without one."""
    if not isinstance(y, (list, tuple, np.ndarray, ctypes.Array)):
        raise TypeError(f"type of y: {type(y)} is not supported!")
    try:
        labels = arrays.floats(y, "y")
    except (TypeError, ValueError) as e:
        if arrays.TOO_LARGE in str(e):
            raise
        raise TypeError("y holds a label that is not a number") from None
    if labels.ndim != 1:
        raise ValueError(f"y has {labels.ndim} dimensions, it must have 1")
    arrays.largest_of(labels if needed else labels[labels == labels], "y")
    return labels


def _table(X: np.ndarray, serial: bool) -> Dataset:
    """The rows of a table f8 (n, d).  The number of features is the last column that is not all zero."""
    n, d = X.shape
    if serial:
        indices = np.tile(np.arange(-1, d - 1, dtype=np.int32), n)
        return _checked(np.arange(n + 1, dtype=np.int64) * d, indices, X.reshape(-1), max(d - 1, 0))
    while d and not X[:, d - 1].any():
        d -= 1
    return arrays.dataset(X[:, :d])


def _checked(indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, n_features: int) -> Dataset:
    """Rows with labels 0; ValueError for a value that is not finite."""
    arrays.largest_of(values, "X")
    return Dataset(np.zeros(len(indptr) - 1), indptr, indices, values, n_features)


def _of_sequence(x: Sequence[Any], serial: bool) -> Dataset:
    """Rows one by one; rows of equal length without indices become a table."""
    kinds = set(map(type, x))
    if kinds and kinds <= {list, tuple, np.ndarray} and len(set(map(len, x))) == 1:
        try:
            table = np.array(x, np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.ndim == 2:
            return _table(table, serial)
    parts = [entries(row, serial) for row in x]
    indptr = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(indices) for indices, _ in parts], out=indptr[1:])
    indices = np.concatenate([some for some, _ in parts] or [np.empty(0, np.int64)])
    values = np.concatenate([some for _, some in parts] or [np.empty(0)])
    largest = int(indices.max(initial=0))
    return _checked(indptr, (indices - 1).astype(np.int32), values, largest)


def entries(row: Any, serial: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries of one row: indices i8, ascending, and values f8; zeros are left out unless `serial`.

    Raises as `dataset`.
    """
    try:
        if isinstance(row, dict):
            keys = sorted(map(operator.index, row))
            indices, values = np.array(keys, np.int64), np.array([row[k] for k in keys], np.float64)
        elif isinstance(row, tuple) and len(row) == 2 and all(isinstance(part, np.ndarray) for part in row):
            indices, values = row[0].astype(np.int64) + (0 if serial else 1), row[1].astype(np.float64)
            if not np.all(np.diff(indices) > 0):
                raise ValueError("the indices of a row must be ascending")
        elif isinstance(row, (list, tuple, np.ndarray)):
            values = np.array(row, np.float64)
            indices = np.arange(0 if serial else 1, values.size + (0 if serial else 1))
        else:
            raise TypeError(ROW_FORMS)
    except (TypeError, OverflowError):
        raise TypeError(ROW_FORMS) from None
    if values.ndim != 1 or len(indices) != len(values):
        raise TypeError(ROW_FORMS)
    if len(indices):
        if indices[0] < (0 if serial else 1):
            raise ValueError(f"index {indices[0]}: indices start at 1, and at 0 with a precomputed kernel (-t 4)")
        if indices[-1] > LAST_INDEX:
            raise ValueError(f"index {indices[-1]}: the largest is {LAST_INDEX}")
    if serial:
        return indices, values
    kept = values != 0.0
    return indices[kept], values[kept]


def as_dicts(rows: Dataset) -> list[dict[int, float]]:
    """Return each row as a dict from index to value."""
    ends, indices, values = rows.indptr.tolist(), (rows.indices + 1).tolist(), rows.values.tolist()
    return [dict(zip(indices[a:b], values[a:b], strict=True)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
