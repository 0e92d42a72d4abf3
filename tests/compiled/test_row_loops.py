"""Every compiled pass over the rows (row_loops) compared with numpy."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from loop_suite import check_each_loop_is_called, close, every_shape, halves, made
from reference import csr_of

from svmtool.compiled.loops.rows import row_loops
from svmtool.data.row_storage import draw_rows


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, row_loops)


@every_shape
def test_margins(n, d):
    rng, X, csr = made(n, d)
    w, y = rng.normal(size=d), rng.choice([-1.0, 1.0], n)
    for lo, hi in halves(n):
        z = np.full(n, 9.0)
        row_loops.csr_margins(*csr, w, y, z, 0.25, lo, hi)
        close(z[lo:hi], (y * (X @ w + 0.25))[lo:hi])
        assert np.all(z[:lo] == 9.0) and np.all(z[hi:] == 9.0)


@every_shape
def test_transpose_product(n, d):
    rng, X, csr = made(n, d)
    u = rng.normal(size=n) * (rng.random(n) < 0.7)
    for lo, hi in halves(n):
        g = np.ones(d)
        row_loops.csr_transpose_product(*csr, u, g, lo, hi)
        close(g, 1.0 + X[lo:hi].T @ u[lo:hi])


@every_shape
def test_class_sums(n, d):
    rng, X, csr = made(n, d)
    u, number = rng.normal(size=n), rng.integers(0, 3, n)
    for lo, hi in halves(n):
        sums = np.ones((3, d))
        row_loops.csr_class_sums(*csr, u, number, sums, d, lo, hi)
        close(sums, 1.0 + np.stack([X[lo:hi].T @ (u * (number == k))[lo:hi] for k in range(3)]))


@every_shape
def test_quadratic(n, d):
    rng, X, csr = made(n, d)
    M = rng.normal(size=(d, d))
    M = M + M.T
    for lo, hi in halves(n):
        forms = np.full(n, 9.0)
        row_loops.csr_quadratic(*csr, M, forms, d, lo, hi)
        close(forms[lo:hi], np.einsum("ij,jk,ik->i", X[lo:hi], M, X[lo:hi]))
        assert np.all(forms[:lo] == 9.0) and np.all(forms[hi:] == 9.0)


@every_shape
def test_curvature_product(n, d):
    rng, X, csr = made(n, d)
    c, v = rng.random(n) * (rng.random(n) < 0.7), rng.normal(size=d)
    for lo, hi in halves(n):
        g = np.ones(d)
        total = row_loops.csr_curvature_product(*csr, c, v, g, 0.5, lo, hi)
        t = c[lo:hi] * (X[lo:hi] @ v + 0.5)
        close(g, 1.0 + X[lo:hi].T @ t)
        close(total, t.sum())


@every_shape
@pytest.mark.parametrize("density", [0.3, 1.0], ids=["gaps", "full"])
def test_gram(n, d, density):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    c = rng.normal(size=n) * (rng.random(n) < 0.7)  # negative: rows taken out
    for lo, hi in halves(n):
        gram = np.ones((d, d))
        row_loops.csr_gram(*csr_of(X), c, gram, d, lo, hi)
        close(gram, 1.0 + np.triu(X[lo:hi].T @ (c[lo:hi, None] * X[lo:hi])))


@every_shape
def test_diagonal(n, d):
    rng, X, csr = made(n, d)
    c = rng.normal(size=n) * (rng.random(n) < 0.7)
    for lo, hi in halves(n):
        diagonal = np.ones(d)
        row_loops.csr_diagonal(*csr, c, diagonal, lo, hi)
        close(diagonal, 1.0 + c[lo:hi] @ X[lo:hi] ** 2)


@every_shape
def test_square_norms(n, d):
    _, X, (indptr, _, values) = made(n, d)
    norms = np.full(n, -1.0)
    row_loops.csr_square_norms(indptr, values, norms, 0, n)
    close(norms, np.sum(X**2, axis=1))


@every_shape
def test_take_and_to_dense(n, d):
    rng, X, csr = made(n, d)
    chosen = rng.integers(0, n, 2 * n) if n else np.empty(0, np.int64)
    indptr = np.empty(len(chosen) + 1, np.int64)
    space = int(np.count_nonzero(X[chosen]))
    indices, values = np.empty(space, np.int32), np.empty(space)
    row_loops.csr_take(*csr, chosen, indptr, indices, values)
    for got, wanted in zip((indptr, indices, values), csr_of(X[chosen]), strict=True):
        assert np.array_equal(got, wanted)
    for lo, hi in halves(n):
        dense = np.zeros((hi - lo, d))
        row_loops.csr_to_dense(*csr, dense, d, lo, hi)
        assert np.array_equal(dense, X[lo:hi])


@pytest.mark.parametrize("seed", [0, 1, 12345678901])
def test_draw_rows(seed):
    assert draw_rows(66, 7, seed).tolist() == [7 * r + reference.splitmix(seed, r + 1) % 7 for r in range(9)]


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
