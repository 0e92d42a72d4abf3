"""Checks that every solution of a kernel problem must pass, whichever solver found it.

1. No answer is worse than w = 0.  Where the certifier says that one is, or that it is no number at all, a sound method
   takes over, decomposition by pairs or a direct solution; where that fails too a multiple of it or w = 0 is the
   answer, not converged.
   Where rounding ends a run its answer is that of such a method, if its gap is smaller.
   A kernel that is not positive semidefinite is an exception: a dual value above that of w = 0 proves that the rows'
   is not.  Then primal values mean nothing, and the answer stays, as LIBSVM's does, with a warning and no gap.
   Where no bound limits a nu type's sums the best rho and r are not the solver's (KernelProblem.without_losses).
2. "optimal" and "gap" are kept where the judge confirms them, and none ends as converged without a finite gap; nor by
   its own rule with a gap above ENOUGH where its own constants left it worse than w = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.certify.kernel import certificate_of, certify
from svmtool.certify.linear import Certificate
from svmtool.certify.zero_model import (
    above_zero,
    best_constant,
    best_multiple,
    certified_zero,
    most_allowed,
    value_at_zero,
    zero,
)
from svmtool.kernels.gap import FEASIBLE, feasible_sums
from svmtool.kernels.problems import HardOneClass, KernelProblem, LeastSquaresSvc, relative
from svmtool.kernels.results import Answer, KernelResult
from svmtool.kernels.rows import exact_sum
from svmtool.solvers.shared.base import (
    CONFIRMED,
    GAP,
    INTERRUPTED,
    ITERATIONS,
    OPTIMAL,
    PRECISION,
    STEPS,
    TAKEN_OVER,
    TIME,
)
from svmtool.solvers.shared.residual import INDEFINITE
from svmtool.tolerances import ENOUGH

STATIONARY = 0.1  # gap up to which a point counts as one where solvers end, whatever the kernel
APART = 2.0  # times CONFIRMED: a certifier who has drawn a sample adds up to half of the gap, and single precision
PRINTED = 1.0005  # times the gap asked for: what its three printed digits leave open


def lawful(
    problem: KernelProblem | LeastSquaresSvc,
    result: KernelResult,
    target: float | None,
    other: Callable[[], KernelResult | None],
) -> tuple[Answer, KernelResult, Certificate]:
    """The answer that the laws leave, and its certificate, in values of the answer (Answer.scale).

    The laws themselves examine values of the program: times the scale of an answer they may be too small for a number.
    target: the gap that was asked for, if one was; other: an answer by a sound method, None where there is none.
    """
    answer, result, certificate = _lawful(problem, result, target, other)
    certificate.primal, certificate.dual = answer.worth(certificate.primal), answer.worth(certificate.dual)
    return answer, result, certificate


def _lawful(
    problem: KernelProblem | LeastSquaresSvc,
    result: KernelResult,
    target: float | None,
    other: Callable[[], KernelResult | None],
) -> tuple[Answer, KernelResult, Certificate]:
    """`lawful`, in values of the program."""
    if result.status in (TIME, INTERRUPTED) and not np.any(result.alpha):
        return _nothing(problem, result)
    asked = -1.0 if target is None else target
    close = PRINTED * asked if target is not None else APART * CONFIRMED
    answer, certificate = certified(problem, result, asked)
    ended = result.status in (TIME, INTERRUPTED, ITERATIONS, STEPS)
    sound = acceptable(problem, result, certificate)
    claimed = (GAP,) if target is None else (GAP, OPTIMAL)
    short = result.status in claimed and not certificate.gap <= close
    poor = result.replaced and not certificate.gap <= CONFIRMED
    known = _bound(problem, result, certificate)
    if not ended and (short or poor or result.status is PRECISION or not sound):
        second = other()
        if second is not None:
            second.iterations += result.iterations
            if second.status is GAP and target is None:
                second.status = TAKEN_OVER
            found, word = certified(problem, second, asked)
            known = max(known, _bound(problem, second, word))
            better = not sound or word.gap < certificate.gap
            if better and acceptable(problem, second, word):
                result, answer, certificate, sound = second, found, word, True
    if proven_indefinite(problem, certificate):
        certificate.gap = np.inf
        result.status = INDEFINITE if result.status.converged else result.status
        return answer, result, certificate
    if not sound:
        answer, result, certificate = _smaller(problem, result)
    if certificate.dual < known:
        certificate.dual = min(known, certificate.primal)
        certificate.gap = problem.relative(certificate.primal, certificate.dual)
        if result.status is PRECISION and certificate.gap <= (CONFIRMED if target is None else close):
            result.status = OPTIMAL if target is None else GAP
            answer = problem.answer(result)
    name, gap = result.status.name, certificate.gap
    wanted = {"optimal": min(close, CONFIRMED), "gap": close, "taken over": APART * CONFIRMED}
    allowed = wanted.get(name, ENOUGH if result.replaced else np.inf)
    if result.status.converged and not (gap <= allowed and gap < np.inf):
        result.status = PRECISION
    return answer, result, certificate


def _smaller(
    problem: KernelProblem | LeastSquaresSvc, result: KernelResult
) -> tuple[Answer, KernelResult, Certificate]:
    """The best multiple of an answer that is worse than w = 0, or w = 0, with its certificate."""
    status = PRECISION if result.status.converged else result.status
    smaller = best_multiple(problem, result) if np.all(np.isfinite(result.alpha)) else None
    if smaller is not None:
        smaller.status = status
        answer, certificate = certified(problem, smaller)
        if acceptable(problem, smaller, certificate):
            return answer, smaller, certificate
    result = zero(problem, status)
    return problem.answer(result), result, certified_zero(problem)


def _bound(problem: KernelProblem | LeastSquaresSvc, result: KernelResult, certificate: Certificate) -> float:
    """The dual value of a result, which no primal value is below whatever its own is worth; -inf where none follows:
    of a kernel that may not be positive semidefinite, or of a point that is not feasible."""
    a = result.alpha
    if not problem.kernel.positive or not _finite(a, certificate.dual) or isinstance(problem, HardOneClass):
        return -np.inf
    if isinstance(problem, KernelProblem):
        feasible = not (np.any(a < 0.0) or np.any(a > problem.upper)) and feasible_sums(problem, a)
    else:
        total = abs(float(np.sum(problem.y * a)))
        feasible = not problem.free_bias or total <= FEASIBLE * float(np.sum(np.abs(a)))
    return certificate.dual if feasible else -np.inf


def _nothing(
    problem: KernelProblem | LeastSquaresSvc, result: KernelResult
) -> tuple[Answer, KernelResult, Certificate]:
    """What is left of a run that a limit has ended before there were any weights: nothing is computed for it, since
    thousands of problems may have to end so.  Such a solver has not searched for the best constants."""
    found = certified_zero(problem)
    if not isinstance(problem, HardOneClass):
        _, result.rho, result.r = value_at_zero(problem)
    return problem.answer(result), result, found


def certified(
    problem: KernelProblem | LeastSquaresSvc, result: KernelResult, target: float = -1.0,
    exact: np.ndarray | None = None,
) -> tuple[Answer, Certificate]:  # fmt: skip
    """What a result means, and its certificate, in values of the program.

    target: the gap that was asked for, below 0 if none was.  exact: the gradient by decision values as svm-predict
    computes them, where the caller has them; the problem's rows then need not be there.
    """
    late = result.status is TIME or result.status is INTERRUPTED
    if isinstance(problem, KernelProblem) and problem.shrunk < 1.0 and _finite(result.alpha) and np.any(result.alpha):
        with np.errstate(all="ignore"):
            if exact is None:
                exact = problem.gradient(result.alpha, exact_sum(problem, problem.coefficients(result.alpha)))
            result.rho, result.r = problem.without_losses(exact)
    if not _finite(result.alpha, result.rho, result.r):
        return problem.answer(result), Certificate(np.nan, np.nan, np.nan)
    with np.errstate(all="ignore"):  # what is not finite shows in the gap
        if exact is None:
            found = certify(problem, result.alpha, result.gradient, result.rho, result.r, 1.0, late, target)
        else:
            found = certificate_of(problem, result.alpha, exact, result.rho, result.r)
            found.seen = exact, 0.0
        if found.primal > value_at_zero(problem)[0]:
            found = _with_best_constants(problem, result, found)
    result.primal = found.primal
    return problem.answer(result), found


def _with_best_constants(
    problem: KernelProblem | LeastSquaresSvc, result: KernelResult, found: Certificate
) -> Certificate:
    """The certificate of the result with the constants that are best beside its w, which it takes if it is better so.

    A solver's are those of rows between their bounds; where these are too few to tell, or near w = 0, that costs more
    than w gains.
    """
    if not isinstance(problem, KernelProblem) or isinstance(problem, HardOneClass) or problem.shrunk < 1.0:
        return found
    gradient, apart = found.seen
    _, rho, r = best_constant(problem, gradient)
    other = certificate_of(problem, result.alpha, gradient, rho, r, 1.0, apart)
    if not other.primal < found.primal:
        return found
    other.sampled, other.seen = found.sampled, found.seen
    result.rho, result.r, result.replaced = rho + 0.0, r + 0.0, True
    return other


def acceptable(problem: KernelProblem | LeastSquaresSvc, result: KernelResult, certificate: Certificate) -> bool:
    """Law 1 for one answer."""
    if not _finite(result.alpha, result.rho, result.r, certificate.primal, certificate.dual):
        return False
    if proven_indefinite(problem, certificate):
        return True
    return certificate.primal <= most_allowed(problem)


def proven_indefinite(problem: KernelProblem | LeastSquaresSvc, certificate: Certificate) -> bool:
    """Whether a point that solves the program, but for its minimum, has a dual value that no positive semidefinite
    kernel allows."""
    stationary = relative(certificate.primal, certificate.dual) <= STATIONARY
    return bool(stationary) and above_zero(problem, certificate.dual)


def _finite(*numbers: Any) -> bool:
    return all(bool(np.all(np.isfinite(x))) for x in numbers)
