"""Primal-dual interior-point method for powers of the hinge; it takes ten to thirty linear systems at any scale.

    min over w, xi of  R(w) + sum_i C_i xi_i^p,   z_i + xi_i - s_i = target_i,   xi >= 0, s >= 0,   1 <= p <= 2

z_i = y_i x_i.w; R(w) = 1/2 |w|^2 or |w|_1, without a free bias.  With the multipliers a of the equations and v of
xi >= 0 the solution has

    sum_i a_i y_i x_i = g,   p C_i xi_i^(p-1) = a_i + v_i,   a_i s_i = 0,   v_i xi_i = 0

with g = w, or for |w|_1, w = q - r, q, r >= 0, with (1 - g_j) q_j = 0 and (1 + g_j) r_j = 0. Newton steps solve these
with products C_i tau, or tau times a weight of q and r, instead of 0, and tau decreases: Mehrotra's predictor-
corrector method (SIAM J. Optimization 2 (1992) 575-601). The third derivative of a power is at most (2 - p) / xi times
the second, so that with the logarithmic barrier of xi Newton steps stay near this path (Nesterov and Nemirovskii,
Interior-Point Polynomial Algorithms in Convex Programming, 1994). Each step factorises P + X'CX, where P and C are
diagonal, after Jacobi scaling, or I + C^1/2 X P^-1 X' C^1/2, for the change of a, if rows are fewer than features. The
number of steps is nearly independent of costs, feature scales and collinear features; that of gradient and multiplier
steps is not.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.row_storage import Rows
from svmtool.engine.interior import BOUND_SHARE, REFINEMENTS, Path, refined
from svmtool.linalg import systems
from svmtool.linalg.systems import Factored, mirror, restore_sum
from svmtool.objectives.duality import balancing, best_multiple, relative_gap
from svmtool.objectives.task import Task
from svmtool.tolerances import GRAM_BELOW, MIN_POSITIVE, SEARCH_RTOL

# Usual number of steps.  To a gap of 1e-4 on 15 sets of 4 to 500 features (p = 1, 1.5, 2; C = 1, 100, 1e4; free bias):
# median 10, 90th percentile 23, maximum 39; smaller gaps take some more
USUAL_STEPS = 20
# The same for a linear programme (|w|_1, p = 1), to 1e-6 on 15 sets, C = 1, 100, 1e4: 12 to 135, geometric mean 31; the
# 90th percentile is 99, and five of the 45 runs end by round-off before
PROGRAMME_STEPS = 60
INTERIOR_PRODUCTS = 4.0  # products with the rows in a step
# Nanoseconds of a step for a row besides its non-zeros: 430 to 520, three sets of 32,000 to 93,000 rows
INTERIOR_ROW_NS = 450.0


def by_rows(rows: Rows, like: int | None = None) -> bool:
    """Whether the linear systems are n x n; like: see step_cost."""
    return rows.have_kernel and (rows.n if like is None else like) < rows.d


def step_cost(rows: Rows, l1: bool = False, like: int | None = None) -> float:
    """Approximate nanoseconds of a step, by the costs in linalg/systems.py.

    like: number of rows like these; None: these.
    """
    length, d, n = rows.nnz / max(rows.n, 1), float(rows.d), float(rows.n if like is None else like)
    calls, nnz = INTERIOR_ROW_NS * n + systems.CALLS_NS, length * n
    if by_rows(rows, like):
        square = systems.FACTOR_NS * n + systems.COPY_NS + systems.GRAM_NS * length / (1 if l1 else USUAL_STEPS)
        products = INTERIOR_PRODUCTS * (1.0 + 2.0 * REFINEMENTS)
        return calls + systems.VISIT_NS * nnz * products + square * n * n
    products = INTERIOR_PRODUCTS + 0.5 * length / rows.gram_entries
    return calls + systems.VISIT_NS * nnz * products + systems.FACTOR_NS * d**3 + systems.COPY_NS * d * d


class PowerInterior(Path):
    """The iterates for one task and power.  After `measure`: primal and dual, the values at w and the feasible alpha.

    l1: whether R is |w|_1; then w has exact zeros where q and r tend to zero.
    gradient: largest entry of |R w - sum a_i y_i x_i|; mu: mean of the products over their weights.
    """

    def __init__(self, task: Task, p: float, l1: bool = False):
        self.rows, self.y, self.cost, self.p, self.l1 = task.rows, task.y, task.cost, p, l1
        self.free_bias, n, d = task.free_bias, task.rows.n, task.rows.d
        self.target = np.ones(n) if task.target is None else task.target
        self._penalty = np.ones(d)
        if self.free_bias:
            self._penalty[-1] = 0.0
        unit = max(float(np.mean(np.abs(self.target))) if n else 1.0, MIN_POSITIVE)
        self.w, self._z, self._unit_slack = np.zeros(d), np.empty(n), unit
        self._xi = np.maximum(self.target, 0.0) + unit
        self._s = self._xi - self.target
        self._a = 0.5 * unit ** (self.p - 1.0) * self.cost
        self._v = self.p * self.cost * self._xi ** (self.p - 1.0) - self._a
        self._by_rows = by_rows(self.rows)
        self._kernel: np.ndarray | None = None  # inner products of all rows, without a free bias
        pairs = [[self._a, self._s], [self._xi, self._v]]
        self._free, weights = self.w, [self.cost, self.cost]
        if l1:
            m = d - self.free_bias  # |w|_1 begins at the value of the losses at zero
            weight = float(np.sum(self.cost)) / max(2 * m, 1)
            self._q, self._r = np.full((2, m), max(unit**p * weight, MIN_POSITIVE))
            self._low, self._high, self._free = np.ones(m), np.ones(m), np.zeros(d - m)
            pairs += [[self._low, self._q], [self._high, self._r]]
            weights += [np.array(weight), np.array(weight)]
        super().__init__([x for x, _ in pairs], [z for _, z in pairs], [self._free], weights)

    def measure(self) -> None:
        """Compute values and residuals at the iterates."""
        p, a = self.p, self._a
        w = np.append(self._q - self._r, self._free) if self.l1 else self.w
        self.rows.margins(w, self.y, self._z)
        self._row_residual = self._z + self._xi - self._s - self.target
        self._xi_residual = p * self.cost * self._xi ** (p - 1.0) - a - self._v
        slack = self.target - self._z
        if self.l1:
            slack = self.target - self._sparse(w)
        inner = self._penalty * self.w
        regular = float(np.abs(inner).sum()) if self.l1 else 0.5 * float(inner @ self.w)
        self.primal = regular + float(self.cost @ np.maximum(slack, 0.0) ** p)
        self.alpha, self.dual, self._sums = self._dual_point(a)
        if self.l1:
            v = self._sums[: len(self._low)]
            self._low_residual, self._high_residual = 1.0 - v - self._low, 1.0 + v - self._high
            inner = np.clip(self._sums, -self._penalty, self._penalty)
        self._dual_residual = inner - self._sums
        self.gradient = float(np.abs(self._dual_residual).max(initial=0.0))
        self.gap = relative_gap(self.primal, self.dual)

    def _sparse(self, w: np.ndarray) -> np.ndarray:
        """Set w to these weights without those that tend to zero; return its margins.

        (1 - g_j) q_j tends to mu: either q_j tends to the size of a weight and 1 - g_j to 0, or q_j is of mu's size.
        """
        m, z = len(self._low), np.empty(self.rows.n)
        typical = float(np.abs(w[:m]).sum()) / max(min(self.rows.n, m), 1)
        least = np.sqrt(self.mu * float(self._weights[-1]) * typical)
        self.w[:m] = np.where(np.maximum(self._q, self._r) > least, w[:m], 0.0)
        self.w[m:] = w[m:]
        self.rows.margins(self.w, self.y, z)
        return z

    def dual_at_bounds(self) -> tuple[np.ndarray, float]:
        """The dual point, and its value, with multipliers set to their bounds where the iterates show this.

        With a free bias the value is that of the balanced point.
        """
        nearer = BOUND_SHARE / self._unit_slack * self.cost
        end = np.where(self._a < nearer * self._s, 0.0, self._a)
        if self.p == 1.0:
            end = np.where(self._v < nearer * self._xi, self.cost, end)
            if self.free_bias:
                restore_sum(end, self.y, self.cost, 0.0)
        alpha, value, _ = self._dual_point(end)
        return (alpha if self.l1 else end), value

    def _dual_point(self, a: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """The feasible point of multipliers a (f8[n]), its dual value, and sum_i a_i y_i x_i."""
        p = self.p
        if self.free_bias:
            sides = self.rows.sums_by_side(a * self.y, self.y)
            up, down = float(a[self.y > 0.0].sum()), float(a[self.y < 0.0].sum())
            factors = np.array(balancing(up, down))
            sums, v = sides.sum(axis=0), factors @ sides
            v[-1] = 0.0
            alpha = a * np.where(self.y > 0.0, factors[0], factors[1])
        else:
            alpha = a.copy()
            sums = v = self.rows.transpose_product(a * self.y)
        if p == 1.0:
            np.minimum(alpha, self.cost, out=alpha)  # only round-off exceeds the bound
        square, limit = float(v @ v), 1.0 if p == 1.0 else np.inf
        if self.l1:
            steepest = float(np.abs(v).max(initial=0.0))
            square, limit = 0.0, min(limit, 1.0 / steepest if steepest > 0.0 else np.inf)
        linear, per_cost, degree = float(self.target @ alpha), alpha / self.cost, 1.0
        conjugate = 0.0
        if p > 1.0:
            degree = p / (p - 1.0)
            conjugate = (p - 1.0) * float(self.cost @ (per_cost / p) ** degree)
        s, value = best_multiple(linear, square, conjugate, degree, limit)
        return (s * alpha if self.l1 else alpha), value, sums

    def factorise(self) -> None:
        """Factorise P + X'CX after Jacobi scaling, or the n x n system if rows are fewer than features."""
        p, xi = self.p, self._xi
        self._xi_curvature = p * (p - 1.0) * self.cost * xi ** (p - 2.0) + self._v / xi
        self._curve = 1.0 / (1.0 / self._xi_curvature + self._s / self._a)
        self._diagonal = self._penalty
        if self.l1:
            self._spread = self._q / self._low + self._r / self._high
            self._diagonal = np.append(1.0 / self._spread, self._penalty[len(self._low) :])
            self._diagonal[len(self._low) :] = 0.0
        if self._by_rows:
            self._factorise_rows()
        else:
            self._factorise_features()

    def _factorise_features(self) -> None:
        """Factorise P + X'CX after Jacobi scaling."""
        H = np.zeros((self.rows.d, self.rows.d))
        self.rows.add_gram(self._curve, H)
        H.flat[:: len(H) + 1] += self._diagonal
        self._unit = 1.0 / np.sqrt(np.maximum(H.diagonal(), MIN_POSITIVE))
        H *= self._unit
        H *= self._unit[:, None]
        self._factor = Factored(H)
        self._H = mirror(H)

    def _factorise_rows(self) -> None:
        """Factorise I + C^1/2 X P^-1 X' C^1/2, X without a free bias."""
        n = self.rows.n
        if self._kernel is None or self.l1:
            self._kernel = np.zeros((n, n))
            rows, more = self.rows.without_bias() if self.free_bias or self.l1 else self.rows, 0.0
            if self.l1:
                rows = rows.divided(np.sqrt(self._diagonal[: rows.d]))
                if self.rows.bias >= 0 and not self.free_bias:
                    more = self.rows.bias**2 / self._diagonal[-1]
            rows.fill_kernel(np.arange(n), self._kernel, 0)
            self._kernel += more
            mirror(self._kernel.T)
        self._root = np.sqrt(self._curve)
        M = self._root[:, None] * self._kernel * self._root
        M.flat[:: n + 1] += 1.0
        self._factor = Factored(M)
        if self.free_bias:
            self._along = self._factor.solve(self._root)

    def _solved_by_features(self, rest: np.ndarray, outer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w and a with  P w = X'a + outer,  a = C (rest - X w),  X with the signs y."""
        right = self.rows.transpose_product(self._curve * rest * self.y) + outer
        w = self._unit * refined(self._factor.solve, self._H.__matmul__, self._unit * right)
        z = np.empty(len(rest))
        self.rows.margins(w, self.y, z)
        return w, self._curve * (rest - z)

    def _solved_by_rows(self, rest: np.ndarray, outer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same by the n x n system, refined."""
        w, a, z = np.zeros(self.rows.d), np.zeros(len(rest)), np.empty(len(rest))
        first, second = outer, rest
        for _ in range(1 + REFINEMENTS):
            dw, da = self._row_system(second, first)
            w, a = w + dw, a + da
            self.rows.margins(w, self.y, z)
            first = outer - self._diagonal * w + self.rows.transpose_product(a * self.y)
            second = rest - z - a / self._curve
        # of 3,088 such systems of |w|_1 (2 to 60 rows, scales of features over nine orders, costs up to 1e12) 74 are
        # not solved to that residual, and 4 to within ten times of it: one of the features takes their place
        if self.rows.d <= GRAM_BELOW and not np.abs(second).max() <= SEARCH_RTOL * np.abs(rest).max():
            self._by_rows = False
            self._factorise_features()
            return self._solved_by_features(rest, outer)
        return w, a

    def _row_system(self, rest: np.ndarray, outer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`_solved_by_rows` before refinement; the step of a free bias is the multiplier of its equation."""
        plain, along = outer.copy(), np.empty(len(rest))
        if self.free_bias:
            plain[-1] = 0.0
        divisor = np.where(self._penalty > 0.0, self._diagonal, 1.0)
        self.rows.margins(plain / divisor, np.ones(len(rest)), along)
        s = self._factor.solve(self._root * (self.y * rest - along))
        if self.free_bias:
            bias = self.rows.bias
            shift = (self._root @ s + outer[-1] / bias) / (self._root @ self._along)  # numpy: 0 / 0 raises nothing
            s -= shift * self._along
        a = self._root * s
        w = (plain + self.rows.transpose_product(a)) / divisor
        if self.free_bias:
            w[-1] = shift / bias
        return w, self.y * a

    def solve(self, changes: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        xi_right = changes[1] / self._xi - self._xi_residual
        rest = changes[0] / self._a - self._row_residual - xi_right / self._xi_curvature
        outer = -self._dual_residual
        if self.l1:
            m = len(self._low)
            h = (changes[2] - self._q * self._low_residual) / self._low
            h -= (changes[3] - self._r * self._high_residual) / self._high
            outer = np.append(h / self._spread, self._sums[m:])
        dw, da = (self._solved_by_rows if self._by_rows else self._solved_by_features)(rest, outer)
        more = [da, (da + xi_right) / self._xi_curvature]
        if not self.l1:
            return more, [dw]
        dv = (dw[:m] - h) / self._spread
        return [*more, self._low_residual - dv, self._high_residual + dv], [dw[m:]]
