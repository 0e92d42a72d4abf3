"""Neutral evaluator: computes objective and accuracy of every tool's result with the same code.

X is a scipy CSR matrix (n, d), y f8[n] of -1 and 1, f f8[n] the decision values.
"""

from __future__ import annotations

import numpy as np

POWERS = {"hinge": 1.0, "squared": 2.0}  # of the loss of 1 - y f; for "power" it is given


def objective(name: str, square: float, y: np.ndarray, f: np.ndarray, C: float, p: float = 2.0) -> float:
    """|w|^2 / 2 + C times the loss; square: |w|^2."""
    return 0.5 * square + C * float(np.sum(np.maximum(0.0, 1.0 - y * f) ** POWERS.get(name, p)))


def kernel_values(support, coefficients: np.ndarray, gamma: float, X, size: int = 1 << 18) -> np.ndarray:
    """sum_j coefficients_j exp(-gamma |x - support_j|^2) for each row x of X; size: of the temporary matrices."""
    if support.shape[0] == 0:  # a run that was cut before its first step
        return np.zeros(X.shape[0])
    ends, size, found = squares(support), max(1, size // support.shape[0]), []
    for rows in (X[at : at + size] for at in range(0, X.shape[0], size)):
        distances = squares(rows)[:, None] + ends - 2.0 * (rows @ support.T).toarray()
        found.append(np.exp(-gamma * np.maximum(distances, 0.0)) @ coefficients)
    return np.concatenate(found)


def squares(X) -> np.ndarray:
    """|x|^2 of each row."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def area(y: np.ndarray, decision: np.ndarray) -> float:
    """The area under the receiver operating characteristic: the share of pairs in the right order, ties half."""
    below, above = np.sort(decision[y < 0.0]), decision[y > 0.0]
    return float(np.mean(sum(np.searchsorted(below, above, side) for side in ("left", "right"))) / (2.0 * len(below)))


def accuracy(y: np.ndarray, decision: np.ndarray) -> float:
    """Share of correct predictions; a decision value of 0 predicts class 1."""
    return float(np.mean(np.where(decision >= 0.0, 1.0, -1.0) == y))
