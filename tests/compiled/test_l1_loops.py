"""Each compiled loop of |w|_1 compared with a simple implementation; see test_loops.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import reference
from loop_suite import close, made
from reference import csr_of

from svmtool.compiled import REGISTRY
from svmtool.compiled.loops.loss import l1_loops
from svmtool.data.csr import CsrRows
from svmtool.linalg.weighted_columns import Columns

SEED = 88172645463325252


def test_each_loop_has_a_test_here():
    text = Path(__file__).read_text(encoding="utf-8")
    names = [name for name, loop in REGISTRY.items() if loop.function.__module__ == l1_loops.__name__]
    assert names and all(f"{name}(" in text for name in names)


def model(n: int, d: int, seed: int = 0):
    """rng, A with H = A'A, and g, w, penalty (one of them 0) of a quadratic model."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    penalty = np.ones(d)
    penalty[d // 2] = 0.0
    return rng, A, 5.0 * rng.normal(size=d), rng.normal(size=d) * (rng.random(d) < 0.5), penalty


def violations(v, slope, penalty):
    return np.where(v != 0.0, np.abs(slope + penalty * np.sign(v)), np.maximum(np.abs(slope) - penalty, 0.0))


def one_epoch(H, v, slope, penalty, visited):
    """Coordinate descent over the variables `visited`, each to its minimum, in order; returns the largest violation."""
    largest = 0.0
    for j in visited:
        largest = max(largest, violations(v[j], slope[j], penalty[j]))
        if H[j, j] > 0.0:
            x = v[j] - slope[j] / H[j, j]
            new = np.sign(x) * max(abs(x) - penalty[j] / H[j, j], 0.0)
        else:
            new = 0.0 if penalty[j] > 0.0 else v[j]
        slope += (new - v[j]) * H[:, j]
        v[j] = new
    return largest


def shuffled(m: int, state: int) -> tuple[list[int], int]:
    """0 .. m-1 in the order of the loops' xorshift64, and its next state."""
    order, most = list(range(m)), 2**64 - 1
    for c in range(m):
        state ^= state << 13 & most
        state ^= state >> 7
        state ^= state << 17 & most
        other = c + (state >> 1) % (m - c)
        order[c], order[other] = order[other], order[c]
    return order, state


def epochs(H, v, slope, penalty, most, tolerance):
    """The twin of gram_epochs: all variables, then those that are not zero until they are done, and so on."""
    everywhere, state = True, SEED
    for k in range(most):
        order, state = shuffled(len(v), state)
        visited = order if everywhere else [j for j in order if v[j] != 0.0]
        largest = one_epoch(H, v, slope, penalty, visited)
        if everywhere and largest <= tolerance:
            return largest, k + 1
        everywhere = largest <= tolerance
    return np.inf, most


@pytest.mark.parametrize("most, tolerance", [(1, 0.0), (7, 0.0), (1000, 1e-9), (1000, 0.3)])
@pytest.mark.parametrize("n, d", [(1, 1), (30, 6), (20, 25)])
def test_gram_epochs_and_column_epochs(n, d, most, tolerance):
    """Epoch by epoch those of the twin; column_epochs(...) with the columns that gather_columns(...) makes."""
    rng, A, g, w, penalty = model(n, d, d)
    H = A.T @ A
    v, slope = w.copy(), g.copy()
    wanted = epochs(H, v, slope, penalty, most, tolerance)
    v1, slope1, count = w.copy(), g.copy(), np.zeros(2)
    random = np.empty(d, np.int64), np.array([SEED])
    largest = l1_loops.gram_epochs(H.reshape(-1), v1, slope1, penalty, count, *random, most, tolerance)
    assert (largest, count[0]) == (pytest.approx(wanted[0], rel=1e-6, abs=1e-12), wanted[1])
    np.testing.assert_allclose(v1, v, atol=1e-9)
    np.testing.assert_allclose(slope1, slope, atol=1e-8)

    columns = Columns(CsrRows(*csr_of(A), d)).weighted(np.arange(d), np.ones(n))
    v2, r, count = w.copy(), np.zeros(n), np.zeros(1)
    random[1][0] = SEED
    starts, rows, values = columns.arrays
    largest = l1_loops.column_epochs(
        starts, rows, values, columns.square_norms, g, penalty, v2, r, count, *random, most, tolerance
    )
    assert (largest, count[0]) == (pytest.approx(wanted[0], rel=1e-6, abs=1e-12), wanted[1])
    np.testing.assert_allclose(v2, v, atol=1e-9)
    np.testing.assert_allclose(r, A @ (v - w), atol=1e-9)
    if largest < np.inf:
        assert violations(v, g + H @ (v - w), penalty).max() <= 10 * tolerance + 1e-8


@pytest.mark.parametrize("bias", [-1.0, 1.5])
@pytest.mark.parametrize("n, d", [(0, 3), (1, 1), (12, 5), (3, 70)])
def test_columns(n, d, bias):
    """count_columns(...), fill_columns(...), gather_columns(...), and what is made of them."""
    rng, X, csr = made(n, d)
    columns = Columns(CsrRows(*csr, d, bias))
    starts, rows, values = columns.starts, columns.row_numbers, columns.values
    again = np.zeros((n, d))
    for j in range(d):
        own = rows[starts[j] : starts[j + 1]]
        assert np.all(np.diff(own) > 0)
        again[own, j] = values[starts[j] : starts[j + 1]]
    close(again, X)

    c = rng.random(n) * (rng.random(n) < 0.7)
    with_bias = np.hstack([X, np.full((n, 1), bias)]) if bias >= 0 else X
    chosen = np.flatnonzero(rng.random(with_bias.shape[1]) < 0.6)
    to_starts, to_rows = np.empty(len(chosen) + 1, np.int64), np.empty(n * len(chosen), np.int32)
    to_values, squares = np.empty(n * len(chosen)), np.empty(len(chosen))
    l1_loops.gather_columns(starts, rows, values, np.sqrt(c), chosen, to_starts, to_rows, to_values, squares, bias)
    A = np.sqrt(c)[:, None] * with_bias[:, chosen]
    close(squares, np.sum(A * A, axis=0))
    found = np.zeros_like(A)
    for k in range(len(chosen)):
        found[to_rows[to_starts[k] : to_starts[k + 1]], k] = to_values[to_starts[k] : to_starts[k + 1]]
    close(found, A)
    weighted = Columns(CsrRows(*csr, d, bias)).weighted(chosen, c)
    close(weighted.gram(), A.T @ A)


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
