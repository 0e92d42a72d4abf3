"""Regulariser + sum of C_i loss over rows, as solvers of linear models see it.

    f(w) = 1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)^2,   R = I, or I with 0 for a free bias

Everything of length n (margins, active rows, the dual point) stays in here;
what goes in and out are vectors of the feature space and scalars.  Reached
through few fused passes over the rows:

    move(w)      margins at w                         one product X w
    gradient()   value, gradient, active rows         one product X'u over active rows
    hessian()    R + X'CX over active rows            Gram matrix, kept up to date by rows that changed
    ray(p)       exact minimiser along w + t p        one product X p
    advance(t)   margins at w + t p                   none
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled import hinge_loops as loops
from svmtool.problem.rows import Rows


def dual_bound(total: float, square: float, loss: float) -> float:
    """max over s of D(s alpha), for sum alpha = total, |sum alpha y x|^2 = square, sum alpha^2 / 4C = loss."""
    quadratic = square + 2.0 * loss
    return 0.5 * total * total / quadratic if quadratic > 0 else 0.0


class SquaredHinge:
    """The squared hinge over `rows` with labels y (+-1, f8[n]) and cost C_i (f8[n])."""

    def __init__(self, rows: Rows, y: np.ndarray, cost: np.ndarray, free_bias: bool = False):
        self.rows, self.y, self.cost, self.free_bias = rows, y, cost, free_bias
        self.n, self.d = rows.n, rows.d
        self.w = np.zeros(self.d)
        self.z, self.dz, self.u = np.zeros(self.n), np.empty(self.n), np.empty(self.n)
        self.c, self._change = np.zeros(self.n), np.zeros(self.n)  # curvature of each row, and its last change
        self._counts = np.zeros(3)
        self._out = np.zeros(2)
        self._gram: np.ndarray | None = None
        self._pending: np.ndarray | None = None  # changes of curvature that the Gram matrix has not seen
        self._state = loops.hinge2_state.bind(self.z, self.cost, self.y, self.u, self.c, self._change, self._counts)
        self._along = loops.hinge2_ray.bind(self.z, self.dz, self.cost, self._out)
        self._add = loops.add_scaled.bind(self.z, self.dz)
        self.changed = self.active = 0
        self.bound = 0.0  # lower bound of min f, known after gradient()

    def regular(self, w: np.ndarray) -> np.ndarray:
        """R w."""
        if not self.free_bias:
            return w
        v = w.copy()
        v[-1] = 0.0
        return v

    def move(self, w: np.ndarray) -> None:
        """Go to w."""
        self.w[:] = w
        if np.any(w):
            self.rows.margins(self.w, self.y, self.z)
        else:
            self.z[:] = 0.0

    def gradient(self) -> tuple[float, np.ndarray]:
        """f and its gradient (length d) at w; sets `active`, `changed` (rows) and `bound`."""
        loss = self._state(0, self.n)
        changed, active, total = self._counts.tolist()
        self.changed, self.active = int(changed), int(active)
        self._note_change()
        g = self.rows.transpose_product(self.u)
        inner = self.regular(self.w)
        # v = sum alpha_i y_i x_i for alpha_i = 2 C_i max(0, 1 - z_i), whose best multiple bounds min f from below
        self.bound = dual_bound(total, float(g @ g), loss) if not self.free_bias else 0.0
        g += inner
        return 0.5 * float(self.w @ inner) + loss, g

    def _note_change(self) -> None:
        if self._gram is not None and self.changed:
            if self._pending is None:
                self._pending = self._change.copy()
            else:
                self._pending += self._change

    def hessian(self) -> np.ndarray:
        """R + sum over active rows of 2 C_i x_i x_i' (d x d; only the upper triangle is meaningful).

        Rows whose activity changed since the last call are added or taken out; where more changed
        than are active, the matrix is formed anew.
        """
        fresh = self._gram is None
        if not fresh and self._pending is not None:
            moved = int(np.count_nonzero(self._pending))
            fresh = moved >= self.active
        if fresh:
            self._gram = np.zeros((self.d, self.d))
            self.rows.add_gram(self.c, self._gram)
        elif self._pending is not None:
            self.rows.add_gram(self._pending, self._gram)
        self._pending = None
        H = self._gram.copy()
        H.flat[:: self.d + 1] += 1.0
        if self.free_bias:  # keeps the matrix regular where no row is active
            H[-1, -1] += 1e-12 * H.flat[:: self.d + 1].max() - 1.0
        return H

    def hessian_product(self, v: np.ndarray) -> np.ndarray:
        """(R + 2 C_i X'X over active rows) v."""
        g = self.rows.curvature_product(self.c, v)
        g += self.regular(v)
        return g

    def hessian_diagonal(self) -> np.ndarray:
        diagonal = self.rows.diagonal(self.c) + 1.0
        if self.free_bias:
            diagonal[-1] = max(diagonal[-1] - 1.0, 1e-12)
        return diagonal

    def ray(self, p: np.ndarray) -> float:
        """The t > 0 that minimises f(w + t p), exactly (paper's Section 4.4).

        phi'(t) is continuous, increasing and piecewise linear.  Newton steps on it, kept inside a
        bracket, land on its zero after finitely many: no kink is sorted, each step is one pass over z and dz.
        """
        self.rows.margins(p, self.y, self.dz)
        inner = self.regular(p)
        a, b = float(self.w @ inner), float(p @ inner)
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(100):
            self._along(t, 0, self.n)
            slope, curvature = self._out.tolist()
            slope += a + t * b
            curvature += b
            if slope > 0.0:
                high = t
            else:
                low = t
            if not curvature > 0.0 or high - low <= 1e-15 * high:
                break
            new = t - slope / curvature
            if not low < new < high:
                new = 0.5 * (low + high) if high < np.inf else 2.0 * t
            if abs(new - t) <= 1e-14 * abs(t):
                break
            t = new
        return t

    def advance(self, t: float, p: np.ndarray) -> None:
        """w += t p, margins with it; p is the vector last given to `ray`."""
        self.w += t * p
        self._add(t, 0, self.n)

    def sample(self, group: int, seed: int) -> "SquaredHinge":
        """The same problem on one random row of each `group`, costs raised to make up for the rest."""
        from svmtool.problem.rows import draw_rows

        chosen = draw_rows(self.n, group, seed)
        cost = self.cost[chosen] * (self.n / len(chosen))
        return SquaredHinge(self.rows.take(chosen), self.y[chosen], cost, self.free_bias)
