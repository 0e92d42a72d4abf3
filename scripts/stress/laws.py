"""The laws that every run must satisfy: each checks one property and gives the message for a breach."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stress import kernel_objective, models, objective
from stress.cases import Case, Run
from stress.commands import Ended
from stress.models import SHOWN, SHOWN_GAP, Model
from stress.objective import Value
from svmtool.registry.row import gap_of_theta
from svmtool.tolerances import SLOW_MIN_GAP

REPORTED_GAP = 1e-2  # from this gap on a converged run must print a warning on stderr
WORSE = 1e-9  # relative tolerance of the guarantee P(w) <= P(0)
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


class Certified(NamedTuple):
    """A run and its results; values: P of each problem, None without a model to check."""

    run: Run
    ended: Ended
    model: Model | None
    values: list[Value] | None

    @property
    def converged(self) -> bool:
        return self.model is not None and "not converged" not in self.ended.err

    @property
    def value(self) -> float:
        return sum(v.value for v in self.values or ())

    @property
    def rounding(self) -> float:
        return sum(v.rounding for v in self.values or ())


def values_of(run: Run, rows, model: Model) -> list[Value] | None:
    """The objective value of each binary problem at the model's weights; the model may be a peer's.

    None if the model does not determine it: kernel_objective.py.
    """
    with np.errstate(all="ignore"):
        if model.kernel:
            return kernel_objective.values(run.problem, rows, model)
        return objective.values(run.problem, rows, model)


def certified(run: Run, case: Case, ended: Ended) -> tuple[Certified, list[Check]]:
    """Check the laws of a single run."""
    checks = [Check(ENDS, how_it_ended(run, ended))]
    if ended.model is None:
        return Certified(run, ended, None, None), checks
    model = models.parse(ended.model)
    wrong = model.not_finite()
    if wrong and all(note in ("rho",) for note in _keys_of(model, wrong)) and _rho_may_be_infinite(run, case):
        wrong = []
    checks.append(Check(FINITE, f"{len(wrong)} numbers such as {wrong[0]} in the model" if wrong else ""))
    seen = Certified(run, ended, model, None if wrong else values_of(run, case.rows, model))
    certificate = model.certificate
    checks += _certified(seen, certificate)
    if seen.values is not None and certificate is not None:
        checks += [_no_worse_than_zero(seen), _as_certified(seen, certificate)]
    return seen, checks


def _keys_of(model: Model, wrong: Sequence[str]) -> list[str]:
    """The keys of values that are not numbers."""
    found = [key for key, tokens in model.header.items() if any(t in wrong for t in tokens)]
    return found if len(wrong) == sum(t in wrong for key in found for t in model.header[key]) else [*found, "weights"]


def _rho_may_be_infinite(run: Run, case: Case) -> bool:
    """LIBLINEAR's rho for nu = 0 or 1."""
    return run.row.kind == "one-class" and not run.row.kernel and (case.rows.n == 0 or run.problem.nu in (0.0, 1.0))


def how_it_ended(run: Run, ended: Ended) -> str:
    """Empty for a valid end: a model, or one error message, and no other output."""
    err = ended.err
    if ended.status is None or "Traceback" in err:
        last = [line for line in err.splitlines() if line.strip()]
        return "traceback: " + (last[-1] if last else "")
    noise = re.search(r"\w*Warning: .*", err)
    if noise:
        return f"a warning of a library on stderr: {noise[0]}"
    strict = "--strict" in run.argv and re.search("not converged|may lie up to|no probabilities|no leave-one-out", err)
    if ended.status != (2 if strict else 0) and ended.status != 1:
        return f"exit status {ended.status}"
    if ended.status != 1:
        return "" if ended.model else "exit status 0 and no model"
    sentences = [line for line in err.splitlines() if line.strip() and not line.startswith("WARNING")]
    if ended.model:
        return "exit status 1 and a model"
    return "" if len(sentences) == 1 else f"exit status 1 with {len(sentences)} lines on stderr"


def _certified(seen: Certified, certificate: models.Certificate | None) -> list[Check]:
    """Check that the certificate is finite, a requested gap is met, and a gap above REPORTED_GAP is reported."""
    run, converged = seen.run, seen.converged
    if certificate is None:
        return [Check(CERTIFIED, "the model has no certificate")]
    checks = []
    if converged:
        good = all(np.isfinite(certificate)) or not run.convex
        checks.append(Check(CERTIFIED, "" if good else f"converged, and {certificate}"))
        requested = run.gap if run.gap is not None else run.row.gap_default if "-e" not in run.argv else None
        reported = "--gap" in seen.ended.err
        if run.row.printed:  # --gap ends no run
            requested, reported = None, "the paper's algorithm has ended, but" in seen.ended.err
        if requested is not None and "sample" not in run.row.name:
            within = certificate.gap <= requested * (1 + SHOWN_GAP)
            words = f"converged at a gap of {certificate.gap:g}, requested {requested:g} ({seen.model.stopped})"
            checks.append(Check(REACHED, "" if within else words))
        elif not run.quiet and run.row.optimal and "sample" not in run.row.name:
            silent = not certificate.gap <= _reported_gap(run) * (1 + SHOWN_GAP) and not reported
            words = f"no message about a gap of {certificate.gap:g} ({seen.model.stopped})"
            checks.append(Check(REPORTED, words if silent else ""))
    return checks


def _reported_gap(run: Run) -> float:
    """The certified gap from which on a run by its own rule is reported."""
    if not run.row.printed:
        return REPORTED_GAP
    if run.gap is None and run.row.kind == "hard one-class":
        theta = float(run.argv[run.argv.index("-e") + 1]) if "-e" in run.argv else run.row.eps_default
        return max(gap_of_theta(theta), REPORTED_GAP)
    return REPORTED_GAP if run.gap is None else run.gap


def _no_worse_than_zero(seen: Certified) -> Check:
    """For rows of the registry that reach an optimum; neither those that use only some rows nor the papers'."""
    if not seen.run.row.optimal or not seen.run.convex or seen.run.row.printed:
        return Check(ZERO, "")
    for k, v in enumerate(seen.values):
        if "finds no margin" in seen.ended.err:
            break
        row = seen.run.row
        scale = v.scale if row.kind == "one-class" or row.word == "nu_svc" else 0.0
        if not v.value <= v.zero + WORSE * max(abs(v.zero), scale) + v.rounding:
            how = "converged" if seen.converged else "not converged"
            return Check(ZERO, f"problem {k + 1}: P = {v.value:.9g}, {v.zero:.9g} without weights ({how})")
    return Check(ZERO, "")


def _as_certified(seen: Certified, certificate: models.Certificate) -> Check:
    """The certificate's primal value is the model's.

    nu-SVC without a margin has no certificate.
    """
    apart, zero = abs(seen.value - certificate.primal), sum(abs(v.zero) + v.scale for v in seen.values)
    if "finds no margin" in seen.ended.err or apart <= AGREES * abs(seen.value) + ROUNDS * zero + seen.rounding:
        return Check(PRIMAL, "")
    words = f"P = {seen.value:.9g} by the model, {certificate.primal:.9g} by the certificate"
    return Check(PRIMAL, f"{words} (rounding {seen.rounding:.2g})")


def no_worse_than_start(seen: Certified, start: list[Value]) -> Check:
    """For a run with -i, but of a paper's algorithm, which need not descend; start: P of its model."""
    if seen.run.row.printed:
        return Check(START, "")
    for k, (mine, theirs) in enumerate(zip(seen.values, start, strict=True)):
        if not mine.value <= theirs.value + WORSE * abs(theirs.value) + mine.rounding + theirs.rounding:
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


def beside(seen: Certified, theirs: list[Value], seconds: float) -> list[Check]:
    """Both laws of a run to LIBSVM's own rule: theirs: P of LIBSVM's model; seconds: its time.

    Both runs stop within the rule's tolerance of the minimum; ours goes on where its gap is above SLOW_MIN_GAP.
    """
    other, rounding = sum(v.value for v in theirs), sum(v.rounding for v in theirs)
    holds = not np.isfinite(other) or seen.value <= other + SLOW_MIN_GAP * abs(other) + 2 * (seen.rounding + rounding)
    words = "" if holds else f"P = {seen.value:.9g}, {other:.9g} of LIBSVM's model"
    late = seen.ended.seconds > SOON_FACTOR * seconds + SOON_EXTRA
    slow = f"took {seen.ended.seconds:.2f} s, LIBSVM {seconds:.2f} s" if late else ""
    return [Check(BESIDE, words), Check(SOON, slow)]


def same_for_threads(one: Ended, two: Ended) -> Check:
    return Check(THREADS, "" if one.model == two.model else "the models of --threads 1 and 2 differ")


def within_limit(run: Run, seconds: float) -> Check:
    """--max-seconds may be exceeded by at most one second; passes over such small data are short."""
    over = seconds - run.seconds
    return Check(LIMIT, "" if over <= 1.0 else f"took {seconds:.1f} s with --max-seconds {run.seconds:g}")


def in_good_time(seconds: float, peer: float, factor: float, extra: float) -> Check:
    over = seconds > factor * peer + extra
    return Check(TIME, f"took {seconds:.1f} s, the peer {peer:.2f} s" if over else "")
