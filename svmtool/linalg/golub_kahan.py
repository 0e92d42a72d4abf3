"""Ridge regression by Golub-Kahan bidiagonalisation, which bounds the objective from above and below.

    P(w) = 1/2 |w|^2 + 1/2 |b - A w|^2  >=  D(s) = b's - 1/2 |s|^2 - 1/2 |A's|^2,    equal at s = b - A w

Golub and Kahan (SIAM J. Numer. Anal. B 2 (1965) 205-224) compute orthonormal v_k and u_k with one product with A and
one with A' each.  In these bases the problems of P and D are tridiagonal: conjugate gradients on both at the cost of
one.  D at s = b - A w is 1/2 |grad P|^2 less than P, which is a poor bound for a large A; D at the best s in the
span of the u_k is a good one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class _Climb:
    """The combination x of vectors q_1, q_2, .. that maximises first q_1'x - 1/2 x'Tx, with T tridiagonal in them.

    gain: the maximum.
    """

    def __init__(self, first: float, size: int):
        self.x, self.gain = np.zeros(size), 0.0
        self._p, self._z, self._pivot = np.zeros(size), -first, 1.0
        self._scaled = np.empty(size)

    def add(self, q: np.ndarray, own: float, off_diagonal: float) -> None:
        """Add a vector q; own, off_diagonal: T's entries on the diagonal and left of it (0 for the first)."""
        part = off_diagonal / self._pivot
        self._z = -self._z * part if off_diagonal else -self._z
        self._pivot = own - part * off_diagonal
        self._p *= -part
        self._p += q
        step = self._z / self._pivot
        self.x += np.multiply(self._p, step, out=self._scaled)
        self.gain += 0.5 * step * self._z


class GolubKahan:
    """Computes the best dw to add to w and ds to add to s = b - A w, one direction at each step.

    forward(v) = A v, back(u) = A'u, g = w - A's.  primal: dw and its gain P(w) - P(w + dw); dual: ds and its gain
    D(s + ds) - D(s).  first: |g|.  over: whether all directions are used up.
    """

    def __init__(self, forward: Callable, back: Callable, n: int, g: np.ndarray):
        self._forward, self._back = forward, back
        self.first = norm = float(np.sqrt(g @ g))
        self.over = norm == 0.0
        self._v = g / -(norm or 1.0)
        self._u, self._rho, self._theta = np.zeros(n), 0.0, 0.0
        self.primal, self.dual = _Climb(norm, len(g)), _Climb(0.0, n)

    def step(self) -> None:
        """Add one direction: a product with A and one with A'."""
        theta, before = self._theta, self._rho
        u = self._forward(self._v)
        u -= theta * self._u
        self._rho = rho = float(np.sqrt(u @ u))
        self.primal.add(self._v, 1.0 + rho * rho + theta * theta, before * theta)
        if rho == 0.0:
            self.over = True
            return
        u /= rho
        v = self._back(u)
        self._v *= rho
        v -= self._v
        self._theta = float(np.sqrt(v @ v))
        if theta == 0.0:  # the first direction
            self.dual = _Climb(-self.first * rho, len(u))
        self.dual.add(u, 1.0 + rho * rho + self._theta**2, theta * rho)
        self._u, self.over = u, self._theta == 0.0
        if not self.over:
            v /= self._theta
            self._v = v
