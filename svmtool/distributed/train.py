"""svm-train --spark: the flow of training/pipeline.py with the rows in Spark's executors.

Folds (-v, -C, -b 1) are those of training in memory; no row is moved.  The driver holds labels, folds and predictions,
some 30 bytes a row, and sends the folds to all ranks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from svmtool import interrupts
from svmtool.compiled import threads
from svmtool.data.dataset import Dataset, left_out
from svmtool.distributed.collective import Collective
from svmtool.distributed.frame import source_of
from svmtool.distributed.one_class import DistributedOneClass
from svmtool.distributed.reading import Text
from svmtool.distributed.reductions import DistributedOneVsRest, DistributedReduction, DistributedRegression
from svmtool.distributed.session import Session
from svmtool.distributed.stage import BarrierStage
from svmtool.errors import SvmtoolError, named
from svmtool.formats.models import linear
from svmtool.formats.svmlight.inputs import read_weights
from svmtool.limits import StopFlag
from svmtool.models.linear import LinearModel
from svmtool.params import Request, Settings, check_after_reading
from svmtool.progress import doing
from svmtool.training import intent
from svmtool.training.calibration import NotCalibratedError, Sigmoids, of_folds
from svmtool.training.interruption import interruptible
from svmtool.training.linear import fitted
from svmtool.training.lines import SolverLines
from svmtool.training.outcome import Training, exit_status, note_rows, recording, show
from svmtool.training.validation import report
from svmtool.training.validation.cross_validation import Folds, add_sigmoids, checked_square
from svmtool.training.validation.folds import FOLDS, Keep


class _NullConsole:
    """A console that prints nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


NULL_CONSOLE = _NullConsole()
REQUEST = Request()


def trained(
    session: Session, settings: Settings, source: Text, initial: LinearModel | None = None,
    report: Callable[..., None] | None = None, console: Any = NULL_CONSOLE, request: Request = REQUEST,
) -> tuple[Training, BarrierStage, bool]:  # fmt: skip
    """Train on the rows of a Text or Frame; returns the training, its closed stage, and whether Ctrl-C ended it."""
    answering = None if console is NULL_CONSOLE else console  # a command's
    with rows_of(session, settings, source, request, console) as stage:
        problems = reduction_of(settings)(stage, settings)
        console.solver(problems.method_line)
        problems.lines = SolverLines(settings.row, console)
        start = None if initial is None else problems.start_from(initial)
        stop = StopFlag(settings.stopping.max_seconds)
        with interruptible(stop, answering, beats=[problems.lines.beat]):
            done = fitted(problems, start, report, stop)
            if settings.run.probability and not done.model.gives_probabilities:
                done.lacking, more = add_sigmoids(done.model, stage, settings, stop, calibrate)
                done.warnings += more
            return done, stage, stop.set


@contextlib.contextmanager
def rows_of(
    session: Session, settings: Settings, source: Text, request: Request, console: Any
) -> Iterator[BarrierStage]:
    """The stage that holds the rows of `source`, with their weights and checked labels.

    Warns about labels that look like targets; SvmtoolError if they cannot be classes.
    """
    weights = source.weights()  # a Spark job, which must run before the stage takes all cores
    with contextlib.closing(BarrierStage(session, source)) as stage:
        check_after_reading(settings)
        send_weights(stage, request.weights, weights)
        labels = np.empty(0)
        if settings.row.kind in intent.CLASSIFIERS:
            parts = stage.surviving(lambda: stage.gather("classes"))
            labels = np.array([label for found, _ in parts for label in found])
        console.warn(*intent.warnings(settings, request.given, labels, source.name))
        console.warn(*left_out(stage.weights, request.weights or "sample_weight"))
        yield stage


def send_weights(ranks: Collective, path: str | None = None, in_rows: np.ndarray | None = None) -> None:
    """Multiply costs by weights from now on: those given `in_rows`, or the numbers in the file `path`."""
    if in_rows is not None or path:
        counts = [part["n"] for part in ranks.surviving(lambda: ranks.gather("facts"))]
        ranks.weights = read_weights(str(path), sum(counts)) if in_rows is None else in_rows
        ranks.keep("set_weights", ranks.weights, np.cumsum([0, *counts]))


def reduction_of(settings: Settings) -> type[DistributedReduction]:
    """The reduction for the settings' kind of labels."""
    if settings.row.kind == "one-class":
        return DistributedOneClass
    return DistributedRegression if settings.row.kind == "regression" else DistributedOneVsRest


def validate(session: Session, settings: Settings, request: Request, source: Text, console: Any) -> int:
    """Run -v or -C and print LIBLINEAR's lines; returns the exit status."""
    with rows_of(session, settings, source, request, console) as stage:
        stop = StopFlag(settings.stopping.max_seconds)
        status = report.validate(lambda n: DistributedFolds(stage, settings, n), request, console, stop)
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
        with recording(request, settings.target) as history, doing("training"):
            report = history and history.record
            done, stage, interrupted = trained(session, settings, source, initial, report, console, request)
        show(done, console)
        note_rows(done.model, settings, request)
        linear.write(model_path, done.model)
        interrupts.loss = ""
        console.solver(stage.costs.line(stage.size))
    return exit_status(settings.row, request, done, model_path, interrupted, console)


class DistributedFolds(Folds):
    """Folds of distributed rows.  whole: whether rows of weight 0 are in the folds too, and so are predicted."""

    parallel = False

    def __init__(self, ranks: Collective, settings: Settings, wanted: int, whole: bool = True):
        self.ranks = ranks
        parts = ranks.surviving(lambda: ranks.gather("labels"))
        labels, weights = np.concatenate(parts), ranks.weights
        self.of_table = np.arange(len(labels)) if whole or weights is None else np.flatnonzero(weights > 0.0)
        no_features = np.zeros(len(self.of_table) + 1, np.int64), np.empty(0, np.int32), np.empty(0)
        weights = None if weights is None else weights[self.of_table]
        super().__init__(Dataset(labels[self.of_table], *no_features, 0, weights=weights), settings, wanted)
        fold = np.full(len(labels), self.count, np.int32)  # rows in no fold have weight 0
        fold[self.of_table[self.order]] = np.repeat(np.arange(self.count), np.diff(self.starts))
        ranks.keep("set_folds", fold, np.cumsum([0, *map(len, parts)]))

    def largest_square(self, bias: float) -> float:
        parts = self.ranks.surviving(lambda: self.ranks.gather("largest_square", bias))
        return checked_square(max(parts, default=0.0))

    def evaluate(  # type: ignore[override]
        self, settings: Settings, stop: StopFlag, warm: list | None = None, keep: Keep | None = None, *_: Any, **__: Any
    ) -> tuple[np.ndarray, bool]:
        """See Folds; the last fold stays held out, and a warning is given once."""

        def remember(k: int, problems: Any, results: list, _: Dataset) -> None:
            self._last = problems, problems.weights(results)

        found = super().evaluate(settings, stop, warm, keep, witness=remember)
        self.warnings = list(dict.fromkeys(self.warnings))
        return found

    def problems(self, k: int, inside: np.ndarray, settings: Settings) -> DistributedReduction:
        """See Folds."""
        self.ranks.keep("hold_out", k)
        if self.ranks.weights is not None:
            inside = inside[self.ranks.weights[self.of_table[inside]] > 0.0]
        return reduction_of(settings)(self.ranks, settings, self.table.labels[inside])

    def decisions(self, model: Any, rows: np.ndarray) -> np.ndarray:
        """See AnyFolds; the ranks have the rows, in their order."""
        problems, W = self._last
        scores = np.concatenate(problems.surviving(lambda: self.ranks.gather("scores", problems.decisions(W))))
        found = np.empty_like(scores)
        found[np.argsort(rows)] = scores
        return found


def calibrate(ranks: Collective, settings: Settings, labels: tuple[int, ...], stop: StopFlag) -> Sigmoids:
    """Fit sigmoids; afterwards the ranks still hold out rows."""
    try:
        folds = DistributedFolds(ranks, settings.replace(stratified=True), FOLDS, whole=False)
    except SvmtoolError as e:
        raise NotCalibratedError(str(e)) from e
    return of_folds(folds, settings, labels, stop)
