"""The hard one-class SVM: problem, dual and relative gap.

    P(w, rho) = 1/2 |w|^2 - rho,   w.f(x_i) >= rho for all i
    D(a)      = -1/2 |v|^2,   sum_i a_i = 1,  a_i >= 0,  v = sum_i a_i f(x_i)

D(a) <= min P for each feasible a.  The best multiple of v, with its largest feasible rho, is s v with
s = max(lead, 0) / |v|^2, lead = min_i v.f(x_i); there P = -1/2 max(lead, 0)^2 / |v|^2.  If the origin lies in the
convex hull of the rows, w = 0 is optimal.  As in objectives/one_class.py gaps are relative to -P, but at least to FLOOR
times half the mean of K(x, x), which is -D if all rows have one direction.  With the paper's theta, lead = (1 - theta)
|v|^2, the gap is (1 - theta)^-2 - 1.
"""

from __future__ import annotations

import numpy as np

from svmtool.objectives import one_class

ROUNDING = 1e-12  # relative round-off of v.f(x_i), as share of |v| times the size of the rows
AMONG = (
    "the origin lies among the rows: without slack no plane separates them from it, and all decision values are equal"
)


def lead_of(z: np.ndarray) -> float:
    """The smallest z; inf if z is empty."""
    return float(np.min(z, initial=np.inf))


def is_zero(lead: float, square: float, size: float) -> bool:
    """Whether v is 0 up to round-off: |v|^2 is negligible beside `size`, the mean of K(x, x), and lead is round-off."""
    return square <= one_class.FLOOR * size and lead <= ROUNDING * float(np.sqrt(max(square, 0.0) * size))
