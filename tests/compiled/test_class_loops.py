"""The compiled loops over rows with a number for each class, compared with numpy."""

from __future__ import annotations

import numpy as np
import pytest
from loop_suite import check_each_loop_is_called
from reference import csr_of, random_rows

from svmtool.compiled.loops.cd import class_epoch_loops
from svmtool.compiled.loops.rows import class_loops
from svmtool.coordinate.hinge import random_state
from svmtool.data.csr import CsrRows
from svmtool.objectives.class_rows import ClassRows

SHAPES = [(0, 3, 3), (1, 1, 3), (12, 5, 5), (40, 9, 19)]
every_shape = pytest.mark.parametrize("n, d, k", SHAPES, ids=str)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-9)


def on_simplex(V: np.ndarray) -> np.ndarray:
    """The nearest points of the simplex, by sorting (Held, Wolfe and Crowder)."""
    out = np.empty_like(V)
    for i, v in enumerate(V):
        u = np.sort(v)[::-1]
        rho = np.flatnonzero(u - (np.cumsum(u) - 1.0) / np.arange(1, len(u) + 1) > 0)[-1]
        out[i] = np.maximum(v - (np.cumsum(u)[rho] - 1.0) / (rho + 1), 0.0)
    return out


class Made:
    """Rows, classes, scores, multipliers and costs; `wide` places a row, what is beyond k zero."""

    def __init__(self, n: int, d: int, k: int, bias: float = -1.0):
        self.rng = rng = np.random.default_rng(31 * n + d)
        self.n, self.k, self.X = n, k, random_rows(rng, n, d)
        self.A = self.X if bias < 0 else np.hstack([self.X, np.full((n, 1), bias)])
        self.csr = csr_of(self.X)
        self.rows = ClassRows(CsrRows(*self.csr, d, bias), k)
        self.wide, self.number, self.cost = self.rows.wide, rng.integers(0, k, n), rng.choice([0.5, 2.0], n)
        self.apart = np.arange(k) != self.number[:, None]
        self.S, self.dS = rng.normal(size=(n, k)), rng.normal(size=(n, k))
        self.beta = on_simplex(rng.normal(size=(n, k)))

    def flat(self, M: np.ndarray) -> np.ndarray:
        out = np.zeros((len(M), self.wide))
        out[:, : self.k] = M
        return out.reshape(-1)

    def back(self, flat: np.ndarray) -> np.ndarray:
        return flat.reshape(-1, self.wide)[:, : self.k]

    def smoothed(self, S: np.ndarray, sigma: float) -> tuple[float, np.ndarray]:
        """The smoothed loss and p at scores S."""
        g = S + self.apart
        p = on_simplex(self.beta + sigma * g)
        own = S[np.arange(self.n), self.number]
        return float(self.cost @ ((p * g).sum(1) - own - 0.5 * ((p - self.beta) ** 2).sum(1) / sigma)), p


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, class_loops, class_epoch_loops)


@pytest.mark.parametrize("bias", [-1.0, 2.0])
@every_shape
def test_scores_and_transpose_product(n, d, k, bias):
    a = Made(n, d, k, bias)
    W, S, U = a.rng.normal(size=(a.A.shape[1], k)), np.full(n * a.wide, 9.0), a.rng.normal(size=(n, k))
    for lo, hi in ((0, n), (n // 2, n)):
        class_loops.class_scores(*a.csr, a.flat(W), S, bias, a.wide, lo, hi)
        close(a.back(S)[lo:hi], (a.A @ W)[lo:hi])
        G = a.flat(np.ones(W.shape))
        class_loops.class_transpose_product(*a.csr, a.flat(U), G, bias, a.wide, lo, hi)
        close(a.back(G), 1.0 + a.A[lo:hi].T @ U[lo:hi])


@pytest.mark.parametrize("sigma", [0.01, 1e6])
@every_shape
def test_state_and_line_search(n, d, k, sigma):
    a = Made(n, d, k)
    U, share, sums = np.zeros(n * a.wide), np.zeros(n * a.wide), np.zeros(7)
    arrays = a.number, a.cost, a.flat(a.beta)
    class_loops.class_state(a.flat(a.S), *arrays, U, share, sums, sigma, k, a.wide, 0, n)
    value, p = a.smoothed(a.S, sigma)
    u = a.cost[:, None] * (p - ~a.apart)
    close(a.back(U), u)
    loss = float(a.cost @ ((a.S + a.apart).max(1) - a.S[np.arange(n), a.number])) if n else 0.0
    moved = float(a.cost @ ((p - a.beta) ** 2).sum(1))
    np.testing.assert_allclose(sums[:4], [value, loss, -float(u[~a.apart].sum()), moved], rtol=1e-8, atol=1e-9)
    inner = (p > 0).sum(1) > 1
    assert sums[5] == sums[6] == inner.sum()
    close(a.back(share), np.where((p > 0) & inner[:, None], 1.0 / np.maximum((p > 0).sum(1), 1)[:, None], 0.0))
    out, t = np.zeros(2 + a.wide), 0.3
    class_loops.class_line_search(a.flat(a.S), a.flat(a.dS), *arrays, out, t, sigma, k, a.wide, 0, n)
    _, p = a.smoothed(a.S + t * a.dS, sigma)
    count = np.maximum((p > 0).sum(1), 1)
    within = (a.dS**2 * (p > 0)).sum(1) - (a.dS * (p > 0)).sum(1) ** 2 / count
    np.testing.assert_allclose(out[0], float(a.cost @ ((p - ~a.apart) * a.dS).sum(1)), atol=1e-8)
    np.testing.assert_allclose(out[1], sigma * float(a.cost @ within), rtol=1e-9, atol=1e-9 * sigma)


@every_shape
def test_curvature_and_pair_change(n, d, k):
    a = Made(n, d, k)
    face = a.rng.random((2, n, k)) < 0.5
    count = face.sum(2, keepdims=True)
    now, seen = np.where(face & (count > 1), 1.0 / np.maximum(count, 1), 0.0)
    T, out = a.rng.normal(size=(n, k)), np.zeros(n)
    flat = a.flat(T)
    class_loops.class_curvature(flat, a.flat(now), a.cost, k, a.wide, 0, n)
    close(a.back(flat), a.cost[:, None] * (now > 0) * (T - (now * T).sum(1, keepdims=True)))
    found = class_loops.class_pair_change(a.flat(now), a.flat(seen), a.cost, out, 2, 0, a.wide, n)
    change = now[:, 2] * (now[:, 0] > 0) - seen[:, 2] * (seen[:, 0] > 0)
    close(out, a.cost * change)
    assert found == np.count_nonzero(change)


@pytest.mark.parametrize("bias", [-1.0, 2.0])
@every_shape
def test_epochs_reach_the_optimum(n, d, k, bias):
    """Multipliers stay on the simplex, weights are their sums, and the duality gap falls."""
    a = Made(n, d, k, bias)
    own, chunk = np.where(a.apart, 0.0, 1.0), 4
    P, W, state = a.flat(own), np.zeros(a.A.shape[1] * a.wide), random_state(n, 3)
    limits, active, sizes = np.zeros(3), np.arange(n), np.full(n, k, np.uint32)
    classes = np.tile(np.arange(a.wide, dtype=np.uint32), n)
    for _ in range(400):
        state[0], active[:], sizes[:] = n, np.arange(n), k
        class_epoch_loops.class_epoch(
            *a.csr, a.number, a.cost, a.rows.square_norms(), P, W, np.zeros(2 * a.wide), classes, sizes, active,
            np.empty(n // chunk + 1, np.int64), limits, state, bias, chunk, k, a.wide,
        )  # fmt: skip
        p = a.back(P)
        close(p.sum(1), 1.0)
        assert np.all(p >= 0.0) and limits[2] == pytest.approx(float(a.cost @ (1.0 - p[~a.apart])), abs=1e-9)
        close(a.back(W), a.A.T @ (a.cost[:, None] * (own - p)))
    g = a.A @ a.back(W) + a.apart
    gap = float(a.cost @ (g.max(1) - (p * g).sum(1))) if n else 0.0
    assert gap <= 1e-4 * (1.0 + float(np.sum(a.cost)))
