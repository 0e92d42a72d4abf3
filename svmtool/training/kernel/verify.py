"""Verifies the result of a kernel solver: two rules that hold for every solver.

1. No result is worse than w = 0.  If the certifier finds that one is, or is not finite, a second method takes over:
   decomposition by pairs or a direct solution, unless it is theirs.  If that fails too the result is a multiple of the
   first one or w = 0, with a status that is not converged.
   If round-off ends a run, the second method's result is used if its gap is smaller.
   Exception: a converged result with a gap of at most SLOW_MIN_GAP stays, because decision values of w = 0 tell no rows
   apart; one by the rule of -e stays, not converged, of a type for which a = 0 is no dual point (_keeps).
   Exception: a dual value above the primal value of w = 0 proves that the kernel matrix is not positive semidefinite.
   Then primal values have no meaning, and the result stays, as in LIBSVM, with a warning and without a gap.
   If no bound limits the sums of a nu type, rho and r are replaced by better ones (KernelProblem.without_losses).
2. The statuses "optimal" and "gap" stay only if the certificate confirms them.  No status is converged without a finite
   gap, or by the solver's own rule with a gap above SLOW_MIN_GAP if its own constants made it worse than w = 0.  Where
   that rule held, another result, or w = 0, with a gap of at most SLOW_MIN_GAP is converged by it.

Results of a paper's algorithm are only certified (as_printed).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.certify import kernel as certifier
from svmtool.certify.linear import Certificate
from svmtool.certify.one_class import HardCertificate
from svmtool.kernels.lp import LpSvc
from svmtool.kernels.problems import (
    AnyProblem,
    CSvc,
    HardOneClass,
    KernelProblem,
    LeastSquaresSvc,
    NuSvr,
    OneClass,
    relative,
)
from svmtool.kernels.results import DecisionFunction, KernelResult
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import INDEFINITE
from svmtool.tolerances import CONFIRMED_GAP, MAX_TRIALS, SLOW_MIN_GAP, SUM_RTOL

STATIONARY_RTOL = 0.1  # relative difference of the values up to which a point counts as stationary, for any kernel
SAMPLE_FACTOR = 2.0  # factor of CONFIRMED: a certificate from a sample adds up to half of the gap, and single precision
NO_MEANING = "the kernel matrix is not positive definite, so that primal values have no meaning"
PRINTED_FACTOR = 1.0005  # factor of the requested gap within its three printed digits

Verified = tuple[DecisionFunction, KernelResult, Certificate]


def verify(
    problem: AnyProblem, result: KernelResult, target: float | None, other: Callable[[], KernelResult | None]
) -> Verified:
    """Return the verified result, its decision function, and its certificate, scaled alike (DecisionFunction.scale).

    The rules are checked on values of the programme, because scaled values may underflow.
    target: the requested gap, if any; other: returns the result of a second method, None if there is none.
    """
    function, result, certificate = _verify(problem, result, target, other)
    if isinstance(problem, CSvc) and problem.beside == 1:
        certifier.bound_decisions(problem, result.alpha, result.rho, certificate)
    scale(function, result, certificate)
    return function, result, certificate


def as_printed(problem: AnyProblem, result: KernelResult, asked: float | None) -> Verified:
    """`verify` of a paper's algorithm: no other method replaces or improves its result, which is only certified.

    alpha may be infeasible, where the paper's variables are coefficients or have a sum near 0 only; then `dual_point`
    has the dual value.
    A result that is not finite becomes w = 0, not converged.  asked: notices.asked_gap.
    """
    result.printed, result.asked_gap = True, asked
    if not _finite(result.alpha, result.rho, result.r):
        result = zero(problem, base.PRECISION if result.status.converged else result.status)
    programme = isinstance(problem, LpSvc) and result.dual_point is not None
    if programme:
        function, certificate = problem.decision_function(result), _certify_lp(problem, result)
    elif np.any(result.alpha):
        function, certificate = certified(problem, result)
        if not np.isfinite(certificate.primal):  # a kernel that is not positive semidefinite lets a run diverge
            result = zero(problem, base.PRECISION if result.status.converged else result.status)
    if not programme and not np.any(result.alpha):
        function, result, certificate = _nothing(problem, result)
    if result.dual_point is not None and not isinstance(problem, LpSvc):
        squares = isinstance(problem, LeastSquaresSvc)
        other = _bound(problem, result.dual_point, certified(problem, result.dual_point)[1], proven=squares)
        least = -np.inf if np.any(problem.start) or not problem.kernel.positive else 0.0  # the dual value of a = 0
        certificate.dual = max(other, _bound(problem, result, certificate, proven=squares), least)
        if not proven_indefinite(problem, certificate):
            certificate.dual = min(certificate.dual, certificate.primal)
        certificate.gap = problem.relative(certificate.primal, certificate.dual)
    if proven_indefinite(problem, certificate):
        without_meaning(result, certificate)
    scale(function, result, certificate)
    return function, result, certificate


def without_meaning(result: KernelResult, certificate: Certificate) -> None:
    """Take the gap from the certificate of a result that proves the kernel indefinite."""
    certificate.gap, certificate.why_not = np.inf, NO_MEANING
    result.status = INDEFINITE if result.status.converged else result.status


def scale(function: DecisionFunction, result: KernelResult, certificate: Certificate) -> None:
    """Scale the certificate of a result as its decision function, and give the result its gap."""
    certificate.primal, certificate.dual = function.scaled(certificate.primal), function.scaled(certificate.dual)
    result.certified_gap = certificate.gap


def _verify(
    problem: AnyProblem, result: KernelResult, target: float | None, other: Callable[[], KernelResult | None]
) -> Verified:
    """`verify`, in values of the programme."""
    if result.status in (base.TIME, base.INTERRUPTED) and not np.any(result.alpha):
        return _nothing(problem, result)
    if isinstance(problem, LpSvc):
        return _verify_lp(problem, result, target)
    asked, by_rule = -1.0 if target is None else target, result.status is base.RULE
    close = PRINTED_FACTOR * asked if target is not None else SAMPLE_FACTOR * CONFIRMED_GAP
    function, certificate = certified(problem, result, asked)
    ended = result.status in (base.TIME, base.INTERRUPTED, base.ITERATIONS, base.STEPS)
    sound = acceptable(problem, result, certificate)
    claimed = (base.GAP,) if target is None else (base.GAP, base.OPTIMAL)
    short = result.status in claimed and not certificate.gap <= close
    poor = result.replaced and not certificate.gap <= CONFIRMED_GAP
    known = _bound(problem, result, certificate)
    if result.dual_point is not None:
        known = max(known, _bound(problem, result.dual_point, certified(problem, result.dual_point)[1]))
    if not ended and (short or poor or result.status is base.PRECISION or not sound):
        second = other()
        if second is not None:
            second.iterations += result.iterations
            if second.status is base.GAP and target is None:
                second.status = base.TAKEN_OVER
            second_function, second_certificate = certified(problem, second, asked)
            known = max(known, _bound(problem, second, second_certificate))
            better = not sound or second_certificate.gap < certificate.gap
            if better and acceptable(problem, second, second_certificate):
                result, function, certificate, sound = second, second_function, second_certificate, True
    if proven_indefinite(problem, certificate):
        without_meaning(result, certificate)
        return function, result, certificate
    if not (sound or _keeps(problem, result, certificate)):
        function, result, certificate = _smaller(problem, result)
    if certificate.dual < known:
        certificate.dual = min(known, certificate.primal)
        certificate.gap = problem.relative(certificate.primal, certificate.dual)
        if result.status is base.PRECISION and certificate.gap <= (CONFIRMED_GAP if target is None else close):
            result.status = base.OPTIMAL if target is None else base.GAP
            function = problem.decision_function(result)
    name, gap = result.status.name, certificate.gap
    wanted = {"optimal": min(close, CONFIRMED_GAP), "gap": close, "taken over": SAMPLE_FACTOR * CONFIRMED_GAP}
    allowed = wanted.get(name, SLOW_MIN_GAP if result.replaced else np.inf)
    if result.status.converged and not (gap <= allowed and gap < np.inf):
        result.status = base.POOR if result.status is base.RULE else base.PRECISION
    if by_rule and result.status is base.PRECISION and gap <= SLOW_MIN_GAP:
        result.status = base.RULE
    return function, result, certificate


def _verify_lp(problem: LpSvc, result: KernelResult, target: float | None) -> Verified:
    """`_verify` of a linear programme, for which there is no second method: w = 0 where a result is worse."""
    certificate = _certify_lp(problem, result) if _finite(result.alpha, result.rho) else None
    if certificate is None or not certificate.primal <= certifier.max_allowed_primal(problem):
        result, certificate = _zero_lp(problem, result)
    if result.status.converged and not certificate.gap <= PRINTED_FACTOR * (target or CONFIRMED_GAP):
        result.status = base.PRECISION
    return problem.decision_function(result), result, certificate


def _certify_lp(problem: LpSvc, result: KernelResult) -> Certificate:
    alpha = None if result.dual_point is None else result.dual_point.alpha
    return certifier.certify_lp(problem, problem.coefficients(result.alpha), result.rho, alpha)


def _zero_lp(problem: LpSvc, result: KernelResult) -> tuple[KernelResult, Certificate]:
    """w = 0, the solution where C is small, with its best constant and the dual value of the result."""
    none = zero(problem, result.status)
    none.iterations, none.history, none.dual_point = result.iterations, result.history, result.dual_point
    plain = certifier.certified_zero(problem)
    if none.dual_point is None:
        return none, plain
    found = _certify_lp(problem, none)
    return none, found if found.gap < plain.gap else plain  # the gap may be nan


def _smaller(problem: AnyProblem, result: KernelResult) -> Verified:
    """The best multiple of a result that is worse than w = 0, or w = 0, with its certificate."""
    status = base.PRECISION if result.status.converged else result.status
    smaller = best_multiple(problem, result) if np.all(np.isfinite(result.alpha)) else None
    if smaller is not None:
        smaller.status = status
        function, certificate = certified(problem, smaller)
        if acceptable(problem, smaller, certificate):
            return function, smaller, certificate
    result = zero(problem, status)
    return problem.decision_function(result), result, certifier.certified_zero(problem)


def _keeps(problem: AnyProblem, result: KernelResult, certificate: Certificate) -> bool:
    """Whether a converged result stays though w = 0 is better.

    It does with a gap of at most SLOW_MIN_GAP, because decision values of w = 0 tell no rows apart; and by the rule of
    -e where a = 0 is no dual point, as for nu types: there decision values have the right signs long before the margin
    pays for the losses.
    """
    without = isinstance(problem, KernelProblem) and bool(np.any(problem.start))
    numbers = result.rho, result.r, certificate.primal, certificate.dual
    kept = (without and result.status is base.RULE) or (result.status.converged and certificate.gap <= SLOW_MIN_GAP)
    return kept and _finite(result.alpha, *numbers)


def _bound(problem: AnyProblem, result: KernelResult, certificate: Certificate, proven: bool = True) -> float:
    """The dual value of a result as a lower bound of all primal values.

    -inf if it is none: the point is not feasible or, if `proven`, the kernel may be indefinite.
    """
    a = result.alpha
    unproven = proven and not problem.kernel.positive
    if unproven or not _finite(a, certificate.dual) or isinstance(problem, HardOneClass):
        return -np.inf
    if isinstance(problem, KernelProblem):
        feasible = not ((a < 0.0).any() or (a > problem.upper).any()) and problem.feasible_sums(a)
    else:
        total = abs(float(np.sum(problem.y * a)))
        feasible = not problem.free_bias or total <= SUM_RTOL * float(np.sum(np.abs(a)))
    return certificate.dual if feasible else -np.inf


def _nothing(problem: AnyProblem, result: KernelResult) -> Verified:
    """The result of a run that a limit ended before there were weights: w = 0 with its best constants.

    Its cost is negligible, because thousands of problems may end this way.
    """
    found = certifier.certified_zero(problem)
    if not isinstance(problem, HardOneClass):
        _, result.rho, result.r = certifier.value_at_zero(problem)
    return problem.decision_function(result), result, found


def certified(problem: AnyProblem, result: KernelResult, target: float = -1.0) -> tuple[DecisionFunction, Certificate]:
    """Return the decision function of a result and its certificate, in values of the programme.

    target: the requested gap, below 0 if there is none.
    """
    exact: np.ndarray | None = None  # the gradient by decision values as svm-predict computes them
    late = result.status is base.TIME or result.status is base.INTERRUPTED
    if isinstance(problem, KernelProblem) and problem.shrunk < 1.0 and _finite(result.alpha) and np.any(result.alpha):
        with np.errstate(all="ignore"):
            f = problem.points.sums(problem.coefficients(result.alpha))
            exact = problem.gradient(result.alpha, f)
            result.rho, result.r = problem.without_losses(exact)
    if not _finite(result.alpha, result.rho, result.r):
        return problem.decision_function(result), Certificate(np.nan, np.nan, np.nan)
    rho = result.rho
    if isinstance(problem, HardOneClass) and result.status.name != "sample":
        rho = 0.0  # the certificate is that of all rows
    with np.errstate(all="ignore"):  # the gap is not finite if any value is not
        if exact is None:
            found = certifier.certify(problem, result.alpha, result.gradient, rho, result.r, late, target)
        else:
            found = certifier.certificate_of(problem, result.alpha, exact, rho, result.r)
            found.seen = exact, 0.0
        if isinstance(problem, NuSvr) and found.seen is not None:  # the model holds w and rho, which determine r
            result.r = certifier.best_tube(problem, found.seen[0], result.rho)
            found = _with_constants(problem, result, found, result.rho, result.r)
        if isinstance(problem, OneClass) and found.seen is not None:
            result.rho, result.zero = problem.plane(result.alpha, *found.seen)
            found = _with_constants(problem, result, found, result.rho, 0.0)
            if result.zero:
                found.primal, found.dual = 0.0, min(found.dual, 0.0)
                found.gap = problem.relative(0.0, found.dual)
        if found.primal > certifier.value_at_zero(problem)[0] and not result.printed:
            found = _with_best_constants(problem, result, found)
    result.primal = found.primal
    if isinstance(found, HardCertificate) and found.plane is not None:
        result.plane = found.plane._replace(estimated=bool(found.sampled))
    return problem.decision_function(result), found


def _with_best_constants(problem: AnyProblem, result: KernelResult, found: Certificate) -> Certificate:
    """The certificate with the best constants for w, which replace those of the result if they are better.

    A solver takes its constants from free variables (0 < a_t < upper_t).  With few of them, or near w = 0, they may
    cost more than w gains.
    """
    if not isinstance(problem, KernelProblem) or isinstance(problem, HardOneClass) or problem.shrunk < 1.0:
        return found
    assert found.seen is not None
    _, rho, r = certifier.best_constant(problem, found.seen[0])
    other = _with_constants(problem, result, found, rho, r)
    if not other.primal < found.primal:
        return found
    result.rho, result.r, result.replaced = rho + 0.0, r + 0.0, True
    return other


def _with_constants(problem: AnyProblem, result: KernelResult, found: Certificate, rho: float, r: float) -> Certificate:
    """A certificate with other constants."""
    assert found.seen is not None
    gradient, apart = found.seen
    other = certifier.certificate_of(problem, result.alpha, gradient, rho, r, apart)
    other.sampled, other.seen = found.sampled, found.seen
    return other


def zero(problem: AnyProblem, status: Any) -> KernelResult:
    """w = 0 as the result of a solver."""
    _, rho, r = certifier.value_at_zero(problem)
    alpha = np.zeros(len(problem.row))
    linear = -1.0 if isinstance(problem, LeastSquaresSvc) else problem.p
    return KernelResult(alpha, rho, r, 0.0, np.inf, 0, status, np.zeros(len(alpha)) + linear)


def best_multiple(problem: AnyProblem, result: KernelResult) -> KernelResult | None:
    """The best of s alpha, s = 1, 1/2, 1/4 .., with its best constant; None if none is feasible and better than w = 0.

    Uses result.gradient.  A run that ends early at a large cost has found the direction of w, but not its size.
    """
    least, _, _ = certifier.value_at_zero(problem)
    squares = isinstance(problem, LeastSquaresSvc)
    if not squares and (np.any(problem.start) or problem.two_sums):
        return None
    linear = -1.0 if squares else problem.p
    Qa, best = result.gradient - linear, None
    for k in range(MAX_TRIALS):
        s = 0.5**k
        alpha, gradient = s * result.alpha, s * Qa + linear
        if squares:
            total = float(problem.cost @ (problem.y * gradient))
            rho = total / float(np.sum(problem.cost)) if problem.free_bias else -float(problem.y @ alpha)
        else:
            _, rho, _ = certifier.best_constant(problem, gradient)
        found = certifier.certificate_of(problem, alpha, gradient, rho)
        if found.primal < least:
            least = found.primal
            best = KernelResult(alpha, rho, 0.0, -found.dual, found.gap, result.iterations, result.status, gradient)
    return best


def acceptable(problem: AnyProblem, result: KernelResult, certificate: Certificate) -> bool:
    """Whether a result fulfils rule 1."""
    if not _finite(result.alpha, result.rho, result.r, certificate.primal, certificate.dual):
        return False
    if proven_indefinite(problem, certificate):
        return True
    return certificate.primal <= certifier.max_allowed_primal(problem)


def proven_indefinite(problem: AnyProblem, certificate: Certificate) -> bool:
    """Whether a stationary point has a dual value that is impossible for a positive semidefinite kernel."""
    stationary = relative(certificate.primal, certificate.dual) <= STATIONARY_RTOL
    return bool(stationary) and certifier.above_zero(problem, certificate.dual)


def _finite(*numbers: Any) -> bool:
    return all(math.isfinite(x) if isinstance(x, float) else bool(np.isfinite(x).all()) for x in numbers)
