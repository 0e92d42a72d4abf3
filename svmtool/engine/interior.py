"""Primal-dual interior-point steps: Mehrotra's predictor-corrector method (SIAM J. Optimization 2 (1992) 575-601).

A problem has positive variables in pairs, x and z, whose products vanish at the optimum, and variables of any sign.  A
step solves Newton's system twice: for products of zero, and then, with second-order terms, for products of
centre * weight, where the centre is smaller the more the first solution would lower the products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np

from svmtool import limits
from svmtool.errors import SvmtoolError
from svmtool.tolerances import MIN_POSITIVE, NEWTON_RTOL, PAIR_STALL_STEPS, SUFFICIENT_DECREASE

BOUNDARY_FRACTION = 0.995  # steps go this share of the way to the nearest bound
MAX_STEPS = 200  # of a run
BOUND_SHARE = 1e-3  # ratio to its slack below which a multiplier is set to its bound
REFINEMENTS = 2  # rounds of iterative refinement of a linear system


class Path(ABC):
    """The iterates of a run: x and z, lists of positive arrays whose products go to zero, and the arrays `free`.

    weights: of the products, broadcast to each x: steps stay near x z = mu weight, mu the mean of x z over the weights.
    After `measure`: primal, the value whose round-off the products have; gap, what the run makes small.
    """

    primal, gap = 0.0, np.inf

    def __init__(self, x: list[np.ndarray], z: list[np.ndarray], free: list[np.ndarray], weights: list | None = None):
        self.x, self.z, self.free, self._weights = x, z, free, weights or [1.0] * len(x)
        parts = zip(x, self._weights, strict=True)
        self._total = float(sum(np.sum(np.broadcast_to(weight, part.shape)) for part, weight in parts))
        self._steps, self._idle, self._least, self._least_mu = 0, 0, np.inf, np.inf

    @abstractmethod
    def measure(self) -> None:
        """Compute values and residuals at the iterates."""

    @abstractmethod
    def factorise(self) -> None:
        """Prepare Newton's system at the iterates, after `measure`."""

    @abstractmethod
    def solve(self, changes: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Changes of x and of `free` that make the residuals 0 and change the products by `changes`."""

    @property
    def mu(self) -> float:
        """Mean product of a pair, over the weights."""
        return sum(float(np.vdot(x, z)) for x, z in zip(self.x, self.z, strict=True)) / self._total

    def _direction(self, changes: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray], float]:
        """Changes of x, then z, and of `free`, and the longest step, at most 1, that leaves x and z positive."""
        dx, free = self.solve(changes)
        dz = [(c - z * d) / x for c, x, z, d in zip(changes, self.x, self.z, dx, strict=True)]
        return dx + dz, free, min(_reach(x, d) for x, d in zip(self.x + self.z, dx + dz, strict=True))

    def advance(self) -> float:
        """Take a step after `measure`; returns its length, at most 1.

        Raises SvmtoolError on overflow and EndedError when the run ends.
        """
        m, mu, products = len(self.x), self.mu, [x * z for x, z in zip(self.x, self.z, strict=True)]
        self.factorise()
        first, _, t = self._direction([-p for p in products])
        pairs = list(zip(self.x, self.z, first[:m], first[m:], strict=True))
        after = sum(float(np.vdot(x + t * dx, z + t * dz)) for x, z, dx, dz in pairs) / self._total
        centre = mu * min(max(after / max(mu, MIN_POSITIVE), 0.0), 1.0) ** 3
        parts = zip(self._weights, products, first[:m], first[m:], strict=True)
        second = [centre * weight - p - dx * dz for weight, p, dx, dz in parts]
        changes, free, t = self._direction(second)
        t = 1.0 if t >= 1.0 else BOUNDARY_FRACTION * t
        for x, dx in zip(self.x + self.z, changes, strict=True):
            x += t * dx
            np.maximum(x, MIN_POSITIVE, out=x)
        for x, dx in zip(self.free, free, strict=True):
            x += t * dx
        self._steps += 1
        return t

    def stalled(self) -> bool:
        """Note the progress at a point; return whether it stalls (neither gap nor mu falls), or MAX_STEPS are taken."""
        mu = max(self.mu, NEWTON_RTOL * self.primal / self._total)
        better = self.gap < self._least or mu < SUFFICIENT_DECREASE * self._least_mu
        self._idle = 0 if better else self._idle + 1
        self._least, self._least_mu = min(self.gap, self._least), min(mu, self._least_mu)
        return self._idle > PAIR_STALL_STEPS or self._steps >= MAX_STEPS

    def steps(self) -> Iterator[float]:
        """Yield the length of the last step, 0 at first, at each point that is measured.

        Ends if the path stalls or numbers overflow, or a matrix is singular.  Raises EndedError when the run ends.
        """
        t = 0.0
        while True:
            limits.check()
            try:
                with np.errstate(all="ignore"):
                    self.measure()
            except SvmtoolError:
                return
            if not np.isfinite(self.gap):
                return
            yield t
            if self.stalled():
                return
            try:
                with np.errstate(all="ignore"):
                    t = self.advance()
            except (SvmtoolError, np.linalg.LinAlgError):
                return


def _reach(x: np.ndarray, dx: np.ndarray) -> float:
    """The largest t <= 1 with x + t dx >= 0, for x > 0."""
    least = float(np.min(dx / x, initial=-1.0))
    return 1.0 if least >= -1.0 else -1.0 / least


def refined(
    solve: Callable[[np.ndarray], np.ndarray], product: Callable[[np.ndarray], np.ndarray], right: np.ndarray
) -> np.ndarray:
    """The solution of product(x) = right by iterative refinement; solve: an inexact inverse."""
    x = solve(right)
    for _ in range(REFINEMENTS):
        x = x + solve(right - product(x))
    return x
