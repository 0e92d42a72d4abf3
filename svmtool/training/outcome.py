"""How a run ends: statuses, warnings and exit statuses; records of its iterations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from svmtool import interrupts
from svmtool.params import Request
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import INTERRUPTED, Status
from svmtool.training.notices import advice, converged, notices

if TYPE_CHECKING:
    from svmtool.training.history import History

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


def exit_status(row: Solver, request: Request, done: Any, model_path: str, interrupted: bool, console: Any) -> int:
    """Print the notices of a finished run; returns the exit status."""
    found = notices(row, done, model_path)
    console.warn(*(notice.line for notice in found))
    if done.status is INTERRUPTED or interrupted:
        return interrupts.exit_status()
    return NOT_CONVERGED if request.strict and not converged(found) else 0


def report_folds(open_ends: Sequence[Status], count: int, row: Solver, strict: bool, console: Any) -> int:
    """Print how many of `count` folds did not converge, and why; returns the exit status."""
    for status in dict.fromkeys(open_ends):
        many = f"{open_ends.count(status)} of {count} folds did not converge"
        console.warn(f"WARNING: {many}: {advice(status, row)}")
    return NOT_CONVERGED if strict and open_ends else 0
