"""Certifier of kernel problems: how far can this point be from the optimum?

For any multipliers of the equalities, r + rho (of y = +1) and r - rho (of y = -1), and s = Qa + p - (r + y rho):

    f(a) - min f  <=  sum_t  a_t max(0, s_t) + (upper_t - a_t) max(0, -s_t)

which is the duality gap: the training error of the decision function that is stored, with its rho, is the primal
value.  Where a loss costs something else than upper_t (KernelProblem.losses) that stands in its place.  In the terms of
a primal problem the dual value is D = -f(a), the primal one P = D + gap.

One-class without slack has a certifier of its own, objectives/hard_one_class.py.
For least squares the same s gives  P - D = sum_i C_i s_i^2,  and 1/2 (rho + y'a)^2 more where the bias is not free.

Qa needs the decision values of all training rows, which cost as much as a prediction of them: often half of training.
`certify` computes them itself, with the code of svm-predict, for all rows where that is quick, else for a sample. What
the solver says of the other rows is believed to the largest difference found in the sample, by which all s are moved
to the worse before they enter the gap and the values; where that would widen it by much, all rows are computed after
all.  Of a run that a limit has ended a sample is all that is computed.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify import hard_one_class
from svmtool.certify.linear import Certificate
from svmtool.data.blocks import draw_rows
from svmtool.kernels.gap import feasible_sums, gap_of
from svmtool.kernels.problems import HardOneClass, KernelProblem, LeastSquaresSvc
from svmtool.kernels.rows import exact_sum

SAMPLE = 1024  # rows at least: faults in one row of a hundred stay unseen once in 30,000 runs
VALUES = 1 << 22  # kernel values up to which all rows are computed: some hundredths of a second
FEW = 64  # rows at least after a limit
WIDER = 0.5  # share of the gap that the sample's differences may add to it
ROUNDING = 1e-9  # or so much of the value
SEED = 1


def certify(
    problem: KernelProblem | LeastSquaresSvc,
    alpha: np.ndarray,
    gradient: np.ndarray,
    rho: float,
    r: float = 0.0,
    scale: float = 1.0,
    late: bool = False,
    target: float = -1.0,
    least: int = SAMPLE,
    quick: int = VALUES,
) -> Certificate:
    """Certify a feasible point, see the module; gradient f8[m]: what the solver says that Qa + p is.

    The values are multiplied by `scale` (Answer.scale).  late: a limit has ended the run.  target: the gap that was
    asked for, below 0 if none was: a sample must not hide that it is reached.  quick: kernel values up to which all
    rows are computed again; of more, a sample of `least` rows or more.
    """
    n, coef = problem.n, problem.coefficients(alpha)
    # of rows, of which one is computed
    group = n // max(FEW if late else least, quick // max(np.count_nonzero(coef), 1))
    if group > 1:
        of = np.concatenate((draw_rows(n, group, SEED), np.arange(n - n % group, n)))
        mine, apart = _recomputed(problem, alpha, coef, gradient, of)
        plain = certificate_of(problem, alpha, mine, rho, r, scale)
        wide = certificate_of(problem, alpha, mine, rho, r, scale, apart)
        gap, allowed = plain.primal - plain.dual, ROUNDING * abs(plain.primal)
        hidden = plain.gap <= target < wide.gap
        if late or (wide.primal - wide.dual - gap <= max(WIDER * gap, allowed) and not hidden):
            wide.sampled = f"decision values of {len(of)} of {n} rows computed again: within {apart:.1g}"
            wide.seen = mine, apart
            return wide
    mine, _ = _recomputed(problem, alpha, coef, gradient, np.arange(n))
    found = certificate_of(problem, alpha, mine, rho, r, scale)
    found.seen = mine, 0.0
    return found


def _recomputed(
    problem: KernelProblem | LeastSquaresSvc, alpha: np.ndarray, coef: np.ndarray, gradient: np.ndarray, of: np.ndarray
) -> tuple[np.ndarray, float]:
    """The gradient with what the rows `of` (i8) really have in place of what it says, and the largest difference."""
    n = problem.n
    f, some = np.zeros(n), np.zeros(n, bool)
    some[of] = True
    f[of] = exact_sum(problem, coef, None if len(of) == n else of)
    mine, some = problem.gradient(alpha, f), some[problem.row]
    return np.where(some, mine, gradient), float(np.abs(mine - gradient).max(where=some, initial=0.0))


def certificate_of(
    problem: KernelProblem | LeastSquaresSvc,
    alpha: np.ndarray,
    gradient: np.ndarray,
    rho: float,
    r: float = 0.0,
    scale: float = 1.0,
    apart: float = 0.0,
) -> Certificate:
    """What follows for a feasible point from its gradient Qa + p, f8[m], right to within `apart`."""
    if isinstance(problem, LeastSquaresSvc):
        return _least_squares(problem, alpha, gradient, rho, apart)
    if isinstance(problem, HardOneClass):
        return hard_one_class.certify(gradient, alpha, problem.size, apart)
    value = 0.5 * float(alpha @ (gradient + problem.p))
    s = gradient - (r + problem.y * rho)
    violation = np.where(
        alpha <= 0.0, np.maximum(-s, 0.0), np.where(alpha >= problem.upper, np.maximum(s, 0.0), abs(s))
    )
    violation[problem.upper <= 0.0] = 0.0
    error = 0.5 * apart * float(np.sum(np.abs(alpha)))  # of the value, to the worse of either side
    primal = error - value + gap_of(problem, alpha, gradient, rho, r, apart, problem.losses)
    at_zero = -np.inf if np.any(problem.start) else 0.0  # the dual value of a = 0 where it is feasible
    sums = feasible_sums(problem, alpha)
    if not sums:  # no dual point
        primal += float((r + problem.y * rho) @ (alpha - problem.start))
    dual = max(-value - error, at_zero) if sums else at_zero
    certificate = Certificate(primal * scale, dual * scale, float(violation.max(initial=0.0)) + apart)
    certificate.gap = problem.relative(primal, dual)
    return certificate


def _least_squares(
    problem: LeastSquaresSvc, alpha: np.ndarray, gradient: np.ndarray, rho: float, apart: float
) -> Certificate:
    """`certificate_of` alpha = y c; gradient = Qa - 1 with Q_ij = y_i y_j (K_ij + D_ij), which knows of no bias."""
    total = float(problem.y @ alpha)
    s = np.abs(gradient - problem.y * rho) + apart
    value = 0.5 * float(alpha @ (1.0 - gradient)) - 0.5 * problem.shift * total * total
    error = 0.5 * apart * float(np.sum(np.abs(alpha)))
    gap = float(problem.cost @ (s * s)) + 0.5 * problem.shift * (rho + total) ** 2
    return Certificate(value + error + gap, value - error, float(s.max(initial=0.0)))
