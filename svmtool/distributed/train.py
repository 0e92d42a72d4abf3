"""svm-train --spark: the flow of training/pipeline.py with the rows in Spark's executors."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np

from svmtool.activity import doing
from svmtool.compiled import threads
from svmtool.distributed.collective import Collective
from svmtool.distributed.frame import source_of
from svmtool.distributed.kinds import reduction_of
from svmtool.distributed.reading import Text
from svmtool.distributed.session import Session
from svmtool.distributed.stage import BarrierStage
from svmtool.distributed.validation import DistributedFolds, calibrate
from svmtool.errors import named
from svmtool.formats.models import linear
from svmtool.formats.svmlight import weight_file
from svmtool.limits import StopFlag
from svmtool.models import words
from svmtool.models.linear import LinearModel
from svmtool.params import Request, Settings, check_after_reading
from svmtool.training import intent
from svmtool.training.calibration import NotCalibratedError
from svmtool.training.interrupt import Interruptible
from svmtool.training.outcome import Recorder, exit_status
from svmtool.training.pipeline import ModelFile, Training, fitted, show
from svmtool.training.validation.report import DEFAULT_FOLDS, DOING, run_search, run_validation


class _NullConsole:
    """A console that prints nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


NULL_CONSOLE = _NullConsole()
REQUEST = Request()


def trained(
    session: Session, settings: Settings, source: Text, initial: LinearModel | None = None,
    recorder: Recorder | None = None, console: Any = NULL_CONSOLE, request: Request = REQUEST,
) -> tuple[Training, BarrierStage, bool]:  # fmt: skip
    """Train on the rows of a Text or Frame; returns the training, its closed stage, and whether Ctrl-C ended it."""
    found = source.weights()  # a Spark job, which must run before the stage takes all cores
    with contextlib.closing(BarrierStage(session, source)) as stage:
        check_after_reading(settings)
        take_weights(stage, request.weights, found)
        check_labels(stage, settings, request, source.name, console)
        began = time.perf_counter()
        problems = reduction_of(settings)(stage, settings)
        console.solver(problems.method_line)
        start = None if initial is None else problems.start_from(initial)
        with Interruptible(StopFlag(settings.stopping.max_seconds)) as stop:
            done = fitted(problems, start, None if recorder is None else recorder.record, stop, began)
            if settings.run.probability and not done.model.gives_probabilities:
                try:
                    marks = calibrate(stage, settings, done.model.labels or (), stop, console)
                    done.model.notes += words.sigmoid_notes(marks)
                except NotCalibratedError as e:
                    done.lacking = str(e)
            return done, stage, stop.set


def take_weights(ranks: Collective, path: str | None = None, in_rows: np.ndarray | None = None) -> None:
    """Send weights to the ranks: those that stand `in_rows`, or the numbers in the file `path`."""
    if in_rows is not None or path:
        counts = [part["n"] for part in ranks.surviving(lambda: ranks.gather("facts"))]
        ranks.take_weights(weight_file.read(str(path), sum(counts)) if in_rows is None else in_rows, counts)


def check_labels(ranks: Collective, settings: Settings, request: Request, name: str, console: Any) -> None:
    """Warn about labels that look like targets; SvmtoolError if they cannot be classes."""
    if settings.row.task in intent.CLASSIFIERS:
        parts = ranks.surviving(lambda: ranks.gather("classes"))
        labels = np.array([label for found, _ in parts for label in found])
        if warning := intent.of_labels(settings, request.given, labels, name):
            console.warn(warning)


def validate(session: Session, settings: Settings, request: Request, source: Text, console: Any) -> int:
    """Run -v or -C and print LIBLINEAR's lines; returns the exit status."""
    wanted = DEFAULT_FOLDS if request.folds is None else request.folds
    found = source.weights()  # a Spark job, which must run before the stage takes all cores
    with contextlib.closing(BarrierStage(session, source)) as stage:
        check_after_reading(settings)
        take_weights(stage, request.weights, found)
        check_labels(stage, settings, request, source.name, console)
        stop = StopFlag(settings.stopping.max_seconds)
        if request.find_C:
            console.out(DOING.format(wanted))
        folds = DistributedFolds(stage, settings, wanted)
        _, status = (run_search if request.find_C else run_validation)(folds, settings, request, console, stop)
    console.solver(stage.costs.line(stage.size))
    return status


def run(settings: Settings, request: Request, path: str, model_path: str, console: Any) -> int:
    """Run svm-train --spark with parsed settings; returns the exit status."""
    assert request.spark is not None
    initial = linear.read(request.initial_model) if request.initial_model else None
    threads.set_count(1)  # the driver solves one problem at a time; executors have their own threads
    with named(path), Session(request.spark, f"svm-train -s {settings.problem.solver} {path}") as session:
        source = source_of(session, path, few=True, weights=request.weights)
        if request.find_C or request.folds is not None:
            return validate(session, settings, request, source, console)
        with Recorder(request, settings.target) as recorder, doing("training"):
            done, stage, interrupted = trained(session, settings, source, initial, recorder, console, request)
        show(done, settings, [], console)
        ModelFile(model_path).write(done)
        console.solver(stage.costs.line(stage.size))
    return exit_status(settings.row, request, done, model_path, interrupted, console)
