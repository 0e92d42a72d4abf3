"""Training of linear models: what pipeline.py calls for -s without -t."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool import registry
from svmtool.data.dataset import Dataset, of_all_rows
from svmtool.data.labels import balanced_weights
from svmtool.errors import SvmtoolError
from svmtool.formats import dual_point
from svmtool.formats.models import linear
from svmtool.formats.svmlight.inputs import Reading, weighted
from svmtool.limits import EndedError, StopFlag, until
from svmtool.models.linear import LinearModel
from svmtool.models.weights import Columns
from svmtool.params import Request, Settings, check_after_reading
from svmtool.solvers.shared.base import INTERRUPTED, TIME
from svmtool.training import intent
from svmtool.training.certain import Wanted, until_certain
from svmtool.training.inputs import on_used, restricted, used_features, with_all_features
from svmtool.training.lines import SolverLines
from svmtool.training.outcome import Training, notes
from svmtool.training.reductions.base import Reduction, problems_of


class Job:
    """The training of a command with a linear model, see pipeline.Job."""

    state: Any = None  # of an adaptable model
    _certain: Wanted | None = None  # of --certify-labels

    def __init__(self, settings: Settings, request: Request, data: Reading, console: Any):
        self.initial = linear.read(request.initial_model) if request.initial_model else None
        table = data.table()
        self._mapped = table.mapped
        settings, facts = _chosen(settings, request, table)
        for _, text in facts:
            console.solver(text)
        check_after_reading(settings)
        console.warn(*intent.warnings(settings, request.given, table.labels, data.path))
        console.warn(*intent.unused_queries(settings, table, data.path))
        table = weighted(table, request.weights, console.warn)
        self._n_features, self._used = table.n_features, _used(table, settings)
        if self._used is not None:
            table = on_used(table, self._used)
            self.initial = self.initial and restricted(self.initial, self._used)
        if request.balanced:
            balanced = balanced_weights(table.labels, table.weights)
            settings = settings.replace(class_weights=settings.problem.class_weights + balanced)
        if request.certify_labels is not None:
            self._certain = Wanted(
                request.certify_labels, request.certified_share, self._n_features, settings, self._used
            )
        self._dual_file = request.keep_dual_in
        if self._dual_file is not None:
            settings, self._n, self._kept = settings.replace(keep_dual=True), len(table), table.used()
        self.settings, self._tables = settings, [table]  # the only reference, so that training can free it

    @property
    def warnings(self) -> list[str]:
        """Those about rows on disk."""
        return self._mapped.warnings() if self._mapped else []

    def validate(self, request: Request, console: Any, stop: StopFlag) -> int:
        """-v, -C and --grid: print the results; returns the exit status."""
        from svmtool.training.validation import report

        work = report.grid if request.grid else report.validate
        status = work(self._tables[0], self.settings, request, console, stop)
        console.warn(*self.warnings)
        return status

    def opened(self, path: str, console: Any) -> contextlib.AbstractContextManager[Any]:
        """A block in which the model's files may be written."""
        if "--add" not in self.settings.row.supported:
            return contextlib.nullcontext()
        from svmtool.training.adapting.trained import new_state

        self.state = new_state(self.settings, self._tables[0], path, console)
        return contextlib.nullcontext() if self.state is None else contextlib.closing(self.state)

    def train(self, report: Callable[..., None] | None, stop: StopFlag, lines: SolverLines) -> Training:
        """Train, and free the rows."""
        return train(self._tables.pop(), self.settings, report, self.initial, stop, lines, True, self._certain)

    def write(self, path: str, done: Training, plain: bool) -> None:
        """Write the model's files; plain: without notes."""
        point = done.certificate.point
        if self._dual_file is not None:
            if point is None:  # without rows
                point = np.zeros((self._n if self._kept is None else len(self._kept), 1))
            dual_point.write(self._dual_file, of_all_rows(point, self._kept, self._n))
        if self._used is not None:
            done.model = with_all_features(done.model, self._used, self._n_features)
        if plain:
            done.model.notes = ()
        if self.state is None:
            write(path, done.model)
        else:
            self.state.write(done)


def write(path: str, model: Any) -> None:
    """Write a model file: LIBLINEAR's, or LIBSVM's of a model by pairs of classes."""
    if isinstance(model, LinearModel):
        linear.write(path, model)
    else:
        from svmtool.formats.models import kernel

        kernel.write(path, model)


def _chosen(settings: Settings, request: Request, table: Dataset) -> tuple[Settings, list[tuple[str, str]]]:
    """The settings with the solver of -s auto, and a fact that says why."""
    if not request.auto:
        return settings, []
    from svmtool.training import auto_select

    settings, line = auto_select.select(settings, request.given, table)
    return settings, [("chosen", line)]


def _used(table: Dataset, settings: Settings) -> np.ndarray | None:
    """The features to which the rows are restricted, None for all; an adaptable model's state needs all."""
    return None if "--add" in settings.row.supported else used_features(table)


def train(
    table: Dataset, settings: Settings, report: Callable[..., None] | None = None, initial: LinearModel | None = None,
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
        from svmtool.training.calibration import add_sigmoids

        done.lacking, more = add_sigmoids(done.model, kept, settings, stop)
        done.warnings += more
    return done


def train_on_used(
    table: Dataset, settings: Settings, report: Callable[..., None] | None = None, initial: LinearModel | None = None,
    stop: StopFlag | None = None, lines: SolverLines | None = None,
) -> Training:  # fmt: skip
    """`train` on the features that occur; the model has weights of all features, and its state if it is adaptable."""
    if "--add" in settings.row.supported:  # the state identifies rows by the bits of their values
        table = table.as_double()
    n_features, used = table.n_features, used_features(table)
    if used is None:
        done = train(table, settings, report, initial, stop, lines, table.sets is not None)
        _open_columns(done.model)
        if "--add" in settings.row.supported:
            from svmtool.training.adapting.trained import state_of

            done.model.state = state_of(settings, table, done)
        return done
    initial = initial and restricted(initial, used)

    def of_all(**record: Any) -> None:
        if (w := record.get("weights")) is not None:
            bias = int(settings.problem.bias >= 0)
            known = w.reshape(len(used) + bias, -1)
            whole = np.zeros((n_features + bias, known.shape[1]))
            whole[used] = known[: len(used)]
            whole[n_features:] = known[len(used) :]
            record["weights"] = whole.reshape(-1)
        assert report is not None
        report(**record)

    done = train(on_used(table, used), settings, report and of_all, initial, stop, lines, table.sets is not None)
    done.model = with_all_features(done.model, used, n_features)
    if isinstance(done.model, LinearModel) and not isinstance(done.model.W, Columns):
        done.model.W = done.model.W[:]
    _open_columns(done.model)
    return done


def _open_columns(model: Any) -> None:
    """Bring weights that are in Columns into the form of models that predict."""
    if isinstance(model, LinearModel) and isinstance(model.W, Columns):
        model.W = model.W.by_feature().dense_if_small()


def fitted(
    problems: Reduction, start: np.ndarray | None, report: Callable[..., None] | None, stop: StopFlag
) -> Training:
    """Solve and certify the problems and make the model; see `train`."""
    results, certificate = problems.fit_and_certify(start, report, stop)
    model = problems.model(problems.weights(results), notes(problems.settings, certificate, results))
    done = Training(model, results, certificate, problems.warnings(), summary=problems.summary(results))
    done.sums = problems.sums_of(results)
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
    settings, found = _chosen(settings, request, table)
    check_after_reading(settings)
    table = weighted(table, request.weights)
    used = _used(table, settings)
    problems = problems_of(table if used is None else on_used(table, used), settings)
    problems.prepare()
    planned = registry.planned(problems.method, (problems.plan(k) for k in range(problems.count)))
    found = [(name, text.removeprefix("-s auto: ").rstrip()) for name, text in found]
    return settings, [*found, *(("method", text) for text in planned)]
