"""Certifier of the Crammer-Singer problem; see linear.py for the method.

    P(W) = 1/2 |W|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)
    D(a) = sum_i a_{i y_i} - 1/2 |sum_i x_i a_i'|^2,   sum_m a_im = 0,  a_{i y_i} <= C_i,  a_im <= 0 for m != y_i

D(a) <= min P for each feasible a.  The certifier makes a point feasible first: positive entries of other classes become
zero, the own class becomes minus the sum of the rest, and rows with more than C_i are scaled.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.data.row_storage import Rows

FULL_RTOL = 1e-12  # relative error up to which multipliers that sum to C_i count as full


class CrammerSingerCertifier:
    """Certifies weights for one problem: rows, number (i8[n] the class of each row), cost (f8[n], zeros allowed)."""

    def __init__(self, rows: Rows, number: np.ndarray, k: int, cost: np.ndarray):
        self.rows, self.number, self.k, self.cost = rows, number, k, np.maximum(cost, 0.0)

    def certify(self, W: np.ndarray, a: np.ndarray) -> Certificate:
        """Certify W (d x k) by the dual point a (n x k)."""
        if not a.size:
            return Certificate(0.0, 0.0, 0.0)
        own = np.arange(len(a)), self.number
        primal = self.primal(W)
        rest = np.where(self.cost[:, None] > 0.0, np.minimum(a, 0.0), 0.0)
        rest[own] = 0.0
        heavy = -rest.sum(axis=1)
        full = heavy >= self.cost * (1.0 - FULL_RTOL)
        rest *= np.divide(self.cost, heavy, out=np.ones_like(heavy), where=full & (heavy > 0.0))[:, None]
        rest[own] = -rest.sum(axis=1)
        V = np.stack([self.rows.transpose_product(np.ascontiguousarray(c)) for c in rest.T], axis=1)
        linear, square = float(np.sum(rest[own])), float(np.sum(V * V))
        s = min(1.0, linear / square) if square > 0.0 else 1.0
        G = self._gradient(V)
        can_rise = rest < 0.0
        can_rise[own] = ~full
        violation = G.max(axis=1) - np.min(G, axis=1, where=can_rise, initial=np.inf)
        violation = violation[self.cost > 0.0]
        return Certificate(primal, s * linear - 0.5 * s * s * square, float(violation.max(initial=0.0)))

    def primal(self, W: np.ndarray) -> float:
        """P(W); W d x k."""
        loss = self._gradient(W)
        own = loss[np.arange(len(loss)), self.number]
        return 0.5 * float(np.sum(W * W)) + float(self.cost @ (loss.max(axis=1) - own))

    def value_at_zero(self) -> float:
        """P(0): each row has a loss of 1."""
        return float(np.sum(self.cost)) if self.k > 1 else 0.0

    def _gradient(self, W: np.ndarray) -> np.ndarray:
        """w_m.x_i + [m != y_i], n x k."""
        G, signs = np.empty((self.rows.n, self.k)), np.ones(self.rows.n)
        for m in range(self.k):
            z = np.empty(self.rows.n)
            self.rows.margins(np.ascontiguousarray(W[:, m]), signs, z)
            G[:, m] = z + (self.number != m)
        return G
