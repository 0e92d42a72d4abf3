"""Ridge regression by Golub-Kahan bidiagonalisation, which bounds the objective from both sides.

    P(w) = 1/2 |w|^2 + 1/2 |b - A w|^2  >=  D(s) = b's - 1/2 |s|^2 - 1/2 |A's|^2,    equal at s = b - A w

Golub and Kahan (SIAM J. Numer. Anal. B 2 (1965) 205-224) compute orthonormal v_k and u_k with one product with A and
one with A' each.  In these bases the problems of P and D are tridiagonal: conjugate gradients on both sides at the cost
of one.  D at s = b - A w is 1/2 |grad P|^2 less than P, which is a poor bound for a large A; D at the best s in the
span of the u_k is a good one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class _Climb:
    """The combination x of vectors q_1, q_2, .. that maximises first q_1'x - 1/2 x'Tx, with T tridiagonal in them.

    gain: the maximum.
    """

    def __init__(self, first: float, shape: tuple[int, ...]):
        self.x, self.gain = np.zeros(shape), 0.0
        self._p, self._z, self._pivot = np.zeros(shape), -first, 1.0

    def add(self, q: np.ndarray, own: float, beside: float) -> None:
        """Add a vector q; own, beside: T's entries on the diagonal and left of it (0 for the first)."""
        part = beside / self._pivot
        self._z = -self._z * part if beside else -self._z
        self._pivot = own - part * beside
        self._p *= -part
        self._p += q
        step = self._z / self._pivot
        self.x += step * self._p
        self.gain += 0.5 * step * self._z


class FullStep(NamedTuple):
    """A step to the solution; see GolubKahan."""

    dw: Any
    ds: np.ndarray


class Weights:
    """Directions v in weight space: forward(v) = A v, back(u) = A'u."""

    def __init__(self, forward: Callable, back: Callable):
        self.forward, self.back = forward, back

    def norm(self, v: np.ndarray) -> float:
        return float(np.sqrt(v @ v))


class Combinations:
    """Directions v = A'p, stored as p and A v (f8[2, n]), which is shorter for fewer rows than features.

    product(u) = A A'u: one pass over the data instead of two.
    """

    def __init__(self, product: Callable):
        self._product = product

    def forward(self, v: np.ndarray) -> np.ndarray:
        return v[1].copy()

    def back(self, u: np.ndarray) -> np.ndarray:
        return np.stack([u, self._product(u)])

    def norm(self, v: np.ndarray) -> float:
        return float(np.sqrt(max(v[0] @ v[1], 0.0)))


class GolubKahan:
    """Computes the best `dw` to add to w and `ds` to add to s = b - A w, one direction at each step.

    g = w - A's and dw are in `space`.  fallen = P(w) - P(w + dw), risen = D(s + ds) - D(s).  first: |g|.  over: whether
    all directions are used up.
    """

    def __init__(self, space: Weights | Combinations, n: int, g: np.ndarray):
        self._space = space
        self.first = norm = space.norm(g)
        self.over = norm == 0.0
        self._v = g / -(norm or 1.0)
        self._u, self._rho, self._theta = np.zeros(n), 0.0, 0.0
        self._primal, self._dual = _Climb(norm, g.shape), _Climb(0.0, (n,))

    @property
    def dw(self) -> np.ndarray:
        return self._primal.x

    @property
    def ds(self) -> np.ndarray:
        return self._dual.x

    @property
    def fallen(self) -> float:
        return self._primal.gain

    @property
    def risen(self) -> float:
        return self._dual.gain

    def step(self) -> None:
        """Add one direction: a product with A and one with A', or one with A A'."""
        theta, before = self._theta, self._rho
        u = self._space.forward(self._v)
        u -= theta * self._u
        self._rho = rho = float(np.sqrt(u @ u))
        self._primal.add(self._v, 1.0 + rho * rho + theta * theta, before * theta)
        if rho == 0.0:
            self.over = True
            return
        u /= rho
        v = self._space.back(u)
        v -= rho * self._v
        self._theta = self._space.norm(v)
        if theta == 0.0:  # the first direction
            self._dual = _Climb(-self.first * rho, u.shape)
        self._dual.add(u, 1.0 + rho * rho + self._theta**2, theta * rho)
        self._u, self.over = u, self._theta == 0.0
        if not self.over:
            self._v = v / self._theta
