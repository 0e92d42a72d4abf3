"""Least squares with a kernel by conjugate gradients, preconditioned by a few rows of the kernel matrix.

    (K + shift + D) c = y,  or with sum c = 0 and a free constant added

The preconditioner has U' (K_SS)^-1 U + D in place of K + shift + D, U the rows S of K + shift (Nystroem's
approximation): it takes the large eigenvalues out of the system, which are few.  Under the equality steps are
projected: z = M^-1 r - M^-1 1 (1'M^-1 r) / (1'M^-1 1).
"""

from __future__ import annotations

import numpy as np

from svmtool.problem.kernel_least_squares import Residuals
from svmtool.problem.kernel_problem import LeastSquaresSvc
from svmtool.problem.kernel_rows import MEGABYTE
from svmtool.problem.linalg import Factored

MOST = 512  # rows in S: their system costs as much as a pass over the kernel matrix or two
JITTER = 1e-6  # added to K_SS, beside its diagonal: several times the rounding of single precision
STRIP = 4096  # columns of U that are held in double precision at a time


class Nystroem:
    """The inverse of U' (K_SS + jitter)^-1 U + D, or of D alone where K_SS is not positive definite.

    cache_mb: memory that U may take.
    """

    def __init__(self, state: Residuals, cache_mb: float):
        p, self.D = state.problem, state.D
        m = int(min(p.n, MOST, cache_mb * MEGABYTE / (4 * p.n)))
        S = np.arange(m) * p.n // max(m, 1)
        self.U = state.rows.values(S, np.arange(p.n))
        self.U += np.float32(p.shift)
        W = self.U[:, S].astype(np.float64)
        W.flat[:: m + 1] += JITTER * float(np.abs(W.flat[:: m + 1]).max(initial=0.0))
        try:
            np.linalg.cholesky(W)
        except np.linalg.LinAlgError:
            self.U = self.U[:0]
        if not len(self.U):
            return
        for lo in range(0, p.n, STRIP):
            part = self.U[:, lo : lo + STRIP] / np.sqrt(self.D[lo : lo + STRIP])
            W += part @ part.T
        self.system = Factored(W)

    def solve(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r."""
        z = r / self.D
        if not len(self.U):
            return z
        # in double precision: what is left of r is smaller than r by the condition of the system
        s, strips = np.zeros(len(self.U)), [slice(lo, lo + STRIP) for lo in range(0, len(r), STRIP)]
        for strip in strips:
            s += self.U[:, strip].astype(np.float64) @ z[strip]
        s = self.system.solve(s)
        for strip in strips:
            z[strip] -= (s @ self.U[:, strip].astype(np.float64)) / self.D[strip]
        return z


class Conjugate:
    """Steps from where the state is; count: how many there have been."""

    def __init__(self, problem: LeastSquaresSvc, cache_mb: float):
        self.state, self.count = Residuals(problem, cache_mb / 2), 0
        self.near = Nystroem(self.state, cache_mb / 2)
        if problem.free_bias:
            self.along = self.near.solve(np.ones(problem.n))
            self.along /= float(np.sum(self.along))
        self.restart()

    def restart(self) -> None:
        """Forget the last direction."""
        self.q, self.rho = np.zeros(self.state.problem.n), np.inf

    def run(self, eps: float, most: int) -> bool:
        """One step; False where the program does not rise along it."""
        state = self.state
        p, r = state.problem, state.left()
        z = self.near.solve(r)
        if p.free_bias:
            z -= float(np.sum(z)) * self.along
        rho = float(np.sum(r * z))
        self.q *= rho / self.rho
        self.q += z
        self.rho = rho
        q = self.q
        Aq = state.rows.product(q) + p.shift * float(np.sum(q)) + state.D * q
        curve = float(np.sum(q * Aq))
        if not (rho > 0.0 and curve > 0.0):
            return False
        theta = float(np.sum(r * q)) / curve
        state.c += theta * q
        state.e -= theta * Aq
        self.count += 1
        return True
