"""Exact zeros after an interior point: Newton steps over the nonzero weights only."""

from __future__ import annotations

import numpy as np

from svmtool.objectives.duality import relative_gap
from svmtool.objectives.l1 import interior
from svmtool.objectives.l1.objective import L1Objective
from svmtool.solvers.l1.model_matrix import step_of_matrix
from svmtool.solvers.shared.base import Monitor

MOST = 20  # steps
STILL = 0.9  # share of the gap, by the slopes at the weights, that a step must leave or less for another one to follow


def sparse(
    objective: L1Objective, w: np.ndarray, used: np.ndarray, gap: float, monitor: Monitor
) -> tuple[float, np.ndarray]:
    """The objective's value and weights (f8[d]) that are zero where they are not in `used` (bool[d]).

    They start at w; gap: the relative one that is small enough, by the lower bound at the losses' slopes.
    """
    o = objective
    o.set_point(np.where(used | (o.penalty == 0.0), w, 0.0))
    used = used.copy()
    used[o.rows.plain :] = True  # the bias: `part_of_hessian` has it
    chosen, epochs, previous, lowest = np.flatnonzero(used), np.zeros(2), np.inf, np.inf
    if not 0 < len(chosen) <= interior.MOST:
        return o.value(), o.w.copy()
    for _ in range(MOST):
        value, g = o.gradient()
        left = relative_gap(value, o.bound)
        if left <= gap or (value >= lowest and left > STILL * previous) or monitor.ended():
            break
        previous, lowest = left, min(value, lowest)
        violations = o.violations(g)
        H, part = o.part_of_hessian(chosen), (g[chosen], o.w[chosen], o.penalty[chosen], violations[chosen])
        p = np.zeros(o.d)
        p[chosen] = step_of_matrix(H, *part, epochs, monitor)
        o.go(o.best_step(p, g), p)
    return o.value(), o.w.copy()
