"""Objectives of small problems in 60 digits, and points that are nearer to their minima than double numbers can be.

    P(w) = R(w) + sum_i C_i l(t_i - y_i x_i.w)     R: 1/2 |w|^2 over the features `regular`, or |w|_1

`below` is an upper bound of the minimum, whatever its method: P at the best point that it finds.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np

DIGITS = 60
CONTEXT = Context(prec=DIGITS, Emax=10**9, Emin=-(10**9))
NEAR = Decimal("1e-6")  # relative size of a slack that may be 0 at the minimum
STEPS, HALVINGS = 60, 40
ZERO, ONE, HALF = Decimal(0), Decimal(1), Decimal("0.5")
Vector = list[Decimal]


def _power(p: float) -> tuple[Callable, Callable, Callable]:
    p = Decimal(p)
    return (
        lambda xi: xi**p if xi > 0 else ZERO,
        lambda xi: p * xi ** (p - 1) if xi > 0 else ZERO,
        lambda xi: p * (p - 1) * xi ** (p - 2) if xi > 0 else ZERO,
    )


def _sigmoid(xi: Decimal) -> Decimal:
    return ONE / (ONE + (-xi).exp()) if xi > 0 else xi.exp() / (ONE + xi.exp())


def _log1p_exp(xi: Decimal) -> Decimal:
    e = (-abs(xi)).exp()
    tail = (ONE + e).ln() if e > Decimal("1e-20") else e - e * e / 2 + e * e * e / 3
    return max(xi, ZERO) + tail


# value, slope and curvature of each loss
LOSSES: dict[str, tuple[Callable, Callable, Callable]] = {
    "hinge": (lambda xi: max(xi, ZERO), lambda xi: ONE if xi > 0 else ZERO, lambda xi: ZERO),
    "squared hinge": _power(2.0),
    "least squares": (lambda xi: xi * xi, lambda xi: 2 * xi, lambda xi: Decimal(2)),
    "modified Huber": (
        lambda xi: ZERO if xi <= 0 else (xi * xi / 2 if xi < 2 else 2 * (xi - 1)),
        lambda xi: min(max(xi, ZERO), Decimal(2)),
        lambda xi: ONE if 0 < xi < 2 else ZERO,
    ),
    "logistic": (_log1p_exp, _sigmoid, lambda xi: _sigmoid(xi) * _sigmoid(-xi)),
}


class Exact(NamedTuple):
    """rows (f8[n, d], bias feature included), y, cost, target (f8[n]); regular: bool[d]; l1: |w|_1."""

    rows: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    target: list[Decimal]
    loss: str
    power: float
    regular: np.ndarray
    l1: bool = False

    @property
    def formulas(self) -> tuple[Callable, Callable, Callable]:
        return LOSSES[self.loss] if self.loss != "Lp hinge" else _power(self.power)

    def slacks(self, w: Vector) -> Vector:
        return [
            t - int(y) * dot(list(map(Decimal, x)), w)
            for x, y, t in zip(self.rows.tolist(), self.y, self.target, strict=True)
        ]

    def primal(self, w: Vector) -> Decimal:
        with localcontext(CONTEXT):
            value = self.formulas[0]
            inner = [v for v, r in zip(w, self.regular, strict=True) if r]
            regular = sum(map(abs, inner), ZERO) if self.l1 else HALF * dot(inner, inner)
            losses = zip(self.cost.tolist(), self.slacks(w), strict=True)
            return regular + sum((Decimal(c) * value(xi) for c, xi in losses), ZERO)

    def below(self, w: Vector) -> Decimal:
        """The least P that is found from w (double numbers will do) on."""
        with localcontext(CONTEXT):
            best = self.primal(w)
            for step in (self._newton, self._kinks):
                for _ in range(STEPS):
                    d = step(w)
                    w, value = self._shorter(w, d, best) if d else (w, best)
                    if not value < best:
                        break
                    best = value
            return best

    def _shorter(self, w: Vector, d: Vector, best: Decimal) -> tuple[Vector, Decimal]:
        t = ONE
        for _ in range(HALVINGS):
            new = [a + t * b for a, b in zip(w, d, strict=True)]
            value = self.primal(new)
            if value < best:
                return new, value
            t *= HALF
        return w, best

    def _newton(self, w: Vector) -> Vector | None:
        """Newton's step, for |w|_1 over the weights that are not 0."""
        _, slope, curvature = self.formulas
        used = [j for j in range(len(w)) if not self.l1 or w[j] != 0]
        if not used:
            return None
        xi = self.slacks(w)
        g = [(ONE.copy_sign(w[j]) if self.l1 else w[j]) if self.regular[j] else ZERO for j in used]
        H = [[ONE if i == j and self.regular[i] and not self.l1 else ZERO for j in used] for i in used]
        for x, y, c, s in zip(self.rows.tolist(), self.y, self.cost.tolist(), xi, strict=True):
            z = [Decimal(x[j]) for j in used]
            a, h = Decimal(c) * slope(s) * int(y), Decimal(c) * curvature(s)
            for p in range(len(used)):
                g[p] -= a * z[p]
                for q in range(len(used)):
                    H[p][q] += h * z[p] * z[q]
        d = solved(H, [-v for v in g])
        whole = [ZERO] * len(w)
        for j, v in zip(used, d, strict=True):
            whole[j] = v
        return whole

    def _kinks(self, w: Vector) -> Vector | None:
        """The step to the minimum over w with the rows near slack 0 at slack 0, for the hinge and 1/2 |w|^2."""
        if self.l1 or not (self.loss == "hinge" or self.power == 1.0):
            return None
        size = dot(w, w).sqrt()
        xi, X = self.slacks(w), [[Decimal(v) for v in x] for x in self.rows.tolist()]
        near = [i for i, x in enumerate(X) if abs(xi[i]) <= NEAR * (abs(self.target[i]) + size * dot(x, x).sqrt())]
        d, m = len(w), len(near)
        M = [[ZERO] * (d + m) for _ in range(d + m)]
        right = [ZERO] * (d + m)
        for j in range(d):
            M[j][j] = ONE if self.regular[j] else ZERO
        for i, x in enumerate(X):
            if i not in near and xi[i] > 0:
                for j in range(d):
                    right[j] += Decimal(float(self.cost[i])) * int(self.y[i]) * x[j]
        for p, i in enumerate(near):
            for j in range(d):
                M[d + p][j] = M[j][d + p] = X[i][j]
            right[d + p] = int(self.y[i]) * self.target[i]
        new = solved(M, right)[:d]
        return [a - b for a, b in zip(new, w, strict=True)]


def dot(a: Vector, b: Vector) -> Decimal:
    return sum((x * y for x, y in zip(a, b, strict=True)), ZERO)


def solved(M: list[Vector], right: Vector) -> Vector:
    """A solution of M x = right, with 0 for unknowns without a pivot."""
    n = len(right)
    A = [[*row, b] for row, b in zip(M, right, strict=True)]
    scale = [max(map(abs, row[:n]), default=ZERO) or ONE for row in A]
    free = list(range(n))
    pivots: list[tuple[int, int]] = []
    for column in range(n):
        i = max(free, key=lambda r: abs(A[r][column]) / scale[r], default=None)
        if i is None or abs(A[i][column]) <= scale[i] * Decimal("1e-45"):
            continue
        free.remove(i)
        pivots.append((i, column))
        for r in range(n):
            if r != i and A[r][column]:
                f = A[r][column] / A[i][column]
                A[r] = [a - f * b for a, b in zip(A[r], A[i], strict=True)]
    x = [ZERO] * n
    for i, column in pivots:
        x[column] = A[i][n] / A[i][column]
    return x
