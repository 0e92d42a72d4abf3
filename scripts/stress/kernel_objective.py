"""Recomputes the objectives of kernel models from model file and data, as objective.py does for linear models."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from stress.models import Model
from stress.objective import Value
from stress.rows import EPS, Rows

MAX_DIFFERENCES = 100_000_000  # numbers; takes a fraction of a second


class Problem(NamedTuple):
    """The problem of a command with a kernel; word: LIBSVM's; free: whether the bias is not regularised.

    l1: whether the regulariser is the sum of |coefficients|.
    """

    word: str
    loss: str
    kind: str
    kernel: int
    C: float = 1.0
    p: float = 0.1
    nu: float = 0.5
    free: bool = True
    l1: bool = False
    factors: tuple[tuple[int, float], ...] = ()


class Matrix(NamedTuple):
    """Kernel values f8 (n, n), and bounds of their errors."""

    K: np.ndarray
    off: np.ndarray

    def of(self, some: np.ndarray) -> Matrix:
        return Matrix(self.K[np.ix_(some, some)], self.off[np.ix_(some, some)])

    def decide(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K coef and a bound of its round-off."""
        size = np.abs(coef)
        return self.K @ coef, self.off @ size + EPS * (np.count_nonzero(coef) + 8) * (np.abs(self.K) @ size)


def matrix(rows: Rows, model: Model) -> Matrix:
    """The kernel matrix of the training rows."""
    X = rows.dense()
    most = int(np.diff(rows.indptr).max(initial=0)) + 4
    products, sizes = X @ X.T, np.abs(X) @ np.abs(X).T
    number = {key: float(model.header[key][0]) for key in ("gamma", "coef0", "degree") if key in model.header}
    kind = model.header["kernel_type"][0]
    if kind == "linear":
        return Matrix(products, EPS * most * sizes)
    if kind == "rbf":
        apart, off = _distances(X, products, most)
        apart, off = number["gamma"] * apart, number["gamma"] * off
        K = np.exp(-apart)
        return Matrix(K, np.exp(-np.maximum(apart - off, 0.0)) - np.exp(-(apart + off)) + EPS * (1 + apart) * K)
    inner = number["gamma"] * products + number["coef0"]
    off = EPS * most * (number["gamma"] * sizes + abs(number["coef0"]))
    if kind == "sigmoid":
        return Matrix(np.tanh(inner), off + EPS)
    power = int(number["degree"])
    slope = power * (np.abs(inner) + off) ** (power - 1) if power else np.zeros_like(inner)
    return Matrix(inner**power, off * slope + EPS * (power + 2) * np.abs(inner) ** power)


def _distances(X: np.ndarray, products: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """|x_i - x_j|^2 and bounds of the errors, from differences, or from products if there are too many differences."""
    n, d = X.shape
    if n * n * d <= MAX_DIFFERENCES:
        apart = np.array([np.sum((X - x) ** 2, axis=1) for x in X]).reshape(n, n)
        return apart, EPS * (d + 4) * apart
    norms = np.sum(X * X, axis=1)
    sizes = norms[:, None] + norms[None, :]
    return np.maximum(sizes - 2 * products, 0.0), EPS * most * 2 * sizes


def values(problem: Problem, rows: Rows, model: Model) -> list[Value] | None:
    """P of each problem of the model, in the order of pairs; None if the model does not determine its rows."""
    coef = model.coefficients(rows)
    if coef is None:
        return None
    whole = matrix(rows, model)
    if problem.kind != "classification":
        make = {"one-class": _one_class, "hard one-class": _hard, "regression": _regression}[problem.kind]
        return [make(problem, whole, coef[0], float(model.rho[0]), rows.labels)]
    found, names = [], model.labels
    for k, (i, j) in enumerate(combinations(range(len(names)), 2)):
        a, b = np.flatnonzero(rows.labels == names[i]), np.flatnonzero(rows.labels == names[j])
        some, y = np.concatenate((a, b)), np.repeat((1.0, -1.0), (len(a), len(b)))
        mine = np.concatenate((coef[j - 1, a], coef[i, b]))
        factor = {label: 1.0 for label in names}
        for label, value in problem.factors:
            factor[label] = factor.get(label, 1.0) * value
        cost = problem.C * np.repeat((factor[names[i]], factor[names[j]]), (len(a), len(b)))
        make: Callable = _nu_classes if problem.word == "nu_svc" else _classes
        found.append(make(problem, whole.of(some), mine, float(model.rho[k]), y, cost))
    return found


def _square(M: Matrix, coef: np.ndarray) -> tuple[float, float]:
    """1/2 c'Kc and its round-off."""
    f, off = M.decide(coef)
    return 0.5 * float(coef @ f), float(np.abs(coef) @ (off + EPS * (len(f) + 8) * np.abs(f)))


def _sum(cost: np.ndarray, each: np.ndarray, off: np.ndarray) -> tuple[float, float]:
    total = float(cost @ each)
    return total, float(cost @ off) + EPS * (len(each) + 8) * total


def _classes(problem: Problem, M: Matrix, coef, rho: float, y, cost) -> Value:
    f, off = M.decide(coef)
    off = off + EPS * (2 + abs(rho) + np.abs(f))
    xi = 1.0 - y * (f - rho)
    size, apart = _sum(np.ones(len(coef)), np.abs(coef), np.zeros(len(coef))) if problem.l1 else _square(M, coef)
    if problem.loss == "least squares":
        total, rounding = _sum(cost, xi**2, off * (2 * np.abs(xi) + off))
    else:
        total, rounding = _sum(cost, np.maximum(xi, 0.0), off)
    size += 0.0 if problem.free else 0.5 * rho * rho
    return Value(size + total, apart + rounding, float(np.sum(cost)))


def _nu_classes(problem: Problem, M: Matrix, coef, rho: float, y, cost) -> Value:
    """1/2 |w|^2 - nu n q + sum max(0, q - y (f - rho)); the model contains all terms divided by q = r."""
    n, total = len(y), float(np.sum(np.abs(coef)))
    if total == 0.0:  # w = 0 and q = 0
        return Value(0.0, 0.0, 0.0)
    r = problem.nu * n / total
    f, off = M.decide(coef)
    size, apart = _square(M, coef)
    each = np.maximum(1.0 - y * (f - rho), 0.0) / r
    off = (off + EPS * (2 + abs(rho) + np.abs(f))) / r
    losses, rounding = _sum(np.ones(n), each, off)
    lead = problem.nu * n / r
    return Value(size + losses - lead, apart + rounding + EPS * (n + 8) * lead, 0.0, _size(M, lead))


def _one_class(problem: Problem, M: Matrix, coef, rho: float, labels) -> Value:
    n = len(coef)
    f, off = M.decide(coef)
    size, apart = _square(M, coef)
    losses, rounding = _sum(np.ones(n), np.maximum(rho - f, 0.0), off + EPS * (abs(rho) + np.abs(f)))
    lead = problem.nu * n * rho
    return Value(size + losses - lead, apart + rounding + EPS * (n + 8) * abs(lead), 0.0, _size(M, problem.nu * n))


def _size(M: Matrix, total: float) -> float:
    """-D for rows of average length in one direction with sum a = `total`."""
    sizes = np.abs(np.diag(M.K))
    sizes = sizes[sizes > 0.0]
    return 0.5 * total * total * float(np.median(sizes)) if len(sizes) else 0.0


def _hard(problem: Problem, M: Matrix, coef, rho: float, labels) -> Value:
    """1/2 |w|^2 - rho at the model's rho, which all rows reach, or after samples nearly all."""
    _, off = M.decide(coef)
    half, apart = _square(M, coef)
    return Value(half - rho, apart + float(off.max(initial=0.0)) + EPS * (len(coef) + 8) * (half + abs(rho)), 0.0)


def _regression(problem: Problem, M: Matrix, coef, rho: float, t) -> Value:
    """For nu-SVR, whose tube is not in the model, the optimal tube is used."""
    n, C = len(t), problem.C
    f, off = M.decide(coef)
    off = off + EPS * (np.abs(f) + abs(rho) + np.abs(t) + problem.p)
    miss = np.abs(t - f + rho)
    size, apart = _square(M, coef)
    cost = np.full(n, C)
    if problem.word == "nu_svr":
        tubes, zeros = _best_tube(miss, problem.nu), _best_tube(np.abs(t), problem.nu)
        losses, rounding = _sum(cost, np.full(n, tubes / n), off)
        return Value(size + losses, apart + rounding, C * zeros)
    losses, rounding = _sum(cost, np.maximum(miss - problem.p, 0.0), off)
    zero, scale = float(C * np.sum(np.maximum(np.abs(t) - problem.p, 0.0))), float(C * np.sum(np.abs(t) + problem.p))
    return Value(size + losses, apart + rounding, zero, scale)


def _best_tube(miss: np.ndarray, nu: float) -> float:
    """min over e >= 0 of  nu n e + sum max(0, miss - e): e is one of the misses or 0."""
    ends = np.append(miss, 0.0)
    return min(nu * len(miss) * e + float(np.sum(np.maximum(miss - e, 0.0))) for e in ends.tolist())
