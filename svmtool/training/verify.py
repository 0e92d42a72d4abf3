"""Checks that every result must pass, whatever solver found it.

1. No weight is infinite or no number, and no answer is worse than w = 0, or than where the run began.
2. A run that ends as converged has a certificate that confirms it: the neutral certifier finds the exact minimiser, or
   the gap that was asked for, too.
3. Where the certified gap is large, a share of the work of training goes into better points on both its sides.

An answer that breaks the first or the second is solved again by a slow and sound method (solvers/shared/fallback.py).
If that converges no better the run is reported as not converged.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import CONFIRMED, Monitor, Result
from svmtool.tolerances import ENOUGH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ROUNDING = 1e-9  # rise above P(0) that is rounding, relative


def verified(
    problems: Any, k: int, result: Result, monitor: Monitor, start: np.ndarray | None = None
) -> tuple[Result, Certificate]:
    """The answer to problem k, sound, and its certificate; start: where the run began, as the answer has it.

    monitor: of the run, whose limits hold for what is tried here too.
    """
    least, where = _least(problems, k, start)
    if not problems.is_finite(result.w):
        result = _replaced(problems, k, result, where)
    found = problems.certify(k, result)
    if not found.primal <= least + ROUNDING * abs(least):
        result = _replaced(problems, k, result, where)
        found = problems.certify(k, result)
    claimed = result.history[-1]["gap"]
    if problems.solver.optimal:
        if found.gap > ENOUGH and not monitor.ended():
            found = _polished(problems, k, result, found, monitor)
        if _contradicts(result, claimed, found, problems.gap()):
            result, found = _solved_anew(problems, k, result, found, monitor)
    last = result.history[-1]
    if not (np.isfinite(last["objective"]) and np.isfinite(last["bound"])):  # what is printed is the last record
        _note(result, found.primal, found.dual)
    result.certified_gap = found.gap
    return result, found


def sound(problems: Any, k: int, result: Result, start: np.ndarray | None = None) -> Result:
    """The answer without a certificate, or what is better where it breaks the first law."""
    least, where = _least(problems, k, start)
    if problems.is_finite(result.w) and problems.primal(k, result.w) <= least + ROUNDING * abs(least):
        return result
    return _replaced(problems, k, result, where)


def _least(problems: Any, k: int, start: np.ndarray | None) -> tuple[float, np.ndarray | None]:
    """The value that no answer may exceed, and its weights; None: zeros."""
    if not problems.solver.optimal:  # its rows are chosen on the way: the objective of all of them is not its aim
        return np.inf, None
    at_zero = problems.value_at_zero(k)
    if start is not None and np.any(start):
        at_start = problems.primal(k, start)
        if at_start < at_zero:
            return at_start, start
    return at_zero, None


def _replaced(problems: Any, k: int, result: Result, where: np.ndarray | None) -> Result:
    """The weights `where` in place of the answer's; a run that claimed to have converged did not."""
    w = problems.zero_weights() if where is None else where.copy()
    status = base.PRECISION if result.status.converged else result.status
    replaced = Result(w, status, result.iterations, result.history, problems.zero_dual_point(k))
    replaced.taken = None if result.taken is None else np.zeros_like(result.taken)
    _note(replaced, problems.primal(k, w))
    return replaced


def _note(result: Result, primal: float, dual: float = 0.0) -> None:
    """One more record, of the answer in place of the one that the records led to."""
    record = {**result.history[-1], "objective": primal, "bound": dual, "gap": relative_gap(primal, dual)}
    record["iteration"] = result.iterations
    result.history = [*result.history, record]
    result.iterations += 1


def _polished(problems: Any, k: int, result: Result, found: Certificate, monitor: Monitor) -> Certificate:
    """The certificate, and the answer with it, after a share of training's work on both sides of the gap; law 3."""
    from svmtool.training.polish import allowance  # and what it needs: most runs end without

    visits = result.visits
    if visits is None:
        visits = float(sum(2 * int(record.get("cg", 0)) + 3 for record in result.history))
    better = problems.polished(k, result, found, allowance(visits, problems.rows.nnz, problems.count), monitor)
    if better is None:
        return found
    w, alpha = better
    again = problems.certify(k, Result(w, result.status, 0, [], result.alpha), alpha)
    if again.primal > found.primal:
        w, again = result.w, problems.certify(k, result, alpha)
    result.w = w
    if found.dual > again.dual:
        again = Certificate(again.primal, found.dual, found.violation)
    if again.gap < found.gap:
        _note(result, again.primal, again.dual)
    return again


def _contradicts(result: Result, claimed: float, found: Certificate, asked: float | None) -> bool:
    """Whether the certificate does not bear out the status, or rounding ended the run.

    claimed: the gap that the solver ended with.
    """
    status = result.status
    if status is base.PRECISION or not np.isfinite(found.gap):
        return True
    if status is base.OPTIMAL:
        return found.gap > (CONFIRMED if asked is None else min(asked, CONFIRMED))
    if status is base.RULE:  # rounding may spoil a gap that needed no other dual point
        return claimed <= CONFIRMED < found.gap
    return status is base.GAP and asked is not None and found.gap > asked


def _solved_anew(
    problems: Any, k: int, result: Result, found: Certificate, monitor: Monitor
) -> tuple[Result, Certificate]:
    """The better of the answer and what the fallback makes of the problem from there; law 2.

    What rounding has ended within the gap needs no other method.
    """
    asked = problems.gap()
    target = CONFIRMED if asked is None else asked
    other = None if found.gap <= target or monitor.ended() else problems.solve_anew(k, result.w, target, monitor)
    if other is not None and problems.is_finite(other.w):
        certificate = problems.certify(k, other)
        if certificate.primal <= found.primal:
            other.iterations, other.history = result.iterations, result.history
            if found.dual > certificate.dual:  # keep the larger of the two lower bounds
                certificate = Certificate(certificate.primal, found.dual, certificate.violation)
            _note(other, certificate.primal, certificate.dual)
            result, found = other, certificate
        elif certificate.dual > found.dual:  # a lower bound holds whatever the weights
            found = Certificate(found.primal, certificate.dual, found.violation)
            _note(result, found.primal, found.dual)
    if found.gap <= target:
        result.status = base.GAP if asked is not None else base.TAKEN_OVER
    elif result.status.converged or result.status is base.GAP:
        result.status = base.PRECISION
    return result, found
