"""Trains and validates for Python callers, with the lines that the commands print."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from svmtool import kernel_params, params
from svmtool.compat.errors import as_value_errors
from svmtool.compat.output import Output
from svmtool.compiled import threads
from svmtool.data.dataset import Dataset
from svmtool.data.labels import Classes
from svmtool.formats.models import linear as model_file
from svmtool.formats.svmlight import weight_file
from svmtool.limits import StopFlag
from svmtool.models.linear import LinearModel
from svmtool.params import Settings
from svmtool.request import Request
from svmtool.training.interrupt import Interruptible
from svmtool.training.kernel.dataset import KernelSet, kernel_set, refuse_overflow
from svmtool.training.kernel.fit import Fitting, KernelTraining
from svmtool.training.kernel.pipeline import notes
from svmtool.training.kernel.train import trainer
from svmtool.training.kernel.validation import run_validation as validate_kernel
from svmtool.training.outcome import exit_status
from svmtool.training.pipeline import Training, show, train
from svmtool.training.used_features import SpreadWeights, on_used, restricted, used_features
from svmtool.training.validation import report
from svmtool.training.validation.cross_validation import Folds
from svmtool.training.validation.folds import GlibcRand
from svmtool.training.validation.search import Search

MODEL = "the model"  # its name in messages


class LinearRun:
    """One call of LIBLINEAR's `train`: rows, settings and where lines go.

    Parameters
    ----------
    rows : the training rows; not changed
    settings, request : as `options.linear` returns them
    output : where lines go

    Raises
    ------
    ValueError
        for settings or rows that make no problem.
    """

    def __init__(self, rows: Dataset, settings: Settings, request: Request, output: Output):
        self.request, self.output = request, output
        with as_value_errors():
            _refuse_no_rows(rows)
            if request.auto:
                from svmtool.training import auto_select

                settings, line = auto_select.settle(settings, request.given, rows)
                output.solver(line)
            params.check_after_reading(settings)
            self.settings, self.stop = settings, StopFlag(settings.stopping.max_seconds)
            self.weights = weight_file.read(request.weights, len(rows)) if request.weights else None
            self.initial = model_file.read(request.initial_model) if request.initial_model else None
            self.n_features, self.used = rows.n_features, used_features(rows)
            self.rows = rows if self.used is None else on_used(rows, self.used)
            if self.used is not None and self.initial is not None:
                self.initial = restricted(self.initial, self.used)

    def train(self) -> Training:
        """Train a model and print what the command prints."""
        s, output = self.settings, self.output

        def record(**fields: Any) -> None:
            output.progress(target=s.target, **fields)

        with _running(s.run.threads):
            with Interruptible(self.stop):
                done = train(self.rows, s, record, self.weights, self.initial, self.stop)
            _finish(done, self, lambda: show(done, s, [], output))
        if self.used is not None:
            done.model = self._of_all_features(done.model)
        return done

    def validate(self) -> np.ndarray:
        """Print the lines of -v; returns the predictions, f8[n]."""
        assert self.request.folds is not None
        with _running(self.settings.run.threads):
            folds = Folds(self.rows, self.settings, self.weights, self.request.folds)
            return report.run_validation(folds, self.settings, self.request, self.output, self.stop)[0].predictions

    def search(self) -> Search:
        """Print the lines of -C; returns what was found."""
        wanted = self.request.folds if self.request.folds is not None else report.DEFAULT_FOLDS
        with _running(self.settings.run.threads):
            folds = Folds(self.rows, self.settings, self.weights, wanted)
            found = report.run_search(folds, self.settings, self.request, self.output, self.stop)[0]
        self.output.out("\n")  # the originals end with an empty line
        return found

    def _of_all_features(self, model: LinearModel) -> LinearModel:
        """A model of the used features with weight 0 for all others."""
        W = SpreadWeights(model.W, self.used, self.n_features)[:]
        return LinearModel(model.word, model.labels, self.n_features, model.bias, W, model.rho, model.notes)


class KernelRun:
    """One call of LIBSVM's `svm_train`; see LinearRun."""

    def __init__(self, rows: Dataset, settings: Settings, request: Request, output: Output):
        self.settings, self.request, self.output = settings, request, output
        with as_value_errors():
            _refuse_no_rows(rows)
            self.data: KernelSet = kernel_set(rows, settings, "x")
            kernel_params.check_after_reading(settings)
            refuse_overflow(self.data, settings)
            if settings.row.task == "classification":
                kernel_params.check_feasible(settings, Classes(rows.labels).counts.tolist())
        seed = settings.run.seed
        self.stop, self.rand = StopFlag(settings.stopping.max_seconds), GlibcRand(1 if seed is None else seed)

    def train(self) -> KernelTraining:
        """Train a model and print what the command prints."""
        s, output = self.settings, self.output

        def record(**fields: Any) -> None:
            output.progress(target=s.target, **fields)

        def text() -> None:
            output.close()
            for warning in done.warnings:
                output.warn(warning)
            output.solver(done.text + done.certificate.line() + "\n")

        with _running(s.run.threads):
            with Interruptible(self.stop):
                done = trainer(s)(self.data, Fitting(s, record, self.stop), self.rand)
            _finish(done, self, text)
        done.model.notes = notes(s, done)
        return done

    def validate(self) -> np.ndarray:
        """Print the lines of -v; returns the predictions, f8[n]."""
        with _running(self.settings.run.threads), Interruptible(self.stop):
            fitting = Fitting(self.settings, None, self.stop)
            return validate_kernel(self.data, fitting, self.rand, self.request, self.output)[0]


def _refuse_no_rows(rows: Dataset) -> None:
    if not len(rows):
        raise ValueError("there are no rows: there is nothing to train on")


@contextlib.contextmanager
def _running(count: int | None) -> Iterator[None]:
    """With `count` threads where that is not None; faults become ValueErrors."""
    before = threads.count()
    if count is not None:
        threads.set_count(count)
    try:
        with as_value_errors():
            yield
    finally:
        threads.set_count(before)


def _finish(done: Any, run: LinearRun | KernelRun, text: Callable[[], object]) -> None:
    """Print a run's lines by `text`, and warnings; KeyboardInterrupt after Ctrl-C."""
    output = run.output
    if run.stop.set:
        output.close()
        raise KeyboardInterrupt
    text()
    if done.lacking:
        whole = done.lacking.startswith("WARNING")
        output.warn(done.lacking if whole else f"WARNING: {MODEL} holds no probabilities (-b 1): {done.lacking}")
    exit_status(run.settings.row, run.request, done, MODEL, False, output)
