"""Training of linear models: what runs for -s without -t."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from svmtool import registry
from svmtool.data.dataset import Dataset, of_all_rows
from svmtool.errors import SvmtoolError
from svmtool.formats import dual_point
from svmtool.formats.models import linear
from svmtool.formats.svmlight.inputs import Reading, weighted
from svmtool.limits import EndedError, StopFlag, until
from svmtool.models.linear import LinearModel
from svmtool.models.weights import Columns
from svmtool.params import Request, Settings, check_after_reading
from svmtool.solvers.shared.base import INTERRUPTED, TIME
from svmtool.training import intent, pipeline
from svmtool.training.certain import Wanted, until_certain
from svmtool.training.inputs import SpreadWeights, narrowed, with_all_features
from svmtool.training.lines import Sink, SolverLines
from svmtool.training.outcome import Training, notes
from svmtool.training.reductions.base import Reduction, problems_of


class Job(pipeline.Job):
    """The training of a command with a linear model."""

    state: Any = None  # of an adaptable model
    _certain: Wanted | None = None  # of --certify-labels

    def __init__(self, settings: Settings, request: Request, data: Reading, console: Any):
        self.initial = linear.read(request.initial_model) if request.initial_model else None
        table = data.table()
        self._mapped, self._n_features = table.mapped, table.n_features
        settings, why = _chosen(settings, request, table)
        console.solver(why)
        check_after_reading(settings)
        console.warn(*intent.warnings(settings, request.given, table.labels, data.path))
        console.warn(*intent.unused_queries(settings, table, data.path))
        table = weighted(table, request.weights, console.warn)
        table, self.initial, self._used = narrowed(table, settings, self.initial)
        super().__init__(settings, request, table, table)
        if request.certify_labels is not None:
            self._certain = Wanted(
                request.certify_labels, request.certified_share, self._n_features, self.settings, self._used
            )
        self._dual_file = request.keep_dual_in
        if self._dual_file is not None:
            self.settings, self._n, self._kept = self.settings.replace(keep_dual=True), len(table), table.used()

    @property
    def warnings(self) -> list[str]:
        """Those about rows on disk."""
        return self._mapped.warnings() if self._mapped else []

    def folds(self, wanted: int, console: Any) -> Any:
        """See pipeline.Job."""
        from svmtool.training.validation.cross_validation import Folds
        from svmtool.training.validation.multilabel import LabelFolds

        table = self._rows[0]
        return (Folds if table.sets is None else LabelFolds)(table, self.settings, wanted)

    def opened(self, path: str, console: Any) -> contextlib.AbstractContextManager[Any]:
        """See pipeline.Job; of an adaptable model its state is locked."""
        if "--add" in self.settings.row.supported:
            from svmtool.training.adapting import adaptable

            self.state = adaptable.state_beside(self.settings, self._rows[0], path, console)
            if self.state is not None:
                return contextlib.closing(adaptable.locked(path))
        return contextlib.nullcontext()

    def train(self, report: Sink, stop: StopFlag, lines: SolverLines) -> Training:
        """See pipeline.Job."""
        return train(self._rows.pop(), self.settings, report, self.initial, stop, lines, True, self._certain)

    def write(self, path: str, done: Training) -> None:
        """See pipeline.Job; also the dual point of --keep-dual."""
        point = done.certificate.point
        if self._dual_file is not None:
            if point is None:  # without rows
                point = np.zeros((self._n if self._kept is None else len(self._kept), 1))
            dual_point.write(self._dual_file, of_all_rows(point, self._kept, self._n))
        done.model = with_all_features(done.model, self._used, self._n_features)
        if self.state is not None:
            from svmtool.training.adapting.adaptable import write_new

            write_new(self.state, path, done)
        elif isinstance(done.model, LinearModel):
            linear.write(path, done.model)
        else:  # LIBSVM's, of a model by pairs of classes
            from svmtool.formats.models import kernel

            kernel.write(path, done.model)


def _chosen(settings: Settings, request: Request, table: Dataset) -> tuple[Settings, str]:
    """The settings with the solver of -s auto, and a line that says why; empty where one is given."""
    if not request.auto:
        return settings, ""
    from svmtool.training import auto_select

    return auto_select.select(settings, request.given, table)


def train(
    table: Dataset, settings: Settings, report: Sink = None, initial: LinearModel | None = None,
    stop: StopFlag | None = None, lines: SolverLines | None = None, compact: bool = False,
    certain: Wanted | None = None,
) -> Training:  # fmt: skip
    """Train on a table, which may be freed; report is called with each solver record as keywords.

    stop: flag with the time limit of the command; None: max_seconds, counted from now.  lines: prints the solver's.
    compact: see Reduction.  certain: labels that are to be certain.
    """
    stop = StopFlag(settings.stopping.max_seconds) if stop is None else stop
    kept = table if settings.run.probability or settings.run.thresholds else None
    if settings.run.thresholds and len(table) < 2:
        raise SvmtoolError("--thresholds cv needs at least two rows")
    problems = problems_of(table, settings)
    problems.lines, problems.compact = lines, compact and certain is None
    del table
    start = None if initial is None else problems.start_from(initial)
    done = fitted(problems, start, report, stop)
    if certain is not None:
        done = until_certain(problems, done, certain, stop, lambda start: fitted(problems, start, report, stop))
    if kept is not None and settings.run.thresholds:
        del problems
        from svmtool.training.validation.multilabel import add_thresholds

        done.warnings += add_thresholds(done.model, kept, settings.replace(prune=None), stop)
    elif kept is not None and not done.model.gives_probabilities:
        del problems
        from svmtool.training.validation.cross_validation import add_sigmoids

        done.lacking, more = add_sigmoids(done.model, kept, settings, stop)
        done.warnings += more
    return done


def train_on_used(
    table: Dataset, settings: Settings, report: Sink = None, initial: LinearModel | None = None,
    stop: StopFlag | None = None, lines: SolverLines | None = None,
) -> Training:  # fmt: skip
    """`train` on the features that occur; the model has weights of all features, and its state if it is adaptable."""
    state = None
    if "--add" in settings.row.supported:
        from svmtool.training.adapting.adaptable import state_of

        table = table.as_double()  # the state identifies rows by the bits of their values
        state = state_of(settings, table)
    n_features, (rows, initial, used) = table.n_features, narrowed(table, settings, initial)

    def of_all(**record: Any) -> None:
        if used is not None and (w := record.get("weights")) is not None:
            known = w.reshape(len(used) + (settings.problem.bias >= 0), -1)
            record["weights"] = SpreadWeights(known, used, n_features)[:].reshape(-1)
        assert report is not None
        report(**record)

    done = train(rows, settings, report and of_all, initial, stop, lines, table.sets is not None)
    done.model = with_all_features(done.model, used, n_features)
    if isinstance(done.model, LinearModel):  # in the form of models that predict
        W = done.model.W
        done.model.W = W.by_feature().dense_if_small() if isinstance(W, Columns) else W if used is None else W[:]
    if state is not None and state.take(done):
        done.model.state = state
    return done


def fitted(problems: Reduction, start: np.ndarray | None, report: Sink, stop: StopFlag) -> Training:
    """Solve and certify the problems and make the model; see `train`."""
    results, certificate = problems.fit_and_certify(start, report, stop)
    model = problems.model(problems.weights(results), notes(problems.settings, certificate, results))
    done = Training(model, results, certificate, problems.warnings())
    done.summary, done.sums = problems.summary(results), problems.sums_of(results)
    try:
        with until(stop.ended):
            done.leave_one_out = problems.leave_one_out(done.model)
    except EndedError:
        why = INTERRUPTED if stop.set else TIME
        done.no_leave_one_out = why.advice
    return done


def methods(settings: Settings, request: Request, data: Reading) -> tuple[Settings, list[tuple[str, str]]]:
    """--explain: the settings with the solver of -s auto, and facts: why it, and the methods of the problems.

    SvmtoolError as in training.
    """
    if request.spark is not None:  # the workers of --spark hold the rows
        return settings, []
    table = data.table()
    settings, why = _chosen(settings, request, table)
    check_after_reading(settings)
    table = weighted(table, request.weights)
    problems = problems_of(narrowed(table, settings)[0], settings)
    problems.prepare()
    planned = registry.planned(problems.method, (problems.plan(k) for k in range(problems.count)))
    found = [("chosen", why.removeprefix("-s auto: ").rstrip())] if why else []
    return settings, [*found, *(("method", text) for text in planned)]
