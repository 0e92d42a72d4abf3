"""The flow of svm-train: read -> problems -> solve -> certify -> model -> write."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool import __version__, interrupts, registry
from svmtool.certify.linear import Certificate
from svmtool.data.dataset import Dataset
from svmtool.data.labels import balanced_weights
from svmtool.formats.models import kernel, linear
from svmtool.formats.svmlight.inputs import Reading, weighted
from svmtool.limits import EndedError, StopFlag, until
from svmtool.models.kernel import KernelModel
from svmtool.models.linear import LinearModel
from svmtool.params import Request, Settings, check_after_reading, tolerance
from svmtool.progress import doing
from svmtool.solvers.shared.base import INTERRUPTED, TIME, Result
from svmtool.training import intent
from svmtool.training.inputs import on_used, restricted, used_features, with_all_features
from svmtool.training.interruption import interruptible
from svmtool.training.lines import SolverLines, beats
from svmtool.training.notices import advice
from svmtool.training.outcome import exit_status, recording, worst_status
from svmtool.training.reductions.base import Reduction, problems_of


class Training:
    """The result of a training.

    model, certificate, warnings; results: one for each problem; summary: lines about the training rows; lacking: why
    the model has no probabilities with -b 1, else empty; no_leave_one_out: the same of --loo; sums: the ClassStatistics
    of an adaptable model's state, else None; leave_one_out: the accuracy that --loo asks for, else None; status: the
    worst of all problems, see `worst_status`.
    """

    lacking = no_leave_one_out = ""
    leave_one_out: float | None = None

    def __init__(self, problems: Reduction, results: list[Result], certificate: Certificate):
        self.results, self.certificate = results, certificate
        self.model = problems.model(problems.weights(results), _notes(problems.settings, certificate, results))
        self.summary, self.warnings = problems.summary(results), problems.warnings()
        self.sums, self.status = problems.sums_of(results), worst_status(results)


def train(
    table: Dataset, settings: Settings, report: Callable[..., None] | None = None, initial: LinearModel | None = None,
    stop: StopFlag | None = None, lines: SolverLines | None = None,
) -> Training:  # fmt: skip
    """Train on a table, which may be freed; report is called with each solver record as keywords.

    stop: flag with the time limit of the command; None: max_seconds, counted from now.  lines: prints the solver's.
    """
    stop = StopFlag(settings.stopping.max_seconds) if stop is None else stop
    kept = table if settings.run.probability else None
    problems = problems_of(table, settings)
    problems.lines = lines
    del table
    start = None if initial is None else problems.start_from(initial)
    done = fitted(problems, start, report, stop)
    if kept is not None and not done.model.gives_probabilities:
        del problems
        from svmtool.training.calibration import add_sigmoids

        done.lacking, more = add_sigmoids(done.model, kept, settings, stop)
        done.warnings += more
    return done


def train_on_used(
    table: Dataset, settings: Settings, report: Callable[..., None] | None = None, initial: LinearModel | None = None,
    stop: StopFlag | None = None, lines: SolverLines | None = None,
) -> Training:  # fmt: skip
    """`train` on the features that occur; the model has weights of all features, and its state if it is adaptable."""
    n_features, used = table.n_features, used_features(table)
    if used is None:
        done = train(table, settings, report, initial, stop, lines)
        if "--add" in settings.row.supported:
            from svmtool.training.adapting.trained import state_of

            done.model.state = state_of(settings, table, done)
        return done
    initial = initial and restricted(initial, used)
    done = train(on_used(table, used), settings, report, initial, stop, lines)
    done.model = with_all_features(done.model, used, n_features)
    if isinstance(done.model, LinearModel):
        done.model.W = done.model.W[:]
    return done


def fitted(
    problems: Reduction, start: np.ndarray | None, report: Callable[..., None] | None, stop: StopFlag
) -> Training:
    """Solve and certify the problems and make the model; see `train`."""
    done = Training(problems, *problems.fit_and_certify(start, report, stop))
    try:
        with until(stop.ended):
            done.leave_one_out = problems.leave_one_out(done.model)
    except EndedError:
        why = INTERRUPTED if stop.set else TIME
        done.no_leave_one_out = why.advice
    return done


def run(settings: Settings, request: Request, data: Reading, model_path: str, console: Any) -> int:
    """Run svm-train with parsed settings; returns the exit status."""
    initial = linear.read(request.initial_model) if request.initial_model else None
    table, stop = data.table(), data.stop  # one time limit for the whole command
    mapped = table.mapped
    if request.auto:
        from svmtool.training import auto_select

        settings, line = auto_select.select(settings, request.given, table)
        console.solver(line)
    check_after_reading(settings)
    console.warn(*intent.warnings(settings, request.given, table.labels, data.path))
    table = weighted(table, request.weights, console.warn)
    n_features, used = table.n_features, None if "--add" in settings.row.supported else used_features(table)
    if used is not None:
        table = on_used(table, used)
        initial = initial and restricted(initial, used)
    if request.balanced:
        balanced = balanced_weights(table.labels, table.weights)
        settings = settings.replace(class_weights=settings.problem.class_weights + balanced)
    if request.find_C or request.folds is not None or request.grid is not None:
        from svmtool.training.validation import report

        work = report.grid if request.grid else report.validate
        status = work(table, settings, request, console, stop)
        console.warn(*(mapped.warnings() if mapped else []))
        return status
    state = None
    if "--add" in settings.row.supported:
        from svmtool.training.adapting.trained import new_state

        state = new_state(settings, table, model_path, console)
    with contextlib.nullcontext() if state is None else contextlib.closing(state):
        tables = [table]  # the only reference, so that training can free it
        del table
        lines = SolverLines(settings.row, console)
        with recording(request, settings.target) as history, interruptible(stop, console, beats=beats(lines, history)):
            with doing("training"):
                done = train(tables.pop(), settings, history and history.record, initial, stop, lines)
            show(done, mapped.warnings() if mapped else [], console)
            if used is not None:
                done.model = with_all_features(done.model, used, n_features)
            if request.plain_model:
                done.model.notes = ()
            if state is None:
                write(model_path, done.model)
            else:
                state.write(done)
            interrupts.loss = ""
    return exit_status(settings.row, request, done, model_path, stop.set, console)


def write(path: str, model: LinearModel | KernelModel) -> None:
    """Write a model file: LIBLINEAR's, or LIBSVM's of a model by pairs of classes."""
    if isinstance(model, KernelModel):
        kernel.write(path, model)
    else:
        linear.write(path, model)


def show(done: Training, input_warnings: list[str], console: Any) -> None:
    """Print summary and certificate of a training, and `input_warnings` about its input."""
    console.warn(*input_warnings)
    console.solver(done.certificate.line() + "\n" + done.summary)
    if done.leave_one_out is not None:
        console.out(f"Leave-one-out Accuracy = {100.0 * done.leave_one_out:g}%\n")


def _notes(settings: Settings, certificate: Certificate, results: list[Result]) -> tuple[str, ...]:
    """Comment lines of the model file: options, certificate and reason for stopping."""
    row, s, gap = settings.row, settings.problem, settings.stopping.gap
    asked = f" --method {s.method}" if "--method" in row.supported else ""
    asked += f" -c {s.C:.17g}" if "-c" in registry.supported_options(row) else ""
    asked += f" -B {s.bias:.17g}" + ("" if s.regularize_bias else " -R")
    asked += " -b 1" if settings.run.probability else ""
    if "--loss-power" in row.supported:
        asked += f" --loss-power {s.loss_power:g}"
    if "--loss" in row.supported:
        asked += f" --loss {settings.run.options.loss}"
    if "-p" in row.supported:
        asked += f" -p {s.p:.17g}"
    if "-n" in row.supported:
        asked += f" -n {s.nu:.17g}"
    asked += f" -e {tolerance(settings):g}" if row.printed else ""
    asked += "" if gap is None else f" {row.gap_option(gap)}"
    asked += "" if settings.run.options.boundary == "theta" else f" --boundary {settings.run.options.boundary}"
    return (
        f"# svmtool {__version__}: -s {row.number} ({row.name}){asked}",
        f"# {certificate.line()}",
        "# Stopped: " + "; ".join(dict.fromkeys(advice(r.status, row) for r in results)),
    )


def methods(settings: Settings, request: Request, data: Reading) -> tuple[Settings, list[tuple[str, str]]]:
    """--explain: the settings with the solver of -s auto, and facts: why it, and the methods of the problems.

    SvmtoolError as in training.
    """
    if request.spark is not None:  # the workers of --spark hold the rows
        return settings, []
    table, found = data.table(), []
    if request.auto:
        from svmtool.training import auto_select

        settings, line = auto_select.select(settings, request.given, table)
        found.append(("chosen", line.removeprefix("-s auto: ").rstrip()))
    check_after_reading(settings)
    table = weighted(table, request.weights)
    used = None if "--add" in settings.row.supported else used_features(table)
    problems = problems_of(table if used is None else on_used(table, used), settings)
    problems.prepare()
    planned = registry.planned(problems.method, (problems.plan(k) for k in range(problems.count)))
    return settings, [*found, *(("method", text) for text in planned)]
