"""Certifier of many pairs of classes at once: the values of certify/kernel.py for each pair, as sums over its rows.

The rows of all pairs stand one after the other, for each pair those of y = +1, then those of y = -1; no class is empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmtool.certify.rounding import DEVIATIONS, FEW, UNIT
from svmtool.kernels.problems import Points
from svmtool.models.kernel import KernelModel
from svmtool.tolerances import SUM_ROUNDOFF, SUM_RTOL


class Pairs(NamedTuple):
    """Problems of pairs of classes, with the solutions that are to be certified.

    counts     i8 (pairs, 2): rows of either class
    upper      f8 (pairs, 2): bound of alpha, or cost of a squared loss; losses: cost of a loss of 1
    total      f8[pairs]: sum of alpha of either class; 0: the sums are equal
    floor      f8[pairs]: the least value that gaps are relative to
    rho, r     f8[pairs]: multipliers as in kernels/problems.py
    apart      f8[pairs]: the largest error of the gradient
    alpha, gradient  f8[rows of all pairs]: the solution, and Qa + p
    """

    counts: np.ndarray
    upper: np.ndarray
    losses: np.ndarray
    total: np.ndarray
    floor: np.ndarray
    rho: np.ndarray
    r: np.ndarray
    apart: np.ndarray
    alpha: np.ndarray
    gradient: np.ndarray

    def sums(self, terms: np.ndarray) -> np.ndarray:
        """Sums over the rows of either class, f8 (pairs, 2)."""
        return self._by_class(np.add, terms)

    def totals(self, terms: np.ndarray) -> np.ndarray:
        """Sums over all rows of a pair, f8[pairs]."""
        return self.sums(terms).sum(axis=1)

    def nearest(self) -> tuple[np.ndarray, np.ndarray]:
        """rho and r without any loss, as KernelProblem.without_losses with two sums."""
        plus, minus = self._by_class(np.minimum, self.gradient).T
        return 0.5 * (plus - minus), 0.5 * (plus + minus) - SUM_ROUNDOFF * (np.abs(plus) + np.abs(minus))

    def of_rows(self, values: np.ndarray) -> np.ndarray:
        """A value of either class, f8 (pairs, 2), for each of its rows."""
        return np.repeat(values.ravel(), self.counts.ravel())

    def signs(self) -> np.ndarray:
        """y of each row."""
        return self.of_rows(np.broadcast_to((1.0, -1.0), self.counts.shape))

    def _by_class(self, function: np.ufunc, terms: np.ndarray) -> np.ndarray:
        lengths = self.counts.ravel()
        return function.reduceat(terms, np.cumsum(lengths) - lengths).reshape(-1, 2)


class Values(NamedTuple):
    """Primal value, dual value, relative gap and KKT violation of each pair, f8[pairs] each."""

    primal: np.ndarray
    dual: np.ndarray
    gap: np.ndarray
    violation: np.ndarray


def hinges(of: Pairs, p: float, squares: bool) -> Values:
    """`certificate_of` C-SVMs (p = -1) and nu-SVMs (p = 0).

    squares: whether the kernel is positive semidefinite, so that primal values are sums of squares, and losses.
    """
    alpha, both = of.alpha, np.stack((of.r + of.rho, of.r - of.rho), axis=1)
    s = of.gradient - of.of_rows(both)
    upper, wide = of.of_rows(of.upper), np.repeat(of.apart, of.counts.sum(axis=1))
    sides = of.sums(alpha)
    moved = sides - of.total[:, None]
    missed, centred, sizes = np.sum(both * moved, axis=1), of.total * both.sum(axis=1), sides.sum(axis=1)

    value = 0.5 * (of.totals(alpha * (s + p)) + centred + missed)
    error = 0.5 * of.apart * sizes
    above, below = np.maximum(s + wide, 0.0), np.maximum(wide - s, 0.0)
    gap = of.totals(alpha * above) + of.totals((of.of_rows(of.losses) - alpha) * below)
    rows = of.counts.sum(axis=1).astype(float)
    growth = UNIT * (np.minimum(rows, DEVIATIONS * np.sqrt(rows)) + FEW)
    off = growth * (0.5 * (of.totals(alpha * (np.abs(s) + abs(p))) + np.abs(centred)) + gap)
    off += UNIT * of.totals(alpha * np.abs(of.gradient)) + np.abs(missed)
    primal = error - value + gap + missed
    fixed = of.total > 0.0
    least = np.where(fixed, -np.inf, 0.0)  # a = 0 is feasible without fixed sums
    uneven = np.where(
        fixed, np.max(np.abs(moved) - SUM_RTOL * sides, axis=1), np.abs(sides @ (1.0, -1.0)) - SUM_RTOL * sizes
    )
    dual = np.where(uneven <= 0.0, np.maximum(-value - error - off, least), least)
    if squares:
        primal = np.where(fixed, primal, np.maximum(primal, 0.0))
    found = np.where(alpha <= 0.0, np.maximum(-s, 0.0), np.where(alpha >= upper, np.maximum(s, 0.0), np.abs(s)))
    violation = np.max(of._by_class(np.maximum, np.where(upper > 0.0, found, 0.0)), axis=1)
    return Values(primal, dual, relative(primal + off, dual, of.floor), violation + of.apart)


def least_squares(of: Pairs, shift: float) -> Values:
    """`certificate_of` least-squares machines; shift: 1 where the bias is regularised, else 0."""
    y, cost = of.signs(), of.of_rows(of.losses)
    rho, wide = (np.repeat(some, of.counts.sum(axis=1)) for some in (of.rho, of.apart))
    s = np.abs(of.gradient - y * rho) + wide

    total, sizes = of.totals(y * of.alpha), of.totals(np.abs(of.alpha))
    value = 0.5 * of.totals(of.alpha * (1.0 - of.gradient)) - 0.5 * shift * total * total
    edge, error = of.rho + total, 0.5 * of.apart * sizes
    gap = of.totals(cost * s * s) + 0.5 * shift * edge * edge
    missed = np.zeros(len(total)) if shift else of.rho * total
    primal, dual = value + error + gap + missed, value - error - np.abs(missed)
    violation = np.max(of._by_class(np.maximum, s), axis=1)
    return Values(primal, dual, relative(primal, dual, of.floor), violation)


def relative(primal: np.ndarray, dual: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """`problems.relative` of many values."""
    difference = np.maximum(primal - dual, 0.0)
    same_sign = (primal * dual > 0.0) | ((dual == 0.0) & (primal > 0.0))
    size = np.where(floor > 0.0, np.maximum(-primal, floor), np.where(same_sign, np.abs(primal), 0.0))
    return np.where(difference == 0.0, 0.0, difference / size)


class Scores:
    """Decision values of rows for the pairs of their class, without rho, by svm-predict's code.

    coef f8 (classes - 1, n): as of a KernelModel; ends: class c has the rows ends[c] .. ends[c + 1] - 1.
    values: number of kernel values that all rows need.
    """

    def __init__(self, points: Points, ends: np.ndarray, coef: np.ndarray):
        self.points, self.ends, self.classes = points, ends, len(ends) - 1
        support = np.flatnonzero(np.any(coef != 0.0, axis=0))
        vectors = points.rows.take(support).as_csr()
        self.values = len(support) * points.n
        self.scores = KernelModel(
            "c_svc", points.kernel, tuple(range(self.classes)), self.classes,
            np.zeros(self.classes * (self.classes - 1) // 2), np.ascontiguousarray(coef[:, support]),
            tuple(np.diff(np.searchsorted(support, ends)).tolist()), vectors.indptr, vectors.indices, vectors.values,
        ).scores  # fmt: skip

    def of_class(self, c: int, chosen: np.ndarray, begins: np.ndarray, f: np.ndarray) -> None:
        """Write those of the rows `chosen` (i8) of class c into f; begins: see ClassPairs."""
        if len(chosen):
            rows = self.points.rows.take(chosen).as_csr()
            found = np.empty((rows.n, self.classes - 1))
            self.scores.decide(rows, rows.n, found, c)
            f[begins[c][:, None] + (chosen - self.ends[c])] = found.T
