"""Two-class problems with dense rows and their optima, by slow methods and proved by the duality gap.

    f(w) = 1/2 w'Rw + sum_i C_i l(target - y_i a_i.w)     a_i = (x_i, bias), target 1, or 0 for the logistic loss

R is the identity; for a free bias its last entry is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from programme import interior_points

PROVED = 1e-12  # relative gap of an optimum


class Loss(NamedTuple):
    """l(xi) and its slope, and its conjugate l*(b) on [0, cap] with slope and curvature; all of arrays."""

    value: Callable
    slope: Callable
    conjugate: Callable
    conjugate_slope: Callable
    conjugate_curvature: Callable
    cap: float = np.inf
    target: float = 1.0


def _power(p: float) -> Loss:
    """max(0, xi)^p; q is the conjugate exponent."""
    if p == 1.0:
        return Loss(
            lambda xi: np.maximum(xi, 0.0),
            lambda xi: 1.0 * (xi > 0),
            np.zeros_like, np.zeros_like, np.zeros_like, 1.0,
        )  # fmt: skip
    q = p / (p - 1.0)
    return Loss(
        lambda xi: np.maximum(xi, 0.0) ** p,
        lambda xi: p * np.maximum(xi, 0.0) ** (p - 1.0),
        lambda b: (p - 1.0) * (b / p) ** q,
        lambda b: (b / p) ** (q - 1.0),
        lambda b: (q - 1.0) / p * (b / p) ** (q - 2.0),
    )


_HUBER = Loss(
    lambda xi: np.where(xi < 2.0, 0.5 * np.maximum(xi, 0.0) ** 2, 2.0 * (xi - 1.0)),
    lambda xi: np.clip(xi, 0.0, 2.0),
    lambda b: 0.5 * b * b,
    lambda b: b,
    np.ones_like,
    2.0,
)


def _times_log(b: np.ndarray) -> np.ndarray:
    return b * np.log(np.maximum(b, 1e-300))


_LOGISTIC = Loss(
    lambda xi: np.logaddexp(0.0, xi),
    lambda xi: np.exp(-np.logaddexp(0.0, -xi)),
    lambda b: _times_log(b) + _times_log(1.0 - b),
    lambda b: np.log(b) - np.log1p(-b),
    lambda b: 1.0 / (b * (1.0 - b)),
    1.0,
    0.0,
)
_LEAST_SQUARES = Loss(
    np.square, lambda xi: 2.0 * xi,
    lambda b: 0.25 * b * b, lambda b: 0.5 * b, lambda b: np.full_like(b, 0.5),
)  # fmt: skip

# The losses of the registry by name; `power` is used for `Lp hinge` only.
LOSSES: dict[str, Callable[[float], Loss]] = {
    "squared hinge": lambda power: _power(2.0),
    "hinge": lambda power: _power(1.0),
    "Lp hinge": _power,
    "modified Huber": lambda power: _HUBER,
    "logistic": lambda power: _LOGISTIC,
    "least squares": lambda power: _LEAST_SQUARES,
}


class Problem(NamedTuple):
    """A two-class problem: X f8[n, d] without the bias feature, y +-1, cost C_i >= 0, and which loss."""

    X: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    bias: float = -1.0
    free: bool = False
    loss: str = "squared hinge"
    power: float = 2.0
    l1: bool = False  # the regulariser is |w|_1

    @property
    def l(self) -> Loss:  # noqa: E743  the letter of the formula
        return LOSSES[self.loss](self.power)

    @property
    def A(self) -> np.ndarray:
        """X with the bias feature."""
        if self.bias < 0:
            return self.X
        return np.hstack([self.X, np.full((len(self.X), 1), self.bias)])

    @property
    def R(self) -> np.ndarray:
        """The diagonal of the regulariser."""
        R = np.ones(self.A.shape[1])
        if self.free:
            R[-1] = 0.0
        return R

    def slack(self, w: np.ndarray) -> np.ndarray:
        return self.l.target - self.y * (self.A @ w)

    def value(self, w: np.ndarray) -> float:
        regular = float(self.R @ np.abs(w)) if self.l1 else 0.5 * float(w @ (self.R * w))
        return regular + float(self.cost @ self.l.value(self.slack(w)))

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """The gradient of f; a subgradient on the breakpoint of a hinge, the shortest on those of |w|_1."""
        smooth = -self.A.T @ (self.y * self.dual_point(w))
        if not self.l1:
            return self.R * w + smooth
        at_zero = np.sign(smooth) * np.maximum(np.abs(smooth) - self.R, 0.0)
        return np.where(w == 0.0, at_zero, smooth + self.R * np.sign(w))

    def dual_point(self, w: np.ndarray) -> np.ndarray:
        """The slopes C_i l'(xi_i): the dual's maximiser at the minimiser, except for rows on a breakpoint."""
        return self.cost * self.l.slope(self.slack(w))

    def projected_gradients(self, a: np.ndarray) -> np.ndarray:
        """Projected gradient of the minimised dual at 0 <= a <= C cap."""
        g = self.l.conjugate_slope(a / self.cost) - self.slack(self.weights(a))
        g = np.where(a > 0, g, np.minimum(g, 0.0))
        return np.where(a < self.cost * self.l.cap, g, np.maximum(g, 0.0))

    def weights(self, a: np.ndarray) -> np.ndarray:
        """sum_i a_i y_i a_i, with 0 for a free bias."""
        return self.R * (self.A.T @ (a * self.y))

    def dual_value(self, a: np.ndarray) -> float:
        """D(a): no larger than the optimum for 0 <= a <= C cap (cost > 0 everywhere; sum a y = 0 for a free bias)."""
        v = self.weights(a)
        square = 0.0 if self.l1 else float(v @ v)
        return self.l.target * float(np.sum(a)) - 0.5 * square - float(self.cost @ self.l.conjugate(a / self.cost))


class Optimum(NamedTuple):
    """The minimiser w, the dual's maximiser a (0 where the cost is 0), and their common value."""

    w: np.ndarray
    a: np.ndarray
    value: float


_known: dict[tuple, Optimum] = {}


def optimum(p: Problem) -> Optimum:
    """The optimum of any loss, to a relative gap of PROVED; cached for each problem."""
    key = (*(part.tobytes() + bytes(str(part.shape), "ascii") for part in p[:3]), *p[3:])
    if key not in _known:
        _known[key] = _found(p)
    return _known[key]


def minimiser(p: Problem) -> np.ndarray:
    return optimum(p).w.copy()


def _found(p: Problem) -> Optimum:
    used = np.flatnonzero(p.cost > 0)
    a = np.zeros(len(p.y))
    if len(used) < len(p.y):
        part = optimum(p._replace(X=p.X[used], y=p.y[used], cost=p.cost[used]))
        a[used] = part.a
        return Optimum(part.w, a, part.value)
    if p.free and len(set(p.y)) < 2:  # the bias alone satisfies all rows
        return Optimum(np.append(np.zeros(p.X.shape[1]), p.y[:1] / p.bias), a, 0.0)
    if p.loss == "least squares":  # one linear system
        B = 2.0 * p.cost[:, None] * p.A
        w = np.linalg.solve(np.diag(p.R) + p.A.T @ B, B.T @ p.y)
        a = p.dual_point(w)
        best = Optimum(w, a, p.value(w))
        assert best.value - p.dual_value(a) <= PROVED * best.value, "the oracle itself failed"
        return best
    best = Optimum(np.zeros(p.A.shape[1]), a, np.inf)
    for w, a in _of_l1(p) if p.l1 else of_squares(p, p.l.target):
        feasible = not p.free or abs(float(a @ p.y)) <= 1e-13 * float(np.sum(a))
        if feasible and p.value(w) - p.dual_value(a) < best.value - p.dual_value(best.a):
            best = Optimum(w, a, p.value(w))
            if best.value - p.dual_value(a) <= 0.01 * PROVED * best.value:
                break
    assert best.value - p.dual_value(best.a) <= PROVED * best.value, "the oracle itself failed"
    return best


def of_squares(p: Problem, target: np.ndarray | float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of weights and a dual point that converge to the optimum: the dual's, whose multiplier is a free bias.

    min 1/2 a'Ka - target'a + sum C_i l*(a_i / C_i)   with 0 <= a_i <= U_i, and sum a_i y_i = 0 for a free bias
    """
    C, l = p.cost, p.l  # noqa: E741
    Z = (p.A * p.R) * p.y[:, None]
    K = Z @ Z.T
    for a, v in interior_points(
        lambda a: K @ a - target + l.conjugate_slope(a / C),
        lambda a: K + np.diag(l.conjugate_curvature(a / C) / C),
        C * l.cap, 0.5 * C * min(l.cap, 1.0), np.atleast_2d(p.y)[: int(p.free)], np.zeros(int(p.free)), C,
    ):  # fmt: skip
        w = p.weights(a)
        if p.free:
            w[-1] = v[0] / p.bias
        yield w, a


def _of_l1(p: Problem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """As above for |w|_1: the multipliers of |sum_i a_i y_i a_ij| <= 1, written with a t_j between 0 and 2, are w.

    min -1'a + sum C_i l*(a_i / C_i)   with sum_i a_i y_i a_ij + t_j = 1, and sum a_i y_i = 0 for a free bias
    """
    C, l, n = p.cost, p.l, len(p.y)  # noqa: E741
    regular = np.flatnonzero(p.R)
    E = np.hstack([(p.y[:, None] * p.A).T, np.eye(len(p.R))[:, regular]])
    rest = np.zeros(len(regular))
    for x, v in interior_points(
        lambda x: np.append(l.conjugate_slope(x[:n] / C) - l.target, rest),
        lambda x: np.diag(np.append(l.conjugate_curvature(x[:n] / C) / C, rest)),
        np.append(C * l.cap, rest + 2.0), np.append(0.5 * C * min(l.cap, 1.0), rest + 1.0), E, p.R,
        np.append(C, rest + 1.0),
    ):  # fmt: skip
        a, t, w = x[:n], x[n:], v.copy()
        w[regular[(t > 0.0) & (t < 2.0)]] = 0.0
        if p.free:  # correct sum a y = 0 for rounding
            up, down = (max(float(np.sum(a[p.y == s])), 1e-300) for s in (1.0, -1.0))
            a = a * min(up, down) / np.where(p.y > 0, up, down)
        yield w, a / max(1.0, float(np.max(np.abs(p.weights(a)), initial=0.0)))
