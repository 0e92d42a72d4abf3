"""How far weights can be from the optimum: what a gap means for decision values.

P is 1/2 |w|^2 plus a convex function, and D is a concave function of the dual point less 1/2 |v|^2, v = sum_i a_i y_i
x_i, which is w* at the optimum.  Hence

    1/2 |w - w*|^2 <= P - P*   and   1/2 |v - w*|^2 <= D* - D,   together   |w - w*|^2 + |v - w*|^2 <= 2 (P - D),

so w* is in the ball about (w + v)/2 whose squared radius is P - D - |w - v|^2 / 4, and

    |w - w*| <= |w - v|/2 + sqrt(P - D - |w - v|^2 / 4),

between sqrt(P - D), where w = v, and sqrt(2 (P - D)), since |w - v|^2 <= 2 (P - D).

All this holds for w alone where the bias b is free; v is then without its component.  b* minimises the losses for w*.
With r above, a score w*.x_i is within e_i = r |x_i| of w.x_i, and the slope of a loss rises with the score: the sum of
the slopes at w.x_i - e_i + b is at most 0 for b = b*, and that at w.x_i + e_i + b at least 0.  Both rise with b, so
that they bound b* on both sides.
"""

from __future__ import annotations

import math

import numpy as np

from svmtool.certify.rounding import FEW, UNIT, growth
from svmtool.objectives.losses import Loss
from svmtool.tolerances import ROWS_AT_ONCE

STEPS = np.arange(32)  # values of a bound tried at once
DualSum = tuple[np.ndarray, float]  # v, and a bound of the 2-norm of its rounding


def radius(excess: float, w: np.ndarray, v: DualSum | None = None) -> float:
    """A bound of |w - w*|, and relative to |x| of the distance of w.x, as doubles give it, from w*.x; inf: none.

    excess: at least P - D.  w: of any shape.  v: of the dual point, None: 0.
    """
    size = float(np.linalg.norm(w))
    if not (excess >= 0.0 and math.isfinite(excess) and math.isfinite(size)):
        return math.inf
    other, lost = (np.zeros(1), 0.0) if v is None else v
    rounding = (w.size + FEW) * UNIT
    between = float(np.linalg.norm(w - other)) * (1.0 + rounding) + lost + FEW * UNIT * size
    between = min(between, math.sqrt(2.0 * excess))  # the bound rises with it up to there
    found = 0.5 * between + math.sqrt(excess - 0.25 * between * between)
    return (found + rounding * size) * (1.0 + rounding)


def offset(loss: Loss, xi: np.ndarray, y: np.ndarray, cost: np.ndarray, e: np.ndarray) -> float:
    """A bound of |b - b*| for a free bias; inf: none.

    xi: slacks at (w, b).  y: the signs of scores in slacks.  cost: of each row.  e: of w*.x_i - w.x_i and the rounding
    of xi.  All f8[n].
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return max(_farthest(loss, xi, sign * y, cost, e) for sign in (1.0, -1.0))


def _farthest(loss: Loss, xi: np.ndarray, y: np.ndarray, cost: np.ndarray, e: np.ndarray) -> float:
    """The t, slightly above the largest for which  -sum_i C_i y_i l'(xi_i - y_i (t - e_i))  is not certainly above 0.

    Two searches of a few values each, the second between two of the first.
    """
    e = e + FEW * UNIT * (np.abs(xi) + e)  # rounding of what follows
    first, ratio = max(float(e.max(initial=0.0)), UNIT), 4.0
    for _ in range(2):
        tried = first * ratio**STEPS
        beyond = _rises(loss, xi, y, cost, e, tried).nonzero()[0]
        if not len(beyond):
            return math.inf
        if beyond[0] == 0:
            break
        first, ratio = float(tried[beyond[0] - 1]), ratio ** (1.0 / STEPS[-1])
    return float(tried[beyond[0]]) * (1.0 + FEW * UNIT)


def _rises(
    loss: Loss, xi: np.ndarray, y: np.ndarray, cost: np.ndarray, e: np.ndarray, tried: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Whether that sum is above 0 for each t, in spite of rounding, bool[len(tried)]."""
    total, size = np.zeros(len(tried)), np.zeros(len(tried))
    for first in range(0, len(xi), ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        moved = xi[part] - y[part] * (tried[:, None] - e[part])
        slopes = loss.slope(moved) * cost[part]
        total -= slopes @ y[part]
        size += np.abs(slopes).sum(axis=1)
    return total > growth(len(xi)) * size
