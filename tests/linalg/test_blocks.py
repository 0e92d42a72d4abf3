"""Products over some rows or columns at a time: those of numpy, whatever the layout and the type."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool.data.dense import DenseRows
from svmtool.linalg.columns import Columns
from svmtool.objectives.logistic import Logistic

RNG = np.random.default_rng(5)
layouts = pytest.mark.parametrize("layout", ["dense", "csr"])


def rows_of(kind: str, layout: str, shape: tuple[int, int], bias: float) -> tuple[DenseRows, np.ndarray]:
    """Rows of whole numbers, and with the bias feature as f8."""
    X = RNG.integers(0, 2 if kind == "bool" else 9, shape).astype(kind)
    rows = DenseRows(X, bias)
    A = np.column_stack((X, np.full(len(X), bias))).astype(float)
    return rows if layout == "dense" else rows.as_csr(), A


@layouts
@pytest.mark.parametrize("kind", ["float64", "float32", "int8"])
def test_few_long_rows(kind, layout):
    """Rows of more numbers than are copied at a time."""
    rows, A = rows_of(kind, layout, (140, 9_000), 1.0)
    chosen = RNG.permutation(140)
    for first in (0, 70):
        K = np.zeros((140, 140))
        rows.fill_kernel(chosen, K, first)
        np.testing.assert_array_equal(np.tril(K)[first:], np.tril(A[chosen] @ A[chosen].T)[first:])
    o = Logistic(rows, np.ones(140), np.ones(140))
    o.set_point(np.zeros(rows.d))
    o.gradient()
    part = np.array([0, 7, 8_000, 9_000])
    np.testing.assert_allclose(o.part_of_hessian(part), 0.25 * A[:, part].T @ A[:, part], rtol=1e-12)


@layouts
@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "uint8", "bool"])
@pytest.mark.parametrize("bias", [1.0, 0.5])
def test_some_columns(kind, layout, bias):
    rows, A = rows_of(kind, layout, (50, 12), bias)
    columns, c = Columns(rows), RNG.random(50)
    chosen, face = np.array([1, 3, 8, 12]), np.array([0, 3])
    some = columns.some(chosen)
    np.testing.assert_allclose(some.diagonal(c), c @ A[:, chosen] ** 2, rtol=1e-12)
    x = np.array([2.0, 0.0, -1.0, 0.3])
    np.testing.assert_allclose(some.sum(x), A[:, chosen] @ x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(some.take(face).products(c), A[:, chosen[face]].T @ c, rtol=1e-12)
    if layout == "csr":
        np.testing.assert_allclose(columns.gram(chosen, c), (A[:, chosen].T * c) @ A[:, chosen], rtol=1e-12)
