"""Certifier of linear models on rows in blocks; computes the values of certify/linear.py in passes over the blocks.

It shares nothing with the solver: margins, losses and products with the rows are computed anew.  One difference: where
a dual point does not determine a free bias, its multiplier is the mean over the free rows, not the median.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svmtool.certify.linear import (
    Certificate,
    conjugates,
    loss_off,
    multiplier_between,
    multiplier_bounds,
    value_of_multiple,
    violations,
)
from svmtool.certify.rounding import Products, growth
from svmtool.data.row_storage import Rows
from svmtool.objectives.duality import balancing
from svmtool.objectives.losses import Loss
from svmtool.tolerances import SAME_RTOL

if TYPE_CHECKING:
    from svmtool.distributed.collective import Collective


class BlockCertifier:
    """The certifier's sums over the rows of one block; costs are > 0."""

    def __init__(self, rows: Rows, y: np.ndarray, cost: np.ndarray, target: np.ndarray | None):
        self.rows, self.y, self.cost = rows, y, cost
        self.target = np.ones(rows.n) if target is None else target
        self.candidate: Any = None  # f8[n]

    def _slack(self, w: np.ndarray) -> np.ndarray:
        z = np.empty(self.rows.n)
        self.rows.margins(w, self.y, z)
        return self.target - z

    def primal(self, loss: Loss, w: np.ndarray) -> np.ndarray:
        """The sum of losses at w, and a bound of its rounding."""
        self.loss, products = loss, Products(self.rows, bool(np.count_nonzero(w) <= 1))  # a bias alone: exact
        self._xi, apart = products.slacks(w, self.y, self.target)
        value = float(self.cost @ loss.value(self._xi))
        return np.array([value, loss_off(loss, self.cost, self._xi, apart, value)])

    def slopes(self) -> None:
        """Set the candidate dual point to a_i = C_i l'(xi_i)."""
        self.candidate = self.cost * self.loss.slope(self._xi)

    def sides(self) -> np.ndarray:
        """Sums of the candidate over the rows of each sign, and of the costs, and the number of rows."""
        a = self.candidate
        return np.array([np.sum(a[self.y > 0]), np.sum(a[self.y < 0]), np.sum(self.cost), len(a)])

    def product(self, up: float, down: float, shift: float) -> tuple[np.ndarray, np.ndarray]:
        """Set a = `up` or `down` times the candidate, less cost y shift.

        Returns sum a y x, and five sums: of target a and of the conjugates, each with a bound of its rounding, and
        of |a| |x|.
        """
        a, cost = self.candidate, self.cost
        self._at_zero = a <= 0 if self.loss.floor == 0.0 else np.zeros(len(a), np.bool_)
        self._at_cap = a >= cost * self.loss.cap if self.loss.cap < np.inf else np.zeros(len(a), np.bool_)
        self._a = a = a * np.where(self.y > 0, up, down) - self.cost * self.y * shift
        sizes = float(np.abs(a) @ self.rows.lengths)
        sums = *Products(self.rows).dot(self.target, a), *conjugates(self.loss, cost, a / cost), sizes
        return self.rows.transpose_product(a * self.y), np.array(sums)

    def largest(self) -> float:
        """max |a_i| / C_i of this block."""
        return float(np.abs(self._a / self.cost).max(initial=0.0))

    def conjugates(self, s: float) -> np.ndarray:
        """The sum of conjugates at s a, and a bound of its rounding."""
        return np.array(conjugates(self.loss, self.cost, s * self._a / self.cost))

    def free(self, v: np.ndarray | None) -> np.ndarray:
        """Sum of y times the KKT violations of the free rows, and their number; v: sum a y x, None for |w|_1.

        With |w|_1 a dual point does not determine the slacks: those at w are used.
        """
        self._g = self.loss.conjugate_slope(self._a / self.cost) - (self._xi if v is None else self._slack(v))
        free = ~(self._at_zero | self._at_cap)
        return np.array([float(np.sum((self._g * self.y)[free])), int(np.count_nonzero(free))])

    def bounds(self) -> tuple[float, float]:
        """The multipliers of the bias that the rows at a bound ask for; see multiplier_bounds."""
        return multiplier_bounds(self._g * self.y, self.y, self._at_zero, self.cost > 0.0)

    def violation(self, bias: float) -> float:
        """The largest KKT violation of this block, given the multiplier of the bias."""
        return float(violations(self._g - self.y * bias, self._at_zero, self._at_cap).max(initial=0.0))


def certify(ranks: Collective, loss: Loss, w: np.ndarray, free_bias: bool, kept: bool, l1: bool = False) -> Certificate:
    """Certify w (length d); kept: whether the blocks hold a dual point to try as well; l1: see Certifier."""
    inner = w[:-1] if free_bias else w
    regular = float(np.sum(np.abs(inner))) if l1 else 0.5 * float(inner @ inner)
    value, off = ranks.sum("certifier", "primal", loss, w).tolist()
    primal, off = regular + value, off + growth(len(w)) * regular
    # at a breakpoint of the loss the slope does not determine a_i
    best, candidates = None, [("certifier", "slopes")] * (not kept or loss.degree != 1.0) + [("certify_kept",)] * kept
    for candidate in candidates:
        ranks.defer(*candidate)
        dual, less, violation = _dual_value(ranks, loss, abs(float(w[-1])) if free_bias else None, l1)
        less = min(less, max(dual, 0.0))  # a = 0 has the value 0
        if best is None or dual - less > best.dual:
            best = Certificate(primal, dual, violation, (off, less))
    assert best is not None
    return best


def _dual_value(ranks: Collective, loss: Loss, bias: float | None, l1: bool) -> tuple[float, float, float]:
    """See Certifier._dual_value.  bias: the size of a free one, at which the rounding of sum a y counts, else None."""
    free_bias = bias is not None
    up, down, cost, rows = ranks.sum("certifier", "sides").tolist()
    factors: tuple[float, ...] = 1.0, 1.0, 0.0
    if free_bias and loss.floor == 0.0 and up != down:  # sum a y = 0 by a multiple of either side, as a must be >= 0
        factors = *balancing(up, down), 0.0
    elif free_bias and loss.floor != 0.0 and cost > 0.0:  # or by a shift
        factors = 1.0, 1.0, (up - down) / cost
    v, sums = ranks.sum("certifier", "product", *factors)
    if free_bias:
        v[-1] = 0.0
    linear, linear_off, *whole, sizes = sums.tolist()
    linear_off += growth(int(rows)) * (bias or 0.0) * (up + down)
    largest = max(ranks.gather("certifier", "largest"), default=0.0)
    largest = 0.0 if largest <= SAME_RTOL * abs(factors[2]) else largest

    def conjugates_at(s: float) -> tuple[float, float]:
        return tuple(whole if s == 1.0 else ranks.sum("certifier", "conjugates", s).tolist())

    of_v = v, growth(int(rows)) * sizes
    dual, less, _ = value_of_multiple(loss, (linear, linear_off), of_v, largest, conjugates_at, l1)
    total, free = ranks.sum("certifier", "free", None if l1 else v).tolist()
    multiplier = total / free if free_bias and free else 0.0
    if free_bias and not free:
        low, high = zip(*ranks.gather("certifier", "bounds"), strict=True)
        multiplier = multiplier_between(max(low), min(high))
    return dual, less, max(ranks.gather("certifier", "violation", multiplier), default=0.0)
