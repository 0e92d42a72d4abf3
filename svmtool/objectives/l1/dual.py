"""Method of multipliers on the dual of the squared hinge with |w|_1.

    max_a  sum_i (a_i - a_i^2 / (4 C_i)),    a >= 0,    |v_j| <= 1,    v = sum_i a_i y_i x_i

The weights are the multipliers of |v_j| <= 1.  A step moves a to the approximate minimum of

    phi(a) = sum_i (a_i^2 / (4 C_i) - a_i) + sigma / 2 sum_j S(v_j + w_j / sigma)^2,    S(u) = sign(u) max(0, |u| - 1)

and w to sigma S(v + w / sigma): a step of the proximal point algorithm on the primal (Rockafellar, Mathematics of
Operations Research 1 (1976) 97-116).  The slopes of the losses at w violate the constraints until w is nearly exact; a
approaches feasibility much earlier.  phi is easier to minimise for small sigma: coordinate descent over the rows
identifies the active rows and weights, and Newton steps do the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.cd import l1_dual_loops as loops
from svmtool.linalg.columns import order
from svmtool.tolerances import SEARCH_RTOL

if TYPE_CHECKING:
    from svmtool.objectives.l1.objective import L1Objective

SLOPE_TO_STAY, SLOPE_TO_ENTER = 0.8, 0.95  # |v_j| from which a zero weight is in the set
MAX_NEWTON_STEPS = 5  # most Newton steps on phi
FAST_STEPS, DUAL_SIGMA_GROWTH = 2, 1.5  # sigma grows by DUAL_SIGMA_GROWTH if FAST_STEPS Newton steps sufficed
SHORT_DUAL_STEP = 0.02  # sigma decreases if MAX_NEWTON_STEPS steps did not suffice and one was shorter than this
DUAL_CG_RTOL, DUAL_CG_STEPS = 0.5, 200  # relative residual of a Newton step, and its most products


class L1Dual:
    """A run from the weights w (f8[d]), without a free bias; `step` updates them.

    a: multipliers of the rows, f8[n]; work: non-zeros visited so far, in passes over all rows.
    """

    _part: Any
    _face: Any

    def __init__(self, objective: L1Objective, w: np.ndarray):
        o = self.objective = objective
        self.columns, self.w, self.work = o.columns(), w.copy(), 0.0
        self._random = np.random.default_rng(1)
        o.set_point(w)
        _, g = o.gradient()
        steepest = max(1.0, float(np.abs(g).max(initial=0.0)))
        self.a = -o.losses.u * o.losses.y / steepest
        self._v = -g / steepest
        self.sigma = float(np.abs(w).sum()) / max(int(np.count_nonzero(w)), 1)
        if not self.sigma > 0.0:  # weights of a size at which rows have a margin of 1
            self.sigma = 1.0 / max(float(o.rows.square_norms().mean()), 1e-300)
        self._out = np.zeros(4)
        self._columns = np.flatnonzero((w != 0.0) | (np.abs(self._v) > SLOPE_TO_STAY))
        self._restrict()

    def _restrict(self) -> None:
        """Restrict the rows to the features `_columns` and the bias."""
        plain = self._columns[self._columns < self.columns.n_features]
        self._columns = plain if self.columns.bias < 0.0 else np.append(plain, self.columns.n_features)
        self._part = self._face = None  # they are as large as the next ones
        part = self._part = self.columns.some_by_rows(plain)
        self._squares = part.square_norms()
        self._face = np.zeros(part.n + 1, np.int64), np.empty(part.nnz + part.n, np.int32), np.empty(part.nnz + part.n)
        self._vectors, self._old = np.empty(6 * part.n), np.empty(len(self._columns))
        self.work += 4.0 * part.nnz / max(self.columns.nnz, 1)

    def step(self, most: float) -> np.ndarray:
        """Take a step of about `most` passes at most; returns the new weights."""
        outside = np.abs(self._v) > 1.0
        outside[self._columns] = False
        if np.any(outside):
            kept = np.zeros(self.columns.d, bool)
            kept[self._columns] = (self.w != 0.0)[self._columns] | (np.abs(self._v) > SLOPE_TO_STAY)[self._columns]
            self._columns = np.flatnonzero(kept | (np.abs(self._v) > SLOPE_TO_ENTER))
            self._restrict()
        u = self._v[self._columns] + self.w[self._columns] / self.sigma
        taken, shortest = self._to_minimum(u, self.work + most)
        self.w[:] = 0.0
        self.w[self._columns] = self.sigma * np.sign(u) * np.maximum(np.abs(u) - 1.0, 0.0)
        self._v = self.columns.products(self.a * self.objective.losses.y)
        self.work += 1.0
        if taken <= FAST_STEPS:
            self.sigma *= DUAL_SIGMA_GROWTH
        elif taken == MAX_NEWTON_STEPS and shortest < SHORT_DUAL_STEP:
            self.sigma /= DUAL_SIGMA_GROWTH**0.5
        return self.w

    def _to_minimum(self, u: np.ndarray, end: float) -> tuple[int, float]:
        """Move a to the approximate minimum of phi, updating u; returns the number of steps, and the shortest.

        end: work at which it stops, and sigma stays as it is.
        """
        o, part, out = self.objective.losses, self._part, self._out
        lists = *part.csr_arrays, o.y, o.cost
        shortest, share = 1.0, 1.0 / max(self.columns.nnz, 1)
        largest = np.inf
        for k in range(MAX_NEWTON_STEPS):
            rows = order(self._random, part)
            loops.l1_dual_epoch(*lists, self._squares, self.a, u, rows, self.sigma, part.bias)
            vectors = *self._face, self._vectors, self._old, out
            most = int(min(DUAL_CG_STEPS, max((end - self.work) / (2.0 * share * part.nnz + 1e-300), 1.0)))
            t = loops.l1_dual_newton(*lists, self.a, u, *vectors, self.sigma, part.bias, DUAL_CG_RTOL, most)
            largest, _, numbers, products = out.tolist()
            self.work += share * (3.0 * part.nnz + 2.0 * numbers * products)
            if k > 0 and largest <= SEARCH_RTOL or limits.is_ended():
                return k + 1, shortest
            shortest = min(shortest, t)
            if self.work >= end:
                return FAST_STEPS + 1, shortest
        return MAX_NEWTON_STEPS, shortest

    def bound(self) -> tuple[float, np.ndarray]:
        """The dual value at the best feasible multiple of a, and that multiple (f8[n])."""
        return self.objective.dual_of(self.a, self._v)
