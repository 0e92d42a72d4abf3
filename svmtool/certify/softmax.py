"""Certifier of multinomial logistic regression, and of logistic regression with an elastic net.

    P(W, b) = r ((1-s)/2 |W|^2 + s |W|_1) + sum_i C_i (log sum_k exp z_ik - z_{i y_i}),   z_i = W x_i + b
    D(Q) = sum_i C_i H(q_i) - sum_kj max(|V_kj| - r s, 0)^2 / (2 r (1-s)),   V = sum_i C_i (e_{y_i} - q_i) x_i'

for distributions q_i over the classes, of entropy H.  D(Q) <= min P, where a free intercept needs sum_i C_i q_i = sum_i
C_i e_{y_i}; with s = 1 the sum over kj is left out and all |V_kj| <= r.  At the optimum q_i is softmax(z_i).  Two
classes may have one column, that of the second: z_i1 = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from svmtool.certify.linear import Certificate
from svmtool.certify.rounding import FEW, UNIT, growth


class SoftmaxCertifier:
    """Certifies weights for one problem: X (n, d) dense or CSR, number (i8[n], the class of each row), cost (f8[n]).

    columns: of the weights, one for each class, or 1 for two classes.
    penalty, share: r and s above; free: whether there is an intercept, which is not regularised.
    """

    def __init__(
        self, X: Any, number: np.ndarray, columns: int, cost: np.ndarray, penalty: float, share: float, free: bool
    ):
        self.X, self.cost, self.penalty, self.share, self.free = X, cost, penalty, share, free
        self.first = int(columns == 1)  # classes before it have no weights
        self.own = np.zeros((len(number), self.first + columns))
        self.own[np.arange(len(number)), number] = 1.0
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.square(X).sum(axis=1)
        self.lengths = np.sqrt(np.asarray(squares).ravel())

    def certify(self, W: np.ndarray, b: np.ndarray) -> Certificate:
        """Certify W (columns, d) and the intercepts b (columns)."""
        n = len(self.cost)
        Z, apart = self._scores(W, b)
        top = Z.max(axis=1, keepdims=True)
        E = np.exp(Z - top)
        S = E.sum(axis=1, keepdims=True)
        losses = (top + np.log(S))[:, 0] - np.sum(Z * self.own, axis=1)
        regular = self.penalty * (0.5 * (1.0 - self.share) * np.sum(W * W) + self.share * np.abs(W).sum())
        primal = float(regular + self.cost @ losses)
        size = np.abs(top[:, 0]) + np.log(S)[:, 0] + np.abs(Z * self.own).sum(axis=1)
        off = growth(W.size) * regular + growth(n) * float(self.cost @ losses)
        off += float(self.cost @ (2.0 * apart + FEW * UNIT * size))
        dual, less, largest = self._dual_value(E / S, b)
        if not dual - less >= 0.0:
            dual = less = 0.0  # q_i = e_{y_i}
        return Certificate(primal, dual, largest, (float(off), less))

    def _scores(self, W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Z (n, classes), and a bound of the rounding in each row."""
        Z = np.zeros(self.own.shape)
        Z[:, self.first :] = self.X @ W.T + b
        longest = np.sqrt(np.square(W).sum(axis=1).max(initial=0.0))
        return Z, growth(W.shape[1] + 1) * (longest * self.lengths + np.abs(b).max(initial=0.0))

    def _dual_value(self, Q: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
        """D of a feasible point near Q, a bound of its rounding, and the largest violation: of the gradient at Q."""
        cost, own = self.cost, self.own
        less = 0.0
        if self.free:
            Q = self._balanced(Q)
            rest = cost @ (own - Q)  # of rounding alone
            less = float(np.abs(rest[self.first :]) @ np.abs(b))
        A = cost[:, None] * (own - Q)
        V = np.asarray(self.X.T @ A[:, self.first :]).T
        lost = growth(len(cost)) * float(np.abs(A).sum(axis=1) @ self.lengths)  # of V, in the 2-norm
        absolute = self.penalty * self.share
        if self.share == 1.0 or self.penalty == 0.0:
            steepest = float(np.abs(V).max(initial=0.0)) + lost
            factor = min(1.0, absolute / steepest) if steepest > 0.0 else 1.0
            Q = own + factor * (Q - own)
            square = slack = 0.0
        else:
            beyond = np.maximum(np.abs(V) - absolute, 0.0)
            square = float(np.sum(beyond * beyond)) / (2.0 * self.penalty * (1.0 - self.share))
            norm = float(np.sqrt(np.sum(beyond * beyond)))
            slack = (norm + 0.5 * lost) * lost / (self.penalty * (1.0 - self.share)) + growth(V.size) * square
        with np.errstate(divide="ignore", invalid="ignore"):
            entropies = -np.where(Q > 0.0, Q * np.log(Q), 0.0).sum(axis=1)
        value = float(cost @ entropies)
        less += slack + growth(len(cost)) * value + FEW * UNIT * float(cost.sum())
        return value - square, less, float(np.abs(V).max(initial=0.0))

    def _balanced(self, Q: np.ndarray) -> np.ndarray:
        """(1-t) Q + t s whose sum with the costs is that of the own classes, t the least; s is a distribution."""
        wanted = self.cost @ self.own
        over = self.cost @ Q - wanted
        sums = wanted + over
        t = float(np.divide(over, sums, out=np.zeros_like(sums), where=sums > 0.0).max())
        if t <= 0.0:
            return Q
        s = np.maximum(wanted - (1.0 - t) / t * over, 0.0) / self.cost.sum()
        return (1.0 - t) * Q + t * (s / s.sum())
