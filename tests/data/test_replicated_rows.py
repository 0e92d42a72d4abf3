"""Repeated rows compared with the same rows written out, in both layouts."""

from __future__ import annotations

import numpy as np
import pytest
from reference import csr_of, random_rows

from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.data.replicated import OrdinalRows, RepeatedRows

LAYOUTS = {"csr": lambda X, bias: CsrRows(*csr_of(X), X.shape[1], bias), "dense": DenseRows}


def written_out(X: np.ndarray, bias: float, kind: type, k: int) -> np.ndarray:
    """The matrix of all virtual rows."""
    A = X if bias < 0 else np.hstack([X, np.full((len(X), 1), bias)])
    if kind is RepeatedRows:
        return np.tile(A, (k, 1))
    return np.vstack([np.hstack([A, -np.tile(np.eye(k)[s], (len(A), 1))]) for s in range(k)])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n, d", [(30, 5), (7, 0), (400, 70)])
@pytest.mark.parametrize("kind, k, bias", [(RepeatedRows, 2, -1.0), (RepeatedRows, 3, 2.0), (OrdinalRows, 4, -1.0)])
def test_passes(kind, k, bias, n, d, layout):
    rng = np.random.default_rng(n)
    X = random_rows(rng, n, d)
    rows, A = kind(LAYOUTS[layout](X, bias), k), written_out(X, bias, kind, k)
    assert (rows.n, rows.d, rows.n_features) == (*A.shape, A.shape[1] - (bias >= 0))
    w, y = rng.normal(size=rows.d), rng.choice([-1.0, 1.0], rows.n)
    u, c = rng.normal(size=rows.n), rng.normal(size=rows.n) * (rng.random(rows.n) < 0.5)
    z, gram = np.empty(rows.n), np.triu(rng.normal(size=(rows.d, rows.d)))
    rows.margins(w, y, z)
    close = dict(rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(z, y * (A @ w), **close)
    np.testing.assert_allclose(rows.transpose_product(u), A.T @ u, **close)
    np.testing.assert_allclose(rows.curvature_product(c, w), A.T @ (c * (A @ w)), **close)
    np.testing.assert_allclose(rows.diagonal(c), np.square(A).T @ c, **close)
    np.testing.assert_allclose(rows.square_norms(), np.sum(A * A, axis=1), **close)
    wanted = np.triu(gram + (A.T * c) @ A)
    rows.add_gram(c, gram)
    np.testing.assert_allclose(np.triu(gram), wanted, **close)
