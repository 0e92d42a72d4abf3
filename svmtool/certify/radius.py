"""How far weights can be from the optimum: what a gap means for decision values.

P is 1/2 |w|^2 plus a convex function, and D is a concave function of the dual point less 1/2 |v|^2, v = sum_i a_i y_i
x_i, which is w* at the optimum.  Hence

    1/2 |w - w*|^2 <= P - P*   and   1/2 |v - w*|^2 <= D* - D,   together   |w - w*|^2 + |v - w*|^2 <= 2 (P - D),

so w* is in the ball about (w + v)/2 whose squared radius is P - D - |w - v|^2 / 4, and

    |w - w*| <= |w - v|/2 + sqrt(P - D - |w - v|^2 / 4),

between sqrt(P - D), where w = v, and sqrt(2 (P - D)), since |w - v|^2 <= 2 (P - D).
"""

from __future__ import annotations

import math

import numpy as np

from svmtool.certify.rounding import FEW, UNIT

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
