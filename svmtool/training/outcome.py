"""What a training gives, linear or with a kernel: its result, what is printed, the model's notes, exit statuses."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from svmtool import __version__, interrupts, registry
from svmtool.errors import visible
from svmtool.models.linear import radius_notes
from svmtool.params import KERNEL_NAMES, Request, Settings, tolerance
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import INTERRUPTED, Status
from svmtool.training.notices import advice, converged, notices

if TYPE_CHECKING:
    from svmtool.certify.linear import Certificate
    from svmtool.data.class_statistics import ClassStatistics
    from svmtool.training.history import History

NOT_CONVERGED = 2  # exit status


class Training:
    """The result of a training.

    model, certificate, warnings; results: a solver's for each problem, with a kernel as Solutions.ends.
    text, summary: lines printed before the certificate and after it.  lacking: why the model has no probabilities with
    -b 1, else empty; no_leave_one_out: the same of --loo.  uncertain: why labels are uncertain that --certify-labels
    asks for, else empty.
    Of linear models sums: the ClassStatistics of an adaptable model's state, else None; leave_one_out: the accuracy
    that --loo asks for, else None.
    """

    summary = lacking = no_leave_one_out = uncertain = ""
    leave_one_out: float | None = None
    sums: ClassStatistics | None = None

    def __init__(self, model: Any, results: list[Any], certificate: Certificate, warnings: list[str]):
        self.model, self.results, self.certificate, self.warnings = model, results, certificate, warnings

    @property
    def text(self) -> str:
        """LIBSVM's text; a linear model has none."""
        return ""

    @property
    def status(self) -> Status | None:
        """The worst status of all problems, see `worst_status`."""
        return worst_status(self.results)


def show(done: Training, console: Any) -> None:
    """Print a training's text, certificate and summary."""
    if not console.quiet:  # the text of many problems takes long
        console.solver(f"{done.text}{done.certificate.line()}\n{done.summary}")
    if done.leave_one_out is not None:
        console.out(f"Leave-one-out Accuracy = {100.0 * done.leave_one_out:g}%\n")


def notes(settings: Settings, certificate: Certificate, results: list[Any]) -> tuple[str, ...]:
    """Comment lines of the model file: options, certificate and reason for stopping."""
    row, s, run = settings.row, settings.problem, settings.run
    kernel, gap = s.kernel, settings.stopping.gap if s.kernel is None else settings.target
    probability = " -b 1" if run.probability else ""
    p = f" -p {s.p:.17g}" if "-p" in row.supported else ""
    nu = f" -n {s.nu:.17g}" if "-n" in row.supported else ""
    asked = f"-s {row.number} ({row.name})"
    asked += "" if kernel is None else f" -t {kernel.kernel_type} ({KERNEL_NAMES[kernel.kernel_type]})"
    asked += f" --method {s.method}" if "--method" in row.supported else ""
    asked += f" -c {s.C:.17g}" if "-c" in registry.supported_options(row) else ""
    if kernel is None:
        asked += f" -B {s.bias:.17g}" + ("" if s.regularize_bias else " -R") + probability
        asked += f" --loss-power {s.loss_power:g}" if "--loss-power" in row.supported else ""
        asked += f" --loss {run.options.loss}" if "--loss" in row.supported else ""
    asked += p + nu if kernel is None else nu + p
    asked += f" -e {tolerance(settings):g}" if row.printed or (kernel is not None and gap is None) else ""
    asked += "" if gap is None else f" {row.gap_option(gap)}"
    asked += "" if run.prune is None else f" --prune {run.prune:.17g}"
    asked += "" if run.options.boundary == "theta" else f" --boundary {run.options.boundary}"
    asked += "" if kernel is None else probability
    return (
        f"# svmtool {__version__}: {asked}",
        f"# {certificate.line()}",
        *radius_notes(*certificate.bounds),
        "# Stopped: " + "; ".join(dict.fromkeys(advice(status, row) for status in _statuses(results))),
    )


def note_rows(model: Any, settings: Settings, request: Request) -> None:
    """Add to the note of a command's options those about rows: the factors of -w and --balanced, --weights, --values.

    Where no command is, labels may be numbers that stand for others.
    """
    rows = ""
    if "-w" in registry.supported_options(settings.row) - registry.without_effect(settings.row):
        rows = "".join(f" -w{label} {factor:.17g}" for label, factor in settings.problem.class_weights)
    rows += "" if request.weights is None else " --weights " + visible(request.weights).replace(" ", "\\x20")
    rows += " --values float32" if request.single else ""
    if rows:
        model.notes = (model.notes[0] + rows, *model.notes[1:])


def recording(request: Request, target: float | None) -> contextlib.AbstractContextManager[History | None]:
    """The History that takes solver records for --solver-log and --plot, or None; target: the gap to reach, if any."""
    if not (request.solver_log or request.plot):
        return contextlib.nullcontext()
    from svmtool.training.history import History

    return History(request.solver_log, request.plot, target)


def worst_status(results: list) -> Status | None:
    """The worst status of all problems: interrupted, else not converged; None without problems."""
    return min(_statuses(results), key=lambda s: (s is not INTERRUPTED, s.converged), default=None)


def _statuses(results: list) -> dict[Status, None]:
    """The different statuses; there may be many thousands of results."""
    return dict.fromkeys(r.status for r in results)


def exit_status(row: Solver, request: Request, done: Any, model_path: str, interrupted: bool, console: Any) -> int:
    """Print the notices of a finished run; returns the exit status."""
    found = notices(row, done, model_path)
    console.warn(*(notice.line for notice in found))
    if done.status is INTERRUPTED or interrupted:
        return interrupts.exit_status()
    return NOT_CONVERGED if request.strict and not converged(found) else 0


def fold_warnings(open_ends: Sequence[Status], count: int, row: Solver, what: str = "") -> list[str]:
    """How many of `count` folds did not converge, and why; what: they are for."""
    return [
        f"WARNING: {what}{open_ends.count(status)} of {count} folds did not converge: {advice(status, row)}"
        for status in dict.fromkeys(open_ends)
    ]
