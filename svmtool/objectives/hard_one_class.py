"""The hard one-class SVM and its judge.

    P(w, rho) = 1/2 |w|^2 - rho,   w.f(x_i) >= rho for all i
    D(a)      = -1/2 |v|^2,   sum_i a_i = 1,  a_i >= 0,  v = sum_i a_i f(x_i)

D(a) <= min P for each feasible a.  Of the multiples of v, with the largest rho that they allow, the best is
s v with s = max(lead, 0) / |v|^2, lead = min_i v.f(x_i), and P = -1/2 max(lead, 0)^2 / |v|^2 there; w = 0 is the
answer where the origin lies among the rows.  Gaps are relative to -P, as in objectives/one_class.py, and as there to no
less than FLOOR times what -D is for rows in one direction, half the mean of K(x, x).  In terms of the paper's theta,
lead = (1 - theta) |v|^2, a gap is (1 - theta)^-2 - 1.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.data.rows import Rows
from svmtool.objectives import one_class

ROUNDING = 1e-12  # share of |v| times the rows' size that v.f(x_i) may be off by
AMONG = (
    "the origin lies among the rows: without slack no plane separates them from it, and all decision values are equal"
)


def lead_of(z: np.ndarray) -> float:
    """The least z, infinite for none."""
    return float(np.min(z, initial=np.inf))


def is_zero(lead: float, square: float, size: float) -> bool:
    """Whether v is 0 but for rounding: |v|^2 is negligible beside the mean of K(x, x), and lead beside its rounding."""
    return square <= one_class.FLOOR * size and lead <= ROUNDING * float(np.sqrt(max(square, 0.0) * size))


def gap_of(lead: float, square: float, size: float) -> float:
    """The relative gap of v with lead and |v|^2; size: the mean of K(x, x)."""
    return _certificate(lead, square, size).gap


def certify(z: np.ndarray, alpha: np.ndarray, size: float, apart: float = 0.0) -> Certificate:
    """Certifier alpha f8[n] >= 0 by z = K alpha f8[n], right to within `apart`; both are divided by alpha's sum.

    violation: the largest of rho - z_i, and of |z_i - rho| where alpha_i > 0.
    """
    total = float(np.sum(alpha))
    if total <= 0.0:
        return Certificate(0.0, 0.0, 0.0)
    z = z / total
    square = float(alpha @ z) / total
    found = _certificate(lead_of(z) - apart / total, square + apart / total, size)
    found.violation = float(np.max(np.where(alpha > 0.0, np.abs(z - square), square - z), initial=0.0))
    return found


def _certificate(lead: float, square: float, size: float) -> Certificate:
    ahead = max(lead, 0.0)
    found = Certificate(-0.5 * ahead * (ahead / square) if square > 0.0 else 0.0, -0.5 * max(square, 0.0), 0.0)
    found.gap = one_class.gap_of(found.primal, found.dual, 0.5 * one_class.FLOOR * size)
    return found


def certify_linear(rows: Rows, alpha: np.ndarray) -> Certificate:
    """Certifier alpha f8[n] of a linear problem."""
    z = np.empty(rows.n)
    rows.margins(rows.transpose_product(alpha), np.ones(rows.n), z)
    return certify(z, alpha, float(np.mean(rows.square_norms())) if rows.n else 0.0)
