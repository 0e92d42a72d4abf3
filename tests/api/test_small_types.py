"""Rows of float32, int8 and bool: used without a copy, with sums of float64."""

from __future__ import annotations

import numpy as np
import pytest
from sampling import pairs_in_turn
from scipy import sparse

import svmtool
from svmtool import registry
from svmtool.api import arrays
from svmtool.data.dense import DenseRows


def rows(kind, shape):
    """Rows of a type: dense (in place from 65 features on), sparse, or few and wide."""
    rng = np.random.default_rng(0)
    n, d = {"wide": (40, 120), "in place": (150, 70)}.get(shape, (150, 24))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < (0.3 if shape == "sparse" else 1.0))
    X = {"float32": X, "int8": 2 * X, "bool": X > -0.3, "uint8": np.abs(90 * X)}[kind].astype(kind)
    return sparse.csr_matrix(X) if shape == "sparse" else X


def target(X, kind):
    rng = np.random.default_rng(1)
    f = np.asarray(X.astype(float) @ rng.normal(size=X.shape[1])).ravel()
    f += 0.5 * rng.normal(size=len(f))
    return f if kind == "regression" else np.digitize(f, np.quantile(f, [0.3, 0.7]))


SHAPES = [
    ("float32", "dense"), ("int8", "wide"), ("bool", "sparse"), ("uint8", "in place"), ("bool", "in place"),
    ("int8", "in place"),
]  # fmt: skip


@pytest.mark.parametrize("row, given", pairs_in_turn(registry.SOLVERS[::2], SHAPES))
def test_the_problem_is_that_of_the_same_float64(row, given):
    X = rows(*given)
    y, before = target(X, row.kind), X.copy()
    options = {"method": "fast"} if row.number >= 30 else {}
    if "--gap" in registry.supported_options(registry.find(row.number)):
        options["gap"] = 1e-7
    small, double = (svmtool.fit(Z, y, row.number, **options) for Z in (X, X.astype(np.float64)))
    a, b = small.certificate, double.certificate
    assert small.converged == double.converged and abs(a.primal - b.primal) <= 3e-7 * abs(b.primal) + 1e-12
    values = [svmtool.decision_values(small, Z) for Z in (X, X.astype(np.float64))]
    assert np.allclose(*values, rtol=1e-12, atol=1e-12)
    assert (X != before).sum() == 0


@pytest.mark.parametrize("bias", [-1.0, 1.0, 0.5])
@pytest.mark.parametrize("kind", ["float32", "int8", "uint8", "bool"])
def test_columns_keep_the_type(kind, bias):
    """|w|_1 reaches the same minimum with rows of any type by columns, and with a bias that integers do not hold."""
    X = rows(kind, "in place")
    y = target(X, "classification") > 0
    small, double = (svmtool.fit(Z, y, 5, gap=1e-8, bias=bias) for Z in (X, X.astype(np.float64)))
    assert small.certificate.primal == pytest.approx(double.certificate.primal, rel=2e-8)
    assert np.allclose(small.model.W, double.model.W, atol=1e-6)


@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "bool"])
def test_large_rows(kind):
    """Rows of few features stay in place where half is not zero; others become sparse, some rows at a time."""
    X = np.round(np.random.default_rng(2).normal(size=(250_000, 5))).astype(kind)
    full = arrays.dataset(np.ones_like(X)).rows(1.0, 1500)
    assert isinstance(full, DenseRows) and full.X.dtype == kind
    X[7:9], X[:, 3] = 0, 0
    found, wanted = arrays.dataset(X).as_sparse(), sparse.csr_matrix(X)
    assert found.values.dtype == (np.float64 if kind == "float64" else np.float32)
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.values, wanted.data)


class Shared:
    """An array of another library, which numpy reads without a copy."""

    def __init__(self, X):
        self.X = X

    def __array__(self, dtype=None, copy=None):
        return self.X if dtype is None else self.X.astype(dtype)


class Tensors(Shared):
    """pyarrow's array of tensors."""

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self.X), object)

    def to_numpy_ndarray(self):
        return self.X


@pytest.mark.parametrize("kind", [Shared, Tensors])
def test_arrays_of_other_libraries_are_not_copied(kind):
    X = rows("float32", "dense")
    assert np.shares_memory(arrays.dataset(kind(X)).X, X)


@pytest.mark.parametrize("solver", [2, 11, 13])
def test_wide_rows_in_place_have_epochs_of_coordinate_descent(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(660, 1600))
    y = X[:, 0] + rng.normal(size=660)
    done = svmtool.fit(X, y if solver > 10 else np.sign(y), solver, max_iter=3)
    assert any(record.get("epochs") for record in done._results[0].history)
