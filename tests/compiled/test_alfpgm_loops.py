"""Each compiled loop of the ALFPGM paper compared with a simple implementation; see test_loops.py."""

from __future__ import annotations

import numpy as np
import pytest
from loop_suite import check_each_loop_is_called

from svmtool.compiled.loops.kernel import alfpgm_loops as loops


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, loops)


def kernel_of(rng, n, twice):
    X = rng.normal(size=(n, 3))
    if twice:
        X[1::2] = X[::2][: len(X[1::2])]  # equal rows, whose curvature is 0
    squares = np.sum(X * X, axis=1)
    return np.exp(-0.3 * (squares[:, None] + squares - 2.0 * X @ X.T))


@pytest.mark.parametrize("n, check", [(2, 1), (9, 3), (30, 1), (30, 7), (30, 30)])
@pytest.mark.parametrize("twice", [False, True])
def test_second_order_pairs(n, check, twice):
    rng = np.random.default_rng(n + check)
    K, q = kernel_of(rng, n, twice), rng.normal(size=n)
    up, low = np.argsort(-q, kind="stable")[: n // 2 + 1], np.argsort(q, kind="stable")
    taken = (rng.random(n) < 0.2).astype(np.uint8)
    out, free, expected = np.full(2 * n, -1), taken == 0, []
    for i in up:
        if not free[i]:
            continue
        candidates = [t for t in low if free[t]][:check]
        gains = [
            (q[i] - q[t]) ** 2 / (c if (c := K[i, i] + K[t, t] - 2.0 * K[i, t]) > 0.0 else 1e-12)
            if q[t] < q[i]
            else 0.0
            for t in candidates
        ]
        if not max(gains) > 0.0:
            break
        j = candidates[int(np.argmax(gains))]
        expected += [i, j]
        free[[i, j]] = False
    # rows of K in another order than those of `up`
    order = rng.permutation(n)
    place = np.argsort(order)[up] * n
    found = loops.second_order_pairs(
        np.ascontiguousarray(K[order]).ravel(), place, q, np.diag(K).copy(), up, low, taken, out, n, check
    )
    assert out[: 2 * found].tolist() == expected and np.all(out[2 * found :] == -1)
    assert np.array_equal(taken == 0, free)


@pytest.mark.parametrize("size", [1, 2, 5, 24])
@pytest.mark.parametrize("calls", [[10**6], [1, 1, 3, 7, 10**6]])
def test_augmented_lagrangian(size, calls):
    """Step by step the same point as in numpy, in one call or in several."""
    rng = np.random.default_rng(size)
    y, C, mu, eps = np.where(rng.random(size) < 0.5, 1.0, -1.0), rng.uniform(0.5, 3.0, size), 0.1, 1e-4
    Q, chi = y[:, None] * kernel_of(rng, size, False) * y, rng.normal(size=size)
    start = C * rng.uniform(0.2, 0.8, size)
    G = -float(y @ start)
    L = float(np.linalg.eigvalsh(Q)[-1]) + mu * size
    a = start.copy()
    s, state = Q @ a + chi, np.array([0.3, 1.0, 0.0, 0.0, 0.0])
    v, s_v, taken = a.copy(), s.copy(), 0
    call = loops.augmented_lagrangian.bind(Q, chi, y, C, a, s, v, s_v, np.empty(size), np.empty(size), state)
    for most in calls:
        if not state[loops.DONE]:
            taken += call(size, G, mu, L, eps, most)
    x, at, t, lam, done, steps = start.copy(), start.copy(), 1.0, 0.3, False, 0
    while not done:
        slope = Q @ at + chi - (lam - mu * (y @ at + G)) * y
        new = np.clip(at - slope / L, 0.0, C)
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        at, x, t, steps = new + (t - 1.0) / after * (new - x), new, after, steps + 1
        g = float(y @ x) + G
        slope = Q @ x + chi - (lam - mu * g) * y
        nu = np.where(x <= 0.0, np.maximum(-slope, 0.0), np.where(x >= C, np.maximum(slope, 0.0), np.abs(slope)))
        if np.max(nu) < eps:
            lam, at, t, done = lam - mu * g, x, 1.0, abs(g) <= eps
    assert taken == steps and state[loops.DONE] == 1.0
    np.testing.assert_allclose(a, x, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s, Q @ x + chi, rtol=1e-9, atol=1e-9)
    assert state[loops.LAM] == pytest.approx(lam, rel=1e-9) and state[loops.G_OF] == pytest.approx(g, abs=1e-9)
    assert state[loops.NU] < eps
