"""State of a solver of least squares with a kernel (problems.LeastSquaresSvc): coefficients and residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.kernels.problems import LeastSquaresSvc, relative
from svmtool.kernels.results import KernelResult
from svmtool.kernels.rows import ROUNDING, KernelRows, exact_sum
from svmtool.kernels.tiles import tiles_of


class Residuals:
    """A point c f8[n], and e = y - (K + shift + D) c, the negative gradient; b is left out where it is free.

    start: alpha to begin at, f8[n]; None: zeros.
    e follows c through kernel values in single precision; `refresh` sets it right.
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
        """Whether e is in double precision what it should be."""
        return np.array_equal(self.c, self.known[0])

    def refresh(self) -> None:
        """e in double precision: from what c has changed by since the last time."""
        p, c = self.problem, self.c
        f = self.known[1] + exact_sum(p, c - self.known[0])
        self.known = c.copy(), f
        self.e = p.y - f - p.shift * np.sum(c) - self.D * c

    def error(self) -> float:
        """About the largest error of e: roundings of kernel values, independent of each other, add up as squares."""
        return ROUNDING * self.size * float(np.linalg.norm(self.c - self.known[0]))

    def bias(self) -> float:
        """b: the sum of c, or where it is free the one that leaves the smallest gap."""
        p = self.problem
        return float(p.cost @ self.e) / float(np.sum(p.cost)) if p.free_bias else float(np.sum(self.c))

    def left(self) -> np.ndarray:
        """e less a free bias."""
        return self.e - self.bias() if self.problem.free_bias else self.e

    def values(self) -> tuple[float, float]:
        """The dual value, and how far the primal one of the same c is above it."""
        p = self.problem
        left = self.left()
        return 0.5 * float(self.c @ (p.y + self.e)), float(p.cost @ (left * left))

    def result(self, iterations: int, status: Any) -> KernelResult:
        """The answer: alpha = y c, and the gradient in alpha with neither b nor the shift that stands for it."""
        p = self.problem
        dual, gap = self.values()
        gradient = -p.y * (self.e + p.shift * np.sum(self.c))
        return KernelResult(
            p.y * self.c, 0.0 - self.bias(), 0.0, -dual, relative(dual + gap, dual), iterations, status, gradient
        )
