"""The compiled passes over the rows (row_loops) compared with numpy."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from loop_suite import close, every_shape, halves, made

from svmtool.compiled.loops.rows import row_loops


@every_shape
def test_passes_over_blocks_of_rows(n, d):
    rng, X, csr = made(n, d)
    w, y, M = rng.normal(size=d), rng.choice([-1.0, 1.0], n), rng.normal(size=(d, d))
    u, c, number = rng.normal(size=n) * (rng.random(n) < 0.7), rng.normal(size=n), rng.integers(0, 3, n)
    M = M + M.T
    for lo, hi in halves(n):
        part, z, forms = slice(lo, hi), np.full(n, 9.0), np.full(n, 9.0)
        A, v, k = X[part], c[part], number[part]
        row_loops.csr_margins(*csr, w, y, z, 0.25, lo, hi)
        row_loops.csr_quadratic(*csr, M, forms, d, lo, hi)
        close(z[part], y[part] * (A @ w + 0.25))
        close(forms[part], np.einsum("ij,jk,ik->i", A, M, A))
        for written in (z, forms):
            assert np.all(written[:lo] == 9.0) and np.all(written[hi:] == 9.0)
        g, sums, products, gram, diagonal = np.ones(d), np.ones((3, d)), np.ones(d), np.ones((d, d)), np.ones(d)
        row_loops.csr_transpose_product(*csr, u, g, lo, hi)
        row_loops.csr_class_sums(*csr, u, number, sums, d, lo, hi)
        total = row_loops.csr_curvature_product(*csr, c, w, products, 0.5, lo, hi)
        row_loops.csr_gram(*csr, c, gram, d, lo, hi)
        row_loops.csr_diagonal(*csr, c, diagonal, lo, hi)
        close(g, 1.0 + A.T @ u[part])
        close(sums, 1.0 + np.stack([A.T @ (u[part] * (k == j)) for j in range(3)]))
        close(products, 1.0 + A.T @ (v * (A @ w + 0.5)))
        close(total, np.sum(v * (A @ w + 0.5)))
        close(gram, 1.0 + np.triu(A.T @ (v[:, None] * A)))
        close(diagonal, 1.0 + v @ A**2)
        dense = np.zeros((hi - lo, d))
        row_loops.csr_to_dense(*csr, dense, d, lo, hi)
        assert np.array_equal(dense, A)


@every_shape
def test_norms_and_taken_rows(n, d):
    rng, X, csr = made(n, d)
    norms, chosen = np.full(n, -1.0), rng.integers(0, n, 2 * n) if n else np.empty(0, np.int64)
    row_loops.csr_square_norms(csr[0], csr[2], norms, 0, n)
    close(norms, np.sum(X**2, axis=1))
    space = int(np.count_nonzero(X[chosen]))
    taken = np.empty(len(chosen) + 1, np.int64), np.empty(space, np.int32), np.empty(space)
    row_loops.csr_take(*csr, chosen, *taken)
    for got, wanted in zip(taken, reference.csr_of(X[chosen]), strict=True):
        assert np.array_equal(got, wanted)


@every_shape
@pytest.mark.parametrize("triangle", [0, 1])
def test_products(n, d, triangle):
    rng, X, csr = made(n, d)
    Z = X if triangle else reference.random_rows(rng, n + 2, d)
    m, wanted = len(Z), X @ Z.T
    for lo, hi in halves(n):
        P, scratch = np.full((n, m), 9.0), np.zeros(d)
        row_loops.csr_products(*csr, *reference.csr_of(Z), scratch, P, m, triangle, lo, hi)
        for a in range(n):
            end = (a + 1 if triangle else m) if lo <= a < hi else 0
            close(P[a, :end], wanted[a, :end])
            assert np.all(P[a, end:] == 9.0)
        assert not np.any(scratch)
