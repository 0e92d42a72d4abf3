"""The flow of svm-train: read -> problems -> solve -> certify -> model -> write."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import Any

from svmtool import interrupts
from svmtool.data.dataset import Dataset
from svmtool.data.labels import balanced_weights
from svmtool.limits import StopFlag
from svmtool.params import Request, Settings
from svmtool.progress import doing
from svmtool.training.interruption import interruptible
from svmtool.training.lines import Sink, SolverLines
from svmtool.training.outcome import Training, exit_status, note_rows, recording, show


class Job(ABC):
    """A training set with the settings to train on it: linear (linear.py), or with a kernel (kernel/train.py).

    It is made after the checks of the data, whose warnings are printed.  rows: what is trained on; table: their labels.
    """

    def __init__(self, settings: Settings, request: Request, rows: Any, table: Dataset):
        if request.balanced:
            balanced = balanced_weights(table.labels, table.weights)
            settings = settings.replace(class_weights=settings.problem.class_weights + balanced)
        self.settings, self._rows = settings, [rows]  # the only reference, so that training can free it

    def validate(self, request: Request, console: Any, stop: StopFlag) -> int:
        """-v, -C and --grid: print the results; returns the exit status."""
        from svmtool.training.validation import report

        if request.grid:
            status = report.grid(self._rows[0], self.settings, request, console, stop)
        else:
            status = report.validate(lambda n: self.folds(n, console), request, console, stop)
        console.warn(*self.warnings)
        return status

    @property
    def warnings(self) -> list[str]:
        """Those about the rows, once they have been used."""
        return []

    @abstractmethod
    def folds(self, wanted: int, console: Any) -> Any:
        """The Folds of the rows."""

    def opened(self, path: str, console: Any) -> contextlib.AbstractContextManager[Any]:
        """A block in which the model's files may be written."""
        return contextlib.nullcontext()

    @abstractmethod
    def train(self, report: Sink, stop: StopFlag, lines: SolverLines) -> Training:
        """Train, and free the rows."""

    @abstractmethod
    def write(self, path: str, done: Training) -> None:
        """Write the model's files."""


def run(job: Job, request: Request, stop: StopFlag, model_path: str, console: Any) -> int:
    """Run svm-train; returns the exit status.  stop: of the whole command, with its time limit."""
    row = job.settings.row
    if request.find_C or request.folds is not None or request.grid is not None:
        return job.validate(request, console, stop)
    with job.opened(model_path, console):
        lines = SolverLines(row, console)
        with recording(request, job.settings.target) as history:
            beats = [lines.beat] if history is None else [lines.beat, history.beat]
            with interruptible(stop, console, beats=beats):
                with doing("training"):
                    done = job.train(history and history.record, stop, lines)
                console.warn(*job.warnings)
                show(done, console)
                note_rows(done.model, job.settings, request)
                done.model.notes = () if request.plain_model else done.model.notes
                job.write(model_path, done)
                interrupts.loss = ""
    return exit_status(row, request, done, model_path, stop.set, console)
