"""The neutral judge of kernel problems: how far can this point be from the optimum?

For any multipliers of the equalities, r + rho (of y = +1) and r - rho (of y = -1), and s = Qa + p - (r + y rho):

    f(a) - min f  <=  sum_t  a_t max(0, s_t) + (upper_t - a_t) max(0, -s_t)

which is the duality gap: the training error of the decision function that is stored, with its rho, is the primal
value.  In the terms of a primal problem the dual value is D = -f(a), the primal one P = D + gap.

One-class without slack has a judge of its own, problem/hard_one_class.py.
For least squares the same s gives  P - D = sum_i C_i s_i^2,  and 1/2 (rho + y'a)^2 more where the bias is not free.
"""

from __future__ import annotations

import numpy as np

from svmtool.problem import hard_one_class
from svmtool.problem.certify import Certificate
from svmtool.problem.kernel_problem import HardOneClass, KernelProblem, LeastSquaresSvc


def gap_of(problem: KernelProblem, alpha: np.ndarray, gradient: np.ndarray, rho: float, r: float = 0.0) -> float:
    """The bound of f(a) - min f; alpha, gradient = Qa + p: f8[m]."""
    s = gradient - (r + problem.y * rho)
    return float(np.sum(np.where(s > 0, alpha * s, (alpha - problem.upper) * s)))


def relative(primal: float, dual: float) -> float:
    """(P - D) / |P|: both are positive, or both negative (one-class, nu-SVC).  Infinite where their signs differ."""
    difference = max(primal - dual, 0.0)
    if difference == 0.0:
        return 0.0
    return difference / abs(primal) if primal * dual > 0.0 or (dual == 0.0 and primal > 0.0) else np.inf


def certify(
    problem: KernelProblem | LeastSquaresSvc,
    alpha: np.ndarray,
    gradient: np.ndarray,
    rho: float,
    r: float = 0.0,
    scale: float = 1.0,
) -> Certificate:
    """Judge a feasible point; its values are multiplied by `scale` (Answer.scale)."""
    if isinstance(problem, LeastSquaresSvc):
        return _certify_least_squares(problem, alpha, gradient, rho)
    if isinstance(problem, HardOneClass):
        return hard_one_class.judge(gradient, alpha, problem.size)
    value = 0.5 * float(alpha @ (gradient + problem.p))
    s = gradient - (r + problem.y * rho)
    violation = np.where(
        alpha <= 0.0, np.maximum(-s, 0.0), np.where(alpha >= problem.upper, np.maximum(s, 0.0), abs(s))
    )
    violation[problem.upper <= 0.0] = 0.0
    dual = -value
    primal = dual + gap_of(problem, alpha, gradient, rho, r)
    certificate = Certificate(primal * scale, dual * scale, float(violation.max(initial=0.0)))
    certificate.gap = relative(primal, dual)
    return certificate


def _certify_least_squares(
    problem: LeastSquaresSvc, alpha: np.ndarray, gradient: np.ndarray, rho: float
) -> Certificate:
    """Judge alpha = y c; gradient = Qa - 1 with Q_ij = y_i y_j (K_ij + D_ij), which knows of no bias."""
    total = float(problem.y @ alpha)
    s = gradient - problem.y * rho
    dual = 0.5 * float(alpha @ (1.0 - gradient)) - 0.5 * problem.shift * total * total
    gap = float(problem.cost @ (s * s)) + 0.5 * problem.shift * (rho + total) ** 2
    return Certificate(dual + gap, dual, float(np.abs(s).max(initial=0.0)))
