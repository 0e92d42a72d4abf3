"""Products with the rows and bounds of their rounding, for certifiers.

A sum of k terms in double precision is off by less than `growth(k)` times the sum of their absolute values.  That of a
product x.w is at most |x| |w|, and of the vector sum_i u_i x_i at most sum_i |u_i| |x_i|: these need only the lengths
of the rows.  Where this bound is too wide for a certificate, the products are computed in twice the precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.data.row_storage import Rows
from svmtool.data.twofold import two_sum, twofold_dot
from svmtool.tolerances import EPS

UNIT = 0.5 * EPS  # unit round-off
# Errors of k roundings add to less than k, and as independent ones rarely to more than 4 sqrt(k): Higham and Mary, SIAM
# Journal on Scientific Computing 41 (2019) A2815-A2835
DEVIATIONS, FEW = 4.0, 4.0


def growth(k: int) -> float:
    """The relative rounding of a sum of k products."""
    return UNIT * (min(float(k), DEVIATIONS * float(k) ** 0.5) + FEW)


class Products:
    """Products with the rows, each with a bound of its rounding; twofold: in twice the precision."""

    def __init__(self, rows: Rows, twofold: bool = False):
        self.rows, self.twofold = rows, twofold

    def margins(self, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | float, np.ndarray]:
        """z and its known error, whose sum is y_i x_i.w, and a bound of what that misses: f8[n] each."""
        rows, rest = self.rows, 0.0
        if not w.any():
            return np.zeros(rows.n), rest, np.zeros(rows.n)
        if self.twofold:
            z, rest = rows.twofold_margins(w, y)
        else:
            z = np.empty(rows.n)
            rows.margins(w, y, z)
        terms = min(rows.longest, int(np.count_nonzero(w)))
        return z, rest, self._share(terms) * float(np.sqrt(w @ w)) * rows.lengths

    def slacks(
        self, w: np.ndarray, y: np.ndarray, target: np.ndarray | float, lost: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """target_i + lost_i - y_i x_i.w and a bound of its rounding, f8[n] each."""
        z, rest, off = self.margins(w, y)
        xi = np.subtract(target, z) - (rest - lost)
        return xi, off + FEW * UNIT * np.abs(xi)

    def sums(self, u: np.ndarray) -> tuple[np.ndarray, float]:
        """sum_i u_i x_i, length d, and a bound of the 2-norm of its rounding."""
        size = float(np.abs(u) @ self.rows.lengths)
        if not self.twofold:
            return self.rows.transpose_product(u), self._share(len(u)) * size
        g, rest = self.rows.twofold_sums(u)
        v = g + rest
        return v, self._share(len(u)) * size + UNIT * float(np.sqrt(v @ v))

    def dot(self, a: np.ndarray | float, b: np.ndarray) -> tuple[float, float]:
        """a.b and a bound of its rounding; a may be a number."""
        if self.twofold:
            value, _ = twofold_dot(a, b)
            return value, UNIT * abs(value)
        terms = a * b
        return float(terms.sum()), growth(len(b)) * float(np.abs(terms).sum())

    def _share(self, k: int) -> float:
        if not self.twofold:
            return growth(k)
        return growth(k) ** 2 if k > 1 else 0.0  # a product alone is exact


def sum_of(parts: list[Any]) -> np.ndarray:
    """The sum of arrays and numbers, each rounded as if it were the only sum."""
    total, rest = parts[0], 0.0
    for part in parts[1:]:
        total, error = two_sum(total, part)
        rest = rest + error
    return total + rest
