"""The zero model, w = 0 with the best constant, which no result may be worse than, and its multipliers.

With w = 0 the primal value of  min 1/2 a'Qa + p'a  over 0 <= a <= u and the equalities is  -min p'a  over the same a,
a knapsack for each equality: variables are filled in the order of their p, and the multiplier is the p of the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.certify.kernel import certificate_of
from svmtool.certify.linear import Certificate
from svmtool.kernels.problems import CSvc, HardOneClass, KernelProblem, LeastSquaresSvc
from svmtool.kernels.results import KernelResult
from svmtool.objectives.one_class import FLOOR

ROUNDING = 1e-9  # relative error of a value that counts as round-off
HALVINGS = 40


def value_at_zero(problem: KernelProblem | LeastSquaresSvc) -> tuple[float, float, float]:
    """The primal value at w = 0 and its rho and r (kernels/problems.py)."""
    if problem.at_zero is None:
        problem.at_zero = _value_at_zero(problem)
    return problem.at_zero


def most_allowed(problem: KernelProblem | LeastSquaresSvc) -> float:
    """The largest primal value that counts as no worse than the one at w = 0."""
    value, _, _ = value_at_zero(problem)
    return value + ROUNDING * max(abs(value), problem.floor / FLOOR)


def above_zero(problem: KernelProblem | LeastSquaresSvc, dual: float) -> bool:
    """Whether a dual value is above the primal value at w = 0, which proves that the kernel matrix is indefinite."""
    value, _, _ = value_at_zero(problem)
    return not problem.kernel.positive and dual > value + max(ROUNDING * abs(value), problem.floor)


def _value_at_zero(problem: KernelProblem | LeastSquaresSvc) -> tuple[float, float, float]:
    if isinstance(problem, HardOneClass):
        return 0.0, 0.0, 0.0
    if isinstance(problem, LeastSquaresSvc):
        total, pull = float(np.sum(problem.cost)), float(problem.cost @ problem.y)
        b = pull / total if problem.free_bias and total > 0.0 else 0.0
        return total - b * pull, 0.0 - b, 0.0
    if isinstance(problem, CSvc):  # must be quick: after a limit it is computed for thousands of pairs of classes
        plus = problem.y > 0
        first, second = float(np.sum(problem.upper[plus])), float(np.sum(problem.upper[~plus]))
        return 2.0 * min(first, second), float((second > first) - (second < first)), 0.0
    return best_constant(problem, problem.p)


def best_constant(problem: KernelProblem, p: np.ndarray) -> tuple[float, float, float]:
    """Return -min p'a over the feasible a, and its rho and r.

    For p = Qa + p at some a these are the rho and r of the least primal value with its w.
    """
    y, upper, start = problem.y, problem.upper, problem.start
    if problem.two_sums:
        (plus, first), (minus, second) = (
            _filled(p[side], upper[side], float(np.sum(start[side]))) for side in (y > 0, y < 0)
        )
        return 0.0 - first - second, 0.5 * (plus - minus), 0.5 * (plus + minus)
    below = y < 0  # there u - a is filled
    total = float(y @ start) + float(np.sum(upper[below]))
    level, value = _filled(y * p, upper, total)
    return 0.0 - value - float(p[below] @ upper[below]), level, 0.0


def _filled(cost: np.ndarray, upper: np.ndarray, total: float) -> tuple[float, float]:
    """The multiplier and the value of  min cost'a,  0 <= a <= upper,  sum a = total."""
    order = np.argsort(cost, kind="stable")
    order = order[upper[order] > 0.0]
    if not len(order):
        return 0.0, 0.0
    cost, upper = cost[order], upper[order]
    before = np.cumsum(upper) - upper
    a = np.clip(total - before, 0.0, upper)
    used = np.flatnonzero(a > 0.0)
    last = int(used[-1]) if len(used) else 0
    after = min(last + 1, len(cost) - 1) if len(used) and a[last] >= upper[last] else last
    return 0.5 * float(cost[last] + cost[after]), float(cost @ a)


def zero(problem: KernelProblem | LeastSquaresSvc, status: Any) -> KernelResult:
    """w = 0 as the result of a solver."""
    value, rho, r = value_at_zero(problem)
    alpha = np.zeros(len(problem.row))
    linear = -1.0 if isinstance(problem, LeastSquaresSvc) else problem.p
    return KernelResult(alpha, rho, r, 0.0, np.inf, 0, status, np.zeros(len(alpha)) + linear)


def best_multiple(problem: KernelProblem | LeastSquaresSvc, result: KernelResult) -> KernelResult | None:
    """The best of s alpha, s = 1, 1/2, 1/4 .., with its best constant; None if none is feasible and better than w = 0.

    Uses result.gradient.  A run that ends early at a large cost has found the direction of w, but not its size.
    """
    least, _, _ = value_at_zero(problem)
    squares = isinstance(problem, LeastSquaresSvc)
    if not squares and (np.any(problem.start) or problem.two_sums):
        return None
    linear = -1.0 if squares else problem.p
    pull, best = result.gradient - linear, None
    for k in range(HALVINGS):
        s = 0.5**k
        alpha, gradient = s * result.alpha, s * pull + linear
        if squares:
            total = float(problem.cost @ (problem.y * gradient))
            rho = total / float(np.sum(problem.cost)) if problem.free_bias else -float(problem.y @ alpha)
        else:
            _, rho, _ = best_constant(problem, gradient)
        found = certificate_of(problem, alpha, gradient, rho)
        if found.primal < least:
            least = found.primal
            best = KernelResult(alpha, rho, 0.0, -found.dual, found.gap, result.iterations, result.status, gradient)
    return best


def certified_zero(problem: KernelProblem | LeastSquaresSvc) -> Certificate:
    """The certificate of w = 0, almost without computation; its dual value: a lower bound of that of problem.start."""
    value, _, _ = value_at_zero(problem)
    dual, start = 0.0, problem.start
    if not isinstance(problem, LeastSquaresSvc):
        coef = problem.coefficients(start)
        size = float(np.abs(coef) @ np.sqrt(np.abs(problem.diagonal()))) if np.any(coef) else 0.0
        dual = -0.5 * size * size - float(problem.p @ start)
    found = Certificate(value, dual, 0.0)
    found.gap = problem.relative(value, dual)
    return found
