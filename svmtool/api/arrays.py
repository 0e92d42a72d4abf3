"""Checks of the callers' arrays, with the messages of scikit-learn, and their conversion to a Dataset.

No array of another library is trusted: loops, and scipy's conversions, read and write where indices point.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from svmtool.data import sparse_checks
from svmtool.data.dataset import Dataset, DenseDataset
from svmtool.data.label_sets import LabelSets
from svmtool.errors import RowsError, clipped

TOO_LARGE = "infinity or a value too large for dtype('float64')"
PIECE = 1 << 22  # values that are checked at a time
KEPT = tuple(map(np.dtype, ("f4", "i1", "u1", "?")))  # smaller numbers that dense rows keep


def dataset(X: Any, y: Any = None, sample_weight: Any = None, sets: LabelSets | None = None) -> Dataset:
    """Return a Dataset of an array or a sparse matrix, which is not changed.

    Parameters
    ----------
    X : 2-D array of numbers, anything that numpy converts to one, a data frame of pandas, polars or pyarrow, or a scipy
        sparse matrix or array; (n, features)
        A C-ordered array of float64, float32, int8, uint8 or bool, and CSR with sorted indices of 32 bits and values
        of float64 or float32, or of 64 bits and float64, are used without a copy; with 32 bits the n + 1 row pointers
        are copied.  CSR of int8, uint8 and bool becomes float32, and shares its indices.  A data frame is copied once,
        with the types of arrays where all columns have one of them; other libraries' arrays are taken as numpy's.
    y : labels or target values, length n; None: zeros
    sample_weight : weights of the rows, length n, or a number for all; None: unweighted
    sets : the labels of rows that have several, in place of y

    Raises
    ------
    ValueError
        for values that are not finite numbers, shapes that do not agree, and weights of which none is above 0.
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
    if sets is not None and len(sets) != len(found):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(found)}, {len(sets)}]")
    found.sets = sets
    if sample_weight is not None:
        found.weights = _weights(sample_weight, len(found))
    return found


def of_columns(X: Any) -> np.ndarray | None:
    """A data frame of pandas, polars or pyarrow as one array in C order, of a type of KEPT or float64; None for others,
    frames of sparse columns included.

    numpy's own conversion makes up to three copies, and numbers of dates.  Raises as `floats`, with the column's place.
    """
    shape: Any = getattr(X, "shape", ())
    if hasattr(X, "sparse") or _columns(X) is None or len(shape) != 2 or not isinstance(shape[0], int) or not shape[1]:
        return None
    types = {np.asarray(column).dtype for column in _columns(X)}
    common = np.result_type(*types) if types <= set(KEPT) else np.dtype(np.float64)
    found = np.empty(shape, common if common in KEPT else np.float64)
    for j, column in enumerate(_columns(X)):
        found[:, j] = column if types <= set(KEPT) else floats(column, f"X, column {j}")
    return found


def _columns(X: Any) -> Any:
    """An iterator over the columns of a data frame; None for anything else."""
    if hasattr(X, "iloc") and hasattr(X, "items"):  # pandas
        return (column for _, column in X.items())
    method = getattr(X, "itercolumns", None) or getattr(X, "iter_columns", None)  # of pyarrow, of polars
    return None if method is None else method()


def _interchanged(X: Any) -> Any:
    """Another library's array as numpy's, which shares its memory where the library can: polars, pyarrow, torch."""
    if isinstance(X, np.ndarray) or not hasattr(X, "__array__"):
        return X
    with converting("X"):  # pyarrow's tensors would become an array of objects
        return X.to_numpy_ndarray() if hasattr(X, "to_numpy_ndarray") else np.asarray(X)


def _narrow(X: Any) -> np.ndarray:
    """X in C order as of KEPT where it is one of these, else float64; raises as `floats`."""
    if (table := of_columns(X)) is not None:
        return table
    X = _interchanged(X)
    kept = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in KEPT and not np.ma.isMaskedArray(X)
    return np.ascontiguousarray(X) if kept else floats(X, "X")


def _matrix(X: Any) -> np.ndarray:
    """X as a matrix (n, features), C order; the array itself where it is one, of float64 or KEPT."""
    X = _narrow(X)
    if X.ndim != 2:
        found = f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead"
        raise ValueError(
            f"{found}:\narray={X}.\nReshape your data either using array.reshape(-1, 1) if your data has a single "
            "feature or array.reshape(1, -1) if it contains a single sample."
        )
    return X


def floats(x: Any, name: str) -> np.ndarray:
    """x as f8 in C order; ValueError or TypeError, with the name, for what is no real number, or too large a one."""
    if type(x) is np.ndarray and x.dtype == np.float64:
        return np.asarray(x, order="C")
    refuse_unsound(x, name)
    with converting(name):
        x = np.asarray(x)
        _refuse_complex(x)
    refuse_unsound(x, name)  # types of other libraries have other names
    with converting(name):
        return np.asarray(x, np.float64, order="C")


@contextlib.contextmanager
def converting(name: str) -> Iterator[None]:
    """Name the array in errors of conversions to float64 within this block; they are ValueError or TypeError."""
    try:
        with np.errstate(all="ignore"):  # numbers of more than 64 bits become infinite, which the caller refuses
            yield
    except OverflowError:
        raise ValueError(f"Input {name} contains {TOO_LARGE}.") from None
    except (TypeError, ValueError) as e:
        raise (TypeError if isinstance(e, TypeError) else ValueError)(f"Input {name}: {e}") from None


def refuse_unsound(x: Any, name: str) -> None:
    """Refuse what numpy and scipy convert to wrong numbers: ValueError for malformed sparse matrices and masked values,
    TypeError for dates and durations.
    """
    if np.ma.is_masked(x):
        raise ValueError(f"Input {name} has masked values: fill them, or leave their rows out")
    if getattr(getattr(x, "dtype", None), "kind", "") in ("m", "M"):
        raise TypeError(f"Input {name}: dates and durations are no numbers: {x.dtype}")
    if hasattr(x, "tocsr"):
        refuse_malformed(x)


def _refuse_complex(x: Any) -> None:
    if x.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{x}\n")


def refuse_malformed(X: Any) -> None:
    """ValueError for a sparse matrix whose index arrays do not fit its shape.

    scipy does not check them: its conversions would read and write outside of their arrays.
    """
    form = getattr(X, "format", "")
    try:
        if names := sparse_checks.ARRAYS.get(form):
            sparse_checks.refuse_unsound(form, X.shape, {name: getattr(X, name) for name in names})
        elif form in _WITHIN and not _WITHIN[form](X, *sparse_checks.sound_shape(X.shape)):
            raise RowsError("its indices must lie within its shape")
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as e:  # arrays of other shapes or types
        fault = e if isinstance(e, RowsError) else "its arrays do not fit each other"
        raise ValueError(f"X is not a valid {form.upper()} matrix: {fault}") from None


def _lists(X: Any, rows: int, columns: int) -> bool:
    pairs = list(zip(X.rows, X.data, strict=True))
    fits = len(pairs) == rows and all(len(some) == len(values) for some, values in pairs)
    return fits and all(0 <= k < columns for some, _ in pairs for k in some)


_WITHIN: dict[str, Callable[[Any, int, int], bool]] = {  # formats without index arrays
    "lil": _lists,
    "dok": lambda X, rows, columns: all(0 <= i < rows and 0 <= j < columns for i, j in X.keys()),
}


def _csr(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """indptr i8, indices i4 (of float64 also i8), values f8 or f4 and the number of features of a sparse matrix."""
    csr = as_csr(X)
    indptr = np.ascontiguousarray(csr.indptr, np.int64)
    data = csr.data[: indptr[-1]]
    single = data.dtype == np.float32 or data.dtype in KEPT  # float32 holds these exactly
    indices, values = csr.indices[: indptr[-1]], data.astype(np.float32, copy=False) if single else floats(data, "X")
    values = np.ascontiguousarray(values)
    from scipy.sparse import csr_matrix

    csr = csr_matrix((values, indices, indptr), X.shape)  # a new one: scipy's flag does not follow changes of arrays
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
        indptr, indices, values = np.ascontiguousarray(csr.indptr, np.int64), csr.indices, csr.data
    long = indices.dtype == np.int64 and values.dtype == np.float64  # of smaller values loops read short indices
    indices = np.ascontiguousarray(indices, np.int64 if long else np.int32)
    return indptr, indices, values, X.shape[1]


def as_csr(X: Any, name: str = "X") -> Any:
    """A sparse matrix as CSR, itself where it is; other formats with float64 values, in which repeated ones are summed.

    Raises as `dataset`.
    """
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
    refuse_unsound(X, name)
    _refuse_complex(X)
    if X.format == "csr":
        return X
    with converting(name):
        return (X if X.dtype == np.float64 else X.astype(np.float64)).tocsr()


def numbered(y: Any) -> tuple[Any, np.ndarray | None]:
    """Text labels as numbers 0, 1, .. and the classes that these count, in ascending order; others as they are."""
    if y is None or hasattr(y, "tocsr"):
        return y, None
    found = np.asarray(y)
    objects = found.dtype.kind == "O" and found.size and all(isinstance(v, str) for v in found.flat)
    if not objects and found.dtype.kind not in "UST":
        return y, None
    if found.ndim == 2 and found.shape[1] == 1:
        found = found.reshape(-1)
    if found.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {found.shape} instead.")
    names = np.char.decode(found, "utf-8") if found.dtype.kind == "S" else found.astype(str)
    classes, numbers = np.unique(names, return_inverse=True)
    return numbers.astype(np.float64), classes


def read_labels(y: Any) -> tuple[Any, np.ndarray | None, LabelSets | None]:
    """y, which numbers text; the classes that these numbers count; and the sets of a matrix of labels in y's place."""
    sets = _label_sets(y)
    return (*numbered(y), None) if sets is None else (None, None, sets)


def _label_sets(y: Any) -> LabelSets | None:
    """The sets of labels that a matrix (n, labels) marks by 1, labels 0, 1, ..; None where y is no such matrix.

    Raises ValueError for values other than 0 and 1.
    """
    if isinstance(y, (list, tuple)) and len(y) and isinstance(y[0], (list, tuple, np.ndarray)):
        with converting("y"):
            y = np.asarray(y)
    if hasattr(y, "tocsr"):
        marks = as_csr(y, "y")
    elif getattr(y, "ndim", 1) == 2 and y.shape[1] > 1 and np.asarray(y).dtype.kind in "biufcO":
        from scipy.sparse import csr_matrix

        marks = csr_matrix(floats(y, "y"))
    else:
        return None
    data = floats(marks.data[: marks.indptr[-1]], "y")
    if not np.isin(data, (0.0, 1.0)).all():
        raise ValueError("y is a matrix: it must mark the labels of each row by 1, and others by 0")
    there = data != 0.0
    before = np.concatenate(([0], np.cumsum(there)))
    found = LabelSets(before[marks.indptr].astype(np.int64), marks.indices[: len(there)][there].astype(np.float64))
    found.count = marks.shape[1]
    return found


def of_classes_in_use(data: Dataset, classes: np.ndarray) -> np.ndarray:
    """The classes of rows with weight; the labels of `data` become their numbers among these, of other rows any."""
    used = data.used()
    if used is None:
        return classes
    known = np.unique(data.labels[used])
    data.labels = np.minimum(np.searchsorted(known, data.labels), len(known) - 1).astype(np.float64)
    return classes[known.astype(np.intp)]


def groups(given: Any, n: int, stratified: bool) -> np.ndarray | None:
    """The number of each row's group, i8[n]; None for None."""
    if given is None:
        return None
    if stratified:
        raise ValueError("stratified and groups cannot be combined")
    found = np.asarray(given)
    if found.shape != (n,):
        raise ValueError(f"groups.shape == {found.shape}, expected {(n,)}!")
    try:
        return np.unique(found, return_inverse=True)[1].astype(np.int64)
    except TypeError as e:  # of numbers and text
        raise TypeError(f"Input groups: {e}") from None


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
    y = floats(y, "y")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.reshape(-1)
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
    largest_of(y, "y")
    return y


def _weights(sample_weight: Any, n: int) -> np.ndarray:
    """sample_weight as f8[n]; a number applies to all rows."""
    weights = floats(sample_weight, "sample_weight")
    weights = np.full(n, weights) if weights.ndim == 0 else weights
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    largest_of(weights, "sample_weight")
    refuse_weights(weights)
    return weights


def refuse_weights(weights: np.ndarray) -> None:
    """ValueError if weights (f8[n], finite) are all 0 or negative, or if those above 0 overflow in a sum."""
    if len(weights) and not (weights > 0.0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    with np.errstate(over="ignore"):
        total = weights.sum(where=weights > 0.0)
    if total == np.inf:
        raise ValueError(f"the sum of sample_weight overflows: the largest weight is {weights.max():g}")


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
    found = Dataset(data.labels, indptr, indices, values, m, weights=data.weights)
    found.groups = data.groups
    return found


def refuse_fractions(y: np.ndarray) -> None:
    """ValueError if labels of classes are not integers."""
    if (np.trunc(y) != y).any():
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes "
            "on a regression target with continuous values."
        )


def refuse_other_order(y: Any) -> None:
    """ValueError if y is an ordered pandas Categorical whose order is not that of its numbers."""
    dtype = getattr(y, "dtype", None)
    if getattr(dtype, "ordered", False):
        order = np.asarray(dtype.categories)
        if np.any(order[1:] <= order[:-1]):
            words = clipped(" < ".join(map(str, order.tolist())))
            raise ValueError(f"the order of y, {words}, is not that of its numbers, which are ranks: give its codes")


def refuse_one_class(y: np.ndarray, classes: np.ndarray | None = None) -> None:
    """ValueError if all labels (f8[n], n > 0) are equal; classes: what they number, None: themselves."""
    if (y == y[0]).all():
        raise ValueError(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{int(y[0]) if classes is None else repr(classes[int(y[0])].item())}"
        )
