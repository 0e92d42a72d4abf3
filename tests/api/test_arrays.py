"""Arrays of every kind give the same model, are not changed, and are not copied where that can be spared."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from svmtool import api, registry
from svmtool.api import arrays
from svmtool.sklearn import LinearSVC

RNG = np.random.default_rng(11)
X = np.round(RNG.normal(size=(80, 7)) * (RNG.random((80, 7)) < 0.6), 3).astype(np.float32).astype(np.float64)
Y = np.where(X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=80) > 0, 1.0, -1.0)
WANTED = api.dumps(api.fit(X, Y, 3))


def shuffled_csr() -> sparse.csr_matrix:
    """Indices in each row in descending order."""
    m = sparse.csr_matrix(X)
    for a, b in zip(m.indptr, m.indptr[1:], strict=False):
        m.indices[a:b], m.data[a:b] = m.indices[a:b][::-1].copy(), m.data[a:b][::-1].copy()
    m.has_sorted_indices = False
    return m


def twice_csr() -> sparse.csr_matrix:
    """Every value as the sum of two halves."""
    m = sparse.csr_matrix(X)
    indptr = 2 * m.indptr
    return sparse.csr_matrix((np.repeat(0.5 * m.data, 2), np.repeat(m.indices, 2), indptr), shape=X.shape)


KINDS = {
    "C": lambda: X.copy(), "F": lambda: np.asfortranarray(X), "float32": lambda: X.astype(np.float32),
    "big-endian": lambda: X.astype(">f8"), "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2], "list": X.tolist,
    "csr array": lambda: sparse.csr_array(X), "csc": lambda: sparse.csc_matrix(X), "shuffled": shuffled_csr,
    "twice": twice_csr, "csr float32": lambda: sparse.csr_matrix(X.astype(np.float32)),
}  # fmt: skip


def parts_of(given) -> list[np.ndarray]:
    if isinstance(given, np.ndarray):
        return [given]
    held = vars(given).values() if sparse.issparse(given) else []
    return [v for v in held if isinstance(v, np.ndarray) and v.dtype != object]


@pytest.mark.parametrize("kind", KINDS)
def test_same_model_from_read_only_arrays(kind):
    given, y = KINDS[kind](), Y.copy()
    before = [a.copy() for a in parts_of(given)]
    for a in [*parts_of(given), y]:
        a.flags.writeable = False
    assert api.dumps(api.fit(given, y, 3)) == WANTED
    assert api.fit(given, y.astype(np.int64), 0, kernel="rbf").converged
    for a, b in zip(before, parts_of(given), strict=True):
        np.testing.assert_array_equal(a, b)


class Column:
    """A column as polars and pyarrow have it: numpy converts it."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


class Columns:
    """A data frame with the interface of pyarrow's Table and RecordBatch."""

    def __init__(self, columns):
        self.held = [Column(column) for column in columns]
        self.shape = len(columns[0]), len(columns)

    def itercolumns(self):
        return iter(self.held)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("numpy's conversion makes further copies")


def frame_of(columns):
    pandas = pytest.importorskip("pandas")
    return pandas.concat([pandas.Series(column) for column in columns], axis=1)


every_frame = pytest.mark.parametrize("make", [Columns, frame_of])


@every_frame
def test_data_frames(make):
    """Columns of one small type keep it, others become float64; names of columns may be equal."""
    assert api.dumps(api.fit(make(list(X.T)), Column(Y), 3)) == WANTED
    single = make(list(X.T.astype(np.float32)))
    assert arrays.dataset(single).X.dtype == np.float32 and api.dumps(api.fit(single, Y, 3)) == WANTED
    mixed = [X[:, 0].astype(np.float32), *X.T[1:]]
    assert api.dumps(api.fit(make(mixed), Y, 3)) == WANTED
    whole = np.sign(X).astype(np.int64)
    for types in (["i8"] * 7, ["i1"] * 7, ["i1", "f4", "i2", "f8", "i4", "u8", "i8"], ["i1"] * 3 + ["f4"] * 4):
        given = make([np.abs(column).astype(kind) for column, kind in zip(whole.T, types, strict=True)])
        assert np.array_equal(arrays.dataset(given).X, np.abs(whole)), types
    found = LinearSVC().fit(make(list(X.T)), Column(Y))
    np.testing.assert_allclose(found.coef_, LinearSVC().fit(X, Y).coef_, rtol=1e-12)


@every_frame
def test_what_columns_must_not_hold(make):
    some = np.ones(4)
    for column, kind, words in (
        (np.array(["2020-01-01"] * 4, "M8[ms]"), TypeError, "column 1: dates and durations are no numbers"),
        (np.array(["u", "v", "w", "x"], object), ValueError, "column 1: could not convert string to float: .*u"),
        (np.array([1.0, np.nan, 1.0, 1.0]), ValueError, "contains NaN"),
        (np.array([1.0, np.inf, 1.0, 1.0]), ValueError, "infinity"),
    ):
        for call in (lambda given: api.fit(given, [1, 2, 1, 2], 1), lambda given: LinearSVC().fit(given, [1, 2, 1, 2])):
            with pytest.raises(kind, match=words):
                call(make([some, column]))


def peak_of(given, y) -> int:
    tracemalloc.start()
    try:
        api.fit(given, y, 1, max_iter=5)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_sparse_rows_are_not_copied():
    """Beyond solver vectors of rows and features; with indices of 32 and of 64 bits."""
    n, d, k = 10_000, 2_000, 100
    values = RNG.random((n, k))
    indices = (RNG.integers(0, d // k, (n, k)) + np.arange(k) * (d // k)).astype(np.int32)
    y = np.where(values[:, 0] + 0.2 * RNG.normal(size=n) > 0.5, 1.0, -1.0)
    narrow = sparse.csr_matrix((values.ravel(), indices.ravel(), np.arange(n + 1, dtype=np.int32) * k), shape=(n, d))
    size = narrow.data.nbytes + narrow.indices.nbytes
    assert size >= 10e6 and peak_of(narrow, y) < 0.5 * size
    assert peak_of(with_long_indices(narrow), y) < 0.5 * size


@pytest.mark.parametrize("kind", ["float32", "int8", "bool"])
def test_long_indices_of_small_values(kind):
    narrow = sparse.csr_matrix(np.round(X).astype(kind))
    assert api.dumps(api.fit(with_long_indices(narrow), Y, 3)) == api.dumps(api.fit(narrow, Y, 3))


@pytest.mark.parametrize("row", registry.SOLVERS[::3], ids=lambda row: row.name)
def test_long_indices_give_the_same_bits(row):
    rng = np.random.default_rng(68)
    narrow = sparse.csr_array(np.where(rng.random((60, 8)) < 0.25, rng.random((60, 8)), 0.0))
    scores = narrow @ rng.normal(size=8)
    y = np.where(scores > np.median(scores), 1.0, -1.0)
    wide = with_long_indices(narrow)
    first, second = (api.fit(X, y, row.number) for X in (narrow, wide))
    assert np.array_equal(first.model.W, second.model.W)
    assert np.array_equal(api.predict(first.model, narrow), api.predict(first.model, wide))


def with_long_indices(X):
    """A copy of a CSR matrix with read-only arrays of 64-bit indices."""
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for array in (wide.data, wide.indices, wide.indptr):
        array.flags.writeable = False
    return wide


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], [1, 2], "Input X contains NaN."),
        ([[1.0, np.inf], [0.0, 1.0]], [1, 2], "Input X contains infinity or a value too large for dtype"),
        ([[1.0], [2.0]], [1, np.nan], "Input y contains NaN."),
        ([[1.0], [2.0], [3.0]], [1, 2, 1, 2], r"inconsistent numbers of samples: \[3, 4\]"),
        ([1.0, 2.0], [1, 2], "Expected 2D array, got 1D array instead:\narray="),
        (np.zeros((0, 3)), [], r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required."),
        ([[1j], [2j]], [1, 2], "Complex data not supported"),
        ([[1.0], [2.0]], [[1, 2], [1, 2]], r"y is a matrix: it must mark the labels of each row by 1"),
        ([[1.0], [2.0]], [3, 3], "needs samples of at least 2 classes in the data, .* only one class: 3"),
        ([[1.0], [2.0]], None, "requires y to be passed, but the target y is None"),
        ([[1.0], [2.0]], [1, 1e12], "does not fit into 32 bits"),
        ([[1e200], [2.0]], [1, 2], "overflow when squared and summed"),
        ([[10**400, 1], [0, 1]], [0, 1], "Input X contains infinity or a value too large for dtype"),
        ([[1.0], [2.0]], [0, 10**400], "Input y contains infinity or a value too large for dtype"),
    ],
)
def test_bad_arrays(X, y, message):
    with pytest.raises(ValueError, match=message):
        api.fit(X, y)
