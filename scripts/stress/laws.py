"""The laws that every run must satisfy: each checks one property and gives the message for a breach."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from stress import models, objective
from stress.cases import Case, Run
from stress.models import SHOWN, SHOWN_GAP, Model
from stress.objective import Value
from svmtool.registry.row import gap_of_theta
from svmtool.tolerances import SLOW_MIN_GAP

REPORTED_GAP = 1e-2  # from this gap on a converged run must print a warning on stderr
# relative tolerances of the guarantee P(w) <= P(0): of all results, and of converged ones, whose weights stay
WORSE, CONVERGED_WORSE = 1e-9, 1e-3
AGREES = 6e-9  # relative tolerance of the certificate's primal value, which is printed with nine digits
ROUNDS = 1e-14  # and its tolerance relative to P(0), for differences of numbers of that size

ENDS, FINITE, CERTIFIED = "ends well", "finite model", "finite certificate"
ZERO, START, PRIMAL = "no worse than w = 0", "no worse than the start", "primal as certified"
REPORTED, REACHED, SAME, DUAL = "reports a wide gap", "requested gap", "same problem", "dual bound holds"
THREADS, TIME, LIMIT = "same for 1 and 2 threads", "time beside the peer", "--max-seconds"
BESIDE, SOON = "no worse than LIBSVM at its own rule", "five times LIBSVM's time at most"
SOON_FACTOR, SOON_EXTRA = 5.0, 0.2  # of times, and seconds more, by which times of small runs vary
HANG, CRASH = "comes to an end", "does not crash"
CHECKED = "can be checked"  # of the stress test itself: its sums took too long


class Check(NamedTuple):
    """Result of one law: words are empty if it holds."""

    law: str
    words: str


class Ended(NamedTuple):
    """A finished command.

    status: None after an uncaught exception.  seconds: the smaller of clock and processor time, because other programs
    may delay the clock.  model: its text, None without one.
    """

    status: int | None
    err: str
    seconds: float
    model: str | None


class Certified(NamedTuple):
    """A run and its results; values: P of each problem, None without a model to check."""

    run: Run
    ended: Ended
    model: Model
    values: list[Value] | None

    @property
    def value(self) -> float:
        return float(sum(v.value for v in self.values or ()))

    @property
    def rounding(self) -> float:
        return float(sum(v.rounding for v in self.values or ()))


def certified(run: Run, case: Case, ended: Ended) -> tuple[Certified | None, list[Check]]:
    """Check the laws of a single run; None without a model."""
    checks = [Check(ENDS, how_it_ended(run, ended))]
    if ended.model is None:
        return None, checks
    model = models.parse(ended.model)
    wrong, one_class = model.not_finite(), run.row.kind == "one-class" and not run.row.kernel
    if one_class and {key for key, _ in wrong} == {"rho"} and (case.rows.n == 0 or run.problem.nu in (0.0, 1.0)):
        wrong = []  # LIBLINEAR's rho for nu = 0 or 1
    checks.append(Check(FINITE, f"{len(wrong)} numbers such as {wrong[0]} in the model" if wrong else ""))
    seen = Certified(run, ended, model, None if wrong else objective.values(run.problem, case.rows, model))
    certificate = model.certificate
    checks += _of_gap(seen, certificate)
    if seen.values is not None and certificate is not None and "finds no margin" not in ended.err:
        checks += [_no_worse_than_zero(seen), _as_certified(seen, certificate.primal)]
    return seen, checks


def how_it_ended(run: Run, ended: Ended) -> str:
    """Empty for a valid end: a model, or one error message, and no other output."""
    err = ended.err
    sentences = [line for line in err.splitlines() if line.strip() and not line.startswith("WARNING")]
    if ended.status is None or "Traceback" in err:
        return f"traceback: {''.join(sentences[-1:])}"
    if noise := re.search(r"\w*Warning: .*", err):
        return f"a warning of a library on stderr: {noise[0]}"
    strict = "--strict" in run.argv and re.search("not converged|may lie up to|no probabilities|no leave-one-out", err)
    if ended.status == 1:
        good = len(sentences) == 1 and not ended.model
        return "" if good else f"exit status 1, {len(sentences)} lines on stderr{' and a model' * bool(ended.model)}"
    if ended.status != (2 if strict else 0):
        return f"exit status {ended.status}"
    return "" if ended.model else "exit status 0 and no model"


def _of_gap(seen: Certified, certificate: models.Certificate | None) -> list[Check]:
    """Check that the certificate is finite, a requested gap is met, and a gap above REPORTED_GAP is reported."""
    run, row, err = seen.run, seen.run.row, seen.ended.err
    if certificate is None:
        return [Check(CERTIFIED, "the model has no certificate")]
    if "not converged" in err:
        return []
    good = all(np.isfinite(certificate)) or not run.convex
    checks = [Check(CERTIFIED, "" if good else f"converged, and {certificate}")]
    requested = run.gap if run.gap is not None else row.gap_default if "-e" not in run.argv else None
    if "sample" in row.name:
        return checks
    if requested is not None and not row.printed:  # --gap ends no run of a paper's algorithm
        within = certificate.gap <= requested * (1 + SHOWN_GAP)
        words = f"converged at a gap of {certificate.gap:g}, requested {requested:g} ({seen.model.stopped})"
        checks.append(Check(REACHED, "" if within else words))
    elif "-q" not in run.argv and row.optimal:
        reported = ("the paper's algorithm has ended, but" if row.printed else "--gap") in err
        silent = not certificate.gap <= _reported_gap(run) * (1 + SHOWN_GAP) and not reported
        words = f"no message about a gap of {certificate.gap:g} ({seen.model.stopped})"
        checks.append(Check(REPORTED, words if silent else ""))
    return checks


def _reported_gap(run: Run) -> float:
    """The certified gap from which on a run by its own rule is reported."""
    if run.row.printed and run.gap is not None:
        return run.gap
    if run.row.printed and run.row.kind == "hard one-class":
        return max(gap_of_theta(float(run.value_of("-e") or run.row.eps_default)), REPORTED_GAP)
    return REPORTED_GAP


def _no_worse_than_zero(seen: Certified) -> Check:
    """For rows of the registry that reach an optimum; neither those that use only some rows nor the papers'."""
    row, worse = seen.run.row, WORSE if "not converged" in seen.ended.err else CONVERGED_WORSE
    if row.optimal and seen.run.convex and not row.printed:
        for k, v in enumerate(seen.values):
            scale = v.scale if row.kind == "one-class" or row.word == "nu_svc" else 0.0
            if not v.value <= v.zero + worse * max(abs(v.zero), scale) + v.rounding:
                return Check(ZERO, f"problem {k + 1}: P = {v.value:.9g}, {v.zero:.9g} without weights")
    return Check(ZERO, "")


def _as_certified(seen: Certified, primal: float) -> Check:
    """The certificate's primal value is the model's."""
    zero = float(sum(abs(v.zero) + v.scale for v in seen.values))
    if abs(seen.value - primal) <= AGREES * abs(seen.value) + ROUNDS * zero + seen.rounding:
        return Check(PRIMAL, "")
    words = f"P = {seen.value:.9g} by the model, {primal:.9g} by the certificate (rounding {seen.rounding:.2g})"
    return Check(PRIMAL, words)


def no_worse_than_start(seen: Certified, start: list[Value]) -> Check:
    """For a run with -i, but of a paper's algorithm, which need not descend; start: P of its model."""
    for k, (mine, theirs) in enumerate(zip(seen.values, start, strict=True)):
        within = mine.value <= theirs.value + WORSE * abs(theirs.value) + mine.rounding + theirs.rounding
        if not within and not seen.run.row.printed:
            return Check(START, f"problem {k + 1}: P = {mine.value:.9g}, {theirs.value:.9g} at the start")
    return Check(START, "")


def bound_holds(law: str, seen: Certified, other: float, rounding: float, whose: str) -> Check:
    """No point has a lower value than the certified dual value; other: P of some point, described by `whose`.

    Tolerance: the precision of printed digits, and twice the round-off of both primal values.
    """
    certificate = seen.model.certificate
    tolerance = SHOWN * (abs(certificate.dual) + abs(other)) + 2 * (seen.rounding + rounding)
    if not np.isfinite(other) or other >= certificate.dual - tolerance:
        return Check(law, "")
    words = f"{whose} has P = {other:.9g}, below the dual value {certificate.dual:.9g} certified"
    mine = f"P = {seen.value:.9g}, gap {certificate.gap:.3g}, rounding {seen.rounding + rounding:.2g}"
    return Check(law, f"{words} ({mine})")


def beside(seen: Certified, other: float, rounding: float) -> Check:
    """Against LIBSVM at its own rule; other: P of its model.

    Both runs stop within the rule's tolerance of the minimum; ours goes on where its gap is above SLOW_MIN_GAP.
    """
    holds = not np.isfinite(other) or seen.value <= other + SLOW_MIN_GAP * abs(other) + 2 * (seen.rounding + rounding)
    return Check(BESIDE, "" if holds else f"P = {seen.value:.9g}, {other:.9g} of LIBSVM's model")


def in_time(law: str, seconds: float, peer: float, factor: float, extra: float) -> Check:
    over = seconds > factor * peer + extra
    return Check(law, f"took {seconds:.2f} s, the peer or the limit {peer:.2f} s" if over else "")
