"""The hard one-class SVM: problem, dual and relative gap.

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


