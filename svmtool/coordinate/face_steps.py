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

if TYPE_CHECKING:
    from typing import Any

LITTLE = 1e-2  # steps end after one that gains at most this share of the best step's gain
HALVINGS = 8  # most halvings of a step whose clipping loses more than it gains
# Where many variables reach a bound on the way, fewer steps gain more: the first number, its factor after a turn that
# was shortened (2 after one that was not), and the least number.
FIRST_STEPS, FEWER, LEAST_STEPS = 64, 0.5, 4
PIECE = 1e7  # non-zeros in the steps of one call: limits are checked between calls


class FaceSteps:
    """Conjugate gradients that update the alpha and w of `descent`."""

    def __init__(self, descent: Any):
        p = self._passes = descent
        self._rows = p.data.csr_arrays
        self._v, self._state = np.empty(len(p.w)), np.zeros(2)
        self._lengths = np.diff(p.data.indptr)
        self._steps = FIRST_STEPS

    def run(self, most: float) -> float:
        """Take steps with at most `most` visits to non-zeros, clipped to the box; return the number of visits.

        The dual never decreases.
        """
        p, n = self._passes, self._passes.data.n
        face = np.flatnonzero((p.alpha > 0.0) & (p.alpha < p.upper))
        m = len(face)
        if m == 0:
            return 0.0
        nnz = float(self._lengths[face % n].sum())
        cost = 2.0 * nnz + 0.1 * len(p.w) + 4.0 * m  # of a step
        done = cost
        if most < 3.0 * cost:
            return 0.0
        space, bias = np.empty(4 * m), p.bias
        signs = p.y
        dcd_loops.face_start(
            *self._rows, signs, p.target, p.diagonal, p.square_norms, p.alpha, p.w, face, space, self._v, self._state,
            bias,
        )  # fmt: skip
        left = min(int((most - done) / cost), self._steps)
        while self._state[0] > 0.0 and left > 0:
            steps = min(left, max(int(PIECE / cost), 1))
            made = dcd_loops.face_conjugate(
                *self._rows, signs, p.diagonal, p.square_norms, face, space, self._v, self._state, bias, steps, LITTLE,
            )  # fmt: skip
            left -= steps
            done += made * cost
        before, alpha, upper = p.dual_value(), p.alpha[face], p.upper[face]
        w, t = p.w.copy(), 1.0
        for _ in range(HALVINGS):
            new = np.clip(alpha + t * space[:m], 0.0, upper)
            dcd_loops.face_combination(*self._rows, signs, face, new - alpha, self._v, bias)
            done += nnz
            np.add(w, self._v, out=p.w)
            p.alpha[face] = new
            if p.dual_value() > before:
                break
            t *= 0.5
        else:
            p.alpha[face], p.w[:] = alpha, w
        self._steps = 2 * self._steps if t == 1.0 else max(int(self._steps * FEWER), LEAST_STEPS)
        return done
