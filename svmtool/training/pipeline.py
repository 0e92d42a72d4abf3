"""The flow of svm-train: read -> problems -> solve -> certify -> model -> write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from svmtool import interrupts
from svmtool.formats.svmlight.inputs import Reading
from svmtool.limits import StopFlag
from svmtool.params import Request, Settings
from svmtool.progress import doing
from svmtool.training.interruption import interruptible
from svmtool.training.lines import SolverLines, beats
from svmtool.training.outcome import Training, exit_status, note_rows, recording, show


class Job(Protocol):
    """A training set with the settings to train on it: linear (linear.py), or with a kernel (kernel/job.py).

    It is made of settings, request, data and console, after the checks of the data, whose warnings are printed.
    """

    settings: Settings

    @property
    def warnings(self) -> list[str]:
        """Those about the rows, once they have been used."""

    def validate(self, request: Request, console: Any, stop: StopFlag) -> int:
        """-v, -C and --grid: print the results; returns the exit status."""

    def opened(self, path: str, console: Any) -> AbstractContextManager[Any]:
        """A block in which the model's files may be written."""

    def train(self, report: Callable[..., None] | None, stop: StopFlag, lines: SolverLines) -> Training:
        """Train, and free the rows."""

    def write(self, path: str, done: Training, plain: bool) -> None:
        """Write the model's files; plain: without notes."""


def _module(settings: Settings) -> Any:
    """The module for these settings; only what is needed is imported, because that takes time."""
    if settings.problem.kernel is None:
        from svmtool.training import linear

        return linear
    from svmtool.training.kernel import job

    return job


def run(settings: Settings, request: Request, data: Reading, model_path: str, console: Any) -> int:
    """Run svm-train with parsed settings; returns the exit status."""
    job: Job = _module(settings).Job(settings, request, data, console)
    settings, stop = job.settings, data.stop  # one time limit for the whole command
    if request.find_C or request.folds is not None or request.grid is not None:
        return job.validate(request, console, stop)
    with job.opened(model_path, console):
        lines = SolverLines(settings.row, console)
        with recording(request, settings.target) as history, interruptible(stop, console, beats=beats(lines, history)):
            with doing("training"):
                done = job.train(history and history.record, stop, lines)
            console.warn(*job.warnings)
            show(done, console)
            note_rows(done.model, settings, request)
            job.write(model_path, done, request.plain_model)
            interrupts.loss = ""
    return exit_status(settings.row, request, done, model_path, stop.set, console)


def methods(settings: Settings, request: Request, data: Reading) -> tuple[Settings, list[tuple[str, str]]]:
    """--explain: the settings with the solver of -s auto, and facts about the methods; SvmtoolError as in training."""
    return _module(settings).methods(settings, request, data)
