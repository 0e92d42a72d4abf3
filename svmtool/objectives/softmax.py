"""Multinomial logistic regression: value, gradient and Hessian of its smooth part.

    P(W, b) = r ((1-s)/2 |W|^2 + s |W|_1) + sum_i C_i (log sum_k exp z_ik - z_{i y_i}),   z_i = W x_i + b

Two classes may have one column, that of the second: z_i1 = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


class Softmax:
    """The problem at a point (W, b): value, gradient and products with the Hessian of its smooth part.

    Arguments as in SoftmaxCertifier.  A point is V (columns, d + 1), the intercepts last, zero where there are none.
    """

    def __init__(
        self, X: Any, number: np.ndarray, columns: int, cost: np.ndarray, penalty: float, share: float, free: bool
    ):
        self.X, self.cost, self.free, self.first = X, cost, free, int(columns == 1)
        self.own = np.zeros((len(number), self.first + columns))
        self.own[np.arange(len(number)), number] = 1.0
        self.l2, self.l1 = penalty * (1.0 - share), penalty * share
        self.shape = (columns, X.shape[1] + 1)

    def scores(self, V: np.ndarray) -> np.ndarray:
        """z_ik, f8 (n, columns)."""
        return np.asarray(self.X @ V[:, :-1].T) + V[:, -1]

    def value(self, V: np.ndarray, Z: np.ndarray) -> float:
        """P at V, whose scores are Z."""
        whole = self._whole(Z)
        top = whole.max(axis=1)
        losses = top + np.log(np.exp(whole - top[:, None]).sum(axis=1)) - np.sum(whole * self.own, axis=1)
        W = V[:, :-1]
        return float(0.5 * self.l2 * np.sum(W * W) + self.l1 * np.abs(W).sum() + self.cost @ losses)

    def expand(self, V: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Set the point for `product` and `hessian`; the gradient of the smooth part, f8 of V's shape."""
        whole = self._whole(Z)
        E = np.exp(whole - whole.max(axis=1, keepdims=True))
        Q = E / E.sum(axis=1, keepdims=True)
        self.Q = np.ascontiguousarray(Q[:, self.first :])
        return self._sums(self.cost[:, None] * (Q - self.own)[:, self.first :], V)

    def steepness(self, V: np.ndarray, G: np.ndarray) -> float:
        """The largest partial derivative of P at V, the smallest of its values where |W|_1 has a kink."""
        slopes = np.abs(G)
        W, S = V[:, :-1], G[:, :-1]
        slopes[:, :-1] = np.where(W != 0.0, np.abs(S + self.l1 * np.sign(W)), np.maximum(np.abs(S) - self.l1, 0.0))
        return float(slopes.max(initial=0.0))

    def product(self, U: np.ndarray) -> np.ndarray:
        """The Hessian times U, flat."""
        U = U.reshape(self.shape)
        T = self.Q * self.scores(U)
        return self._sums(self.cost[:, None] * (T - self.Q * T.sum(axis=1, keepdims=True)), U).ravel()

    def diagonal(self) -> np.ndarray:
        """The Hessian's diagonal, flat; 1 where it is 0."""
        squares = self.X.multiply(self.X).tocsr() if sp.issparse(self.X) else np.square(self.X)
        curvatures = self.cost[:, None] * self.Q * (1.0 - self.Q)
        found = np.empty(self.shape)
        found[:, :-1] = np.asarray(squares.T @ curvatures).T + self.l2
        found[:, -1] = curvatures.sum(axis=0) if self.free else 1.0
        found[found <= 0.0] = 1.0
        return found.ravel()

    def hessian(self) -> np.ndarray:
        """The Hessian, f8 (V.size, V.size); the identity for intercepts that there are not."""
        k, d = self.shape
        ones = np.full((self.X.shape[0], 1), float(self.free))
        X = np.hstack([self.X.toarray() if sp.issparse(self.X) else self.X, ones])
        H = np.empty((k, d, k, d))
        for a in range(k):
            for c in range(a, k):
                curvature = self.cost * self.Q[:, a] * (float(a == c) - self.Q[:, c])
                H[a, :, c] = X.T @ (curvature[:, None] * X)
                H[c, :, a] = H[a, :, c].T
        flat = H.reshape(k * d, k * d)
        regular = np.full(self.shape, self.l2)
        regular[:, -1] = 0.0 if self.free else 1.0
        flat[np.diag_indices(k * d)] += regular.ravel()
        return flat

    def _whole(self, Z: np.ndarray) -> np.ndarray:
        """Scores of all classes, f8 (n, classes)."""
        return np.hstack([np.zeros((len(Z), self.first)), Z]) if self.first else Z

    def _sums(self, A: np.ndarray, V: np.ndarray) -> np.ndarray:
        """sum_i a_i (x_i, 1)' + l2 V, f8 of V's shape."""
        G = np.empty(self.shape)
        G[:, :-1] = np.asarray(self.X.T @ A).T + self.l2 * V[:, :-1]
        G[:, -1] = A.sum(axis=0) if self.free else 0.0
        return G
