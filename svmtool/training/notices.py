"""Notices: what the user must know about a finished training besides its lines, and whether it has converged.

`notices` makes the one list; faces show all of it and add nothing: svm-train, also with --spark, and the modules of
`compat` print it on stderr, also with -q; `Fit.warnings` and the estimators' Python warnings hold it in keywords.
`converged` is what --strict, `Fit.converged` and `converged_` mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from svmtool.certify.linear import Certificate
from svmtool.params import Settings, tolerance
from svmtool.registry.row import Solver, gap_of_theta
from svmtool.solvers.shared.base import INTERRUPTED, OPTIMAL, PRECISION, PRUNED, Status
from svmtool.tolerances import CONFIRMED_GAP, WARNING_GAP

MAX_ROUNDING = 1e-8  # relative error of the weights by round-off in sums above which a model by sums has not converged
DRIFT = Status("drift", False, "rounding in the updates row by row has changed the weights: use --method fast")
MAX_NAMED = 5  # problems of which a warning is printed
WARNING = "WARNING: "


class Notice(NamedTuple):
    """A sentence with the commands' options: `text`, and `advice` that differs in programs.

    kind  training: about the rows, or about what the model's decisions mean; the run has converged all the same
          leave-one-out, probabilities: what was asked for is missing
          labels: fewer are certain than were asked for
          interrupted
          status: the worst status
          gap: the solver's own rule has ended the run, and the certified gap is large
          rounding: of sums over rows added and removed
    """

    kind: str
    text: str
    advice: str = ""

    @property
    def converged(self) -> bool:
        """Whether the run has converged in spite of it."""
        return self.kind == "training"

    @property
    def sentence(self) -> str:
        """Text and advice."""
        return f"{self.text}: {self.advice}" if self.advice else self.text

    @property
    def line(self) -> str:
        """The line of the commands."""
        return self.sentence if self.kind == "interrupted" else WARNING + self.sentence


def notices(row: Solver, done: Any, name: str = "the model") -> tuple[Notice, ...]:
    """The notices of a Training by the solver `row`; name: the model's in sentences."""
    found = [Notice("training", text.removeprefix(WARNING)) for text in done.warnings]
    if done.no_leave_one_out:
        found.append(Notice("leave-one-out", f"no leave-one-out accuracy (--loo): {done.no_leave_one_out}"))
    if done.lacking:
        whole = done.lacking.startswith(WARNING)  # LIBSVM's own sentence
        text = done.lacking.removeprefix(WARNING) if whole else f"{name} holds no probabilities (-b 1): {done.lacking}"
        found.append(Notice("probabilities", text))
    if done.uncertain:
        found.append(Notice("labels", done.uncertain))
    status = done.status
    if status is INTERRUPTED:
        line = done.certificate.line()
        text = f"interrupted: {name} holds the best model so far, {line[0].lower()}{line[1:]}"
        found.append(Notice("interrupted", text))
    elif status is not None and not status.converged:
        found.append(of_status(status, row, done.certificate))
    elif (gap := max((r.certified_gap for r in done.results if r.status is PRUNED), default=0.0)) > WARNING_GAP:
        text = f"without the weights that --prune leaves out the certified relative gap is {gap:.2g}"
        found.append(Notice("gap", text, "choose a smaller EPS"))
    elif vague := vague_gap(done.results):
        text, way = "the stopping rule of -e holds, but ", "use --gap 1e-3 to continue"
        if row.printed:
            text, way = "the paper's algorithm has ended, but ", "use --method fast"
        lower = f"the optimum may lie up to {100.0 * vague:.3g} % lower (certified relative gap {vague:.2g})"
        text += lower if vague < math.inf else "no gap is certified"
        found.append(Notice("gap", text, way))
    return tuple(found)


def of_status(status: Status, row: Solver, certificate: Certificate) -> Notice:
    """The notice of a status that is not converged."""
    return Notice("status", f"not converged: {advice(status, row)} ({certificate.short()})")


def of_sums(row: Solver, certificate: Certificate, rounding: float) -> list[Notice]:
    """The notices of a model by sums over rows added and removed, whose weights are off by `rounding`, relative."""
    poor = DRIFT if row.printed else PRECISION
    found, status = [], OPTIMAL if certificate.gap <= CONFIRMED_GAP or not row.optimal else poor
    if not status.converged:
        found.append(of_status(status, row, certificate))
    if not rounding <= MAX_ROUNDING:
        text = "rounding in sums over rows added and removed may have changed the weights by a relative "
        found.append(Notice("rounding", f"{text}{rounding:.1g}", "train again if that matters"))
    return found


def converged(found: Iterable[Notice]) -> bool:
    """Whether a run with these notices has converged: --strict accepts it."""
    return all(notice.converged for notice in found)


def advice(status: Status, row: Solver) -> str:
    """Why a run ended, and which options of the solver help."""
    text = status.advice if row.costs and row.kind != "hard one-class" else status.advice.replace(" or lower -c", "")
    rules = [option for option in ("-e", "--gap", "--theta") if option in row.supported]
    if row.printed:  # whose rule is not the gap
        rules = rules[:1]
    return f"{text} or loosen {' or '.join(rules)}" if status.early and rules else text


def asked_gap(settings: Settings) -> float | None:
    """The certified gap that the result of a paper's algorithm is compared with: of --gap, or that theta stands for.

    None: WARNING_GAP.
    """
    gap = settings.stopping.gap
    if gap is not None or settings.row.kind != "hard one-class":
        return gap
    return max((1.0 + CONFIRMED_GAP) * gap_of_theta(tolerance(settings)), WARNING_GAP)


def vague_gap(results: list) -> float:
    """The largest certified gap of results ended by the solver's own rule, if above that asked for; else 0.

    What is asked for: `asked_gap` of a paper's algorithm, WARNING_GAP of others.
    """
    own = [r for r in results if r.status.own]
    asked = [WARNING_GAP if r.asked_gap is None else r.asked_gap for r in own]
    return max((r.certified_gap for r, gap in zip(own, asked, strict=True) if not r.certified_gap <= gap), default=0.0)


def first_of(sentences: list[str], what: str) -> list[str]:
    """The first MAX_NAMED warnings, and the number of the others; what: they are about."""
    more = len(sentences) - MAX_NAMED
    return sentences if more <= 0 else [*sentences[:MAX_NAMED], f"WARNING: {more} other {what} have such a warning too"]
