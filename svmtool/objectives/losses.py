"""Losses of a row as functions of its slack xi, in numpy: value, slope and conjugate.

The certifier (certify/linear.py) uses these instead of the solvers' compiled loops.  A loss is convex, its slope lies
in [floor, cap], and its conjugate is l*(b) = max over xi of b xi - l(xi).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Loss(ABC):
    """A convex loss.  Arguments and results are f8[n], per unit of cost.

    target: the slack of a row is this minus its margin.  degree: q if l*(b) is proportional to b^q, 1 if l* is 0 on
    [0, cap], else None; certificates rely on it.  power, hinge_power: p if the loss is max(0, xi)^p; a loss that is no
    power of the hinge does not set them.
    """

    floor, cap, target = 0.0, np.inf, 1.0
    degree: float | None = None
    power = 2.0
    hinge_power: float | None = None

    @abstractmethod
    def value(self, xi: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def slope(self, xi: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def conjugate(self, b: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def conjugate_slope(self, b: np.ndarray) -> np.ndarray: ...


class SquaredHingeLoss(Loss):
    """max(0, xi)^2"""

    degree = hinge_power = 2.0

    def value(self, xi):
        return np.square(np.maximum(xi, 0.0))

    def slope(self, xi):
        return 2.0 * np.maximum(xi, 0.0)

    def conjugate(self, b):
        return 0.25 * b * b

    def conjugate_slope(self, b):
        return 0.5 * b


class HingeLoss(Loss):
    """max(0, xi)"""

    cap, degree, power, hinge_power = 1.0, 1.0, 1.0, 1.0

    def value(self, xi):
        return np.maximum(xi, 0.0)

    def slope(self, xi):
        return (xi > 0.0).astype(np.float64)

    def conjugate(self, b):
        return np.zeros_like(b)

    def conjugate_slope(self, b):
        return np.zeros_like(b)


class PowerLoss(Loss):
    """max(0, xi)^p, p > 1; infinite where it overflows"""

    degree: float

    def __init__(self, p: float):
        self.power, self.degree = p, p / (p - 1.0)

    def value(self, xi):
        with np.errstate(over="ignore"):
            return np.maximum(xi, 0.0) ** self.power

    def slope(self, xi):
        with np.errstate(over="ignore"):
            return self.power * np.maximum(xi, 0.0) ** (self.power - 1.0)

    def conjugate(self, b):
        return (self.power - 1.0) * (b / self.power) ** self.degree

    def conjugate_slope(self, b):
        return (b / self.power) ** (self.degree - 1.0)


class ModifiedHuberLoss(Loss):
    """0 for xi <= 0, xi^2 / 2 for 0 < xi < 2, 2 (xi - 1) for xi >= 2 (MFN paper, Eq. 21)"""

    cap = degree = 2.0

    def value(self, xi):
        b = self.slope(xi)
        return b * xi - 0.5 * b * b

    def slope(self, xi):
        return np.clip(xi, 0.0, 2.0)

    def conjugate(self, b):
        return 0.5 * b * b

    def conjugate_slope(self, b):
        return b


class LogisticLoss(Loss):
    """log(1 + exp(xi)), xi = -y_i w.x_i"""

    cap, target = 1.0, 0.0

    def value(self, xi):
        return np.logaddexp(0.0, xi)

    def slope(self, xi):
        return np.exp(-np.logaddexp(0.0, -xi))

    def conjugate(self, b):
        less = np.minimum(b, 1.0 - b)  # the other's logarithm has no digits of its own where this is small
        return _times_log(less) + (1.0 - less) * np.log1p(-less)

    def conjugate_slope(self, b):
        b = np.clip(b, 1e-300, 1.0 - 1e-16)
        return np.log(b) - np.log1p(-b)


def _times_log(b: np.ndarray) -> np.ndarray:
    """b log b, 0 for b <= 0"""
    return b * np.log(np.maximum(b, 1e-300))


class LeastSquaresLoss(Loss):
    """xi^2"""

    floor, degree = -np.inf, 2.0

    def value(self, xi):
        return np.square(xi)

    def slope(self, xi):
        return 2.0 * xi

    def conjugate(self, b):
        return 0.25 * b * b

    def conjugate_slope(self, b):
        return 0.5 * b


LOSSES: dict[str, type[Loss]] = {
    "hinge": HingeLoss, "squared hinge": SquaredHingeLoss, "modified Huber": ModifiedHuberLoss,
    "logistic": LogisticLoss, "least squares": LeastSquaresLoss,
}  # fmt: skip


def of(name: str, p: float) -> Loss:
    """The loss of this name in the registry; p is the power of `Lp hinge`."""
    if name != "Lp hinge":
        return LOSSES[name]()
    if p == 1.0:
        return HingeLoss()
    return SquaredHingeLoss() if p == 2.0 else PowerLoss(p)
