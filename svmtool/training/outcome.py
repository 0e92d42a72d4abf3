"""How a run ends: statuses, warnings and exit statuses; records of its iterations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from svmtool import interrupts
from svmtool.params import Request
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import INTERRUPTED, RULE, Status

if TYPE_CHECKING:
    from svmtool.training.history import History

WARNING_GAP = 1e-2  # certified gap above which a run ended by the rule of -e prints a warning
NOT_CONVERGED = 2  # exit status


@contextlib.contextmanager
def recording(request: Request, target: float | None) -> Iterator[History | None]:
    """The History that takes solver records for --solver-log and --plot, or None; target: the gap to reach, if any."""
    if not (request.solver_log or request.plot):
        yield None
        return
    from svmtool.training.history import History

    with History(request.solver_log, request.plot, target) as history:
        yield history


def worst_status(results: list) -> Status | None:
    """The worst status of all problems: interrupted, else not converged; None if all converged."""
    order = sorted((r.status for r in results), key=lambda s: (s is not INTERRUPTED, s.converged))
    return order[0] if order else None


def advice(status: Status, row: Solver) -> str:
    """Why a run ended, and which options of the solver help."""
    rules = [option for option in ("-e", "--gap", "--theta") if option in row.supported]
    return f"{status.advice} or loosen {' or '.join(rules)}" if status.early and rules else status.advice


def vague_gap(results: list) -> float:
    """The largest certified gap of results ended by the rule of -e, if above WARNING_GAP; else 0."""
    return max((r.certified_gap for r in results if r.status is RULE and r.certified_gap > WARNING_GAP), default=0.0)


def exit_status(row: Solver, request: Request, done: Any, model_path: str, interrupted: bool, console: Any) -> int:
    """Print warnings about a run that did not end normally; returns the exit status."""
    status = done.status
    if done.lacking:
        whole = done.lacking.startswith("WARNING")  # LIBSVM's own sentence
        console.warn(done.lacking if whole else f"WARNING: {model_path} holds no probabilities (-b 1): {done.lacking}")
    if status is None:
        return interrupts.exit_status() if interrupted else 0
    if status is INTERRUPTED:
        console.warn(f"interrupted: {model_path} holds the best model so far, {done.certificate.line().lower()}")
        return interrupts.exit_status()
    if not status.converged:
        text = advice(status, row)
        console.warn(f"WARNING: not converged: {text} ({done.certificate.short()})")
    elif (vague := vague_gap(done.results)) and not request.quiet:
        console.warn(
            f"WARNING: the stopping rule of -e holds, but the optimum may lie up to {100.0 * vague:.2g} % lower "
            f"(certified relative gap {vague:.2g}): use --gap 1e-3 to continue"
        )
    if interrupted:
        return interrupts.exit_status()
    if request.strict and (done.lacking or not status.converged or vague_gap(done.results)):
        return NOT_CONVERGED
    return 0


def report_folds(open_ends: Sequence[Status], count: int, row: Solver, strict: bool, console: Any) -> int:
    """Print how many of `count` folds did not converge, and why; returns the exit status."""
    for status in dict.fromkeys(open_ends):
        many = f"{open_ends.count(status)} of {count} folds did not converge"
        console.warn(f"WARNING: {many}: {advice(status, row)}")
    return NOT_CONVERGED if strict and open_ends else 0
