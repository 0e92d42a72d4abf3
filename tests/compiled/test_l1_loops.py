"""Compiled loops of |w|_1 compared with a simple implementation."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from loop_suite import close
from reference import csr_of

from svmtool.compiled.loops.cd.dcd_loops import FIRST_STATE
from svmtool.compiled.loops.loss import l1_loops
from svmtool.data.csr import CsrRows
from svmtool.linalg.weighted_columns import Columns


def model(n: int, d: int, seed: int = 0):
    """rng, A with H = A'A, and g, w, penalty (one of them 0) of a quadratic model."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    penalty = np.ones(d)
    penalty[d // 2] = 0.0
    return rng, A, 5.0 * rng.normal(size=d), rng.normal(size=d) * (rng.random(d) < 0.5), penalty


def violations(v, slope, penalty):
    return np.where(v != 0.0, np.abs(slope + penalty * np.sign(v)), np.maximum(np.abs(slope) - penalty, 0.0))


@pytest.mark.parametrize("n, d", [(1, 1), (30, 6), (20, 25)])
def test_gram_epochs_and_column_epochs(n, d):
    """Both visit the same variables in the same order; column_epochs(...) takes what gather_columns(...) makes."""
    rng, A, g, w, penalty = model(n, d, d)
    H, columns = A.T @ A, Columns(CsrRows(*csr_of(A), d)).weighted(np.arange(d), np.ones(n))
    for most, tolerance in ((1, 0.0), (7, 0.0), (1000, 1e-9)):
        v1, slope, v2, r = w.copy(), g.copy(), w.copy(), np.zeros(n)
        counts, ends = np.zeros((2, 2)), []
        random = np.empty(d, np.int64), np.array([FIRST_STATE])
        ends.append(l1_loops.gram_epochs(H.reshape(-1), v1, slope, penalty, counts[0], *random, most, tolerance))
        random[1][0] = FIRST_STATE
        ends.append(
            l1_loops.column_epochs(
                *columns.arrays, columns.square_norms, g, penalty, v2, r, counts[1], *random, most, tolerance
            )
        )
        assert ends[0] == pytest.approx(ends[1], rel=1e-6, abs=1e-12) and counts[0, 0] == counts[1, 0] <= most
        np.testing.assert_allclose(v1, v2, atol=1e-9)
        np.testing.assert_allclose(r, A @ (v2 - w), atol=1e-9)
        np.testing.assert_allclose(slope, g + H @ (v1 - w), atol=1e-8)
        if ends[0] < np.inf:
            assert violations(v1, slope, penalty).max() <= 10 * tolerance + 1e-8


@pytest.mark.parametrize("bias", [-1.0, 1.5])
@pytest.mark.parametrize("n, d", [(1, 1), (12, 5), (40, 60)])
def test_hinge2_column_epochs(n, d, bias):
    """hinge2_column_epoch(...): margins follow, each epoch lowers f, and the end is the minimum over the chosen."""
    p = reference.random_problem(4, max(n, 2), d, 2.0, bias)._replace(l1=True)
    columns = Columns(CsrRows(*csr_of(p.X), d, bias))
    m = p.A.shape[1]
    w, z, penalty = np.zeros(m), np.zeros(len(p.y)), np.ones(m)
    chosen = np.arange(0, m, 2)
    lists = columns.starts, columns.row_numbers, columns.values

    def run() -> float:
        return l1_loops.hinge2_column_epoch(*lists, 2.0 * p.cost * p.y, penalty, w, chosen, z, columns.bias)

    before = p.value(w)
    for _ in range(3):
        run()
        close(z, p.y * (p.A @ w))
        assert p.value(w) <= before * (1 + 1e-12)
        before = p.value(w)
    left = first = run()
    for _ in range(40000):
        if left > 1e-10 * first:
            left = run()
    slope = p.A.T @ (-2.0 * p.cost * p.y * np.maximum(1.0 - z, 0.0))
    assert np.all(np.delete(w, chosen) == 0.0)
    assert violations(w, slope, penalty)[chosen].max() <= 1e-6
    assert left <= 1e-6
