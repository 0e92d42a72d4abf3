"""Regulariser + sum of C_i loss over rows, as solvers of linear models see it.

    f(w) = 1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)^2,   R = I, or I with 0 for a free bias

Everything of length n (margins, active rows, the dual point) stays in here;
what goes in and out are vectors of the feature space and scalars.  Reached
through few fused passes over the rows:

    move(w)      margins at w                         one product X w
    gradient()   value, gradient, active rows         one product X'u over active rows
    hessian()    R + X'CX over active rows            Gram matrix, kept up to date by rows that changed
    face(rows)   least squares on some rows           the same from the side of the rows, where those are fewer
    ray(p)       exact minimiser along w + t p        one product X p
    advance(t)   margins at w + t p                   none
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled import hinge_loops as loops
from svmtool.compiled import small_loops
from svmtool.problem.kernel_cache import KernelCache
from svmtool.problem.linalg import solve_positive
from svmtool.problem.rows import CsrRows, Rows, draw_rows

# `small_newton`: most features, most non-zeros of a lone problem, and of one among several, which share the cores
SMALL_FEATURES, SMALL_WORK, SMALL_SHARE = 64, 1 << 16, 1 << 21


def dual_bound(total: float, square: float, loss: float) -> float:
    """max over s of D(s alpha), for sum alpha = total, |sum alpha y x|^2 = square, sum alpha^2 / 4C = loss."""
    quadratic = square + 2.0 * loss
    return 0.5 * total * total / quadratic if quadratic > 0 else 0.0


class SquaredHinge:
    """The squared hinge over `rows` with labels y (+-1, f8[n]) and cost C_i > 0 (f8[n]).

    w: where we are.  After gradient() or value(): active, changed: rows inside the hinge, and rows whose
    activity changed since the last call; after gradient() also bound: a lower bound of min f.
    """

    def __init__(
        self, rows: Rows, y: np.ndarray, cost: np.ndarray, free_bias: bool = False, one_of_several: bool = False
    ):
        self.rows, self.y, self.cost, self.free_bias = rows, y, cost, free_bias
        self.one_of_several = one_of_several  # other problems are solved at the same time
        self.n, self.d = rows.n, rows.d
        self.changed = self.active = 0
        self.bound = 0.0
        self._gram: np.ndarray | None = None
        self._pending: np.ndarray | None = None  # changes of curvature that the Gram matrix has not seen
        self._kernel: KernelCache | None = None
        self._ready = False

    def _prepare(self) -> None:
        """The vectors of length n; not before they are needed (`small_newton` has its own)."""
        self.w = np.zeros(self.d)
        self.z, self.dz, self.u = np.zeros(self.n), np.empty(self.n), np.empty(self.n)
        self.c, self._change = np.zeros(self.n), np.zeros(self.n)  # curvature of each row, and its last change
        self._counts, self._out = np.zeros(3), np.zeros(2)
        self._state = loops.hinge2_state.bind(self.z, self.cost, self.y, self.u, self.c, self._change, self._counts)
        self._along = loops.hinge2_ray.bind(self.z, self.dz, self.cost, self._out)
        self._add = loops.add_scaled.bind(self.z, self.dz)
        self._ready = True

    def regular(self, w: np.ndarray) -> np.ndarray:
        """R w."""
        if not self.free_bias:
            return w
        v = w.copy()
        v[-1] = 0.0
        return v

    def move(self, w: np.ndarray) -> None:
        """Go to w."""
        if not self._ready:
            self._prepare()
        self.w[:] = w
        if np.any(w):
            self.rows.margins(self.w, self.y, self.z)
        else:
            self.z[:] = 0.0

    def value(self) -> float:
        """f at w."""
        return 0.5 * float(self.w @ self.regular(self.w)) + self._classify()[0]

    def gradient(self) -> tuple[float, np.ndarray]:
        """f and its gradient (length d) at w."""
        loss, total = self._classify()
        g = self.rows.transpose_product(self.u)
        # -g = sum alpha_i y_i x_i for alpha_i = 2 C_i max(0, 1 - z_i)
        self.bound = 0.0 if self.free_bias else dual_bound(total, float(g @ g), loss)
        inner = self.regular(self.w)
        g += inner
        return 0.5 * float(self.w @ inner) + loss, g

    def _classify(self) -> tuple[float, float]:
        """Slopes and curvatures of all rows at the present margins; returns loss and sum 2 C_i max(0, 1 - z_i)."""
        loss = self._state(0, self.n)
        changed, active, total = self._counts.tolist()
        self.changed, self.active = int(changed), int(active)
        if self._gram is not None and self.changed:
            self._pending = self._change.copy() if self._pending is None else self._pending + self._change
        return loss, total

    def gradient_at_zero(self) -> float:
        """|grad f(0)|, by which LIBLINEAR's rule for -s 2 measures."""
        g = self.rows.transpose_product(-2.0 * self.cost * self.y)
        return float(np.sqrt(g @ g))

    def hessian(self) -> np.ndarray:
        """R + sum over active rows of 2 C_i x_i x_i' (d x d; only the upper triangle is meaningful).

        Rows whose activity changed since the last call are added or taken out; where more changed
        than are active, the matrix is formed anew.
        """
        if self._gram is not None and self._pending is not None:
            if int(np.count_nonzero(self._pending)) >= self.active:
                self._gram = None
        if self._gram is None:
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

    @property
    def mean_row_length(self) -> float:
        """Non-zeros a row: what a row costs in a product; in a Gram matrix it costs the square."""
        return self.rows.nnz / max(self.n, 1)

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

    def active_rows(self) -> np.ndarray:
        """Numbers of the active rows, i8."""
        return np.flatnonzero(self.c)

    def face(self, used: np.ndarray) -> np.ndarray:
        """The minimiser of 1/2 |w|^2 + sum over rows `used` (i8) of C_i (1 - y_i x_i.w)^2, from the rows' side.

        It is w = sum a_i y_i x_i with (Q + D) a = 1, Q_ij = y_i y_j x_i.x_j, D = 1 / (2 C_i): a system of
        len(used) unknowns.  Sparse rows and a regularised bias only.
        """
        if self._kernel is None:
            assert isinstance(self.rows, CsrRows) and not self.free_bias
            self._kernel = KernelCache(self.rows)
        used, Q = self._kernel.block(used)
        y = self.y[used]
        Q *= y
        Q *= y[:, None]
        Q.flat[:: len(used) + 1] += 0.5 / self.cost[used]
        a = np.zeros(self.n)
        a[used] = y * solve_positive(np.ascontiguousarray(Q.T), np.ones(len(used)))
        return self.rows.transpose_product(a)

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
            if not curvature > 0.0 or (high < np.inf and high - low <= 1e-15 * high):
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

    @property
    def small(self) -> bool:
        """Whether `small_newton` can be used: sparse rows, no bias feature, less work in a round than in its calls."""
        r = self.rows
        most = SMALL_SHARE if self.one_of_several else SMALL_WORK
        return isinstance(r, CsrRows) and r.bias < 0 and r.d <= SMALL_FEATURES and r.nnz <= most and self.n > 0

    def small_newton(
        self, w: np.ndarray, gap: float, enough: float, at_start: float, sure: float, most: int
    ) -> tuple[list[list[float]], int]:
        """At most `most` rounds of MFN in one compiled call, from w (length d, overwritten by the answer).

        Returns a record a round (f, lower bound, |gradient|, active rows, step) and why it ended: 0 the limit
        of rounds, 1 the active rows repeat, 2 gap <= `gap`, 3 |gradient| <= `enough` and gap <= `sure` (at w as
        given: `at_start`), 4 rounding.
        """
        r, d = self.rows, self.d
        history = np.empty((most + 1, small_loops.FIELDS))
        work = np.empty(5 * self.n + 2 * d * d + 3 * d + 8)
        code = small_loops.small_newton(
            r.indptr, r.indices, r.values, self.y, self.cost, w, work, history, gap, enough, at_start, sure, most
        )
        rounds = int(history[-1, 0])
        return history[:rounds].tolist(), code

    def sample(self, group: int, seed: int) -> SquaredHinge:
        """The same problem on one random row of each `group`, costs raised to make up for the rest."""
        chosen = draw_rows(self.n, group, seed)
        cost = self.cost[chosen] * (self.n / len(chosen))
        return SquaredHinge(self.rows.take(chosen), self.y[chosen], cost, self.free_bias, self.one_of_several)
