"""Rows of float32, int8 and bool: used without a copy, with sums of float64."""

from __future__ import annotations

import numpy as np
import pytest
from sampling import pairs_in_turn
from scipy import sparse

import svmtool
from svmtool import registry


def rows(kind, shape):
    """Rows of a type: dense, sparse, or few and wide."""
    rng = np.random.default_rng(0)
    n, d = (40, 120) if shape == "wide" else (150, 24)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < (0.3 if shape == "sparse" else 1.0))
    X = {"float32": X, "int8": 2 * X, "bool": X > 0.3}[kind].astype(kind)
    return sparse.csr_matrix(X) if shape == "sparse" else X


def target(X, kind):
    rng = np.random.default_rng(1)
    f = np.asarray(X.astype(float) @ rng.normal(size=X.shape[1])).ravel()
    f += 0.5 * rng.normal(size=len(f))
    return f if kind == "regression" else np.digitize(f, np.quantile(f, [0.3, 0.7]))


SHAPES = [("float32", "dense"), ("int8", "wide"), ("bool", "sparse")]


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
