"""Kernel functions over blocks of inner products."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

LINEAR, POLYNOMIAL, RBF, SIGMOID, PRECOMPUTED = range(5)
NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")


class Kernel(NamedTuple):
    """K(x, z): x.z | (gamma x.z + coef0)^degree | exp(-gamma |x - z|^2) | tanh(gamma x.z + coef0) | given numbers."""

    kind: int
    gamma: float = 0.0
    degree: int = 3
    coef0: float = 0.0

    def finish(self, P: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Turn inner products P (rows x columns) into kernel values in place; left, right: square norms (rbf)."""
        if self.kind == POLYNOMIAL:
            base = self.gamma * P + self.coef0
            P[:] = 1.0
            power = self.degree
            while power > 0:
                if power % 2:
                    P *= base
                base *= base
                power //= 2
        elif self.kind == RBF:
            P *= -2.0
            P += left[:, None]
            P += right[None, :]
            np.maximum(P, 0.0, out=P)
            P *= -self.gamma
            np.exp(P, out=P)
        elif self.kind == SIGMOID:
            P *= self.gamma
            P += self.coef0
            np.tanh(P, out=P)
