"""Least squares with a kernel (problems.LeastSquaresSvc): coefficients and residuals, and the direct solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.engine.interior import refined
from svmtool.errors import SvmtoolError
from svmtool.kernels.problems import LeastSquaresSvc, relative
from svmtool.kernels.results import KernelResult
from svmtool.kernels.rows import SINGLE_ROUNDOFF, KernelRows, exact_sum
from svmtool.kernels.tiles import tiles_of
from svmtool.linalg.systems import Factored
from svmtool.tolerances import SUM_RTOL


class Residuals:
    """A point c f8[n] and e = y - (K + shift + D) c, the negative gradient without a free b.

    start: alpha to begin at, f8[n]; None: zeros.
    e is updated by kernel values in single precision; `refresh` computes it in double precision.
    """

    def __init__(self, problem: LeastSquaresSvc, cache_mb: float, start: np.ndarray | None = None):
        self.problem = problem
        self.rows = KernelRows(tiles_of(problem.rows, problem.kernel, problem.matrix), cache_mb)
        self.size = max(1.0, float(np.abs(self.rows.diagonal).max(initial=0.0)))  # of kernel values
        self.D = 0.5 / problem.cost
        self.c, self.e = np.zeros(problem.n), problem.y.copy()
        self.known = self.c.copy(), np.zeros(problem.n)  # coefficients, and K c in double precision for them
        if start is not None and np.any(start):
            self.c = problem.coefficients(start)
            self.refresh()

    @property
    def exact(self) -> bool:
        """Whether e was computed in double precision."""
        return np.array_equal(self.c, self.known[0])

    def refresh(self) -> None:
        """Compute e in double precision, from the change of c since the last time."""
        p, c = self.problem, self.c
        f = self.known[1] + exact_sum(p, c - self.known[0])
        self.known = c.copy(), f
        self.e = p.y - f - p.shift * np.sum(c) - self.D * c

    def error(self) -> float:
        """An estimate of the largest error of e; independent round-off errors add up as squares."""
        return SINGLE_ROUNDOFF * self.size * float(np.linalg.norm(self.c - self.known[0]))

    def bias(self) -> float:
        """b: the sum of c; a free b is the one with the smallest gap."""
        p = self.problem
        return float(p.cost @ self.e) / float(np.sum(p.cost)) if p.free_bias else float(np.sum(self.c))

    def residuals(self) -> np.ndarray:
        """e minus a free bias."""
        return self.e - self.bias() if self.problem.free_bias else self.e

    def values(self) -> tuple[float, float]:
        """The dual value, and the difference of the primal value of the same c to it."""
        p = self.problem
        r = self.residuals()
        return 0.5 * float(self.c @ (p.y + self.e)), float(p.cost @ (r * r))

    def result(self, iterations: int, status: Any) -> KernelResult:
        """The result: alpha = y c, and the gradient in alpha without b and without the shift."""
        p = self.problem
        dual, gap = self.values()
        gradient = -p.y * (self.e + p.shift * np.sum(self.c))
        return KernelResult(
            p.y * self.c, 0.0 - self.bias(), 0.0, -dual, relative(dual + gap, dual), iterations, status, gradient
        )


def direct_solution(K: np.ndarray, y: np.ndarray, cost: np.ndarray, shift: float) -> np.ndarray | None:
    """c f8[n] of (K + shift + D) c = y, with a shift of 0 of that with sum c = 0 and a free constant.

    K f8 (n, n); see LeastSquaresSvc.  None if numbers overflow or the kernel is not positive semidefinite.  Raises
    EndedError if the run ends meanwhile.
    """
    scale = np.sqrt(2.0 * cost)
    H = scale[:, None] * (K + shift) * scale
    H.flat[:: len(H) + 1] += 1.0
    try:
        factor = Factored(H)
    except SvmtoolError:
        return None
    if factor.shift > SUM_RTOL * float(H.diagonal().max()):  # more than round-off: the matrix is indefinite
        return None

    def solve(g: np.ndarray) -> np.ndarray:
        return scale * refined(factor.solve, H.__matmul__, scale * g)

    c = solve(y)
    if shift == 0.0:
        one = solve(np.ones(len(y)))
        c -= float(np.sum(c)) / float(np.sum(one)) * one
    return c if np.all(np.isfinite(c)) else None
