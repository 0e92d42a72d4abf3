"""Neutral evaluator: computes objective and accuracy of every tool's result with the same code.

X is a scipy CSR matrix (n, d), y f8[n] of -1 and 1 (of any numbers with classes "as they are"), w f8[d], b a number.
"""

from __future__ import annotations

import numpy as np

from svmtool.metrics import RankCurve


def loss(name: str, margins: np.ndarray, p: float = 2.0) -> float:
    """The sum over rows of a loss of the margins y (w.x + b)."""
    short = np.maximum(0.0, 1.0 - margins)
    if name in ("hinge", "l1-hinge"):
        return float(np.sum(short))
    if name in ("squared", "l1-squared"):
        return float(np.sum(short * short))
    if name == "power":
        return float(np.sum(short**p))
    if name in ("logistic", "l1-logistic"):
        return float(np.sum(np.logaddexp(0.0, -margins)))
    if name == "least":
        return float(np.sum((1.0 - margins) ** 2))
    raise ValueError(f"no such objective: {name}")


def objective(name: str, X, y: np.ndarray, w: np.ndarray, b: float, C: float, p: float = 2.0) -> float:
    """R(w) + C times the loss; R is |w|_1 for names that begin with "l1-", else |w|^2 / 2.  b costs nothing."""
    norm = float(np.sum(np.abs(w))) if name.startswith("l1-") else 0.5 * float(w @ w)
    return norm + C * loss(name, y * (X @ w + b), p)


def kernel_objective(
    support, coefficients: np.ndarray, gamma: float, X, y: np.ndarray, b: float, C: float, f: np.ndarray | None = None
) -> float:
    """The C-SVC's primal value: |w|^2 / 2 + C times the hinge loss, w = sum_j coefficients_j phi(support_j), RBF.

    f: kernel_values of X, where they are known.
    """
    f = kernel_values(support, coefficients, gamma, X) if f is None else f
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
