"""The certifier of the linear one-class SVM; objectives/one_class.py states the problem and its gap."""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.data.blocks import Rows
from svmtool.objectives.one_class import gap_of, scale_of


class OneClassCertifier:
    """Certifies (w, rho) for one problem; shares no code with the solver."""

    def __init__(self, rows: Rows, cost: np.ndarray, nu: float):
        self.rows, self.cost, self.nu = rows, cost, nu

    def certify(self, w: np.ndarray, rho: float, alpha: np.ndarray) -> Certificate:
        """Certify w (length d) and rho; alpha (f8[n], within its bounds) is made to sum to k.

        For an infinite rho the limit of P is used, which is finite for k = 0 and k = sum c only.
        """
        cost = self.cost
        k, primal = self.nu * float(np.sum(cost)), self.primal(w, rho)
        within = np.clip(alpha, 0.0, cost)
        a = _summing_to(within, cost, k)
        v = self.rows.transpose_product(a)
        whole = Certificate(primal, 0.0 - 0.5 * float(v @ v), self._violation(v, within))
        whole.gap = gap_of(primal, whole.dual, scale_of(self.rows.square_norms(), cost, k))
        return whole

    def primal(self, w: np.ndarray, rho: float) -> float:
        """P(w, rho), or its limit if rho is infinite."""
        cost, n = self.cost, self.rows.n
        total = float(np.sum(cost))
        k = self.nu * total
        z = np.empty(n)
        self.rows.margins(w, np.ones(n), z)
        if np.isfinite(rho):
            loss = float(cost @ np.maximum(rho - z, 0.0)) - k * rho
        elif (rho < 0 and k == 0.0) or (rho > 0 and k == total) or n == 0:
            loss = -float(cost @ z) if k > 0.0 else 0.0
        else:
            loss = np.inf
        return 0.5 * float(w @ w) + loss

    def _violation(self, v: np.ndarray, a: np.ndarray) -> float:
        """The largest violation by a pair of rows, LIBLINEAR's measure."""
        z = np.empty(self.rows.n)
        self.rows.margins(v, np.ones(self.rows.n), z)
        grows = float(np.min(z, where=a < self.cost, initial=np.inf))
        shrinks = float(np.max(z, where=a > 0.0, initial=-np.inf))
        return max(shrinks - grows, 0.0) if shrinks > -np.inf and grows < np.inf else 0.0


def _summing_to(a: np.ndarray, cost: np.ndarray, k: float) -> np.ndarray:
    """Scale a, or its distance to the bounds, so that it sums to k and stays within them."""
    held, total = float(np.sum(a)), float(np.sum(cost))
    if held > k:
        return a * (k / held)
    return cost - (cost - a) * ((total - k) / (total - held)) if held < k and total > held else a
