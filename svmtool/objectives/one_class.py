"""The one-class SVM, linear or hard: problem, dual and relative gap.

    P(w, rho) = 1/2 |w|^2 + sum_i c_i max(0, rho - w.x_i) - k rho,   k = nu sum_i c_i
    D(a)      = -1/2 |v|^2,   0 <= a_i <= c_i,  sum_i a_i = k,   v = sum_i a_i x_i

D(a) <= min P for each feasible a.  For given w the best rho is the k-th smallest w.x_i, with row i counted c_i times;
there P = 1/2 |w|^2 - (sum of the k smallest).  min P <= P(0) = 0, with equality where the origin is in the reduced
convex hull of the rows, {v}; then no error is small relative to it.  A row is inside if w.x > rho, and a model's rho is
the best one less the round-off of the scores next to it: rows on the boundary are inside, and at most k counts of rows
are outside.  With w = 0 all rows are outside.  Gaps are

    (P - D) / max(-P, MIN_VALUE_SHARE M),   M = k^2 / 2 times the mean of |x_i|^2

Since -P <= -min P, this bounds the error of P relative to its optimum.  M is -D if all rows have this size and one
direction.

The hard one-class SVM allows no loss:

    P(w, rho) = 1/2 |w|^2 - rho,   w.phi(x_i) >= rho for all i,   phi the feature map
    D(a)      = -1/2 |v|^2,   sum_i a_i = 1,  a_i >= 0,  v = sum_i a_i phi(x_i)

The best multiple of v, with its largest feasible rho, is s v with s = max(lead, 0) / |v|^2, lead = min_i v.phi(x_i);
there P = -1/2 max(lead, 0)^2 / |v|^2.  If the origin is in the convex hull of the rows, w = 0 is optimal.  M is half
the mean of K(x, x).  With the paper's theta, lead = (1 - theta) |v|^2, the gap is (1 - theta)^-2 - 1.  The model holds
this multiple and this rho.  For a larger lead they are a point of the problem over the rows that reach it, and D holds
there too if these are all rows with a_i > 0.
"""

from __future__ import annotations

import math

import numpy as np

from svmtool.tolerances import MIN_VALUE_SHARE, SCORE_RTOL, SUM_RTOL

_ALL_OUTSIDE = "all decision values are 0, and all rows outside"
ORIGIN_IN_HULL = "w = 0: the origin is in the convex hull of the rows, so that without slack no plane separates them "
ORIGIN_IN_HULL += f"from it: {_ALL_OUTSIDE}"
ORIGIN_IN_REDUCED_HULL = f"w = 0: with this -n the origin is in the reduced convex hull of the rows: {_ALL_OUTSIDE}"


def scale_of(square_norms: np.ndarray, cost: np.ndarray, k: float) -> float:
    """MIN_VALUE_SHARE M from the |x_i|^2."""
    return scale_of_sums(float(cost @ square_norms), float(np.sum(cost)), k)


def scale_of_sums(squares: float, total: float, k: float) -> float:
    """MIN_VALUE_SHARE M from sum c |x|^2 and sum c."""
    return MIN_VALUE_SHARE * 0.5 * k * k * (squares / total) if total > 0.0 else 0.0


def gap_of(primal: float, dual: float, scale: float) -> float:
    """The relative gap of the module's docstring; `scale` is MIN_VALUE_SHARE M."""
    difference, size = max(primal - dual, 0.0), max(-primal, scale)
    if size > 0.0:
        return difference / size
    return 0.0 if difference == 0.0 else np.inf


def best_rho(z: np.ndarray, cost: np.ndarray, k: float) -> tuple[float, float]:
    """The best rho for scores z = Xw (f8[n]), and the sum of the k smallest.

    If an interval is optimal its middle is returned, as in LIBLINEAR: -inf for k = 0, inf for k = sum c, -nan without
    rows.
    """
    if k <= 0.0:
        return -np.inf if len(z) else math.copysign(math.nan, -1.0), 0.0
    if k >= float(np.sum(cost)) * (1.0 - SUM_RTOL):
        return np.inf, float(cost @ z)
    order = np.argsort(z)
    z, filled = z[order], np.cumsum(cost[order])
    ends = np.searchsorted(filled, (k * (1.0 - SUM_RTOL), k * (1.0 + SUM_RTOL)))
    low, high = z[np.minimum(ends, len(z) - 1)].tolist()
    below = int(np.searchsorted(z, low))  # rows with smaller scores
    rest = k - (float(filled[below - 1]) if below else 0.0)
    return 0.5 * (low + high), float(cost[order[:below]] @ z[:below]) + rest * low


def boundary(z: np.ndarray, apart: np.ndarray, cost: np.ndarray, k: float) -> float:
    """The rho of a model with w other than 0, see the module; apart: a bound of the round-off of z, f8[n]."""
    rho, _ = best_rho(z, cost, k)
    return below(rho, lowest_on(z, apart, rho)) if np.isfinite(rho) else rho


def lowest_on(z: np.ndarray, apart: np.ndarray, rho: float) -> float:
    """The smallest score in any order of sums of the rows that may be on the boundary; inf without any."""
    low = z - 2.0 * apart
    return float(np.min(low, where=(low <= rho) & (z + 2.0 * apart >= rho), initial=np.inf))


def below(rho: float, lowest: float) -> float:
    """rho, lowered until `lowest` is inside."""
    return float(np.nextafter(min(rho, lowest), -np.inf)) if lowest < np.inf else rho


def least_score(z: np.ndarray) -> float:
    """The smallest z; inf if z is empty."""
    return float(np.min(z, initial=np.inf))


def is_zero(lead: float, square: float, size: float) -> bool:
    """Whether v is 0 up to round-off: |v|^2 is negligible against `size`, the mean K(x, x), and lead is round-off."""
    return abs(square) <= MIN_VALUE_SHARE * size and lead <= SCORE_RTOL * float(np.sqrt(max(square, 0.0) * size))
