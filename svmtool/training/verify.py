"""Checks of every result, independent of the solver.

1. All weights are finite, and the objective is at most its value at w = 0 and at the start.  A converged result may be
   above that at w = 0 by a share of SLOW_MIN_GAP, because zero weights tell no rows apart.
2. If the solver reports convergence, the certificate confirms it: the exact minimiser, or the requested gap.

A result above its start becomes the start, which its dual point bounds more tightly.  Any other that violates 1 or 2 is
solved again by a slow and robust method (solvers/shared/fallback.py).  If this does not converge either, the run is
reported as not converged.  Results of a paper's algorithm (--method paper) are only
certified; where they are not finite they become w = 0, not converged.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Result
from svmtool.tolerances import CONFIRMED_GAP, SAME_RTOL, SLOW_MIN_GAP, VALUE_RTOL
from svmtool.training.notices import asked_gap

Verified = tuple[Result, Certificate]


def verified(problems: Any, k: int, result: Result, monitor: Monitor, start: np.ndarray | None = None) -> Verified:
    """The checked result of problem k and its certificate, within the limits of the monitor; start: initial weights."""
    if problems.solver.printed:
        return _as_printed(problems, k, result)
    least, where = _least(problems, k, start)
    if not problems.is_finite(result.w):
        result = _replaced(problems, k, result, where)
    certificate = problems.certify(k, result)
    if not certificate.primal <= _most(result, least, where):
        result = _replaced(problems, k, result, where)
        certificate = problems.certify(k, result).bounded_by(certificate)
    claimed = result.history[-1]["gap"]
    if problems.solver.optimal:
        asked = problems.settings.target
        if _contradicts(result, claimed, certificate, asked):
            result, certificate = _solved_anew(problems, k, result, certificate, monitor)
    last = result.history[-1]  # it is printed
    same = abs(last["objective"] - certificate.primal) <= SAME_RTOL * abs(certificate.primal)
    if not math.isfinite(last["bound"]) or (problems.solver.optimal and not same):
        _note(result, certificate.primal, certificate.dual)
    result.certified_gap = certificate.gap
    return result, certificate


def sound(problems: Any, k: int, result: Result, start: np.ndarray | None = None) -> Result:
    """The result, or a better point if it violates check 1; without a certificate."""
    if problems.solver.printed:
        return _as_printed(problems, k, result)[0]
    least, where = _least(problems, k, start)
    if problems.is_finite(result.w) and problems.primal(k, result.w) <= _most(result, least, where):
        return result
    return _replaced(problems, k, result, where)


def _as_printed(problems: Any, k: int, result: Result) -> Verified:
    """The result of a paper's algorithm with its certificate: no other method replaces or improves it."""
    if not problems.is_finite(result.w):
        result = _replaced(problems, k, result, None)
    certificate = problems.certify(k, result)
    result.certified_gap, result.asked_gap = certificate.gap, asked_gap(problems.settings)
    return result, certificate


def _least(problems: Any, k: int, start: np.ndarray | None) -> tuple[float, np.ndarray | None]:
    """The value that no result may exceed, and its weights; None: zeros."""
    if not problems.solver.optimal:  # FALSVM does not minimise the objective of all rows
        return np.inf, None
    return better_start(problems, k, start)


def _most(result: Result, least: float, where: np.ndarray | None) -> float:
    """The largest value that check 1 allows; least, where: of `_least`."""
    share = SLOW_MIN_GAP if where is None and result.status.converged else VALUE_RTOL
    return least + share * abs(least)


def better_start(problems: Any, k: int, start: np.ndarray | None) -> tuple[float, np.ndarray | None]:
    """The smaller one of the objectives at zero weights and at `start`, and its weights; None: zeros."""
    at_zero = problems.value_at_zero(k)
    if start is not None and np.any(start):
        at_start = problems.primal(k, start)
        if at_start < at_zero:
            return at_start, start
    return at_zero, None


def _replaced(problems: Any, k: int, result: Result, where: np.ndarray | None) -> Result:
    """The result with the weights `where`; a reported convergence becomes a failure, unless they are its start.

    From a start near the minimum LIBLINEAR's rule often ends a run at a value slightly above the start's.
    """
    kept = where is not None and problems.is_finite(result.w)
    w = problems.zero_weights() if where is None else where.copy()
    status = base.PRECISION if result.status.converged and not kept else result.status
    alpha = result.alpha if kept else problems.zero_dual_point(k)
    replaced = Result(w, status, result.iterations, result.history, alpha)
    replaced.taken = None if result.taken is None else np.zeros_like(result.taken)
    _note(replaced, problems.primal(k, w))
    return replaced


def _note(result: Result, primal: float, dual: float = 0.0) -> None:
    """Append a record of the replaced result."""
    record = {"iteration": result.iterations, "objective": primal, "bound": dual, "gap": relative_gap(primal, dual)}
    record["active"] = result.history[-1].get("active", 0)
    result.history = [*result.history, record]
    result.iterations += 1


def _contradicts(result: Result, claimed: float, certificate: Certificate, asked: float | None) -> bool:
    """Whether the certificate does not confirm the status and the gap `claimed`, or round-off ended the run."""
    status = result.status
    if status is base.PRECISION or not math.isfinite(certificate.gap):
        return True
    if status is base.OPTIMAL:
        return certificate.gap > (CONFIRMED_GAP if asked is None else min(asked, CONFIRMED_GAP))
    if status is base.RULE:  # a gap needed for -e is confirmed up to round-off
        return claimed <= CONFIRMED_GAP < certificate.gap
    return status is base.GAP and asked is not None and certificate.gap > asked


def _solved_anew(problems: Any, k: int, result: Result, certificate: Certificate, monitor: Monitor) -> Verified:
    """Check 2: the better of the result and that of the fallback method, started from it.

    A run that round-off ended within the gap is kept.
    """
    asked = problems.settings.target
    target = CONFIRMED_GAP if asked is None else asked
    other = None if certificate.gap <= target or monitor.ended() else problems.solve_anew(k, result.w, target, monitor)
    if other is not None and problems.is_finite(other.w):
        of_other = problems.certify(k, other)
        if of_other.primal <= certificate.primal:
            other.iterations, other.history = result.iterations, result.history
            of_other = of_other.bounded_by(certificate)
            _note(other, of_other.primal, of_other.dual)
            result, certificate = other, of_other
        elif of_other.dual > certificate.dual:
            certificate = certificate.bounded_by(of_other)
            _note(result, certificate.primal, certificate.dual)
    if certificate.gap <= target:
        result.status = base.GAP if asked is not None else base.TAKEN_OVER
    elif result.status.converged or result.status is base.GAP:
        result.status = base.PRECISION
    return result, certificate
