"""Conjugate gradients over the free dual variables, between epochs of coordinate descent.

Epochs soon identify the dual variables at their bounds; on ill-conditioned rows the others then need hundreds of visits
to converge.  With the former fixed the rest is a linear system, which conjugate gradients solve in the square root of
that number.  Their point is clipped to the box, and the step halved until the dual rises (More and Toraldo, On the
solution of large quadratic programming problems with bound constraints, SIAM J. Optimization 1 (1991), 93-113, with
coordinate descent in place of projected gradients).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svmtool.compiled.loops.cd import dcd_loops
from svmtool.linalg.systems import conjugate_gradient
from svmtool.tolerances import MAX_TRIALS, SEARCH_RTOL

if TYPE_CHECKING:
    from typing import Any

# Where many variables reach a bound on the way, fewer steps gain more: the first number, its factor after a turn that
# was shortened (2 after one that was not), and the least number.
FIRST_STEPS, STEPS_FACTOR, MIN_STEPS = 64, 0.5, 4


def face_steps(p: Any, max_visits: float, max_steps: int = FIRST_STEPS) -> tuple[float, int]:
    """Take at most `max_steps` steps and `max_visits` visits to non-zeros, clipped to the box; update alpha and w of p.

    p: a DualCoordinateDescent, whose dual never decreases.  Returns the number of visits, and max_steps for the
    next turn.
    """
    face = np.flatnonzero((p.alpha > 0.0) & (p.alpha < p.upper))
    m, rows, bias, indptr = len(face), face % p.data.n, p.bias, p.arrays[0]
    nnz = float(np.sum(indptr[rows + 1] - indptr[rows]))
    cost = 2.0 * nnz + 0.1 * len(p.w) + 4.0 * m  # of a step
    if m == 0 or max_visits < 3.0 * cost:
        return 0.0, max_steps
    alpha, upper, diagonal, w = p.alpha[face], p.upper[face], p.diagonal[face], p.w.copy()
    curvature, z, v = np.maximum(p.square_norms[rows] + diagonal, 1e-300), np.empty(p.n), np.empty(len(w))
    p.rows.margins(w, p.y, z)
    residual = (p.target - z)[face] - diagonal * alpha
    on_face, product = (*p.arrays, rows, p.y[face]), np.empty(m)

    def along(direction: np.ndarray) -> np.ndarray:
        dcd_loops.face_product(*on_face, diagonal, direction, v, product, bias)
        return product

    remaining = min(int((max_visits - cost) / cost), max_steps)
    with np.errstate(all="ignore"):  # overflow ends the steps
        step, made, _ = conjugate_gradient(along, residual, curvature, 0.0, remaining, min_gain=SEARCH_RTOL)
    done = cost * (1 + made)
    before, t = p.dual_value(), 1.0
    for _ in range(MAX_TRIALS):
        new = np.clip(alpha + t * step, 0.0, upper)
        dcd_loops.face_combination(*on_face, new - alpha, v, bias)
        done += nnz
        np.add(w, v, out=p.w)
        p.alpha[face] = new
        if p.dual_value() > before:
            break
        t *= 0.5
    else:
        p.alpha[face], p.w[:] = alpha, w
    return done, 2 * max_steps if t == 1.0 else max(int(max_steps * STEPS_FACTOR), MIN_STEPS)
