"""The compiled loops of the ALFPGM paper; papers/test_alfpgm_as_printed.py compares whole rounds of them."""

from __future__ import annotations

import numpy as np
import pytest
from loop_suite import check_each_loop_is_called

from svmtool.compiled.loops.kernel import alfpgm_loops as loops


def test_each_loop_has_a_test_here():
    check_each_loop_is_called(__file__, loops)


def kernel_of(rng, n: int) -> np.ndarray:
    X = rng.normal(size=(n, 3))
    X[1::2] = X[::2][: len(X[1::2])]  # equal rows, whose curvature is 0
    squares = np.sum(X * X, axis=1)
    return np.exp(-0.3 * (squares[:, None] + squares - 2.0 * X @ X.T))


@pytest.mark.parametrize("n, check", [(2, 1), (9, 3), (30, 30)])
def test_second_order_pairs(n, check):
    """Each i that is left takes the j of the largest gain among the first candidates that are left."""
    rng = np.random.default_rng(n + check)
    K, q = kernel_of(rng, n), rng.normal(size=n)
    up, low = np.argsort(-q, kind="stable")[: n // 2 + 1], np.argsort(q, kind="stable")
    out, free, expected = np.full(2 * n, -1), np.ones(n, bool), []
    for i in up[free[up]]:
        candidates = [t for t in low if free[t]][:check] if free[i] else []
        curve = [K[i, i] + K[t, t] - 2.0 * K[i, t] for t in candidates]
        gains = [max(q[i] - q[t], 0.0) ** 2 / (c if c > 0.0 else 1e-12) for t, c in zip(candidates, curve, strict=True)]
        if free[i] and not max(gains) > 0.0:
            break
        if free[i]:
            expected += [i, candidates[int(np.argmax(gains))]]
            free[expected[-2:]] = False
    taken = np.zeros(n, np.uint8)
    found = loops.second_order_pairs(
        K.ravel(), up * n, q, np.diag(K).copy(), up, low, taken, out, n, check
    )  # fmt: skip
    assert out[: 2 * found].tolist() == expected and np.array_equal(taken == 0, free)


@pytest.mark.parametrize("calls", [[10**6], [1, 1, 3, 7, 10**6]])
@pytest.mark.parametrize("size", [2, 24])
def test_augmented_lagrangian(size, calls):
    """In one call or in several: y'a + G = 0 and each variable's optimality within eps."""
    rng = np.random.default_rng(size)
    y, C, mu, eps = np.where(rng.random(size) < 0.5, 1.0, -1.0), rng.uniform(0.5, 3.0, size), 0.1, 1e-6
    Q, chi = y[:, None] * kernel_of(rng, size) * y, rng.normal(size=size)
    a = C * rng.uniform(0.2, 0.8, size)
    G, L = -float(y @ a), float(np.linalg.eigvalsh(Q)[-1]) + mu * size
    s, state = Q @ a + chi, np.array([0.3, 1.0, 0.0, 0.0, 0.0])
    v, s_v = a.copy(), s.copy()
    call = loops.augmented_lagrangian.bind(Q, chi, y, C, a, s, v, s_v, np.empty(size), np.empty(size), state)
    for most in calls:
        if not state[loops.DONE]:
            assert call(size, G, mu, L, eps, most) <= most
    assert state[loops.DONE] == 1.0 and state[loops.NU] < eps and state[loops.G_OF] == pytest.approx(y @ a + G)
    slope = Q @ a + chi - state[loops.LAM] * y
    np.testing.assert_allclose(s, Q @ a + chi, rtol=1e-9, atol=1e-9)
    left = np.where(a <= 0.0, -slope, np.where(a >= C, slope, np.abs(slope)))
    assert abs(y @ a + G) <= eps and np.max(left) <= 2.0 * eps
