"""The minimum-norm point of a convex hull: the exact hard one-class SVM of few rows.

    min over a of  1/2 a'Ka,   sum a = 1,  a >= 0

w = sum_j a_j phi(x_j) has w.phi(x_j) = rho = |w|^2 for a_j > 0 and w.phi(x_j) >= rho for all j, which is the hard
one-class SVM's solution.  For s > 0 it is a = x / sum x, x the minimiser of  1/2 x'(K + s)x - sum x  over x >= 0, K + s
being K with s added to all values: that matrix is positive definite if the rows are affinely independent.  Rows can be
added at any time; the last solution is the next start.
"""

from __future__ import annotations

import numpy as np

from svmtool.linalg.systems import nonnegative
from svmtool.tolerances import DUAL_RTOL


class MinimumNormPoint:
    """K f8 (count, count); alpha, z = K alpha: f8[count]; rho = alpha'K alpha.  All are results of the last `solve`."""

    def __init__(self) -> None:
        self._K = np.empty((0, 0))
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
            self.alpha[0] = 1.0
        self.count = end

    def solve(self) -> bool:
        """Compute alpha, z and rho for all rows; returns whether alpha changed.

        After EndedError they are consistent and alpha is feasible.
        """
        self._step_to(self.alpha)
        size = float(self.K.diagonal().max()) or 1.0
        above = self.alpha > 0.0
        below = ~above & (self.z < self.rho - DUAL_RTOL * size)
        if not np.any(below):
            return False
        x = nonnegative(self.K + size, np.ones(self.count), self.alpha / (self.rho + size), above | below)
        before = self.alpha, self.z, self.rho
        self._step_to(x / float(np.sum(x)))
        if self.rho < before[2]:
            return True
        self.alpha, self.z, self.rho = before
        return False

    def _step_to(self, alpha: np.ndarray) -> None:
        self.alpha, self.z = alpha, self.K @ alpha
        self.rho = float(alpha @ self.z)
