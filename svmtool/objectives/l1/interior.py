"""Primal-dual interior-point method for the squared hinge regularised by |w|_1.

    min  sum_j (p_j + q_j) + sum_i C_i xi_i^2,    w = p - q,    xi_i = 1 - y_i x_i.w + s_i = a_i / (2 C_i)
    s, a >= 0,  s_i a_i = 0;    p, l >= 0,  p_j l_j = 0,  l = 1 - v;    q, r >= 0,  q_j r_j = 0,  r = 1 + v

with v = sum_i a_i y_i x_i.  Mehrotra's predictor and corrector (SIAM J. Optimization 2 (1992) 575-601), with one step
length for all, from the point of the central path's equations at w = 0 that only 1 - v = l and 1 + v = r miss.  Some 20
to 40 steps, whatever the scales of features and the costs, on which coordinate passes, faces of a model and the method
of multipliers (objectives/l1/dual.py) depend.

A step solves  A dw + E da = f,  dw - D A'da = h  (A = diag(y) X, E and D diagonal), by a Cholesky factor of the order
of the fewer ones, rows or features:

    I + E^-1/2 A D A' E^-1/2     or     I + D^1/2 A' E^-1 A D^1/2

A free bias b has neither p nor q: c'a = 0, c its column of A, and a step solves  A dw + c db + E da = f,
c'da = -c'a  with that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.linalg.systems import Factored, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from svmtool.objectives.l1.objective import L1SquaredHinge

MOST = 2048  # rows or features, whichever are fewer: some seconds
STEPS = 3.0  # that a run takes at most, about, times the root of degree 3 of the number of products.  Measured ...
# ... to a gap of 1e-6, and that: news20, 198 rows of 414 features 16 / 30; blogfeedback, 76 x 162 13 to 17 / 22; gas
# drift, 381 x 128 21 to 23 / 26 and 6,697 x 128 48 to 54 / 57; isolet 1,560 x 617 21 / 42; madelon, 300 x 500 16 / 33;
# kdd99, 49,403 x 115 73 to 120 / 110; to 1e-4 on 15 more sets of 4 to 500 features, C = 1, 100, 1e4: 6 to 29 / 22 to 49
START = 100.0  # mu there, as multiple of what the objective at w = 0 would be in all products together
NEARER, STILL, MOST_STEPS = 0.9, 10, 150  # it ends where mu is not that share of what it was so many steps before
CLEAR = 1e-4  # share of weights' size that mu has where those that are zero show
BACK = 0.995  # of the way to the nearest bound
REFINED, CLOSE = 2, 1e-6  # times that a solution is refined at most, and the share of it that rounding may leave
LOST = 1e-2  # share from which a system of rows is given up for one of features.  Of 210 solutions on subsets of eight
# sets, C = 1e4, two left more, and one lay between a tenth and ten times that; half left less than 1e-11
TINY = 1e-300
# what a run costs, in multiplications of a product of matrices: a number of sparse rows, of any pass over rows, and a
# call from Python beside that.  Measured with 60 to 1200 features, in nanoseconds: a product of matrices 0.1 to 0.4, a
# Gram matrix of sparse rows 0.6 to 1.5, passes 0.2 to 1.5 over dense and 0.5 to 6 over sparse rows, a call 10 to 30.
SPARSE, PASS, CALL = 4.0, 4.0, 1e5
EPOCHS, CALLS = 9, 12  # of a step


class L1Interior:
    """A run: `step` makes w (f8[d]) and a (f8[n], the rows' multipliers) those of the next point.

    mu: mean of the products; work: passes over the rows, as `L1Dual` counts them.
    """

    def __init__(self, objective: L1SquaredHinge):
        o = self.objective = objective
        n, d = o.n, o.d
        self._by_rows = n < d
        d = self._penalised = d - o.free_bias
        self.mu = START * o.value_at_zero() / (n + 2 * d)
        half = np.sqrt(0.25 + 0.5 * self.mu / o.cost)
        self.s = (0.5 * self.mu / o.cost) / (half + 0.5)
        self.a = self.mu / self.s
        self.p, self.q = np.full(d, self.mu), np.full(d, self.mu)
        self.low, self.high = np.ones(d), np.ones(d)
        self.work = 0.0
        self._steps, self._least, self._since = 0, np.inf, 0
        self.w, self._v, self._z = np.zeros(o.d), self._sums(self.a), np.zeros(n)

    @staticmethod
    def possible(objective: Any) -> bool:
        """Whether the loss is this one, the rows are at hand, and the systems are small."""
        o = objective
        here = isinstance(o.rows, (CsrRows, DenseRows)) and o.rows.mapped is None
        return not o.logistic and here and 0 < min(o.n, o.d) <= MOST

    @staticmethod
    def numbers(objective: L1SquaredHinge) -> float:
        """What a run costs, about, in multiplications."""
        rows, n, d = objective.rows, objective.n, objective.d
        least = min(n, d)
        if isinstance(rows, DenseRows):
            gram = 0.5 * float(n) * d * least
        else:
            indptr, indices, _ = rows.csr_arrays
            lengths = np.diff(indptr) if n >= d else np.bincount(indices)
            gram = SPARSE * 0.5 * float(np.sum(lengths.astype(float) ** 2))
        steps = STEPS * float(n + 2 * d) ** (1.0 / 3.0)
        return steps * (gram + least**3 / 6.0 + PASS * EPOCHS * rows.nnz + CALL * CALLS)

    def _sums(self, a: np.ndarray) -> np.ndarray:
        """[A c]'a, length d."""
        return self.objective.rows.transpose_product(a * self.objective.y)

    def _margins(self, w: np.ndarray) -> np.ndarray:
        """[A c] w, length n."""
        z = np.empty(self.objective.n)
        self.objective.rows.margins(w, self.objective.y, z)
        return z

    def step(self) -> np.ndarray:
        """The next weights; SvmtoolError where numbers overflow."""
        with np.errstate(all="ignore"):
            return self._step()

    def _step(self) -> np.ndarray:
        cost, a, s, p, q, low, high = self.objective.cost, self.a, self.s, self.p, self.q, self.low, self.high
        slack = 1.0 - self._z - 0.5 * a / cost + s
        v = self._v[: self._penalised]
        left, right = 1.0 - v - low, 1.0 + v - high
        solve = self._system(0.5 / cost + s / a, p / low + q / high)

        def direction(of_a: np.ndarray, of_p: np.ndarray, of_q: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
            """Changes of a, s, p, q, low, high that take residuals to 0 and change the products a s, p low, q high.

            And that of a free bias, of length 1 or none.
            """
            h = (of_p - p * left) / low - (of_q - q * right) / high
            da, dv, db = solve(slack + of_a / a, h)
            dlow, dhigh = left - dv, right + dv
            return [da, (of_a - s * da) / a, (of_p - p * dlow) / low, (of_q - q * dhigh) / high, dlow, dhigh], db

        def length(changes: list[np.ndarray]) -> float:
            return min(reach(x, dx) for x, dx in zip((a, s, p, q, low, high), changes, strict=True))

        first, _ = direction(-a * s, -p * low, -q * high)
        t = length(first)
        da, ds, dp, dq, dlow, dhigh = first
        after = float((a + t * da) @ (s + t * ds) + (p + t * dp) @ (low + t * dlow) + (q + t * dq) @ (high + t * dhigh))
        centre = self.mu * min((after / (len(a) + 2 * len(p)) / max(self.mu, TINY)) ** 3, 1.0)
        best, db = direction(centre - a * s - da * ds, centre - p * low - dp * dlow, centre - q * high - dq * dhigh)
        t = length(best)
        t = t if t == 1.0 else BACK * t
        for x, dx in zip((a, s, p, q, low, high), best, strict=True):
            x += t * dx
            np.maximum(x, TINY, out=x)
        self.w = np.append(p - q, self.w[self._penalised :] + t * db)
        self._v, self._z = self._sums(a), self._margins(self.w)
        self.work += float(EPOCHS)
        self._steps += 1
        self.mu = float(a @ s + p @ low + q @ high) / (len(a) + 2 * len(p))
        return self.w

    def _system(self, E: np.ndarray, D: np.ndarray) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]:
        """A function of f and h: the da that solves the equations above, A'da, and db (f8[1], without b f8[0]).

        By columns A'da comes from dw: where D is large that alone has enough digits.
        """
        if not self._by_rows:
            return self._system_of_columns(E, D)
        of_rows = self._system_of_rows(E, D)

        def solve(f: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:
            *found, left = of_rows(f, h)
            if left <= LOST or self.objective.d > MOST:
                return tuple(found)
            self._by_rows = False  # badly scaled features have taken its digits: from here on
            return self._system_of_columns(E, D)(f, h)

        return solve

    def _system_of_rows(self, E: np.ndarray, D: np.ndarray) -> Callable:
        """`_system` with a matrix of rows; its function also returns what is left of the equations, as share of da."""
        o, m = self.objective, self._penalised
        scale = 1.0 / np.sqrt(E)
        M = self._products_of_rows(D)
        M *= np.outer(scale * o.y, scale * o.y)
        M.flat[:: len(M) + 1] += 1.0
        factor = Factored(M)
        c = o.rows.bias * o.y
        along = scale * factor.solve(scale * c)

        def solve(f: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:
            da, db = np.zeros(len(f)), np.zeros(o.d - m)
            left, excess = f - self._margins(np.append(h, db)), self._v[m:]
            for _ in range(1 + REFINED):
                more = scale * factor.solve(scale * left)
                if o.free_bias:
                    shift = (c @ more + excess[0]) / (c @ along)  # numpy's: an overflow is no exception
                    db += shift
                    more -= shift * along
                da += more
                v = self._sums(da)
                left, excess = f - self._margins(np.append(h + D * v[:m], db)) - E * da, self._v[m:] + v[m:]
                lost = _size(scale * left) / max(_size(da / scale), TINY)
                if lost <= CLOSE:
                    break
            return da, v[:m], db, lost

        return solve

    def _system_of_columns(self, E: np.ndarray, D: np.ndarray) -> Callable:
        """`_system` with a matrix of features, of a free bias too."""
        o, m = self.objective, self._penalised
        M = np.zeros((o.d, o.d))
        o.rows.add_gram(1.0 / E, M)
        scale = np.append(np.sqrt(D), 1.0 / np.sqrt(M.diagonal()[m:]))
        M *= scale
        M *= scale[:, None]
        M.flat[: m * (o.d + 1) : o.d + 1] += 1.0
        factor = Factored(M)

        def solve(f: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, ...]:
            dw = np.zeros(o.d)
            left = self._sums(f / E) + np.append(h / D, self._v[m:])
            for _ in range(1 + REFINED):
                dw += scale * factor.solve(scale * left)
                da = (f - self._margins(dw)) / E
                v = (dw[:m] - h) / D
                left = self._sums(da) - np.append(v, -self._v[m:])
                if _size(scale * left) <= CLOSE * _size(dw / scale):
                    break
            return da, v, dw[m:]

        return solve

    def _products_of_rows(self, D: np.ndarray) -> np.ndarray:
        """X D X' but for a free bias, n x n; its upper triangle."""
        rows, n = self.objective.rows, self.objective.n
        if isinstance(rows, DenseRows):
            part = rows.X * np.sqrt(D[: rows.plain])
            M = part @ part.T
        else:
            M = np.zeros((n, n))
            c = self.objective.columns()
            CsrRows(c.starts, c.row_numbers, c.values, n).add_gram(D[: rows.plain].copy(), M)
        if rows.bias >= 0 and not self.objective.free_bias:
            M += rows.bias**2 * D[-1]
        return M

    def over(self, gap: float) -> bool:
        """Whether rounding ends the path; the gap is that of all methods, and says nothing of it."""
        if self.mu <= NEARER * self._least:
            self._least, self._since = self.mu, self._steps
        return self._steps - self._since >= STILL or self._steps >= MOST_STEPS

    @property
    def sigma(self) -> float:
        """What the log has as length of a step."""
        return self.mu

    def bound(self) -> tuple[float, np.ndarray]:
        """The dual's value at the best feasible multiple of a, and that multiple (f8[n])."""
        return self.objective.dual_of(self.a, self._v)

    @property
    def settled(self) -> bool:
        """Whether it is clear which weights differ from zero where the path ends."""
        return self.mu <= CLEAR * self._typical()

    def used(self) -> np.ndarray:
        """Which weights differ from zero where the path ends (bool[d]).

        p_j low_j = mu: of the two either p_j goes to a weight's size, or low_j to zero and p_j to some mu.
        """
        used = np.ones(self.objective.d, bool)
        used[: self._penalised] = np.maximum(self.p, self.q) > np.sqrt(self.mu * self._typical())
        return used

    def _typical(self) -> float:
        """Size of a weight that is not zero, if these are as many as a solution has at most."""
        return float(np.abs(self.w[: self._penalised]).sum()) / min(self.objective.n, self.objective.d)


def _size(x: np.ndarray) -> float:
    return float(np.sqrt(x @ x))
