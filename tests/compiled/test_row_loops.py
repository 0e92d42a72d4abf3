"""The compiled passes over the rows (row_loops) compared with numpy."""

from __future__ import annotations

import numpy as np
import reference
from loop_suite import close, every_shape, halves, made

from svmtool.compiled.loops.rows import row_loops


@every_shape
def test_passes_over_blocks_of_rows(n, d):
    """Margins, sums and Gram matrices are in objectives/test_objective.py."""
    rng, X, csr = made(n, d)
    M, u, number = rng.normal(size=(d, d)), rng.normal(size=n) * (rng.random(n) < 0.7), rng.integers(0, 3, n)
    M = M + M.T
    for lo, hi in halves(n):
        A, part, forms = X[lo:hi], slice(lo, hi), np.full(n, 9.0)
        row_loops.csr_quadratic(*csr, M, forms, d, lo, hi)
        close(forms[part], np.einsum("ij,jk,ik->i", A, M, A))
        assert np.all(forms[:lo] == 9.0) and np.all(forms[hi:] == 9.0)
        sums, dense = np.ones((3, d)), np.zeros((hi - lo, d))
        row_loops.csr_class_sums(*csr, u, number, sums, d, lo, hi)
        close(sums, 1.0 + np.stack([A.T @ (u[part] * (number[part] == j)) for j in range(3)]))
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
