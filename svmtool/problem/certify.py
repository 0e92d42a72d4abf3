"""The neutral judge: how far can this w be from the optimum?  Shares no code with any solver's loop.

    P(w) = 1/2 w'Rw + sum_i C_i max(0, 1 - y_i x_i.w)^2
    D(a) = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2 - sum_i a_i^2 / (4 C_i),   a >= 0

D(a) <= min P for each feasible a, whoever found it: (P - D) / P bounds the
relative error of P.  Without a dual point from the solver, a_i = 2 C_i max(0, 1 -
z_i) (MFN paper, Section 4.7) and its best multiple are tried.  A free bias asks
for sum_i a_i y_i = 0, which is reached by shrinking the heavier side.
"""

from __future__ import annotations

import numpy as np

from svmtool.problem.rows import Rows


def relative_gap(primal: float, dual: float) -> float:
    """(P - D) / P; 0 for a primal value of 0, nan where P is no number."""
    return 0.0 if primal == 0 else max(primal - dual, 0.0) / primal


class Certificate:
    """primal, dual: values; gap: (primal - dual) / primal; violation: largest KKT violation of the dual point."""

    def __init__(self, primal: float, dual: float, violation: float):
        self.primal, self.dual, self.violation = primal, dual, violation
        self.gap = relative_gap(primal, dual)

    def line(self) -> str:
        return (
            f"Certified relative gap = {self.gap:.3g} (primal {self.primal:.9g}, dual {self.dual:.9g}, "
            f"KKT violation {self.violation:.3g})"
        )


def certify(
    rows: Rows, y: np.ndarray, cost: np.ndarray, w: np.ndarray, free_bias: bool = False, alpha: np.ndarray | None = None
) -> Certificate:
    """Judge w (length d) for the squared hinge; alpha (length n, >= 0) is a dual point to try as well."""
    z = np.empty(rows.n)
    rows.margins(w, y, z)
    slack = np.maximum(1.0 - z, 0.0)
    slack[cost <= 0] = 0.0
    inner = w[: rows.plain] if free_bias else w
    primal = 0.5 * float(inner @ inner) + float(cost @ (slack * slack))
    best = None
    for candidate in (2.0 * cost * slack, alpha):
        if candidate is None:
            continue
        dual, violation = _dual_value(rows, y, cost, candidate, free_bias)
        if best is None or dual > best.dual:
            best = Certificate(primal, dual, violation)
    return best


def _dual_value(rows: Rows, y: np.ndarray, cost: np.ndarray, a: np.ndarray, free_bias: bool) -> tuple[float, float]:
    """D at the best multiple of `a` (made feasible), and the largest KKT violation of `a` itself."""
    used = cost > 0
    if not np.all(used):
        a = np.where(used, a, 0.0)
    diagonal = np.divide(0.5, cost, out=np.zeros_like(cost), where=used)
    if free_bias:
        a = _balance(a, y)
    v = rows.transpose_product(a * y)
    if free_bias:
        v[-1] = 0.0
    linear = float(np.sum(a))
    quadratic = float(v @ v) + float(diagonal @ (a * a))
    dual = 0.5 * linear * linear / quadratic if quadratic > 0 else 0.0

    z = np.empty(rows.n)
    rows.margins(v, y, z)
    g = z + diagonal * a - 1.0
    if free_bias:  # the multiplier of sum a y = 0: the bias that fits the free rows best
        free = a > 0
        if np.any(free):
            g += y * (-float(np.median((g * y)[free])))
    violation = np.where(a > 0, np.abs(g), np.maximum(-g, 0.0))[used]
    return dual, float(violation.max(initial=0.0))


def _balance(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Scale down the heavier side so that sum a y = 0."""
    up, down = float(np.sum(a[y > 0])), float(np.sum(a[y < 0]))
    if up == down:
        return a
    if min(up, down) <= 0:
        return np.zeros_like(a)
    return np.where(y > 0, a * min(1.0, down / up), a * min(1.0, up / down))


def worst(parts: list[Certificate]) -> Certificate:
    """One certificate for several problems: values summed, gap and violation of the worst."""
    whole = Certificate(
        sum(p.primal for p in parts), sum(p.dual for p in parts), max((p.violation for p in parts), default=0.0)
    )
    whole.gap = max((p.gap for p in parts), default=0.0)
    return whole
