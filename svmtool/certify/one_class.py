"""Certifiers of one-class problems, with slack and without; objectives/one_class.py states them and their gaps."""

from __future__ import annotations

import math

import numpy as np

from svmtool.certify.linear import Certificate, sharp
from svmtool.certify.rounding import FEW, UNIT, Products, growth
from svmtool.data.row_storage import Rows
from svmtool.objectives.one_class import MIN_VALUE_SHARE, least_score, scale_of


class OneClassCertifier:
    """Certifies (w, rho) of a linear problem with slack; shares no code with the solver.

    gap: the one that was asked for, if any.
    """

    def __init__(self, rows: Rows, cost: np.ndarray, nu: float, gap: float | None = None):
        self.rows, self.cost, self.nu, self.gap = rows, cost, nu, gap

    def certify(self, w: np.ndarray, rho: float, alpha: np.ndarray) -> Certificate:
        """Certify w (length d) and rho; alpha (f8[n], within its bounds) is made to sum to k.

        For an infinite rho the limit of P is used, which is finite for k = 0 and k = sum c only.
        """
        return sharp(lambda twofold: self._certify(w, rho, alpha, Products(self.rows, twofold)), self.gap)

    def _certify(self, w: np.ndarray, rho: float, alpha: np.ndarray, products: Products) -> Certificate:
        cost = self.cost
        k, (primal, off) = self.nu * float(np.sum(cost)), self._primal(w, rho, products)
        within = np.clip(alpha, 0.0, cost)
        a = _summing_to(within, cost, k)
        v, apart = products.sums(a)
        square, missed = float(v @ v), abs(math.fsum(a.tolist()) - k) + growth(len(a)) * k
        # of v, of the sum of squares, and of the sum of a: by a multiple of a, or at the cost rho
        less = apart * (math.sqrt(square) + 0.5 * apart) + 0.5 * growth(len(v)) * square
        less += missed * ((2.0 * square / k if k > 0.0 else 0.0) + (abs(rho) if np.isfinite(rho) else 0.0))
        size = max(-primal, scale_of(self.rows.square_norms(), cost, k))
        return Certificate(primal, 0.0 - 0.5 * square, self._violation(v, within), (off, less), size)

    def primal(self, w: np.ndarray, rho: float) -> float:
        """P(w, rho), or its limit if rho is infinite."""
        return self._primal(w, rho, Products(self.rows))[0]

    def _primal(self, w: np.ndarray, rho: float, products: Products) -> tuple[float, float]:
        """P and a bound of its rounding."""
        cost, n = self.cost, self.rows.n
        total = float(np.sum(cost))
        k, ones, square = self.nu * total, np.ones(n), 0.5 * float(w @ w)
        if np.isfinite(rho):
            xi, apart = products.slacks(w, ones, rho)
            loss, off = products.dot(cost, np.maximum(xi, 0.0))
            off += float(cost @ (np.maximum(xi + apart, 0.0) - np.maximum(xi, 0.0)))
            sum_k, lost_k = products.dot(self.nu, cost)
            off += lost_k * abs(rho) + growth(len(w)) * square + FEW * UNIT * (loss + abs(k * rho))
            return square + loss - sum_k * rho, off
        if (rho < 0 and k == 0.0) or (rho > 0 and k == total) or n == 0:
            if k == 0.0 or n == 0:
                return square, growth(len(w)) * square
            z, rest, apart = products.margins(w, ones)
            loss, off = products.dot(cost, z + rest)
            return square - loss, off + float(cost @ apart) + growth(len(w)) * square
        return np.inf, 0.0

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
    if held < k and total > held:
        return cost - (cost - a) * ((total - k) / (total - held))
    return a


def hard_gap(lead: float, square: float, size: float) -> float:
    """The relative gap of v with lead and |v|^2, without slack; size: the mean of K(x, x)."""
    return _hard_certificate(lead, square, size).gap


def certify_hard(z: np.ndarray, alpha: np.ndarray, size: float, apart: float = 0.0) -> Certificate:
    """Certify alpha f8[n] >= 0, without slack, by z = K alpha f8[n], exact to within `apart`.

    Both are divided by the sum of alpha.

    violation: the largest of rho - z_i, and of |z_i - rho| where alpha_i > 0.
    """
    total = float(np.sum(alpha))
    if total <= 0.0:
        return Certificate(0.0, 0.0, 0.0)
    z = z / total
    square = float(alpha @ z) / total
    found = _hard_certificate(least_score(z) - apart / total, square + apart / total, size)
    found.violation = float(np.max(np.where(alpha > 0.0, np.abs(z - square), square - z), initial=0.0))
    return found


def _hard_certificate(lead: float, square: float, size: float) -> Certificate:
    ahead = max(lead, 0.0)
    primal = -0.5 * ahead * (ahead / square) if square > 0.0 else 0.0
    return Certificate(primal, -0.5 * max(square, 0.0), 0.0, size=max(-primal, 0.5 * MIN_VALUE_SHARE * size))


def certify_hard_linear(rows: Rows, alpha: np.ndarray, gap: float | None = None) -> Certificate:
    """Certify alpha f8[n] of a linear problem without slack; gap: the one that was asked for, if any."""
    size, ones = float(np.mean(rows.square_norms())) if rows.n else 0.0, np.ones(rows.n)

    def certified(twofold: bool) -> Certificate:
        products = Products(rows, twofold)
        v, missed = products.sums(alpha)
        z, rest, off = products.margins(v, ones)
        z, apart = z + rest, off + missed * rows.lengths + growth(rows.n) * np.abs(z)
        plain, wide = (certify_hard(z, alpha, size, by) for by in (0.0, float(apart.max(initial=0.0))))
        off = wide.primal - plain.primal, plain.dual - wide.dual
        return Certificate(plain.primal, plain.dual, plain.violation, off, plain.size)

    return sharp(certified, gap)
