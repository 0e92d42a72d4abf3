"""Certifiers of one-class problems, with slack and without; objectives/one_class.py states them and their gaps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from svmtool.certify.linear import Certificate, sharp
from svmtool.certify.rounding import FEW, UNIT, Products, growth
from svmtool.data.row_storage import Rows
from svmtool.tolerances import EPS, MIN_VALUE_SHARE, SCORE_RTOL


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
        size = max(-primal, self._least_size(k))
        return Certificate(primal, 0.0 - 0.5 * square, self._violation(v, within), (off, less), size)

    def _least_size(self, k: float) -> float:
        """What the gap is relative to at least, see objectives/one_class.py."""
        total = float(np.sum(self.cost))
        mean = float(self.cost @ self.rows.square_norms()) / total if total > 0.0 else 0.0
        return 0.5 * MIN_VALUE_SHARE * k * k * mean

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


class Plane(NamedTuple):
    """The plane that a model holds: `multiple` times alpha, and rho; rows with larger values are inside.

    outside, n  training rows that are not inside, of n
    beyond      training rows that the certificate leaves out
    estimated   whether the decision values of most rows are the solver's own
    """

    multiple: float
    rho: float
    outside: int
    n: int
    beyond: int
    estimated: bool = False

    def line(self) -> str:
        """What a training prints about its rows."""
        found = f"Training rows outside: {self.outside} of {self.n} ({100.0 * self.outside / self.n:.3g} %)"
        found += ", estimated" if self.estimated else ""
        if self.outside != self.beyond:
            return f"{found}, by --boundary rho; outside the boundary that is certified: {self.beyond}\n"
        return f"{found}; the certificate is that of the others\n" if self.beyond else f"{found}\n"


class HardCertificate(Certificate):
    """The certificate of a problem without slack, and the plane that it speaks of."""

    plane: Plane | None = None


def certify_hard(
    z: np.ndarray, alpha: np.ndarray, size: float, apart: float = 0.0, least: float = 0.0, at_rho: bool = False,
    rounding: float = 0.0,
) -> HardCertificate:  # fmt: skip
    """Certify alpha f8[n] >= 0, without slack, by z = K alpha f8[n], exact to within `apart`.

    All three are divided by the sum of alpha.  least > 0: rows with a smaller z are left out unless alpha_i > 0, and
    the certificate is that of the problem over the others.  at_rho: the plane has the rho that rows with alpha_i > 0
    reach, and not the one that is certified.  rounding: bound of the round-off of z / |v| in any order of sums; rho is
    smaller by that, so that rows on the plane are inside, and P and the gap are those of this rho.

    violation: the largest of rho - z_i, and of |z_i - rho| where alpha_i > 0.
    """
    total = float(np.sum(alpha))
    if total <= 0.0:
        return HardCertificate(0.0, 0.0, 0.0)
    z, apart = z / total, apart / total
    square = float(alpha @ z) / total + apart
    lead, used = float(np.min(z, initial=np.inf)) - apart, alpha > 0.0
    # w is 0 up to round-off
    zero = abs(square) <= MIN_VALUE_SHARE * size and lead <= SCORE_RTOL * math.sqrt(max(square, 0.0) * size)
    of_used = float(np.min(z, where=used, initial=np.inf))
    margin = rounding * float(np.sqrt(max(square, 0.0)))
    ahead = max(lead, min(least / total, of_used - apart))
    if zero or not ahead > 2.0 * margin:
        ahead = 0.0  # w = 0 is no worse than what round-off leaves
    found = _hard_certificate(ahead, square, size)
    violation = np.where(used, np.abs(z - square), square - z)
    found.violation = float(np.max(violation, where=used | (z >= ahead), initial=0.0)) + apart
    multiple = ahead / square if found.primal < 0.0 else 0.0
    if multiple * margin > 0.0:
        found.primal += multiple * margin
        found.gap = (found.primal - found.dual) / found.size
    beyond = outside = int(np.count_nonzero(~(multiple * (z - ahead + margin) > 0.0)))
    if at_rho and not zero:
        multiple, ahead = 1.0, of_used
        outside = int(np.count_nonzero(~(z - ahead + margin > 0.0)))
    found.plane = Plane(multiple / total, multiple * (ahead - margin), outside, len(z), beyond)
    return found


def _hard_certificate(lead: float, square: float, size: float) -> HardCertificate:
    ahead = min(max(lead, 0.0), max(square, 0.0))  # the least value is at most the mean, but for rounding
    primal = -0.5 * ahead * (ahead / square) if square > 0.0 else 0.0
    return HardCertificate(primal, -0.5 * max(square, 0.0), 0.0, size=max(-primal, 0.5 * MIN_VALUE_SHARE * size))


def certify_hard_linear(
    rows: Rows, alpha: np.ndarray, least: float = 0.0, at_rho: bool = False, gap: float | None = None
) -> HardCertificate:
    """Certify alpha f8[n] of a linear problem without slack; see certify_hard.  gap: the one that was asked for."""
    squares = rows.square_norms() if rows.n else np.zeros(1)
    rounding = EPS * (rows.d + 1) * float(np.sqrt(np.max(squares)))

    def certified(twofold: bool) -> HardCertificate:
        products = Products(rows, twofold)
        v, missed = products.sums(alpha)
        z, rest, off = products.margins(v, np.ones(rows.n))
        z, apart = z + rest, off + missed * rows.lengths + growth(rows.n) * np.abs(z)
        plain, found = (
            certify_hard(z, alpha, float(np.mean(squares)), by, least, at_rho, rounding)
            for by in (0.0, float(apart.max(initial=0.0)))
        )
        found.off = found.primal - plain.primal, plain.dual - found.dual
        return found

    return sharp(certified, gap)
