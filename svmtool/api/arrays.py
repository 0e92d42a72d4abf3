"""Checks of the callers' arrays, with the messages of scikit-learn, and their conversion to a Dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.data.dataset import Dataset, DenseDataset

MAX_FEATURES = 2**31 - 1
TOO_LARGE = "infinity or a value too large for dtype('float64')"
PIECE = 1 << 22  # values that are checked at a time


def dataset(X: Any, y: Any = None, sample_weight: Any = None) -> Dataset:
    """Return a Dataset of an array or a sparse matrix, which is not changed.

    Parameters
    ----------
    X : 2-D array of numbers, anything that numpy converts to one, or a scipy sparse matrix or array; (n, features)
        A C-ordered float64 array, and CSR with sorted indices of 32 or 64 bits and float64 values are used without a
        copy; with 32 bits the n + 1 row pointers are copied.
    y : labels or target values, length n; None: zeros
    sample_weight : weights of the rows, length n, or a number for all; None: unweighted

    Raises
    ------
    ValueError
        for values that are not finite numbers, shapes that do not agree, and weights that are negative or all 0.
    """
    if hasattr(X, "tocsr"):
        indptr, indices, values, n_features = _csr(X)
        largest = largest_of(values, "X")
        found = Dataset(labels(y, len(indptr) - 1), indptr, indices, values, n_features)
    else:
        matrix = _matrix(X)
        largest = largest_of(matrix.reshape(-1), "X")
        found = DenseDataset(labels(y, len(matrix)), matrix)
    found.largest = largest
    if not len(found):
        shape = f"(shape=(0, {found.n_features}))"
        raise ValueError(f"Found array with 0 sample(s) {shape} while a minimum of 1 is required.")
    if sample_weight is not None:
        found.weights = _weights(sample_weight, len(found))
    return found


def _matrix(X: Any) -> np.ndarray:
    """X as f8 (n, features), C order; the array itself where it is one."""
    X = np.asarray(X)
    _refuse_complex(X)
    X = floats(X, "X")
    if X.ndim != 2:
        found = f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead"
        raise ValueError(
            f"{found}:\narray={X}.\nReshape your data either using array.reshape(-1, 1) if your data has a single "
            "feature or array.reshape(1, -1) if it contains a single sample."
        )
    return X


def floats(x: Any, name: str) -> np.ndarray:
    """x as f8 in C order; ValueError for integers beyond the range of float64."""
    try:
        return np.asarray(x, np.float64, order="C")
    except OverflowError:
        raise ValueError(f"Input {name} contains {TOO_LARGE}.") from None


def _refuse_complex(x: np.ndarray) -> None:
    if x.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{x}\n")


def _csr(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """indptr i8, indices i4 or i8, values f8 and the number of features of a sparse matrix."""
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
    csr = X if X.format == "csr" else X.tocsr()
    _refuse_complex(csr.data)
    n, n_features = csr.shape
    if n_features > MAX_FEATURES:
        raise ValueError(f"X has {n_features} features, the most are {MAX_FEATURES}")
    indptr = np.ascontiguousarray(csr.indptr, np.int64)
    count = int(indptr[-1])
    wrong = indptr[0] != 0 or not count <= min(len(csr.data), len(csr.indices)) or np.any(indptr[1:] < indptr[:-1])
    indices = csr.indices[: max(count, 0)]
    if wrong or (count and not 0 <= int(indices.min()) <= int(indices.max()) < n_features):
        raise ValueError("X is not a valid CSR matrix: indptr must ascend, and indices must lie within its shape")
    if not csr.has_canonical_format:  # sorted, and none twice
        csr = csr.copy()
        csr.sum_duplicates()
        indptr = np.ascontiguousarray(csr.indptr, np.int64)
        count = int(indptr[-1])
    indices, values = csr.indices[:count], csr.data[:count]
    indices = np.ascontiguousarray(indices, np.int64 if indices.dtype == np.int64 else np.int32)
    return indptr, indices, floats(values, "X"), n_features


def largest_of(values: np.ndarray, name: str) -> float:
    """Largest |value| of `values` (f8[n]), 0 if empty; ValueError if one is nan or infinite."""
    largest = 0.0
    for at in range(0, len(values), PIECE):
        some = values[at : at + PIECE]
        low, high = float(some.min()), float(some.max())  # nan where there is one
        if not high - low < np.inf and not np.isfinite(some).all():
            kind = "NaN" if np.isnan(some).any() else TOO_LARGE
            raise ValueError(f"Input {name} contains {kind}.")
        largest = max(largest, high, -low)
    return largest


def labels(y: Any, n: int) -> np.ndarray:
    """y as f8[n], a column vector flattened; zeros for None."""
    if y is None:
        return np.zeros(n)
    y = np.asarray(y)
    _refuse_complex(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.reshape(-1)
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
    y = floats(y, "y")
    largest_of(y, "y")
    return y


def _weights(sample_weight: Any, n: int) -> np.ndarray:
    """sample_weight as f8[n]; a number applies to all rows."""
    weights = np.asarray(sample_weight)
    _refuse_complex(weights)
    weights = floats(weights, "sample_weight")
    weights = np.full(n, weights) if weights.ndim == 0 else weights
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    largest_of(weights, "sample_weight")
    if len(weights) and weights.min() < 0.0:
        raise ValueError("Negative values in data passed to `sample_weight`")
    if len(weights) and not weights.any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return weights


def with_serials(data: Dataset, training: bool) -> Dataset:
    """Rows of a precomputed kernel's values as LIBSVM's files have them: before them the row's number at index -1.

    training: whether they are the training rows, numbered from 1 on; those to predict all have number 1, not used.
    """
    if isinstance(data, DenseDataset):
        K = data.X
    else:
        K = np.zeros((len(data), data.n_features))
        K[np.repeat(np.arange(len(data)), np.diff(data.indptr)), data.indices] = data.values
    n, m = K.shape
    if training and n != m:
        raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {n}x{m} matrix.")
    numbers = np.arange(1.0, n + 1.0) if training else np.ones(n)
    values = np.column_stack((numbers, K)).reshape(-1)
    indices = np.tile(np.arange(-1, m, dtype=np.int32), n)
    indptr = np.arange(n + 1, dtype=np.int64) * (m + 1)
    return Dataset(data.labels, indptr, indices, values, m, weights=data.weights)


def refuse_fractions(y: np.ndarray) -> None:
    """ValueError if labels of classes are not integers."""
    if not np.array_equal(np.trunc(y), y):
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes "
            "on a regression target with continuous values."
        )


def refuse_one_class(y: np.ndarray) -> None:
    """ValueError if all labels (f8[n], n > 0) are equal."""
    if (y == y[0]).all():
        raise ValueError(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{int(y[0])}"
        )
