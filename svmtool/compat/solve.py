"""Trains and validates for Python callers, with the lines that the commands print."""

from __future__ import annotations

import numpy as np

from svmtool import params
from svmtool.api.run import RunContext
from svmtool.compat.errors import as_value_errors
from svmtool.compat.output import Output
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.formats.models import linear as model_file
from svmtool.formats.svmlight.inputs import weighted
from svmtool.params import Request, Settings, check_kernel_after_reading
from svmtool.training.inputs import narrowed
from svmtool.training.intent import option_warnings
from svmtool.training.kernel.dataset import KernelSet, kernel_set, refuse_unusable
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import KernelFolds, trained
from svmtool.training.linear import train_on_used
from svmtool.training.lines import SolverLines
from svmtool.training.outcome import Training, exit_status, show
from svmtool.training.validation import report
from svmtool.training.validation.cross_validation import Folds
from svmtool.training.validation.folds import FOLDS, GlibcRand
from svmtool.training.validation.search import Search

MODEL = "the model"  # its name in messages


class LinearRun:
    """One call of LIBLINEAR's `train`: rows, settings and where lines go.

    Parameters
    ----------
    rows : Dataset
        The training rows; not changed.
    settings, request : Settings, Request
        As `options.linear` returns them.
    output : Output
        Where lines go.

    Raises
    ------
    ValueError
        For settings or rows that define no problem.
    """

    def __init__(self, rows: Dataset, settings: Settings, request: Request, output: Output):
        self.request, self.output = request, output
        with as_value_errors():
            _refuse_no_rows(rows)
            if request.auto:
                from svmtool.training import auto_select

                settings, line = auto_select.select(settings, request.given, rows)
                output.solver(line)
            params.check_after_reading(settings)
            output.warn(*option_warnings(settings, request.given))
            self.settings = settings
            self.rows = weighted(rows, request.weights, output.warn)
            self.initial = model_file.read(request.initial_model) if request.initial_model else None

    def train(self) -> Training:
        """Train a model and print what the command prints; KeyboardInterrupt after Ctrl-C."""
        s, output = self.settings, self.output

        with RunContext(s.run.threads, s.stopping.max_seconds) as run, as_value_errors():
            done = train_on_used(self.rows, s, None, self.initial, run.stop, SolverLines(s.row, output))
            if not run.stop.set:
                _finish(done, self)
        return done

    def validate(self) -> np.ndarray:
        """Print the lines of -v; returns the predictions, f8[n]."""
        assert self.request.folds is not None
        s = self.settings
        with RunContext(s.run.threads, s.stopping.max_seconds) as run, as_value_errors():
            folds = self._folds(self.request.folds)
            return report.run_validation(folds, self.request, self.output, run.stop)[0]

    def search(self) -> Search:
        """Print the lines of -C; returns the result of the search."""
        s, wanted = self.settings, self.request.folds
        with RunContext(s.run.threads, s.stopping.max_seconds) as run, as_value_errors():
            folds = self._folds(FOLDS if wanted is None else wanted)
            found, _ = report.run_search(folds, self.request, self.output, run.stop)
        self.output.out("\n")  # the originals end with an empty line
        return found

    def _folds(self, wanted: int) -> Folds:
        return Folds(narrowed(self.rows, self.settings)[0], self.settings, wanted)


class KernelRun:
    """One call of LIBSVM's `svm_train`; see LinearRun."""

    def __init__(self, rows: Dataset, settings: Settings, request: Request, output: Output):
        self.settings, self.request, self.output = settings, request, output
        with as_value_errors():
            _refuse_no_rows(rows)
            output.warn(*option_warnings(settings, request.given))
            rows = weighted(rows, request.weights, output.warn)
            self.data: KernelSet = kernel_set(rows, settings, "x")
            check_kernel_after_reading(settings)
            refuse_unusable(self.data, settings)
        self.rand = GlibcRand(settings.run.seed)

    def train(self) -> Training:
        """Train a model and print what the command prints; KeyboardInterrupt after Ctrl-C."""
        s = self.settings
        with RunContext(s.run.threads, s.stopping.max_seconds) as run, as_value_errors():
            done = trained(self.data, Fitting(s, None, run.stop, lines=SolverLines(s.row, self.output)), self.rand)
            if not run.stop.set:
                _finish(done, self)
        return done

    def validate(self) -> np.ndarray:
        """Print the lines of -v; returns the predictions, f8[n]."""
        assert self.request.folds is not None
        s, output = self.settings, self.output
        with RunContext(s.run.threads, s.stopping.max_seconds) as run, as_value_errors():
            folds = KernelFolds(self.data, s, self.request.folds, self.rand, output.solver)
            return report.run_validation(folds, self.request, output, run.stop)[0]


def _refuse_no_rows(rows: Dataset) -> None:
    if not len(rows):
        raise SvmtoolError("there are no rows: there is nothing to train on")


def _finish(done: Training, run: LinearRun | KernelRun) -> None:
    """Print a run's lines and warnings."""
    show(done, run.output)
    exit_status(run.settings.row, run.request, done, MODEL, False, run.output)
