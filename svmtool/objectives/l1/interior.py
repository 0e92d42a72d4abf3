"""Primal-dual interior-point method for the squared hinge regularised by |w|_1.

    min  sum_j (p_j + q_j) + sum_i C_i xi_i^2,    w = p - q,    xi_i = 1 - y_i x_i.w + s_i = a_i / (2 C_i)
    s, a >= 0,  s_i a_i = 0;    p, l >= 0,  p_j l_j = 0,  l = 1 - v;    q, r >= 0,  q_j r_j = 0,  r = 1 + v

with v = sum_i a_i y_i x_i.  The steps are those of engine/interior.py.  The start is at w = 0 and violates only
l = 1 - v and r = 1 + v.  It takes 20 to 40 steps, almost independent of costs and feature scales, unlike coordinate
descent, proximal Newton steps and the method of multipliers (objectives/l1/dual.py).

A step solves  A dw + E da = f,  dw - D A'da = h  (A = diag(y) X, E and D diagonal), by a Cholesky
factorisation of the order of rows or features, whichever are fewer:

    I + E^-1/2 A D A' E^-1/2     or     I + D^1/2 A' E^-1 A D^1/2

A free bias b has neither p nor q: with its column c of A, c'a = 0, and a step solves  A dw + c db + E da = f,
c'da = -c'a.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.engine.interior import REFINEMENTS, Path
from svmtool.linalg.systems import Factored
from svmtool.tolerances import MIN_POSITIVE

if TYPE_CHECKING:
    from svmtool.objectives.l1.objective import L1SquaredHinge

MAX_ORDER = 2048  # largest min(rows, features): a run takes some seconds
# A run takes at most about this many times the cube root of the number of products.  Measured steps to a gap of 1e-6,
# and this estimate: news20, 198 rows of 414 features 16 / 30; blogfeedback, 76 x 162 13 to 17 / 22; gas drift, 381 x
# 128 21 to 23 / 26 and 6,697 x 128 48 to 54 / 57; isolet 1,560 x 617 21 / 42; madelon, 300 x 500 16 / 33; kdd99, 49,403
# x 115 73 to 120 / 110; to 1e-4 on 15 more sets of 4 to 500 features, C = 1, 100, 1e4: 6 to 29 / 22 to 49
STEPS_PER_ROOT = 3.0
START_MU = 100.0  # initial sum of products, as multiple of the objective at w = 0
IDENTIFYING_MU = 1e-4  # mu, relative to the size of weights, at which zero weights can be identified
REFINED_RTOL = 1e-6  # relative residual at which iterative refinement ends
# Relative residual above which the other of the two matrices is tried.  Of 2,708 solutions on 15 sets (150 rows of 8 to
# 700 features, C = 1, 1e4, 1e8) 174 were above, most of them on two raw ones, and 8 between a tenth and ten times this
# value; the median was below 1e-11 on ten of them.
MAX_RESIDUAL = 1e-2
# Costs in multiplications of a dense matrix product: a multiplication in a Gram matrix of sparse rows, in a pass over
# rows, and a call from Python.  Measured with 60 to 1200 features, in nanoseconds: dense products 0.1 to 0.4, Gram
# matrices of sparse rows 0.6 to 1.5, passes 0.2 to 1.5 over dense and 0.5 to 6 over sparse rows, calls 10 to 30
SPARSE_COST, PASS_COST, CALL_COST = 4.0, 4.0, 1e5
STEP_PASSES, STEP_CALLS = 9, 12  # in a step


class L1Interior(Path):
    """A run; `step` updates w (f8[d]) and a (f8[n], the rows' multipliers).

    mu: mean of the products; work: passes over the rows so far.
    """

    def __init__(self, objective: L1SquaredHinge):
        o = self.objective = objective
        n, d = o.n, o.d
        self._by_rows = n < d
        d = self._penalised = d - o.free_bias
        mu = START_MU * o.value_at_zero() / (n + 2 * d)
        half = np.sqrt(0.25 + 0.5 * mu / o.cost)
        self.s = (0.5 * mu / o.cost) / (half + 0.5)
        self.a, self.p, self.q = mu / self.s, np.full(d, mu), np.full(d, mu)
        self.low, self.high, self._bias = np.ones(d), np.ones(d), np.zeros(o.d - d)
        super().__init__([self.a, self.low, self.high], [self.s, self.p, self.q], [self._bias])
        self.work = 0.0
        self.measure()

    @staticmethod
    def possible(objective: Any) -> bool:
        """Whether it applies: squared hinge, rows in memory, and small systems."""
        o = objective
        return not o.logistic and o.rows.mapped is None and 0 < min(o.n, o.d) <= MAX_ORDER

    @staticmethod
    def cost(objective: L1SquaredHinge) -> float:
        """Approximate cost of a run, in multiplications."""
        rows, n, d = objective.rows, objective.n, objective.d
        least = min(n, d)
        if not rows.offers_coordinate_descent:
            gram = 0.5 * float(n) * d * least
        else:
            indptr, indices, _ = rows.csr_arrays
            lengths = np.diff(indptr) if n >= d else np.bincount(indices)
            gram = SPARSE_COST * 0.5 * float(np.sum(lengths.astype(float) ** 2))
        steps = STEPS_PER_ROOT * float(n + 2 * d) ** (1.0 / 3.0)
        return steps * (gram + least**3 / 6.0 + PASS_COST * STEP_PASSES * rows.nnz + CALL_COST * STEP_CALLS)

    def _sums(self, a: np.ndarray) -> np.ndarray:
        """[A c]'a, length d."""
        return self.objective.rows.transpose_product(a * self.objective.y)

    def _margins(self, w: np.ndarray) -> np.ndarray:
        """[A c] w, length n."""
        z = np.empty(self.objective.n)
        self.objective.rows.margins(w, self.objective.y, z)
        return z

    def measure(self) -> None:
        self.w = np.append(self.p - self.q, self._bias)
        self._v, self._z = self._sums(self.a), self._margins(self.w)
        v = self._v[: self._penalised]
        self._low_residual, self._high_residual = 1.0 - v - self.low, 1.0 + v - self.high

    @np.errstate(all="ignore")
    def step(self) -> np.ndarray:
        """Take a step; returns the new weights.  SvmtoolError on overflow."""
        self.advance()
        self.measure()
        self.work += float(STEP_PASSES)
        return self.w

    def factorise(self) -> None:
        cost = self.objective.cost
        self._slack = 1.0 - self._z - 0.5 * self.a / cost + self.s
        self._solved = self._system(0.5 / cost + self.s / self.a, self.p / self.low + self.q / self.high)

    def solve(self, changes: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        h = (changes[1] - self.p * self._low_residual) / self.low
        h -= (changes[2] - self.q * self._high_residual) / self.high
        da, dv, db = self._solved(self._slack + changes[0] / self.a, h)
        return [da, self._low_residual - dv, self._high_residual + dv], [db]

    def _system(self, E: np.ndarray, D: np.ndarray) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]:
        """A function of f and h that returns da of the equations above, A'da, and db (f8[1], or f8[0] without b).

        By the matrix that was accurate in the last step; where it is not in this one, by the more accurate of both.
        """
        found: dict[bool, Callable] = {}

        def solved(by_rows: bool, f: np.ndarray, h: np.ndarray) -> tuple[list[np.ndarray], float]:
            if by_rows not in found:
                found[by_rows] = (self._correction_by_rows if by_rows else self._correction_by_columns)(E, D)
            return self._refined(found[by_rows], E, D, f, h)

        def solve(f: np.ndarray, h: np.ndarray) -> list[np.ndarray]:
            best, lost = solved(self._by_rows, f, h)
            if not lost <= MAX_RESIDUAL and max(self.objective.n, self.objective.d) <= MAX_ORDER:
                other, less = solved(not self._by_rows, f, h)
                if less < lost:
                    best, self._by_rows = other, not self._by_rows
            return best

        return solve

    def _refined(
        self, correction: Callable, E: np.ndarray, D: np.ndarray, f: np.ndarray, h: np.ndarray
    ) -> tuple[list[np.ndarray], float]:
        """The solution of the equations by iterative refinement, and its relative residual.

        A'da is computed from dw: only this is accurate where D is large.
        """
        m, root_E, root_D = self._penalised, np.sqrt(E), np.sqrt(D)
        da, dw, v = np.zeros(len(f)), np.zeros(self.objective.d), np.zeros(self.objective.d)
        r, q = f, np.append(h / D, self._v[m:])  # residuals of both equations, the second one divided by D
        for _ in range(1 + REFINEMENTS):
            more, step, along = correction(r, q)
            da, dw, v = da + more, dw + step, v + along
            r = f - self._margins(dw) - E * da
            q = v + np.append((h - dw[:m]) / D, self._v[m:])
            found = np.hypot(_size(root_E * da), _size(dw[:m] / root_D))
            lost = np.hypot(_size(r / root_E), _size(root_D * q[:m])) / max(found, MIN_POSITIVE)
            if lost <= REFINED_RTOL:
                break
        return [da, (dw[:m] - h) / D, dw[m:]], float(lost)

    def _correction_by_rows(self, E: np.ndarray, D: np.ndarray) -> Callable:
        """A function of the residuals that returns corrections of da, of dw with db, and of [A c]'da; n x n."""
        o, m = self.objective, self._penalised
        scale = 1.0 / np.sqrt(E)
        M = self._products_of_rows(D)
        M *= np.outer(scale * o.y, scale * o.y)
        M.flat[:: len(M) + 1] += 1.0
        factor = Factored(M)
        c = o.rows.bias * o.y
        along = scale * factor.solve(scale * c)

        def correction(r: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
            db = np.zeros(o.d - m)
            da = scale * factor.solve(scale * (r - self._margins(np.append(D * q[:m], db))))
            if o.free_bias:
                db += (c @ da + q[m]) / (c @ along)  # numpy scalars: overflow raises nothing
                da -= db * along
            v = self._sums(da)
            return da, np.append(D * (q[:m] + v[:m]), db), v

        return correction

    def _correction_by_columns(self, E: np.ndarray, D: np.ndarray) -> Callable:
        """As `_correction_by_rows`, by a d x d matrix, which includes a free bias."""
        o, m = self.objective, self._penalised
        M = np.zeros((o.d, o.d))
        o.rows.add_gram(1.0 / E, M)
        scale = np.append(np.sqrt(D), 1.0 / np.sqrt(M.diagonal()[m:]))
        M *= scale
        M *= scale[:, None]
        M.flat[: m * (o.d + 1) : o.d + 1] += 1.0
        factor = Factored(M)

        def correction(r: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, ...]:
            dw = scale * factor.solve(scale * (self._sums(r / E) + q))
            da = (r - self._margins(dw)) / E
            return da, dw, self._sums(da)

        return correction

    def _products_of_rows(self, D: np.ndarray) -> np.ndarray:
        """X D X' without a free bias, n x n, upper triangle."""
        rows, n = self.objective.rows, self.objective.n
        if isinstance(rows, DenseRows):
            part = rows.X * np.sqrt(D[: rows.n_features])
            M = part @ part.T
        else:
            M = np.zeros((n, n))
            c = self.objective.columns()
            CsrRows(c.starts, c.row_numbers, c.values, n).add_gram(D[: rows.n_features].copy(), M)
        if rows.bias >= 0 and not self.objective.free_bias:
            M += rows.bias**2 * D[-1]
        return M

    def over(self, gap: float) -> bool:
        """Whether the path stalls; the gap is not needed."""
        return self.stalled()

    @property
    def sigma(self) -> float:
        """The value that the log shows as sigma: mu."""
        return self.mu

    def bound(self) -> tuple[float, np.ndarray]:
        """The dual value at the best feasible multiple of a, and that multiple (f8[n])."""
        return self.objective.dual_of(self.a, self._v)

    @property
    def identified(self) -> bool:
        """Whether mu is small enough to identify the weights that are zero at the optimum."""
        return self.mu <= IDENTIFYING_MU * self._typical()

    def used(self) -> np.ndarray:
        """Which weights are not zero at the optimum (bool[d]).

        p_j low_j = mu: either p_j tends to the size of a weight and low_j to 0, or p_j is of the size of mu.
        """
        used = np.ones(self.objective.d, bool)
        used[: self._penalised] = np.maximum(self.p, self.q) > np.sqrt(self.mu * self._typical())
        return used

    def _typical(self) -> float:
        """Mean size of a non-zero weight, if there are as many as a solution can have."""
        return float(np.abs(self.w[: self._penalised]).sum()) / min(self.objective.n, self.objective.d)


def _size(x: np.ndarray) -> float:
    return float(np.sqrt(x @ x))
