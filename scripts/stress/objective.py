"""Recomputes the objectives of linear models from model file and data: slow and simple, with bounds of the round-off.

The bound holds for any evaluation in double precision and any order of sums: the products x_i.w have an error of up to
eps (non-zeros + 4) sum_j |x_ij w_j|, a convex loss then its increase over twice that.  Checks allow this error, which
is large for data of a huge dynamic range, and eps P(0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stress.models import Model
from stress.rows import EPS, Rows


class Value(NamedTuple):
    """P at the weights, a bound of its round-off, and P at w = 0.

    scale: errors are relative to it if P may be 0: for one-class problems -D with all rows in one direction, for
    regressions the cost of all targets.
    """

    value: float
    rounding: float
    zero: float
    scale: float = 0.0


class Problem(NamedTuple):
    """The problem of a command; bias < 0: none; weights: --weights, one for each row."""

    kind: str
    loss: str
    l1: bool
    C: float = 1.0
    bias: float = -1.0
    free: bool = False
    p: float = 0.1
    nu: float = 0.5
    power: float = 2.0
    factors: tuple[tuple[int, float], ...] = ()
    weights: tuple[float, ...] | None = None


# Of the slack xi = target - y x.w, which is -y x.w for the logistic loss.
LOSSES: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "hinge": lambda xi, p: np.maximum(xi, 0.0),
    "squared hinge": lambda xi, p: np.maximum(xi, 0.0) ** 2,
    "Lp hinge": lambda xi, p: np.maximum(xi, 0.0) ** p,
    "modified Huber": lambda xi, p: np.where(xi < 2.0, 0.5 * np.clip(xi, 0.0, 2.0) ** 2, 2.0 * (xi - 1.0)),
    "logistic": lambda xi, p: np.logaddexp(0.0, xi),
    "least squares": lambda xi, p: xi**2,
}


def values(problem: Problem, rows: Rows, model: Model) -> list[Value]:
    """P of each problem of the model, in the order of its columns."""
    if problem.weights is not None:
        kept = np.flatnonzero(np.array(problem.weights) > 0)
        rows, problem = rows.take(kept), problem._replace(weights=tuple(np.array(problem.weights)[kept].tolist()))
    return {
        "classification": _classes, "all classes": _all_classes, "regression": _regression, "ordinal": _ordinal,
        "one-class": _one_class, "hard one-class": _hard,
    }[problem.kind](problem, rows, model)  # fmt: skip


def _row_weights(problem: Problem, rows: Rows) -> np.ndarray:
    return np.ones(rows.n) if problem.weights is None else np.array(problem.weights)


def _factor(problem: Problem, labels: np.ndarray) -> np.ndarray:
    factor = np.ones(len(labels))
    for label, value in problem.factors:
        factor[labels == label] *= value
    return factor


def _size(problem: Problem, w: np.ndarray) -> float:
    inner = w[:-1] if problem.free else w
    return float(np.sum(np.abs(inner))) if problem.l1 else 0.5 * float(inner @ inner)


def _losses(problem: Problem, xi: np.ndarray, apart: np.ndarray, cost: np.ndarray) -> tuple[float, float]:
    """sum C_i l(xi_i), and a bound of its error, given errors `apart` of the slacks and the round-off of the sum."""
    loss = LOSSES[problem.loss]
    each = loss(xi, problem.power)
    ends = [loss(xi - apart, problem.power), loss(xi + apart, problem.power)]
    rise = np.maximum(np.abs(ends[0] - each), np.abs(ends[1] - each))
    total = float(cost @ each)
    return total, float(cost @ rise) + EPS * (len(xi) + 8) * total


def _value(problem: Problem, w: np.ndarray, xi, apart, cost, at_zero) -> Value:
    size = _size(problem, w)
    total, rounding = _losses(problem, xi, apart, cost)
    zero, _ = _losses(problem, at_zero, np.zeros(len(at_zero)), cost)
    return Value(size + total, rounding + EPS * ((len(w) + 8) * size + zero), zero)


def _classes(problem: Problem, rows: Rows, model: Model) -> list[Value]:
    """Two classes: the first label is +1; else each label against the rest, whose costs have no factor."""
    found, names, W = [], model.labels, model.W
    weights = _row_weights(problem, rows)
    for k in range(W.shape[1]):
        y = np.where(rows.labels == names[k], 1.0, -1.0)
        factor = _factor(problem, rows.labels)
        if len(names) != 2:
            factor = np.where(y > 0, factor, 1.0)
        target = 0.0 if problem.loss == "logistic" else 1.0
        z, apart = rows.products(W[:, k], problem.bias)
        cost = problem.C * factor * weights
        found.append(_value(problem, W[:, k], target - y * z, apart + EPS, cost, np.full(rows.n, target)))
    return found


def _regression(problem: Problem, rows: Rows, model: Model) -> list[Value]:
    w, cost = model.W[:, 0], np.tile(problem.C * _row_weights(problem, rows), 2)
    z, apart = rows.products(w, problem.bias)
    t, p = rows.labels, problem.p
    at_zero = np.concatenate((t - p, -t - p))
    apart = np.tile(apart + 2 * EPS * (np.abs(t) + abs(p)), 2)
    return [_value(problem, w, at_zero + np.concatenate((-z, z)), apart, cost, at_zero)]


def _ordinal(problem: Problem, rows: Rows, model: Model) -> list[Value]:
    """w and thresholds b from the columns (s - 1) w and -(b_1 + .. + b_{s-1}), or w and -b for two ranks."""
    W, ranks = model.W, np.unique(rows.labels)
    if len(ranks) < 2:  # no threshold, no loss
        return [Value(0.5 * float(np.sum(W * W)), 0.0, 0.0)]
    if W.shape[1] == 1:
        w, b, off = W[:-1, 0], -W[-1:, 0], np.zeros(1)
    else:
        w, b = W[:-1, 1] - W[:-1, 0], -np.diff(W[-1])
        off = EPS * 2 * (np.abs(W[-1, 1:]) + np.abs(W[-1, :-1]))
    z, apart = rows.products(w)
    factor = _factor(problem, rows.labels) * problem.C * _row_weights(problem, rows)
    xi, aparts, cost = [], [], []
    for s in range(len(b)):
        y = np.where(np.searchsorted(ranks, rows.labels) > s, 1.0, -1.0)
        xi.append(1.0 - y * (z - b[s]))
        aparts.append(apart + off[s] + EPS * (1 + abs(b[s])))
        cost.append(factor)
    beta = np.append(w, b)
    ones = np.ones(rows.n * len(b))
    return [_value(problem, beta, np.concatenate(xi), np.concatenate(aparts), np.concatenate(cost), ones)]


def _all_classes(problem: Problem, rows: Rows, model: Model) -> list[Value]:
    W, names = model.W, np.array(model.labels)
    if len(names) < 2:
        return [Value(0.5 * float(np.sum(W * W)), 0.0, 0.0)]
    cost = problem.C * _factor(problem, rows.labels) * _row_weights(problem, rows)
    made = [rows.products(W[:, m], problem.bias) for m in range(len(names))]
    own = np.searchsorted(np.sort(names), rows.labels)
    own = np.argsort(names)[own]
    at = np.arange(rows.n)
    Z = np.stack([z for z, _ in made], axis=1) + 1.0
    Z[at, own] -= 1.0
    apart = np.max([a for _, a in made], axis=0) * 2 + EPS
    each = Z.max(axis=1) - Z[at, own]
    size = 0.5 * float(np.sum(W * W))
    total = float(cost @ each)
    rounding = float(cost @ apart) + EPS * ((rows.n + 8) * total + (W.size + 8) * size)
    return [Value(size + total, rounding, float(np.sum(cost)))]


def _one_class(problem: Problem, rows: Rows, model: Model) -> list[Value]:
    """P at the model's rho; the limit if it is infinite (nu = 0 or 1)."""
    w, rho, cost = model.W[:, 0], float(model.rho[0]), _row_weights(problem, rows)
    z, apart = rows.products(w)
    k = problem.nu * float(np.sum(cost))
    size = 0.5 * float(w @ w)
    if not np.isfinite(rho):
        loss, terms = (-float(cost @ z), float(cost @ np.abs(z))) if rho > 0 else (0.0, 0.0)
    else:
        each = np.maximum(rho - z, 0.0)
        loss, terms = float(cost @ each) - k * rho, float(cost @ (each + np.abs(z))) + abs(k * rho)
    rounding = float(cost @ apart) + EPS * ((rows.n + 8) * terms + (len(w) + 8) * size)
    return [Value(size + loss, rounding, 0.0)]


def _hard(problem: Problem, rows: Rows, model: Model) -> list[Value]:
    """1/2 |w|^2 - rho at the model's rho, which all rows reach, or after samples nearly all."""
    w, rho = model.W[:, 0], float(model.rho[0])
    _, apart = rows.products(w)
    square = float(w @ w)
    off = float(apart.max(initial=0.0)) + EPS * (len(w) + 8) * (square + abs(rho))
    return [Value(0.5 * square - rho, off, 0.0)]
