"""Reduces a training set to optimisation problems and their solutions to a model.

Kinds of labels differ in how labels become problems and how weights become a model; each has its own file
with a class of the same interface: one_vs_rest.py, regression.py, ordinal.py.  `problems_of` chooses.
"""

from __future__ import annotations

import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from svmtool import registry
from svmtool.certify.linear import Certificate, Certifier, worst
from svmtool.compiled import threads
from svmtool.coordinate.hinge import READING_VISITS, STARTUP_VISITS
from svmtool.data.dataset import Dataset
from svmtool.data.labels import Classes
from svmtool.errors import SvmtoolError
from svmtool.limits import EndedError, StopFlag, until, with_time_shares
from svmtool.linalg.systems import VISIT_NS
from svmtool.models.linear import LinearModel
from svmtool.models.weights import Column, Columns, Scratch, file_for, kept
from svmtool.objectives import losses
from svmtool.objectives.task import Task
from svmtool.params import Settings, tolerance
from svmtool.progress import doing
from svmtool.registry import Solver
from svmtool.solvers.shared import base
from svmtool.solvers.shared.base import Monitor, Plan, Result, Rule, Tolerance
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import AIM_SHARE, BUDGET, DENSE_BELOW, FIRST_CHECK_STEPS, LEAST_RULE_GAP
from svmtool.training import verify
from svmtool.training.inputs import refuse_overflow, resized
from svmtool.training.lines import Sink, SolverLines, sink_of

if TYPE_CHECKING:
    from svmtool.data.class_statistics import ClassStatistics

PRUNING_PARTS = 64  # the number of weights left out is the largest possible up to one of these parts of all
NEED_DOUBLE = ("one-class", "hard one-class", "ordinal")  # kinds of solvers that take values of float64 alone
KINKED = ("hinge", "squared hinge", "modified Huber")  # losses that leave most rows without curvature
HINGES, SOUND_FOR_HINGES = ("hinge", "Lp hinge"), 31  # losses that the solver of that row takes over from others

# kind of labels of a registry row -> module and class
REDUCTIONS = {
    "one-vs-one": ("svmtool.training.reductions.one_vs_one", "OneVsOne"),  # a classification with --one-vs-one
    "multi-label": ("svmtool.training.reductions.one_vs_rest", "MultiLabel"),  # a classification of label sets
    "classification": ("svmtool.training.reductions.one_vs_rest", "OneVsRest"),
    "regression": ("svmtool.training.reductions.regression", "Regression"),
    "ordinal": ("svmtool.training.reductions.ordinal", "Ordinal"),
    "one-class": ("svmtool.training.reductions.one_class", "OneClass"),
    "hard one-class": ("svmtool.training.reductions.one_class", "HardOneClass"),
    "all classes": ("svmtool.training.reductions.crammer_singer", "CrammerSinger"),
}


def problems_of(table: Dataset, settings: Settings) -> Reduction:
    """The problems of a training set, of the kind that the chosen solver serves; see Reduction."""
    kind = "one-vs-one" if settings.run.options.one_vs_one else settings.row.kind
    module, name = REDUCTIONS[kind if table.sets is None else "multi-label"]
    return getattr(registry.module(module), name)(table, settings)


def gap_of_eps(eps: float, an_eps: float, most: float) -> float:
    """The certified gap of a rule of -e: `an_eps` times it, at most `most`."""
    return min(max(an_eps * eps, LEAST_RULE_GAP), most)


def _systems_of_rows(solver: registry.Solver) -> bool:
    """Whether the solver takes systems of rows, which are sparse ones, where these are fewer than features.

    On seven subsets of five dense sets with fewer rows than features -s 1, 2, 3, 40, 41 and 42 took 0.004 to 1.6 times
    the time that they took with dense matrices, in the geometric mean 0.30; -s 0, 5, 6, 51, 52 and 70 gained nothing.
    """
    kinked = solver.loss in KINKED and solver.kind == "classification" and solver.regulariser != "|w|_1"
    return kinked and not solver.printed


class Reduction(ABC):
    """Base class: a training set as optimisation problems.

    The arrays of `table` become the rows; they are never changed, and mapped ones may be released.
    Its weights multiply C; rows of weight zero or below take no part.

    A kind implements `task`, `start_from`, and where needed `_rule_of`, `name`, `finish`, `dual_point`, `summary`, ...
    count: number of problems; missing: labels of -wi that the data lack; untrained: what a model of no rows is like;
    sums: of the rows, where solvers want normal equations.
    """

    count = 1
    sums: ClassStatistics | None = None
    classes: Any = None  # of a classification: its Classes
    missing: list[int] = []
    untrained = "the model has no classes"
    solver_method: str | None = None  # of the solver's METHODS, in place of its plan's; for tests and experiments
    robust = False  # whether the solver is itself as robust as the method that results fall back to
    lines: SolverLines | None = None  # what prints the lines of the solver
    several = False  # whether rows have several labels
    sparse_only = False  # whether dense rows are converted, because the solver reads single rows
    compact = False  # whether results of several problems keep no dual points, and their model's W is in Columns
    # starts: solutions at another C (seeded); LIBLINEAR's rule alone may end a run there, as in its search for C
    seeded = any_start = False

    def __init__(self, table: Dataset, settings: Settings):
        self.settings, self.solver, p = settings, settings.row, settings.problem
        exact = self.solver.printed or "--add" in self.solver.supported or self.solver.kind in NEED_DOUBLE
        table = (table.as_double() if exact else table).in_use()
        self.loss = losses.of(self.solver.loss, p.loss_power)
        self.n_features = table.n_features
        self.row_weights = table.factors
        self._sets: Any = table.sets  # where rows have several labels
        largest_label = self._largest_label(table.labels)
        refuse_overflow(table, p.C, p.class_weights, p.bias, largest_label, self.solver.kind == "one-class")
        self._read_labels(table.labels)
        below = min(DENSE_BELOW, len(table.labels)) if _systems_of_rows(self.solver) else DENSE_BELOW
        self.rows = table.rows(p.bias, -1 if self.sparse_only else below)

    # Implemented by each kind of labels

    def _read_labels(self, labels: np.ndarray) -> None:
        """Store what is needed of the labels, f8[n], their classes; SvmtoolError where they define no problem."""
        self.classes = Classes(labels)
        self.factor, self.missing = self.classes.weights(self.settings.problem.class_weights)

    def _largest_label(self, labels: np.ndarray) -> float:
        """The largest absolute number in the problem that comes from the labels."""
        return 1.0

    @abstractmethod
    def task(self, k: int) -> Task:
        """Problem k, rows of cost zero included."""

    def rule(self, k: int) -> Rule:
        """LIBLINEAR's stopping rule of problem k, or none where the gap decides."""
        return Rule() if self.eps is None else self._rule_of(k, self.eps)

    def _rule_of(self, k: int, eps: float) -> Rule:
        return Rule(range=eps)

    @property
    def method(self) -> Solver:
        """The row whose back end solves the problems: the chosen one, unless these are another one's."""
        return self.solver

    def name(self, k: int) -> int | str | None:
        """The label (of a pair of classes: both) of problem k in records of several; None if there is only one."""
        return None

    def finish(self, result: Result) -> None:  # noqa: B027  optional
        """Bring a solver's result into its final form."""

    def dual_point(self, result: Result) -> np.ndarray | None:
        """The dual point that belongs to a finished result, as long as the task's rows."""
        return result.alpha

    def model(self, W: np.ndarray, notes: tuple[str, ...] = ()) -> Any:
        """The trained model of `weights`."""
        labels = None if self.classes is None else tuple(self.classes.labels)
        return LinearModel(self.solver.word, labels, self.n_features, self.settings.problem.bias, W, notes=notes)

    @abstractmethod
    def start_from(self, model: LinearModel) -> np.ndarray:
        """The weights of a trained model as a warm start, f8 (length of w, problems): features cut or padded.

        SvmtoolError for a model of another kind of labels.
        """

    def warnings(self) -> list[str]:
        """Warnings for the user that do not depend on the solver."""
        found = [f"WARNING: class label {label} specified in weight is not found" for label in self.missing]
        return found if self.rows.n else [*found, f"WARNING: the training file has no rows: {self.untrained}"]

    def summary(self, results: list[Result]) -> str:
        """Lines about the training rows, printed after the solver's text."""
        return ""

    def prepare(self) -> None:  # noqa: B027  most kinds have nothing to share
        """Compute what all problems share, on all threads, before the first is solved; EndedError at the limit."""

    def sums_of(self, results: list[Result]) -> ClassStatistics | None:
        """The sums that an adaptable model's state is made of, None for other models."""
        return self.sums

    def leave_one_out(self, model: LinearModel) -> float | None:
        """Return the leave-one-out accuracy if --loo asks for it."""
        return None

    # Shared by all kinds

    @property
    def eps(self) -> float | None:
        """The -e that decides, None where the gap does."""
        s = self.settings.stopping
        if s.gap is not None:
            return None
        return self.solver.eps_default if s.eps is None else s.eps

    def fit(
        self, start: np.ndarray | None = None, report: Sink = None, stop: StopFlag | None = None, verified: bool = False
    ) -> list[Result]:
        """Solve every problem; start (length of w x problems) is a warm start, report takes the records of all runs.

        verified: results that claim to be exact, or that rounding has ended, are verified as by fit_and_certify.
        stop: the command's, or this part's share; None: max_seconds counts from here on.  The problems share
        the time fairly; those that are not reached before it is over are not solved.
        """

        def checked(k: int, result: Result, began: np.ndarray | None, share: StopFlag) -> Result:
            result = verify.sound(self, k, result, began)
            if verified and result.status in (base.OPTIMAL, base.PRECISION):
                result, _ = verify.verified(self, k, result, self._monitor(None, share), began)
            return result

        return self._fit(start, report, stop, checked)

    def fit_and_certify(
        self, start: np.ndarray | None = None, report: Sink = None, stop: StopFlag | None = None
    ) -> tuple[list[Result], Certificate]:
        """`fit`, and the certificate of all results: values summed, the worst gap and violation; see verify.py."""
        found: list[Any] = [None] * self.count

        def certified(k: int, result: Result, began: np.ndarray | None, share: StopFlag) -> Result:
            known = found[k]
            if result.untouched:
                found[k] = self._certifier(k).certify_untouched(result.history[-1]["objective"])
            else:
                result, found[k] = verify.verified(self, k, result, self._monitor(None, share), began)
            if known is not None:
                found[k] = found[k].bounded_by(known)
            if self.settings.run.prune is not None:
                self._prune(result, self.settings.run.prune)
                found[k] = self.certify(k, result).bounded_by(found[k])
                result.status = base.PRUNED if result.status.converged else result.status
            result.certified_gap = found[k].gap
            return result

        return self._fit(start, report, stop, certified), worst(found)

    def _fit(
        self, start: np.ndarray | None, report: Sink, stop: StopFlag | None,
        checked: Callable[[int, Result, np.ndarray | None, StopFlag], Result],
    ) -> list[Result]:  # fmt: skip
        """`fit`; checked(k, result, weights it began with, flag of this turn) gives the result."""
        results: list[Any] = [None] * self.count
        stop = self._prepared(stop)

        def turn(k: int, share: StopFlag) -> bool:
            before: Result | None = results[k]
            shortest = -1
            if before is not None and self.solver.printed:
                # It begins anew: continued it would be another algorithm, whose model depends on the clock
                shortest, before = before.iterations, None
            result = self._solve(k, start, report, share, before)
            if result.status is not base.TIME or result.iterations > shortest:
                began = self._start_of(k, start) if before is None else before.w
                results[k] = checked(k, result, began, share)
            part.step()
            again = results[k].status is base.TIME and stop.may_resume(share)
            if self.lines is not None:
                self.lines.end_turn(k, None if again else results[k])
            if not again and "--add" not in self.solver.supported:
                results[k].w = kept(results[k].w, self.count, self._file)
                if self.compact and self.count > 1:
                    results[k].alpha = None
            return again

        if self.lines is not None:
            self.lines.begin(self.count)
        with doing("class", self.count) as part:
            with_time_shares(turn, self.count, stop, threads.beside(self.count), threads.run_blocks)
        return results

    @functools.cached_property
    def _file(self) -> Scratch | None:
        """Where the weights of finished problems wait for the model; None: in memory."""
        return file_for(self.count * self.rows.d) if self.compact else None

    def _prepared(self, stop: StopFlag | None) -> StopFlag:
        """What ends the problems, which are ready to be solved unless the limit is reached."""
        stop = StopFlag(self.settings.stopping.max_seconds) if stop is None else stop
        with contextlib.suppress(EndedError), until(stop.ended):
            self.prepare()
        return stop

    def _prune(self, result: Result, most: float) -> None:
        """Set weights to 0, those of the smallest effect, so that no row's x.w moves by more than `most`."""
        w, ones = result.w, np.ones(self.rows.n)
        effect = np.abs(w) * self._norms
        order, moved = np.argsort(effect, kind="stable"), np.empty(self.rows.n)
        count, beyond = int(np.searchsorted(np.cumsum(effect[order]), most, side="right")), len(w) + 1
        while beyond - count > max(1, len(w) // PRUNING_PARTS):
            tried, out = (count + beyond) // 2, np.zeros_like(w)
            out[order[:tried]] = w[order[:tried]]
            self.rows.margins(out, ones, moved)
            if np.max(np.abs(moved), initial=0.0) <= most:
                count = tried
            else:
                beyond = tried
        w[order[:count]] = 0.0

    @functools.cached_property
    def _norms(self) -> np.ndarray:
        """The norm of each feature's column, at least its largest |value|, f8[d]."""
        return np.sqrt(self.rows.diagonal(np.ones(self.rows.n)))

    # Used by verify.py

    def certify(self, k: int, result: Result) -> Certificate:
        """The certificate of a result of problem k."""
        return self._certifier(k).certify(*self.parts(result.w), self.dual_point(result))

    def primal(self, k: int, w: np.ndarray) -> float:
        """The objective of problem k at the weights w of a result."""
        return self._certifier(k).primal(*self.parts(w))

    def parts(self, w: np.ndarray) -> tuple[Any, ...]:
        """The weights of a result as the kind's certifier takes them, and what else w holds."""
        return (w,)

    def values_of(self, model: LinearModel) -> np.ndarray:
        """The objective of each problem at a model's weights, f8[problems]; SvmtoolError as start_from."""
        start = self.start_from(model)
        return np.array([self.primal(k, cast(np.ndarray, self._start_of(k, start))) for k in range(self.count)])

    def value_at_zero(self, k: int) -> float:
        """The objective of problem k at zero weights."""
        return self._certifier(k).value_at_zero()

    def zero_weights(self) -> np.ndarray:
        """The weights of a result without training."""
        return np.zeros(self.rows.d)

    def zero_dual_point(self, k: int) -> np.ndarray | None:
        """The dual point of value 0 in the form of results; None: the certifier needs none."""
        return None

    def is_finite(self, w: np.ndarray) -> bool:
        """Whether the weights of a result are finite."""
        return bool(np.isfinite(self.parts(w)[0]).all())

    def solve_anew(self, k: int, start: np.ndarray, gap: float, monitor: Monitor) -> Result | None:
        """Problem k by the slow method that results fall back to; None where it has none."""
        if self.robust:
            return None
        from svmtool.solvers.shared import fallback

        task, l1, sound = self.task(k), self.solver.regulariser == "|w|_1", registry.find(SOUND_FOR_HINGES)
        if not l1 and self.solver.loss in HINGES and self.solver.module != sound.module and np.all(task.cost > 0.0):
            result = registry.entry(sound)(task, monitor.child(gap), Rule())
        else:
            result = fallback.solve(task, self.loss, l1, start, gap, monitor)
        if result is not None:
            self.finish(result)
        return result

    def _certifier(self, k: int) -> Any:
        t = self.task(k)
        l1 = self.solver.regulariser == "|w|_1"
        keep = self.settings.run.keep_dual
        return Certifier(t.rows, self.loss, t.y, t.cost, t.free_bias, t.target, l1, self.settings.target, keep)

    def _start_of(self, k: int, start: np.ndarray | None) -> np.ndarray | None:
        """Column k of a warm start as a result's weights."""
        return None if start is None else np.ascontiguousarray(start[:, k])

    def _monitor(self, sink: Sink, stop: StopFlag) -> Monitor:
        gap, printed = self.settings.target, self.solver.printed
        progress = Progress(FIRST_CHECK_STEPS) if self.solver.optimal and not printed else None
        aim = None if gap is None or printed else AIM_SHARE * gap
        begun = VISIT_NS * (READING_VISITS * self.rows.nnz + STARTUP_VISITS) / max(self.count, 1)
        return Monitor(
            aim, self.settings.stopping.max_iter, sink=sink, stop=stop, progress=progress,
            budget=None if gap is not None or printed else 0.0 if self.any_start else BUDGET, work=begun,
        )  # fmt: skip

    def _untouched(self, k: int, w: np.ndarray | None, stop: StopFlag) -> Result | None:
        """The result w (None: zeros) of problem k where the time limit came first; None where the solver gives it."""
        value, w = verify.better_start(self, k, w)
        monitor = Monitor()
        monitor.step(value, 0.0, active=0)
        w = self.zero_weights() if w is None else w
        result = Result(w, base.INTERRUPTED if stop.set else base.TIME, 1, monitor.history, self.zero_dual_point(k))
        result.untouched = self.count > 1
        return result

    def _solve(
        self, k: int, start: np.ndarray | None, report: Sink, stop: StopFlag, before: Result | None = None
    ) -> Result:
        """Solve problem k from its start, or continue from where a limit ended an earlier turn."""
        if stop.ended():
            result = before or self._untouched(k, self._start_of(k, start), stop)
            if result is not None:
                return result
        s, whole, sink = self.settings, self.task(k), sink_of(report, self.lines, k, self.name(k))
        task, used = self._with_costs(whole)
        monitor = self._monitor(sink, stop)
        w = None if start is None else np.ascontiguousarray(start[:, k])
        if before is not None:
            monitor.history, monitor.iterations, w = before.history, before.history[-1]["iteration"] + 1, before.w
        solve, rule = registry.entry(self.method), self._rule(k, before is not None)
        with until(monitor.ended):
            result = solve(task, monitor, rule, w, 1 if s.run.seed is None else s.run.seed % 2**31, self.solver_method)
        if used is not None:
            result.place_rows(used, whole.rows.n)
        self.finish(result)
        return result

    def _with_costs(self, task: Any) -> tuple[Any, np.ndarray | None]:
        """The task without rows of cost zero (-wi 0, other pairs' classes) and the rows kept, i8; None: all are."""
        if not (task.rows.n and task.cost.min() <= 0):
            return task, None
        used = np.flatnonzero(task.cost > 0)
        return task.only(used), used

    def plan(self, k: int) -> Plan:
        """The method with which the solver begins problem k from zero weights."""
        task, _ = self._with_costs(self.task(k))
        return registry.planner(self.method)(task, self._rule(k))

    def _rule(self, k: int, resumed: bool = False) -> Any:
        """The rule of problem k; a paper's is its tolerance."""
        if self.solver.printed:
            return Tolerance(tolerance(self.settings), self.seeded or resumed)
        return self.rule(k)

    def weights(self, results: list[Result]) -> Any:
        """The results as columns, f8 (length of w, problems); those of many that are compact as Columns."""
        if self.compact and results and isinstance(results[0].w, Column):
            return Columns([cast(Column, r.w) for r in results], self.rows.d)
        W = np.zeros((len(results[0].w) if results else self.rows.d, len(results)))
        for column, result in zip(W.T, results, strict=True):
            if isinstance(result.w, Column):
                column[result.w.places] = result.w.values[:]
                result.w = column
            else:
                column[:] = result.w
        return W

    def as_start(self, W: np.ndarray) -> np.ndarray:
        """The start of another run from the `weights` of this one."""
        return W

    def _columns_of(self, model: LinearModel, fits: bool = True) -> list[int]:
        """The column of a trained model for each label; SvmtoolError for other labels, or where it does not fit."""
        labels = list(self.classes.labels)
        if model.is_multilabel is not self.several:
            kind = "several labels" if model.is_multilabel else "one label"
            raise SvmtoolError(f"the initial model is of rows with {kind} each, the data are not")
        if not fits or model.labels is None or set(model.labels) != set(labels):
            theirs = "none" if model.labels is None else list(model.labels)
            raise SvmtoolError(f"the initial model has labels {theirs}, the data {labels}: they must agree")
        return [model.labels.index(label) for label in labels]

    def _start_with(self, W: np.ndarray, model: LinearModel) -> np.ndarray:
        """Columns W of a model's weights for the features and bias of this run."""
        return resized(W, model, self.n_features, self.settings.problem.bias)
