"""Losses of one row as functions of its slack xi, in plain numpy: value, slope and conjugate.

The judge (certify.py) uses these and nothing of the solvers' loops.  A loss is convex and not decreasing, 0 for
xi <= 0; its slope lies in [0, cap]; its conjugate l*(b) = max over xi of b xi - l(xi) is a power of b on [0, cap].
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Loss(ABC):
    """What the judge asks.  Arrays are of length n, per unit of cost.

    degree: the q of l*(b) proportional to b^q (1 where l* is 0 on [0, cap]); power: the p of a power of the hinge.
    """

    cap = np.inf
    degree = 2.0
    power = 2.0

    @abstractmethod
    def value(self, xi: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def slope(self, xi: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def conjugate(self, b: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def conjugate_slope(self, b: np.ndarray) -> np.ndarray: ...


class SquaredHinge(Loss):
    """max(0, xi)^2"""

    def value(self, xi):
        return np.square(np.maximum(xi, 0.0))

    def slope(self, xi):
        return 2.0 * np.maximum(xi, 0.0)

    def conjugate(self, b):
        return 0.25 * b * b

    def conjugate_slope(self, b):
        return 0.5 * b


class Hinge(Loss):
    """max(0, xi)"""

    cap, degree, power = 1.0, 1.0, 1.0

    def value(self, xi):
        return np.maximum(xi, 0.0)

    def slope(self, xi):
        return np.where(xi > 0.0, 1.0, 0.0)

    def conjugate(self, b):
        return np.zeros_like(b)

    def conjugate_slope(self, b):
        return np.zeros_like(b)


class Power(Loss):
    """max(0, xi)^p, 1 < p < 2"""

    def __init__(self, p: float):
        self.power, self.degree = p, p / (p - 1.0)

    def value(self, xi):
        return np.maximum(xi, 0.0) ** self.power

    def slope(self, xi):
        return self.power * np.maximum(xi, 0.0) ** (self.power - 1.0)

    def conjugate(self, b):
        return (self.power - 1.0) * (b / self.power) ** self.degree

    def conjugate_slope(self, b):
        return (b / self.power) ** (self.degree - 1.0)


class ModifiedHuber(Loss):
    """0, xi^2 / 2, 2 (xi - 1) for xi <= 0, xi < 2, beyond (MFN paper, Eq. 21)"""

    cap = 2.0

    def value(self, xi):
        b = self.slope(xi)
        return b * xi - 0.5 * b * b

    def slope(self, xi):
        return np.clip(xi, 0.0, 2.0)

    def conjugate(self, b):
        return 0.5 * b * b

    def conjugate_slope(self, b):
        return b


def of(name: str, p: float) -> Loss:
    """The loss that a row of the registry names; p is the power of `Lp hinge`."""
    if name == "Lp hinge":
        return Hinge() if p == 1.0 else SquaredHinge() if p == 2.0 else Power(p)
    return {"hinge": Hinge, "squared hinge": SquaredHinge, "modified Huber": ModifiedHuber}[name]()
