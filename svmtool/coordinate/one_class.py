"""Dual coordinate descent by pairs of rows for the linear one-class SVM; objectives/one_class.py states the problem."""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.cd import pair_loops
from svmtool.data.csr import CsrRows
from svmtool.linalg.systems import Factored, mirror, solve_positive
from svmtool.objectives.one_class import best_rho, gap_of, is_zero, scale_of
from svmtool.tolerances import MIN_VALUE_SHARE, RIDGE, SAME_RTOL


class OneClassDescent:
    """A feasible dual point `alpha` (f8[n]) and w = sum alpha_i x_i (length d), improved by moving pairs of rows.

    After evaluate(): relative `gap` with the best multiple of w, `violation` of LIBLINEAR's rule (largest w.x_i of a
    row that may shrink minus the smallest of one that may grow), `primal`, `dual`.  rounds: so far.
    """

    def __init__(self, rows: CsrRows, cost: np.ndarray, nu: float):
        self.rows, self.cost = rows, cost
        self.n, self.d = rows.n, rows.d
        self.k = nu * float(np.sum(cost))
        square_norms = rows.square_norms()
        self.scale = scale_of(square_norms, cost, self.k)
        self.alpha, self.w, self.z = np.zeros(self.n), np.zeros(self.d), np.zeros(self.n)
        self._ones = np.ones(self.n)
        self._active = np.arange(self.n)
        self._state = np.zeros(7)
        self._rounds = pair_loops.pair_rounds.bind(
            *rows.csr_arrays, cost, square_norms, self.alpha, self.w, self.z,
            np.zeros(self.d), self._active, np.empty(self.n, np.int64), np.empty(self.n, np.int64), self._state,
        )  # fmt: skip

    def begin(self) -> None:
        """Set alpha to the vertex that fills the rows in their order."""
        self.alpha[:] = np.clip(self.k - (np.cumsum(self.cost) - self.cost), 0.0, self.cost)
        self.w[:] = self.rows.transpose_product(self.alpha)

    def begin_towards(self, direction: np.ndarray) -> None:
        """Set alpha from a direction of w (length d): to the cost for small products, to a part of it next to rho."""
        self.rows.margins(np.ascontiguousarray(direction), self._ones, self.z)
        rho, _ = best_rho(self.z, self.cost, self.k)
        if not np.isfinite(rho):
            self.begin()
            return
        near = np.abs(self.z - rho) <= SAME_RTOL * abs(rho)
        self.alpha[:] = np.where((self.z < rho) & ~near, self.cost, 0.0)
        total = float(np.sum(self.cost, where=near))
        if total > 0.0:
            self.alpha[near] = self.cost[near] * min((self.k - float(np.sum(self.alpha))) / total, 1.0)
        self.w[:] = self.rows.transpose_product(self.alpha)

    @property
    def rounds(self) -> int:
        return int(self._state[6])

    def evaluate(self, range_tol: float, gap: float) -> bool:
        """Compute gap and violation over all rows; returns whether violation <= range_tol and relative gap <= gap."""
        self.rows.margins(self.w, self._ones, self.z)
        self._active[:] = np.arange(self.n)
        self._state[:2] = self.n, 1.0
        done = self._rounds(range_tol, gap, self.scale, 0) == 1
        low, high, self.primal, square = self._state[2:6].tolist()
        self.violation = max(high - low, 0.0)
        self.dual = 0.0 - 0.5 * square
        self.gap = gap_of(self.primal, self.dual, self.scale)
        return done

    def run(self, range_tol: float, gap: float, max_rounds: int) -> bool:
        """Run `max_rounds` rounds at most on rows that are not shrunk; returns whether `evaluate`'s conditions hold."""
        return self._rounds(range_tol, gap, self.scale, max_rounds) == 1

    def minimise_on_face(self, max_rows: int) -> bool:
        """Minimise over the free rows, if there are at most `max_rows`; after evaluate().

        Pairs need many small steps where those rows are nearly dependent.  Newton: with Q_ij = x_i.x_j the step s has
        Q s = mu - z and sum s = 0; a row that reaches a bound is fixed there, and the step is repeated for the others.
        Returns whether there were such rows.
        """
        used = np.flatnonzero((self.alpha > 0.0) & (self.alpha < self.cost))
        if not 2 <= len(used) <= max_rows:
            return False
        Q = np.empty((len(used), len(used)))
        self.rows.fill_kernel(used, Q, 0)
        if not np.any(Q.flat[:: len(used) + 1]):  # rows without features: all the same
            return False
        Q.flat[:: len(used) + 1] *= 1.0 + RIDGE
        mirror(Q.T)
        try:
            self._newton_on_face(used, self.z[used], Q)
        finally:
            self.w[:] = self.rows.transpose_product(self.alpha)
        return True

    def _newton_on_face(self, used: np.ndarray, z: np.ndarray, Q: np.ndarray) -> None:
        while len(used) > 1:
            limits.check()
            by_z, by_one = solve_positive(Q, z), solve_positive(Q, np.ones(len(used)))
            s = by_one * (float(np.sum(by_z)) / float(np.sum(by_one))) - by_z
            distance = np.where(s > 0.0, self.cost[used] - self.alpha[used], self.alpha[used])
            part = np.divide(distance, np.abs(s), out=np.full(len(used), np.inf), where=s != 0.0)
            first = int(np.argmin(part))
            t = min(float(part[first]), 1.0)
            self.alpha[used] += t * s
            np.clip(self.alpha, 0.0, self.cost, out=self.alpha)
            if t == 1.0:
                break
            self.alpha[used[first]] = self.cost[used[first]] if s[first] > 0.0 else 0.0
            z += t * (Q @ s)
            rest = np.arange(len(used)) != first
            used, z, Q = used[rest], z[rest], np.ascontiguousarray(Q[np.ix_(rest, rest)])

    def solve_at_zero(self) -> bool:
        """Change the free rows so that w = 0, if possible; returns whether it was.  After evaluate().

        With more such rows than features, rounds only halve |w|.  With the distance r_i to the nearer bound the s of
        least sum (s_i / r_i)^2 with sum_i s_i (x_i, 1) = (-w, 0) is s_i = r_i^2 (x_i.q + t), a step of Dikin's affine
        scaling.  It needs a Gram matrix of the features.
        """
        distance = np.minimum(self.alpha, self.cost - self.alpha)
        if np.count_nonzero(distance) <= self.d + 1:
            return False
        weight = np.square(distance)
        gram = np.zeros((self.d, self.d))
        self.rows.add_gram(weight, gram)
        largest, mean = float(gram.diagonal().max(initial=0.0)), self.rows.transpose_product(weight)
        if largest == 0.0:  # rows without features
            return False
        gram.flat[:: self.d + 1] += RIDGE * largest
        factored = Factored(gram)
        by_w, by_mean = factored.solve(-self.w), factored.solve(mean)
        variation = float(np.sum(weight)) - float(mean @ by_mean)
        if not variation > 0.0:  # a linear combination of features is the same for all rows: w cannot be 0
            return False
        shift = -float(mean @ by_w) / variation
        step = np.empty(self.n)
        self.rows.margins(by_w - shift * by_mean, self._ones, step)
        step += shift
        step *= weight
        if not np.all(np.abs(step) <= distance):
            return False
        self.alpha += step
        self.w[:] = self.rows.transpose_product(self.alpha)
        return True

    def answer(self) -> tuple[float, np.ndarray, float]:
        """P, the best multiple of w and the best rho for it; after evaluate().

        P(t w) = t^2 |w|^2 / 2 - t (sum of the k smallest): with t = 1 it may even be above P(0) = 0.  A sum of rows
        that is round-off is 0 (t = 0).
        """
        rho, smallest = best_rho(self.z, self.cost, self.k)
        square, lead = float(self.w @ self.w), max(smallest, 0.0)
        t = 0.0 if is_zero(lead, square, 2.0 * self.scale / MIN_VALUE_SHARE) else lead / square
        return -0.5 * t * lead, self.w * t, rho * t if np.isfinite(rho) else rho

    def value(self, w: np.ndarray) -> tuple[float, np.ndarray, float]:
        """P at w and its best rho; both."""
        self.rows.margins(w, self._ones, self.z)
        rho, smallest = best_rho(self.z, self.cost, self.k)
        return 0.5 * float(w @ w) - smallest, w, rho
