"""The minimum-norm point of a convex hull (Wolfe): the exact hard one-class SVM of few rows.

    min over a of  1/2 a'Ka,   sum a = 1,  a >= 0

w = sum_j a_j f(x_j) has w.f(x_j) = rho = |w|^2 for a_j > 0 and w.f(x_j) >= rho for all j, which is the hard one-class
SVM's solution.  Rows can be added at any time; the last solution is the next start. Source: P. Wolfe, Finding the
nearest point in a polytope, Mathematical Programming 11 (1976).  Differs from the paper in: all rows with w.f(x_j) <
rho enter the support at once, and all rows that would become negative leave it at once; Wolfe's single exchanges follow
if that does not decrease |w|.
"""

from __future__ import annotations

import numpy as np

from svmtool import limits
from svmtool.limits import EndedError
from svmtool.linalg.systems import solve_positive

ROUNDING = 1e-13  # tolerance of w.f(x_j) >= rho relative to the largest K(x, x)
DRIFT = 1e-6  # residual above which an inverse is computed again, and a new one rejected
RESIDUAL_FLOOR = 1e-13  # residual at which refinement ends
NEAR = 1e-10  # least distance of a row from the span of the others, relative to its length, for an accurate update
FEW = 0.25  # share of changed rows up to which an inverse is updated; beyond, it is computed again
RIDGE = 1e-9  # relative increase of the diagonal that makes nearly dependent rows invertible
REFINEMENTS = 12  # refinement steps, at most, that remove the effect of the ridge
FIRST_ROOM = 32
WHOLE = 512  # matrices up to this order are inverted without a check of limits: some hundredths of a second


class MinimumNormPoint:
    """K f8 (count, count); alpha, z = K alpha: f8[count]; rho = alpha'K alpha.  All are results of the last `solve`."""

    def __init__(self) -> None:
        self._K = np.empty((FIRST_ROOM, FIRST_ROOM))
        self._support = np.empty(0, np.int64)
        self._inverse = _Inverse()
        self.count, self.alpha, self.z, self.rho = 0, np.empty(0), np.empty(0), 0.0

    @property
    def K(self) -> np.ndarray:
        return self._K[: self.count, : self.count]

    def join(self, values: np.ndarray) -> None:
        """Add p rows, given their kernel values with all rows so far and with each other, f8 (p, count + p)."""
        c, end = self.count, values.shape[1]
        if end > len(self._K):
            more = np.empty((2 * end, 2 * end))
            more[:c, :c] = self.K
            self._K = more
        self._K[c:end, :end], self._K[:c, c:end] = values, values[:, :c].T
        self.alpha = np.append(self.alpha, np.zeros(end - c))
        if not c:
            self.alpha[0], self._support = 1.0, np.zeros(1, np.int64)
        self.count = end

    def solve(self) -> bool:
        """Compute alpha, z and rho for all rows; returns whether alpha changed.

        After EndedError they are consistent and alpha is feasible.
        """
        K, moved, one_by_one = self.K, False, False
        self._value()
        short = ROUNDING * float(K.diagonal().max())
        while True:
            below = np.flatnonzero(self.z < self.rho - short)
            below = below[~np.isin(below, self._support)]
            if not len(below):
                return moved
            if one_by_one:
                below = below[[np.argmin(self.z[below])]]
            kept = self.alpha.copy(), self._support, self.z, self.rho
            self._support = np.append(self._support, below)
            try:
                limits.check()
                self._settle(K, one_by_one)
            except EndedError:
                self.alpha, self._support, self.z, self.rho = kept
                raise
            self._value()
            if self.rho < kept[3]:
                moved = True
                continue
            self.alpha, self._support, self.z, self.rho = kept
            if one_by_one:  # rho is minimal up to round-off
                return moved
            one_by_one = True

    def _value(self) -> None:
        self.z = self.K @ self.alpha
        self.rho = float(self.alpha @ self.z)

    def _settle(self, K: np.ndarray, one_by_one: bool) -> None:
        """Move alpha to the minimum over the affine hull of the support; rows that reach 0 leave the support.

        one_by_one: remove single rows along the way, so that |w| decreases; else remove all negative rows at once.
        At the minimum K alpha, and so (K + s) alpha, is constant over the support; with s > 0 that matrix is positive
        definite if the rows are affinely independent.
        """
        while True:
            S = self._support
            x = self._inverse.solve(K, S)
            if x is None and not one_by_one:  # rows are nearly dependent
                self.alpha[S] = np.nan
                return
            if x is None:
                x = solve_positive(K[np.ix_(S, S)] + self._inverse.shift, np.ones(len(S)))
            best, a = x / float(np.sum(x)), self.alpha[S]
            falling = best <= 0.0
            if not np.any(falling):
                self.alpha[S] = best
                return
            if not one_by_one:
                self.alpha[S[falling]] = 0.0
                self._support = S[~falling]
                continue
            leaving = falling & (a <= 0.0)
            if not np.any(leaving):
                parts = np.divide(a, a - best, out=np.full(len(S), np.inf), where=falling)
                a += float(np.min(parts)) * (best - a)
                leaving[np.argmin(parts)] = True
            a[leaving] = 0.0
            a = np.maximum(a, 0.0)
            self.alpha[S] = a / float(np.sum(a))
            self._support = S[~leaving]


class _Inverse:
    """(K + s)^-1 of the last support, where s > 0 (`shift`) is added to all values; updated when rows enter or leave.
    """

    def __init__(self) -> None:
        self._rows, self._M, self.shift, self._good = np.empty(0, np.int64), np.empty((0, 0)), 0.0, False

    def solve(self, K: np.ndarray, S: np.ndarray) -> np.ndarray | None:
        """x with (K + s) x = 1 for the rows S (i8) of K; None if no inverse is accurate enough."""
        stays = np.isin(self._rows, S)
        new = S[np.count_nonzero(stays) :]
        follows = np.array_equal(self._rows[stays], S[: len(S) - len(new)])
        if self._good and follows and len(new) + np.count_nonzero(~stays) < FEW * len(S):
            if np.all(stays) or self._leave(stays):
                if not len(new) or self._join(K, new):
                    x = self._refined(K, S)
                    if x is not None:
                        return x
        block = K[np.ix_(S, S)]
        self.shift = float(block.diagonal().max()) or 1.0
        block += self.shift
        block.flat[:: len(S) + 1] *= 1.0 + RIDGE
        try:
            self._M, self._rows = _inverted(block), S
            x = self._refined(K, S)
        except np.linalg.LinAlgError:
            x = None
        self._good = x is not None
        return x

    def _refined(self, K: np.ndarray, S: np.ndarray) -> np.ndarray | None:
        """The solution from the inverse with refinement; None if it is not accurate enough."""
        x, block, worst = np.sum(self._M, axis=1), K[np.ix_(S, S)], np.inf
        best = x
        for _ in range(REFINEMENTS):
            left = 1.0 - (block @ x + self.shift * float(np.sum(x)))
            size = float(np.abs(left).max())
            if not size < 0.5 * worst:
                break
            best, worst = x, size
            if size <= RESIDUAL_FLOOR:
                break
            x = x + self._M @ left
        return best if worst <= DRIFT else None

    def _leave(self, stays: np.ndarray) -> bool:
        """Remove all rows but `stays` from the inverse; returns whether that succeeded."""
        goes = ~stays
        side = self._M[np.ix_(stays, goes)]
        try:
            self._M = self._M[np.ix_(stays, stays)] - side @ np.linalg.solve(self._M[np.ix_(goes, goes)], side.T)
        except np.linalg.LinAlgError:
            return False
        self._rows = self._rows[stays]
        return True

    def _join(self, K: np.ndarray, new: np.ndarray) -> bool:
        """Add the rows `new` of K; False if they are nearly dependent."""
        side, own = K[np.ix_(self._rows, new)] + self.shift, K[np.ix_(new, new)] + self.shift
        own.flat[:: len(new) + 1] *= 1.0 + RIDGE
        U = self._M @ side
        rest = own - side.T @ U
        if not np.min(rest.diagonal() / own.diagonal()) > NEAR:
            return False
        try:
            corner = np.linalg.inv(rest)
        except np.linalg.LinAlgError:
            return False
        edge = -U @ corner
        self._M = np.block([[self._M - edge @ U.T, edge], [edge.T, corner]])
        self._rows = np.append(self._rows, new)
        return True


def _inverted(H: np.ndarray) -> np.ndarray:
    """H^-1 of a positive definite H; a large H is inverted recursively, with checks of limits."""
    limits.check()
    half = len(H) // 2
    if len(H) <= WHOLE:
        return np.linalg.inv(H)
    first = _inverted(H[:half, :half])
    U = first @ H[:half, half:]
    limits.check()
    corner = _inverted(H[half:, half:] - H[half:, :half] @ U)
    edge = -U @ corner
    limits.check()
    return np.block([[first - edge @ U.T, edge], [edge.T, corner]])
