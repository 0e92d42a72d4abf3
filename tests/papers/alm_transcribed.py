"""SVM-ALM, transcribed from the paper (ICML 2014) with numpy alone, for dense rows; X has a column for each example.

Where print leaves something open: mu(1) is an argument, w starts at 0, the regulariser of Eq. 29 is 1/2 w'w, and the
value of Eq. 29 is the mu of the iteration after the two that give it.
"""

from __future__ import annotations

import numpy as np

MU_LIMIT = 1e5


def e_of(t: float, y: float, p: float, gamma: float) -> float:
    """Eq. 10: the minimiser of gamma (y e)_+^p + 1/2 (e - t)^2."""
    if p == 1.0:  # (12)
        if y * t > gamma:
            return t - y * gamma
        return 0.0 if y * t >= 0.0 else t
    if p == 2.0:  # (13)
        return t / (1.0 + 2.0 * gamma) if y * t > 0.0 else t
    if y * t <= 0.0:
        return t
    low, high = 0.0, y * t
    for _ in range(200):  # (11) by binary search
        middle = (low + high) / 2.0
        if p * gamma * middle ** (p - 1.0) + middle - y * t < 0.0:
            low = middle
        else:
            high = middle
    return y * (low + high) / 2.0


def iterates(
    algorithm: int, X: np.ndarray, y: np.ndarray, C: float, p: float, mu: float, update: str, count: int
) -> list[dict]:  # fmt: skip
    """The variables of the first `count` iterations of Algorithm 1 or 2; update: fixed, merit or geometric."""
    d, n = X.shape
    w, b, lam, first = np.zeros(d), 0.0, np.zeros(n), mu
    merit, found = None, []
    for _ in range(count):
        t = y - X.T @ w - b - lam / mu
        e = np.array([e_of(t[i], y[i], p, C / mu) for i in range(n)])
        z = y - e - lam / mu
        if algorithm == 1:  # (15)
            A = np.vstack((np.column_stack((X.T, np.ones(n))), np.column_stack((np.eye(d) / np.sqrt(mu), np.zeros(d)))))
            solution = np.linalg.lstsq(A, np.append(z, np.zeros(d)), rcond=None)[0]
            w, b = solution[:d], solution[d]
        else:
            w_g = X @ (X.T @ w + np.ones(n) * b - z) + w / mu  # (16)
            b_g = n * b + np.ones(n) @ (X.T @ w - z)
            product = X.T @ w_g + np.ones(n) * b_g
            s = (w_g @ w_g + b_g * b_g) / (product @ product + w_g @ w_g / mu)  # (18)
            w, b = w - s * w_g, b - s * b_g
        r = X.T @ w + np.ones(n) * b - y + e
        lam = lam + mu * r  # (9)
        found.append({"w": w, "b": b, "e": e, "lam": lam, "mu": mu})
        rest = 0.5 * w @ w + C * np.sum(np.maximum(y * e, 0.0) ** p)
        if update == "merit":
            if merit is not None:
                mu = max(mu, min((merit - rest) / (0.5 * r @ r), MU_LIMIT))  # (29)
            merit = 0.5 * mu * (r @ r) + rest
        elif update == "geometric":
            mu *= (MU_LIMIT / first) ** 0.01
    return found
