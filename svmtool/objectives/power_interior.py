"""Primal-dual interior-point method for powers of the hinge; it takes ten to thirty linear systems at any scale.

    min over w, xi of  1/2 w'Rw + sum_i C_i xi_i^p,   z_i + xi_i - s_i = target_i,   xi >= 0, s >= 0,   1 <= p <= 2

z_i = y_i x_i.w.  With the multipliers a of the equations and v of xi >= 0 the solution has

    R w = sum_i a_i y_i x_i,   p C_i xi_i^(p-1) = a_i + v_i,   a_i s_i = 0,   v_i xi_i = 0

Newton steps solve these with both products C_i tau instead of 0, and tau decreases: Mehrotra's predictor-corrector
method (SIAM J. Optimization 2 (1992) 575-601).  The third derivative of a power is at most (2 - p) / xi times the
second, so that with the logarithmic barrier of xi Newton steps stay near this path (Nesterov and Nemirovskii,
Interior-Point Polynomial Algorithms in Convex Programming, 1994).  Each step factorises R + X'DX, D > 0, after Jacobi
scaling, or I + D^1/2 X X' D^1/2 if rows are fewer than features.  The number of steps is nearly independent of costs,
feature scales and collinear features; that of gradient and multiplier steps is not.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.row_storage import Rows
from svmtool.engine.interior import BOUND_SHARE, REFINEMENTS, Path, refined
from svmtool.linalg import systems
from svmtool.linalg.systems import Factored, mirror, restore_sum
from svmtool.objectives.duality import balancing, best_multiple, relative_gap
from svmtool.objectives.task import Task
from svmtool.tolerances import MIN_POSITIVE

# Usual number of steps.  To a gap of 1e-4 on 15 sets of 4 to 500 features (p = 1, 1.5, 2; C = 1, 100, 1e4; free bias):
# median 10, 90th percentile 23, maximum 39; smaller gaps take some more
USUAL_STEPS = 20
INTERIOR_PRODUCTS = 4.0  # products with the rows in a step


def by_rows(rows: Rows) -> bool:
    """Whether the linear systems are n x n."""
    return rows.have_kernel and rows.n < rows.d


def step_cost(rows: Rows) -> float:
    """Approximate nanoseconds of a step, by the costs in linalg/systems.py."""
    length, d, n = rows.nnz / max(rows.n, 1), float(rows.d), float(rows.n)
    if by_rows(rows):
        products = INTERIOR_PRODUCTS + 2.0 * REFINEMENTS * INTERIOR_PRODUCTS
        square = systems.FACTOR_NS * n + systems.COPY_NS + systems.GRAM_NS * length / USUAL_STEPS
        return systems.VISIT_NS * rows.nnz * products + square * n * n
    products = INTERIOR_PRODUCTS + 0.5 * length / rows.gram_entries
    return systems.VISIT_NS * rows.nnz * products + systems.FACTOR_NS * d**3 + systems.COPY_NS * d * d


class PowerInterior(Path):
    """The iterates for one task and power.  After `measure`: primal and dual, the values at w and the feasible alpha.

    gradient: largest entry of |R w - sum a_i y_i x_i|; mu: mean of both products over C_i.
    """

    def __init__(self, task: Task, p: float):
        self.rows, self.y, self.cost, self.p = task.rows, task.y, task.cost, p
        self.free_bias, n, d = task.free_bias, task.rows.n, task.rows.d
        self.target = np.ones(n) if task.target is None else task.target
        self._penalty = np.ones(d)
        if self.free_bias:
            self._penalty[-1] = 0.0
        unit = max(float(np.mean(np.abs(self.target))), MIN_POSITIVE)
        self.w, self._z, self._unit_slack = np.zeros(d), np.empty(n), unit
        self._xi = np.maximum(self.target, 0.0) + unit
        self._s = self._xi - self.target
        self._a = 0.5 * unit ** (self.p - 1.0) * self.cost
        self._v = self.p * self.cost * self._xi ** (self.p - 1.0) - self._a
        super().__init__([self._a, self._xi], [self._s, self._v], [self.w], self.cost)
        self._kernel: np.ndarray | None = None  # inner products of all rows, without a free bias

    def measure(self) -> None:
        """Compute values and residuals at the iterates."""
        p, a, inner = self.p, self._a, self._penalty * self.w
        self.rows.margins(self.w, self.y, self._z)
        slack = np.maximum(self.target - self._z, 0.0)
        self.primal = 0.5 * float(inner @ self.w) + float(self.cost @ slack**p)
        self.alpha, self.dual, sums = self._dual_point(a)
        self._dual_residual = inner - sums
        self.gradient = float(np.abs(self._dual_residual).max(initial=0.0))
        self._row_residual = self._z + self._xi - self._s - self.target
        self._xi_residual = p * self.cost * self._xi ** (p - 1.0) - a - self._v
        self.gap = relative_gap(self.primal, self.dual)

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
        return end, self._dual_point(end)[1]

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
        linear, per_cost = float(self.target @ alpha), alpha / self.cost
        if p == 1.0:
            np.minimum(alpha, self.cost, out=alpha)  # only round-off exceeds the bound
            return alpha, best_multiple(linear, float(v @ v), 0.0, 1.0, 1.0), sums
        degree = p / (p - 1.0)
        conjugate = (p - 1.0) * float(self.cost @ (per_cost / p) ** degree)
        return alpha, best_multiple(linear, float(v @ v), conjugate, degree, np.inf), sums

    def factorise(self) -> None:
        """Factorise R + X'DX after Jacobi scaling, or the n x n system if rows are fewer than features."""
        p, xi = self.p, self._xi
        self._xi_curvature = p * (p - 1.0) * self.cost * xi ** (p - 2.0) + self._v / xi
        self._curve = 1.0 / (1.0 / self._xi_curvature + self._s / self._a)
        if by_rows(self.rows):
            self._factorise_rows()
            return
        H = np.zeros((self.rows.d, self.rows.d))
        self.rows.add_gram(self._curve, H)
        H.flat[:: len(H) + 1] += self._penalty
        self._unit = 1.0 / np.sqrt(np.maximum(H.diagonal(), MIN_POSITIVE))
        H *= self._unit
        H *= self._unit[:, None]
        self._factor = Factored(H)
        self._H = mirror(H)

    def _factorise_rows(self) -> None:
        """Factorise I + D^1/2 X X' D^1/2, X without a free bias."""
        n = self.rows.n
        if self._kernel is None:
            self._kernel = np.zeros((n, n))
            rows = self.rows.without_bias() if self.free_bias else self.rows
            rows.fill_kernel(np.arange(n), self._kernel, 0)
            mirror(self._kernel.T)
        self._root = np.sqrt(self._curve)
        M = self._root[:, None] * self._kernel * self._root
        M.flat[:: n + 1] += 1.0
        self._factor = Factored(M)
        if self.free_bias:
            self._along = self._factor.solve(self._root)

    def _solve_system(self, right: np.ndarray) -> np.ndarray:
        """(R + X'DX)^-1 right."""
        if not by_rows(self.rows):
            return self._unit * refined(self._factor.solve, self._H.__matmul__, self._unit * right)

        def product(x: np.ndarray) -> np.ndarray:
            return self._penalty * x + self.rows.curvature_product(self._curve, x)

        return refined(self._solve_by_rows, product, right)

    def _solve_by_rows(self, right: np.ndarray) -> np.ndarray:
        """`_solve_system` before refinement:  w = right - X'q,  (D^-1 + X X') q = X right + b.

        For a free bias, b is chosen so that the sum of q satisfies the bias's equation.
        """
        plain, along = right.copy(), np.empty(self.rows.n)
        if self.free_bias:
            plain[-1] = 0.0
        self.rows.margins(plain, np.ones(self.rows.n), along)
        s = self._factor.solve(self._root * along)
        if self.free_bias:
            bias = self.rows.bias
            shift = (right[-1] / bias - self._root @ s) / (self._root @ self._along)  # numpy: 0 / 0 raises nothing
            s += shift * self._along
        x = plain - self.rows.transpose_product(self._root * s)
        if self.free_bias:
            x[-1] = shift / bias
        return x

    def solve(self, changes: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        xi_right = changes[1] / self._xi - self._xi_residual
        rest = changes[0] / self._a - self._row_residual - xi_right / self._xi_curvature
        right = self.rows.transpose_product(self._curve * rest * self.y) - self._dual_residual
        dw, dz = self._solve_system(right), np.empty(len(rest))
        self.rows.margins(dw, self.y, dz)
        da = self._curve * (rest - dz)
        return [da, (da + xi_right) / self._xi_curvature], [dw]
