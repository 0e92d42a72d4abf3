"""Certifier of the Crammer-Singer problem; see linear.py for the method.

    P(W) = 1/2 |W|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)
    D(a) = sum_i a_{i y_i} - 1/2 |sum_i x_i a_i'|^2,   sum_m a_im = 0,  a_{i y_i} <= C_i,  a_im <= 0 for m != y_i

D(a) <= min P for each feasible a.  The certifier makes a point feasible first: positive entries of other classes become
zero, rows with more than C_i are scaled, and the own class becomes minus the sum of the rest, exactly.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate, sharp
from svmtool.certify.points import on_grid
from svmtool.certify.radius import radius
from svmtool.certify.rounding import FEW, UNIT, Products, growth, sum_of
from svmtool.data.row_storage import Rows
from svmtool.tolerances import SUM_RTOL


class CrammerSingerCertifier:
    """Certifies weights for one problem: rows, number (i8[n] the class of each row), cost (f8[n], zeros allowed).

    gap: the one that was asked for, if any.
    """

    def __init__(self, rows: Rows, number: np.ndarray, k: int, cost: np.ndarray, gap: float | None = None):
        self.rows, self.number, self.k, self.cost, self.gap = rows, number, k, np.maximum(cost, 0.0), gap

    def certify(self, W: np.ndarray, a: np.ndarray) -> Certificate:
        """Certify W (d x k) by the dual point a (n x k)."""
        if not a.size:
            return Certificate(0.0, 0.0, 0.0)
        return sharp(lambda twofold: self._certify(W, a, Products(self.rows, twofold)), self.gap)

    def _certify(self, W: np.ndarray, a: np.ndarray, products: Products) -> Certificate:
        own = np.arange(len(a)), self.number
        primal, off = self._primal(W, products)
        rest = np.where(self.cost[:, None] > 0.0, np.minimum(a, 0.0), 0.0)
        rest[own] = 0.0
        heavy = -rest.sum(axis=1)
        full = heavy >= self.cost * (1.0 - SUM_RTOL)
        most = self.cost * (1.0 - growth(self.k))  # so that no sum rounds above C_i
        rest *= np.divide(most, heavy, out=np.ones_like(heavy), where=full & (heavy > 0.0))[:, None]
        rest = on_grid(rest, np.trunc, axis=1)
        rest[own] = -rest.sum(axis=1)
        found = [products.sums(np.ascontiguousarray(c)) for c in rest.T]
        V, apart = np.stack([v for v, _ in found], axis=1), float(np.linalg.norm([error for _, error in found]))
        linear, square = float(np.sum(rest[own])), float(np.sum(V * V))
        s = min(1.0, linear / square) if square > 0.0 else 1.0
        dual = s * linear - 0.5 * s * s * square
        less = s * growth(len(a)) * linear
        less += s * s * (apart * (float(np.sqrt(square)) + 0.5 * apart) + 0.5 * growth(V.size) * square)
        ones = np.ones(len(a))
        G = np.stack([products.margins(np.ascontiguousarray(v), ones)[0] for v in V.T], axis=1)
        G += np.arange(self.k) != self.number[:, None]  # w_m.x_i + [m != y_i]
        can_rise = rest < 0.0
        can_rise[own] = ~full
        violation = G.max(axis=1) - np.min(G, axis=1, where=can_rise, initial=np.inf)
        violation = violation[self.cost > 0.0]
        less = min(less, max(dual, 0.0))  # a = 0 has the value 0
        certificate = Certificate(primal, dual, float(violation.max(initial=0.0)), (off, less))
        certificate.radii = (radius(certificate.excess, W, (s * V, s * apart)),)
        return certificate

    def primal(self, W: np.ndarray) -> float:
        """P(W); W d x k."""
        return self._primal(W, Products(self.rows))[0]

    def _primal(self, W: np.ndarray, products: Products) -> tuple[float, float]:
        """P(W) and a bound of its rounding."""
        ones, places = np.ones(self.rows.n), np.arange(self.rows.n)
        z, rest, off = (
            np.stack(np.broadcast_arrays(*part, ones)[:-1], axis=1)
            for part in zip(*(products.margins(np.ascontiguousarray(w), ones) for w in W.T), strict=True)
        )
        own_z, own_rest, own_off = (part[places, self.number][:, None] for part in (z, rest, off))
        loss = sum_of([z, -own_z, 1.0, rest - own_rest])
        wide = loss + off + own_off + FEW * UNIT * np.abs(loss)
        for part in (loss, wide):
            part[places, self.number] = 0.0
        regular, value = 0.5 * float(np.sum(W * W)), float(self.cost @ loss.max(axis=1))
        more = float(self.cost @ wide.max(axis=1)) - value
        return regular + value, growth(W.size) * regular + growth(len(loss)) * value + more

    def value_at_zero(self) -> float:
        """P(0): each row has a loss of 1."""
        return float(np.sum(self.cost)) if self.k > 1 else 0.0
