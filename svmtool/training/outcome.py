"""Progress records, statuses and exit statuses of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from svmtool.params import Request
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import INTERRUPTED, RULE, Status

VAGUE = 1e-2  # certified gap above which a run ended by the rule of -e prints a warning
NOT_CONVERGED, CTRL_C = 2, 130  # exit statuses


def worst_status(results: list) -> Status | None:
    """The worst status of all problems: interrupted, else not converged; None if all converged."""
    order = sorted((r.status for r in results), key=lambda s: (s is not INTERRUPTED, s.converged))
    return order[0] if order else None


def advice(status: Status, row: Solver) -> str:
    """Why a run ended, and which options of the solver help."""
    rules = [option for option in ("-e", "--gap", "--theta") if option in row.supported]
    return f"{status.advice} or loosen {' or '.join(rules)}" if status.early and rules else status.advice


def vague_gap(results: list) -> float:
    """The largest certified gap of results ended by the rule of -e, if above VAGUE; else 0."""
    return max((r.certified_gap for r in results if r.status is RULE and r.certified_gap > VAGUE), default=0.0)


def exit_status(
    row: Solver, request: Request, done: Any, model_path: str, interrupted: bool, console: Any
) -> int:
    """Print warnings about a run that did not end normally; returns the exit status."""
    status = done.status
    if status is None:
        return 0
    if status is INTERRUPTED:
        console.warn(f"interrupted: {model_path} holds the best model so far, {done.certificate.line().lower()}")
        return CTRL_C
    if not status.converged:
        text = advice(status, row)
        found = done.certificate
        console.warn(f"WARNING: not converged: {text} ({found.kind.lower()} relative gap {found.gap:.2g})")
    elif (vague := vague_gap(done.results)) and not request.quiet:
        console.warn(
            f"WARNING: the stopping rule of -e holds, but the optimum may lie up to {100.0 * vague:.2g} % lower "
            f"(certified relative gap {vague:.2g}): --gap 1e-3 continues"
        )
    if done.lacking and interrupted:
        return CTRL_C
    if request.strict and (done.lacking or not status.converged or vague_gap(done.results)):
        return NOT_CONVERGED
    return 0


def report_folds(open_ends: Sequence[Status], count: int, row: Solver, strict: bool, console: Any) -> int:
    """Print how many of `count` folds did not converge, and why; returns the exit status."""
    for status in dict.fromkeys(open_ends):
        many = f"{open_ends.count(status)} of {count} folds did not converge"
        console.warn(f"WARNING: {many}: {advice(status, row)}")
    return NOT_CONVERGED if strict and open_ends else 0


class Recorder:
    """Passes a solver's records to log and picture; target: the gap to reach, if known."""

    def __init__(self, request: Request, target: float | None):
        self.history = None
        if request.solver_log or request.plot:
            from svmtool.training.history import History

            self.history = History(request.solver_log, request.plot, target)

    def record(self, **fields: Any) -> None:
        if self.history is not None:
            self.history.record(**fields)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.history is not None:
            self.history.__exit__(*exception)
