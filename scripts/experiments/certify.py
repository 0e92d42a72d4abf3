"""Neutral evaluator: computes objective and accuracy of every tool's result with the same code.

X is a scipy CSR matrix (n, d), y f8[n] of -1 and 1, w f8[d], b a number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.metrics import RankCurve

LOSSES: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {  # of 1 - y (w.x + b)
    "hinge": lambda short, p: np.maximum(0.0, short),
    "squared": lambda short, p: np.maximum(0.0, short) ** 2,
    "power": lambda short, p: np.maximum(0.0, short) ** p,
    "least": lambda short, p: short**2,
}


def objective(name: str, X, y: np.ndarray, w: np.ndarray, b: float, C: float, p: float = 2.0) -> float:
    """|w|^2 / 2 + C times the loss.  b costs nothing."""
    return 0.5 * float(w @ w) + C * float(np.sum(LOSSES[name](1.0 - y * (X @ w + b), p)))


def kernel_objective(support, coefficients: np.ndarray, gamma: float, y: np.ndarray, b: float, C: float, f) -> float:
    """The C-SVC's primal value: |w|^2 / 2 + C times the hinge loss, w = sum_j coefficients_j phi(support_j), RBF.

    f: kernel_values of the rows.
    """
    own = kernel_values(support, coefficients, gamma, support)
    return 0.5 * float(coefficients @ own) + C * float(np.sum(np.maximum(0.0, 1.0 - y * (f + b))))


def kernel_values(support, coefficients: np.ndarray, gamma: float, X, size: int = 1 << 18) -> np.ndarray:
    """sum_j coefficients_j exp(-gamma |x - support_j|^2) for each row x of X; size: of the temporary matrices."""
    squares = np.asarray(support.multiply(support).sum(axis=1)).ravel()
    dense = support.toarray() if support.nnz > 0.1 * support.shape[0] * support.shape[1] else None
    out = np.empty(X.shape[0])
    block = max(1, size // max(1, support.shape[0]))
    for at in range(0, X.shape[0], block):
        some = X[at : at + block]
        K = some.toarray() @ dense.T if dense is not None else (some @ support.T).toarray()
        K *= -2.0
        K += np.asarray(some.multiply(some).sum(axis=1))
        K += squares
        np.maximum(K, 0.0, out=K)
        K *= -gamma
        out[at : at + block] = np.exp(K, out=K) @ coefficients
    return out


def area(y: np.ndarray, decision: np.ndarray) -> float:
    """Area under the ROC curve: the probability that a row of class 1 scores above another row, ties count half."""
    curve = RankCurve(1.0)
    curve.add(y, decision)
    return curve.area()


def accuracy(y: np.ndarray, decision: np.ndarray) -> float:
    """Share of correct predictions; a decision value of 0 predicts class 1."""
    return float(np.mean(np.where(decision >= 0.0, 1.0, -1.0) == y))
