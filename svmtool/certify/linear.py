"""Certifier of linear models: an upper bound of the distance to the optimum; shares no code with the solvers' loops.

    P(w) = 1/2 w'Rw + sum_i C_i l(xi_i),   xi_i = target_i - y_i x_i.w
    D(a) = sum_i target_i a_i - 1/2 |v|^2 - sum_i C_i l*(a_i / C_i),   0 <= a_i <= C_i cap,   v = sum_i a_i y_i x_i

or, with |w|_1 in place of 1/2 w'Rw, D without 1/2 |v|^2 for a with all |v_j| <= 1.

D(a) <= min P for each feasible a: (P - D) / P is an upper bound of the relative error of P.  Without a dual point from
the solver the slopes a_i = C_i l'(xi_i) (MFN paper, Section 4.7) and their best multiple are used.  A free bias needs
sum_i a_i y_i = 0, which is reached by scaling down the rows of the sign with the larger sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from svmtool.certify.points import balanced, best_factor, shifted
from svmtool.certify.radius import DualSum, offset, radius
from svmtool.certify.rounding import FEW, UNIT, Products, growth
from svmtool.data.row_storage import Rows
from svmtool.objectives.losses import Loss
from svmtool.tolerances import EPS, FINE_RTOL, ROUNDOFF_GAP, SAME_RTOL

NO_NUMBER = "rounding or overflow leaves no digit"
VAGUE_SHARE, VAGUE_GAP = 1e-3, ROUNDOFF_GAP  # rounding decides nothing up to this share of the gap, or of one asked for


class Certificate:
    """Primal and dual value of a result, and what follows from them.

    Attributes
    ----------
    primal, dual : float
        The value P, and the value D of a dual point less the bound of its rounding.
    gap : float
        (P - D) / P; it counts the bounds of the rounding of both, and is never smaller than rounding allows.
    violation : float
        Largest KKT violation of the dual point; infinite where none was computed.
    off : tuple of float
        Bounds of the rounding of P and D.
    excess : float
        P - D with both bounds.
    size : float
        What the gap is relative to, where that is not P.
    why_not : str
        Why there is no gap, which is infinite or nan then: a run without one has not converged.
    sampled : str
        A statement for the user if part of it rests on a sample, else empty.
    radii : tuple of float
        Of each problem a bound of |w - w*| and, relative to |x|, of decision values, see radius.py; empty: none.
    offsets : tuple of float
        Of each problem with a free bias a bound of its distance from the optimum's, which adds to that of decision
        values; empty: no bias is free.
    seen : tuple of ndarray and float, or None
        For a kernel problem, the gradient (m,) used and its largest error.
    point : ndarray (n,) or (n, problems), or None
        The feasible dual point with the value `dual`, where the certifier keeps it.
    """

    sampled = why_not = ""
    seen: tuple[np.ndarray, float] | None = None
    radii: tuple[float, ...] = ()
    offsets: tuple[float, ...] = ()
    point: np.ndarray | None = None

    def __init__(
        self, primal: float, dual: float, violation: float, off: tuple[float, float] = (0.0, 0.0),
        size: float | None = None,
    ):  # fmt: skip
        self.primal, self.dual, self.violation, self.off = primal, dual - off[1], violation, off
        self.size = primal if size is None else size
        self.excess = excess = primal - self.dual + off[0]
        if excess < 0.0:
            self.gap, self.why_not = np.inf, "the dual value is above the primal one, an error of svmtool"
        elif excess == 0.0:
            self.gap = 0.0
        else:  # nan stays nan
            self.gap = excess / self.size if self.size > 0.0 else excess * np.inf
            if self.dual >= 0.0 and size is None and 1.0 < self.gap < np.inf:
                self.gap = 1.0  # with a dual value of 0 or more: rounding alone is beyond

    def vague(self, gap: float | None) -> bool:
        """Whether rounding has a share that matters of P, or of the gap, given the gap that was asked for."""
        least, off = VAGUE_GAP if gap is None else gap, self.off[0]
        return off > FINE_RTOL * self.size or sum(self.off) > VAGUE_SHARE * max(
            self.primal - self.dual, least * self.size
        )

    def bounded_by(self, other: Certificate) -> Certificate:
        """This one, with the dual value of the other if that is larger: a lower bound is valid for any weights."""
        if not other.dual > self.dual:
            return self
        found = Certificate(self.primal, other.dual, self.violation, (self.off[0], 0.0), self.size)
        found.radii, found.offsets = self.radii, self.offsets
        found.point = other.point
        return found

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """radii, and offsets with 0 where no bias is free."""
        return self.radii, self.offsets or (0.0,) * len(self.radii)

    @property
    def kind(self) -> str:
        """`Certified`, or `Estimated` if part of the computation rests on a sample."""
        return "Estimated" if self.sampled else "Certified"

    def __repr__(self) -> str:
        return f"<Certificate: {self.line()}>"

    def line(self) -> str:
        """The last line of a training run."""
        sampled = f"; {self.sampled}" if self.sampled else ""
        gap = f"{self.gap:.3g}" if math.isfinite(self.gap) else f"none: {self.why_not or NO_NUMBER}"
        values = f"primal {self.primal:.9g}, dual {_below(self.dual)}, KKT violation {self.violation:.3g}{sampled}"
        return f"{self.kind} relative gap = {gap} ({values})"

    def short(self) -> str:
        """`certified relative gap 0.1`, or why there is none."""
        gap = f"{self.gap:.2g}" if math.isfinite(self.gap) else f"none: {self.why_not or NO_NUMBER}"
        return f"{self.kind.lower()} relative gap {gap}"


def _below(x: float) -> str:
    """x in nine digits, rounded down: a bound must stay one."""
    text = f"{x:.9g}"
    if float(text) > x > -np.inf:
        text = f"{x - 0.5 * 10.0 ** (math.floor(math.log10(abs(x))) - 8):.9g}"
    return text


class Certifier:
    """Certifies weights for one problem: rows, loss, signs y (+-1), cost, targets (f8[n] each; None: 1), free bias.

    l1: whether the regulariser is |w|_1.  gap: the one that was asked for, if any.  keep: whether certificates keep
    their dual points.
    """

    def __init__(
        self, rows: Rows, loss: Loss, y: np.ndarray, cost: np.ndarray, free_bias: bool = False,
        target: np.ndarray | None = None, l1: bool = False, gap: float | None = None, keep: bool = False,
    ):  # fmt: skip
        self.l1, self.gap, self.keep = l1, gap, keep
        self.rows, self.loss, self.y, self.free_bias = rows, loss, y, free_bias
        self.cost = np.maximum(cost, 0.0)
        self.all_used = bool((cost > 0).all())
        self.target = 1.0 if target is None else target
        self.target_lost: np.ndarray | float = 0.0  # rounding errors of the targets, where they are known

    def certify(self, w: np.ndarray, alpha: np.ndarray | None = None) -> Certificate:
        """Certify w (length d); alpha (length n, >= 0) is a further dual point to use."""
        return sharp(lambda twofold: self._certify(w, alpha, Products(self.rows, twofold)), self.gap)

    def _certify(self, w: np.ndarray, alpha: np.ndarray | None, products: Products) -> Certificate:
        xi, apart = products.slacks(w, self.y, self.target, self.target_lost)
        regular, value = self._regular(w), float(self.cost @ self.loss.value(xi))
        off = growth(len(w)) * regular + loss_off(self.loss, self.cost, xi, apart, value)
        best, sums, of_best = None, None, None
        candidates = [] if alpha is None else [alpha]
        if alpha is None or self.loss.degree != 1.0:  # at a breakpoint of a loss its slope is not determined
            candidates.insert(0, self.cost * self.loss.slope(xi))
        for candidate in candidates:
            v: DualSum | None
            with np.errstate(over="ignore", invalid="ignore"):
                dual, less, violation, v, point = self._dual_value(candidate, xi, products)
            if not dual - less >= 0.0:  # overflow, or nothing but rounding: a = 0 is a dual point of value 0
                dual = less = min(less, max(dual, 0.0)) if math.isfinite(dual) else 0.0
                v, point = None, np.zeros(len(candidate)) if self.keep else None
            if best is None or dual - less > best.dual:
                best = Certificate(regular + value, dual, np.inf, (off, less))
                best.point, sums, of_best = point, v, violation
        assert best is not None and of_best is not None
        best.violation = of_best()
        self._bound(best, w, sums, xi, apart)
        return best

    def primal(self, w: np.ndarray) -> float:
        """P(w); w of length d."""
        return self._primal(w, self._slack(w))

    def certify_untouched(self, primal: float) -> Certificate:
        """The certificate of weights with that P by the dual point 0; quick, since a limit may leave many problems."""
        rest = self.target - float(self.loss.conjugate_slope(np.zeros(1))[0])
        rest = np.broadcast_to(rest if self.loss.floor == 0.0 else np.abs(rest), self.cost.shape)
        found = Certificate(primal, 0.0, max(float(np.max(rest, where=self.cost > 0.0, initial=0.0)), 0.0))
        if not self.free_bias:
            self._bound(found, np.zeros(self.rows.d))
        found.point = np.zeros(len(self.cost)) if self.keep else None
        return found

    def _bound(
        self, found: Certificate, w: np.ndarray, v: DualSum | None = None,
        xi: np.ndarray | None = None, apart: np.ndarray | float = 0.0,
    ) -> None:  # fmt: skip
        """Set radii and offsets, see Certificate: none with |w|_1.  xi, apart: slacks at w and their rounding."""
        if self.l1:
            return
        if xi is None or not self.free_bias:
            found.radii = (radius(found.excess, w, v),)
            return
        inner = self.rows.n_features
        r = radius(found.excess, w[:inner], v and (v[0][:inner], v[1]))
        bias = self.rows.bias
        squares = np.maximum(self.rows.square_norms() - bias * bias, 0.0)
        e = r * np.sqrt(squares + FEW * EPS * bias * bias) + apart
        off = offset(self.loss, xi, self.y, self.cost, e) + (len(w) + FEW) * UNIT * abs(bias * float(w[-1]))
        found.radii, found.offsets = (r,), (off,)

    def value_at_zero(self) -> float:
        return float(self.cost @ self.loss.value(self.target + np.zeros(len(self.cost))))

    def _primal(self, w: np.ndarray, xi: np.ndarray) -> float:
        return self._regular(w) + float(self.cost @ self.loss.value(xi))

    def _regular(self, w: np.ndarray) -> float:
        inner = w[: self.rows.n_features] if self.free_bias else w
        return float(np.sum(np.abs(inner))) if self.l1 else 0.5 * float(inner @ inner)

    def _slack(self, w: np.ndarray) -> np.ndarray:
        z = np.zeros(self.rows.n)
        if w.any():
            self.rows.margins(w, self.y, z)
        return np.subtract(self.target, z, out=z)

    def _dual_value(
        self, a: np.ndarray, xi: np.ndarray, products: Products
    ) -> tuple[float, float, Callable[[], float], DualSum, np.ndarray | None]:  # fmt: skip
        """D at the best multiple of `a` (made feasible), a bound of its rounding, a function for the largest KKT
        violation of `a`, v of that multiple, and it where it is kept.

        xi: the slacks at the primal point w; with |w|_1 a dual point does not determine them.
        """
        cost, y = self.cost, self.y
        if not self.all_used:
            a = np.where(cost > 0, a, 0.0)
        bounded = self.loss.cap < np.inf
        none = np.zeros(len(a), bool)
        at_zero = a <= 0 if self.loss.floor == 0.0 else none
        at_cap = a >= cost * self.loss.cap if bounded else none
        shift = 0.0
        if self.free_bias and self.loss.floor == 0.0:
            a = balanced(a, y)
        elif self.free_bias:
            a, shift = shifted(a, y, cost)
        v, apart = products.sums(a * y)
        if self.free_bias:
            v[-1] = 0.0
        b = a / cost if self.all_used else np.divide(a, cost, out=np.zeros_like(a), where=cost > 0)
        largest = float(np.abs(b).max(initial=0.0))
        largest = 0.0 if largest <= SAME_RTOL * abs(shift) else largest
        linear, linear_off = products.dot(self.target, a)
        linear += float((self.target_lost * a).sum())
        dual, off, multiple = value_of_multiple(
            self.loss, (linear, linear_off), (v, apart), largest, lambda s: conjugates(self.loss, cost, s * b), self.l1
        )

        def violation() -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                g = self.loss.conjugate_slope(b) - (xi if self.l1 else self._slack(v))
                if self.free_bias:
                    g -= y * _bias_multiplier(g * y, y, at_zero, at_cap, cost > 0.0)
            found = violations(g, at_zero, at_cap)
            largest = float((found if self.all_used else found[cost > 0]).max(initial=0.0))
            return largest if largest >= 0.0 else np.inf

        point = multiple * a if self.keep else None
        return dual, off, violation, (multiple * v, multiple * apart), point


AnyCertificate = TypeVar("AnyCertificate", bound=Certificate)


def sharp(certified: Callable[[bool], AnyCertificate], gap: float | None) -> AnyCertificate:
    """The certificate that `certified` gives, computed in twice the precision (True) where it is vague otherwise.

    gap: the one that was asked for, if any.
    """
    found = certified(False)
    return certified(True) if found.vague(gap) else found


def loss_off(loss: Loss, cost: np.ndarray, xi: np.ndarray, apart: np.ndarray, value: float) -> float:
    """A bound of the rounding of `value`, the sum of losses, from that of the slacks, f8[n]."""
    with np.errstate(over="ignore", invalid="ignore"):
        wide = float(cost @ loss.value(xi + apart if loss.floor == 0.0 else np.abs(xi) + apart))
        return growth(len(xi)) * wide + wide - value


def conjugates(loss: Loss, cost: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """sum_i C_i l*(b_i) and a bound of its rounding, that of b included."""
    terms = loss.conjugate(b)
    size = float(cost @ np.abs(terms))
    moved = float(cost @ np.abs(b * loss.conjugate_slope(b))) if loss.degree is None else loss.degree * size
    return float(cost @ terms), growth(len(b)) * size + FEW * UNIT * moved


def value_of_multiple(
    loss: Loss, linear: tuple[float, float], v: tuple[np.ndarray, float], largest: float,
    conjugates: Callable[[float], tuple[float, float]], l1: bool,
) -> tuple[float, float, float]:  # fmt: skip
    """D at the best feasible multiple of a dual point a, a bound of its rounding, and the multiple.

    linear: sum_i target_i a_i.  v: sum_i a_i y_i x_i, length d.  conjugates(s): the sum of C_i l*(s a_i / C_i).  Each
    has a bound of its rounding, v of the 2-norm.  largest: max |a_i| / C_i.
    """
    if not largest > 0.0:
        return 0.0, 0.0, 0.0
    # multiples of a / largest, whose conjugates do not underflow
    unit = 1.0 if loss.degree is None else 1.0 / largest
    slope, slope_off = unit * linear[0], unit * linear[1]
    u, apart = unit * v[0], unit * v[1]
    whole = conjugates(unit)
    limit = loss.cap / (unit * largest) * (1.0 - FEW * UNIT)
    square = square_off = 0.0
    if not l1:
        square = float(u @ u)
        square_off = 2.0 * math.sqrt(square) * apart + apart * apart + growth(len(u)) * square

    def at(steepest: float) -> tuple[float, float, float]:
        top = min(limit, 1.0 / steepest if steepest > 0.0 else np.inf)
        if loss.degree is None:
            s = min(1.0, top)
            conjugate, conjugate_off = whole if s == 1.0 else conjugates(s)
        else:
            s = best_factor(slope, square, whole[0], loss.degree, top)
            power = s**loss.degree if s and whole[0] else 0.0
            conjugate = power * whole[0]
            conjugate_off = power * whole[1] + (loss.degree + FEW) * UNIT * conjugate
        size = s * abs(slope) + 0.5 * s * s * square + abs(conjugate)
        off = s * slope_off + 0.5 * s * s * square_off + conjugate_off + FEW * UNIT * size
        return s * slope - 0.5 * s * s * square - conjugate, off, s * unit

    if not l1:
        return at(0.0)
    steepest = float(np.abs(u).max(initial=0.0))
    (value, *_), (sure, off, multiple) = at(steepest), at(steepest + apart)  # all |v_j| <= 1 in spite of rounding
    return max(value, sure), off + max(value - sure, 0.0), multiple


def violations(g: np.ndarray, at_zero: np.ndarray, at_cap: np.ndarray) -> np.ndarray:
    """KKT violations of rows with the dual slopes -g, given which multipliers are at a bound (bool[n])."""
    size = np.abs(g)
    np.maximum(-g, 0.0, out=size, where=at_zero)
    np.maximum(g, 0.0, out=size, where=at_cap)
    return size


def _bias_multiplier(s: np.ndarray, y: np.ndarray, at_zero: np.ndarray, at_cap: np.ndarray, used: np.ndarray) -> float:
    """The multiplier t of sum a y = 0 for small |s_i - t|, s_i = g_i y_i: the median of the free rows.

    Rows at a bound ask for s_i >= t or s_i <= t; without free rows t is the number nearest 0 that meets them.
    """
    free = used & ~(at_zero | at_cap)
    if np.any(free):
        return float(np.median(s[free]))
    return multiplier_between(*multiplier_bounds(s, y, at_zero, used))


def multiplier_bounds(s: np.ndarray, y: np.ndarray, at_zero: np.ndarray, used: np.ndarray) -> tuple[float, float]:
    """The largest s_i that is a lower bound of the multiplier, by the rows at a bound, and the smallest upper bound."""
    above = at_zero == (y > 0.0)
    low, high = np.max(s, where=used & ~above, initial=-np.inf), np.min(s, where=used & above, initial=np.inf)
    return float(low), float(high)


def multiplier_between(low: float, high: float) -> float:
    """The number nearest 0 in low..high, their middle if low > high."""
    return min(max(0.0, low), high) if low <= high else 0.5 * (low + high)


def worst(parts: list[Certificate]) -> Certificate:
    """One certificate for several problems: sums of the values, the worst gap and violation."""
    if not parts:
        return Certificate(0.0, 0.0, 0.0)
    sums, violation = (sum(p.primal for p in parts), sum(p.dual for p in parts)), max(p.violation for p in parts)
    last = max(parts, key=lambda p: (math.isnan(p.gap), p.gap))
    whole = joined(*sums, violation, last, [p.sampled for p in parts if p.sampled], len(parts))
    whole.radii = tuple(r for p in parts for r in p.radii) if all(p.radii for p in parts) else ()
    whole.offsets = tuple(r for p in parts for r in p.offsets) if all(p.offsets for p in parts) else ()
    points = [p.point for p in parts if p.point is not None]
    whole.point = np.stack(points, axis=1) if points else None
    return whole


def joined(
    primal: float, dual: float, violation: float, last: Certificate, sampled: Sequence[str], count: int
) -> Certificate:
    """`worst` of `count` problems without bounds of weights: last has the worst gap, sampled the statements."""
    whole = Certificate(primal, dual, violation)
    whole.gap, whole.why_not = last.gap, last.why_not
    if sampled:
        whole.sampled = sampled[0] if count == 1 else f"decision values sampled in {len(sampled)} of {count} problems"
    return whole


def certify_sums(w: np.ndarray, S: np.ndarray, b: np.ndarray, V: float, C: float, past: np.ndarray) -> Certificate:
    """Certify the weights w (length d) of a least-squares SVM that is known by sums over its rows only.

        f(w) = 1/2 |w|^2 + C (V - 2 b'w + w'S w),   S = sum v_i x_i x_i',  b = sum v_i y_i x_i,  V = sum v_i

    f is strongly convex with modulus 1, so f(w) - min f <= 1/2 |f'(w)|^2 for any w.  The rows themselves are not kept:
    the round-off in the sums, which f and f' inherit, is bounded and added to the gap.

    Parameters
    ----------
    S : f8[d, d], symmetric
    b : f8[d]
    past : q, f8[d]; entry (i, j) of S is a sum whose terms reached q_i q_j at most in size

    The violation is the largest absolute entry of f'(w).
    """
    Sw = np.einsum("ij,j->i", S, w)
    f = 0.5 * float(np.sum(w * w)) + C * (V - 2.0 * float(np.sum(b * w)) + float(np.sum(w * Sw)))
    g = w + 2.0 * C * (Sw - b)
    reach = float(np.sum(past * np.abs(w)))
    off = EPS * C * (V + 2.0 * abs(float(np.sum(b * w))) + reach * reach)
    slope = float(np.sqrt(np.sum(g * g))) + 2.0 * EPS * C * reach * float(np.sqrt(np.sum(past * past)))
    primal, dual = f + off, f - off - 0.5 * slope * slope
    return Certificate(max(primal, 0.0), max(dual, 0.0), float(np.max(np.abs(g), initial=0.0)))
