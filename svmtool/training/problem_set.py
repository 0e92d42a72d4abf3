"""What a training set asks of a solver: one problem or several, and what becomes of their answers.

The kinds of task differ in how labels become problems and weights become a model; each has a file of its own
with a class of the same face: multiclass.py, regression.py, ordinal.py.  `problems_of` chooses.
"""

from __future__ import annotations

import importlib
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool import registry
from svmtool.compiled import threads
from svmtool.errors import SvmtoolError
from svmtool.formats.svmlight import Table
from svmtool.model import LinearModel
from svmtool.problem import losses, rows
from svmtool.problem.certify import Certificate, Judge, worst
from svmtool.problem.task import Task
from svmtool.settings import Settings
from svmtool.solvers.base import Monitor, Result, Rule, StopFlag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from svmtool.problem.label_sums import LabelSums

DENSE_BELOW = 1500  # features up to which a set that is mostly non-zero is held as a dense matrix

VALUES_AT_ONCE = 1 << 21  # looked at, of rows that may lie on disk

LARGEST_START = 1e100  # weights of an initial model: their squares must stay numbers

# task of a registry row -> module and class
KINDS = {
    "classification": ("svmtool.training.multiclass", "Problems"),
    "regression": ("svmtool.training.regression", "Regression"),
    "ordinal": ("svmtool.training.ordinal", "Ordinal"),
    "one-class": ("svmtool.training.one_class", "OneClass"),
    "hard one-class": ("svmtool.training.hard_one_class", "HardOneClass"),
    "all classes": ("svmtool.training.crammer_singer", "AllClasses"),
}


def problems_of(table: Table, settings: Settings, row_weights: np.ndarray | None = None) -> ProblemSet:
    """The problems of a training set, of the kind that the chosen solver serves; see ProblemSet."""
    module, name = KINDS[settings.row.task]
    return getattr(importlib.import_module(module), name)(table, settings, row_weights)


class ProblemSet(ABC):
    """What the kinds of task share.

    table is used up: its arrays become the rows (and may be given back to the system).
    row_weights f8[n] multiply C; rows of weight zero or below take no part.

    A kind says: `task`, `rule`, `model`, `start_from`; where it wants also `name`, `finish`, `dual_point`, `summary`.
    count: number of problems; missing: labels of -wi that the data lack; untrained: what a model of no rows is like;
    solved_at: when, by time.perf_counter, `fit_and_certify` had the last answer; sums: of the rows, where solvers want
    normal equations.
    """

    count = 1
    solved_at = -math.inf
    sums: LabelSums | None = None
    missing: list[int] = []
    untrained = "the model knows no class"

    def __init__(self, table: Table, settings: Settings, row_weights: np.ndarray | None = None):
        if row_weights is not None and np.any(row_weights <= 0):
            kept = np.flatnonzero(row_weights > 0)
            table, row_weights = take(table, kept), row_weights[kept]
        self.settings = settings
        self.solver = settings.row
        self.loss = losses.of(self.solver.loss, settings.loss_power)
        self.n_features = table.n_features
        self.row_weights = row_weights
        largest = refuse_overflow(
            table, settings.C, settings.class_weights, row_weights, settings.bias, self._largest_label(table.labels)
        )
        self._read_labels(table.labels)
        self.rows = rows.from_csr(
            table.indptr, table.indices, table.values, table.n_features, settings.bias, DENSE_BELOW, table.room
        )
        self.rows.largest_value = largest

    # What a kind of task says

    @abstractmethod
    def _read_labels(self, labels: np.ndarray) -> None:
        """Take what is wanted of the labels, f8[n]; SvmtoolError where they make no problem."""

    def _largest_label(self, labels: np.ndarray) -> float:
        """The largest number that the labels bring into the problem."""
        return 1.0

    @abstractmethod
    def task(self, k: int) -> Task:
        """Problem k, rows of cost zero included."""

    @abstractmethod
    def rule(self, k: int) -> Rule:
        """LIBLINEAR's stopping rule of problem k, or none where the gap decides."""

    def name(self, k: int) -> int | None:
        """How records of several runs tell problem k; None for a lone one."""
        return None

    def finish(self, result: Result) -> None:  # noqa: B027  a kind may do without
        """Bring a solver's answer into its final form."""

    def dual_point(self, result: Result) -> np.ndarray | None:
        """The dual point that belongs to a finished answer, as long as the task's rows."""
        return result.alpha

    @abstractmethod
    def model(self, W: np.ndarray, notes: tuple[str, ...] = ()) -> LinearModel:
        """The trained model of `weights`."""

    @abstractmethod
    def start_from(self, model: LinearModel) -> np.ndarray:
        """The weights of a trained model as a warm start, f8 (length of w, problems): features cut or padded.

        SvmtoolError for a model that answers another question.
        """

    def warnings(self) -> list[str]:
        """Sentences for the user, whatever the solver does."""
        found = [f"WARNING: class label {label} specified in weight is not found" for label in self.missing]
        return found if self.rows.n else [*found, f"WARNING: the training file has no rows: {self.untrained}"]

    def summary(self, results: list[Result]) -> str:
        """Lines about the training rows, printed after the solver's text."""
        return ""

    def prepare(self) -> None:  # noqa: B027  most kinds have nothing to share
        """Form what all problems share, with all threads; before the first is solved."""

    def sums_of(self, results: list[Result]) -> LabelSums | None:
        """The sums that an adaptable model's state is made of, None for other models."""
        return self.sums

    def validation(self, model: LinearModel) -> str:
        """What --loo prints; empty without it."""
        return ""

    # What follows from it

    @property
    def eps(self) -> float | None:
        """The -e that decides, None where the gap does."""
        s = self.settings
        return None if s.gap is not None else s.eps if s.eps is not None else self.solver.eps_default

    def gap(self) -> float | None:
        """The certified gap to stop at, or None where -e decides."""
        s = self.settings
        if s.gap is not None:
            return s.gap
        return self.solver.gap_default if s.eps is None else None

    def fit(
        self, start: np.ndarray | None = None, report: Callable[..., None] | None = None, stop: StopFlag | None = None
    ) -> list[Result]:
        """Solve every problem; start (length of w x problems) is a warm start, report takes the records of all runs."""
        results: list[Any] = [None] * self.count
        self.prepare()

        def solve(k: int) -> None:
            results[k] = self._solve(k, start, report, stop)

        threads.run_blocks(solve, self.count)
        return results

    def fit_and_certify(
        self, start: np.ndarray | None = None, report: Callable[..., None] | None = None, stop: StopFlag | None = None
    ) -> tuple[list[Result], Certificate]:
        """`fit`, and the judge's word on all answers: values summed, the worst gap and violation.

        No core waits for the last problem: it judges the answers that are there.
        """
        results: list[Any] = [None] * self.count
        found: list[Any] = [None] * self.count
        self.prepare()

        def solve(k: int) -> None:
            results[k] = self._solve(k, start, report, stop)
            self.solved_at = time.perf_counter()

        def judge(k: int) -> None:
            found[k] = self.judge(k, results[k])

        threads.run_in_turns(solve, judge, self.count)
        return results, worst(found)

    def judge(self, k: int, result: Result) -> Certificate:
        """The judge's word on problem k."""
        t = self.task(k)
        l1 = self.solver.regulariser == "|w|_1"
        judge = Judge(t.rows, self.loss, t.y, t.cost, t.free_bias, t.target, l1)
        return judge.certify(result.w, self.dual_point(result))

    def _solve(
        self, k: int, start: np.ndarray | None, report: Callable[..., None] | None, stop: StopFlag | None
    ) -> Result:
        s, name = self.settings, self.name(k)
        sink = report
        if report is not None and name is not None:
            sink = lambda **record: report(label=name, **record)  # noqa: E731
        task, used = self.task(k), None
        n = task.rows.n
        if n and s.class_weights and task.cost.min() <= 0:  # -wi 0: rows that cost nothing only stand in the way
            used = np.flatnonzero(task.cost > 0)
            task = task.only(used)
        monitor = Monitor(self.gap(), s.max_iter, s.max_seconds, sink, stop)
        w = None if start is None else np.ascontiguousarray(start[:, k])
        solve = registry.entry(self.solver)
        result = solve(task, monitor, self.rule(k), w, 1 if s.seed is None else s.seed % 2**31)
        if used is not None:
            result.alpha, result.taken = _spread(result.alpha, used, n), _spread(result.taken, used, n)
        self.finish(result)
        return result

    def weights(self, results: list[Result]) -> np.ndarray:
        """The answers as columns, f8 (length of w, problems)."""
        return np.stack([r.w for r in results], axis=1) if results else np.zeros((self.rows.d, 0))

    def _start_with(self, W: np.ndarray, model: LinearModel) -> np.ndarray:
        """Columns W of a model's weights (its features, its bias) for this run's features and bias."""
        if (model.bias >= 0) != (self.settings.bias >= 0):
            raise SvmtoolError(f"the initial model has bias {model.bias:g}, this run -B {self.settings.bias:g}")
        start = np.zeros((self.rows.d, W.shape[1]))
        shared = min(self.n_features, model.n_features)
        start[:shared] = W[:shared]
        if model.bias >= 0:  # keep the same shift where the bias feature has another value
            start[-1] = W[-1] * (model.bias / self.settings.bias if self.settings.bias > 0 else 1.0)
        return self.check_start(start)

    def check_start(self, start: np.ndarray) -> np.ndarray:
        """`start` itself; SvmtoolError where no run can begin there."""
        if not np.all(np.abs(start) < LARGEST_START):
            raise SvmtoolError("the initial model has weights that are no numbers, or too large to start from")
        return start


def _spread(values: np.ndarray | None, used: np.ndarray, n: int) -> np.ndarray | None:
    """What is told of the rows `used` (i8), of n: 0 for the others."""
    if values is None:
        return None
    whole = np.zeros((n, *values.shape[1:]), values.dtype)
    whole[used] = values
    return whole


def refuse_overflow(
    table: Table, C: float, class_weights: tuple[tuple[int, float], ...], row_weights: np.ndarray | None,
    largest: float = 1.0, labels: float = 1.0,
) -> float:  # fmt: skip
    """The largest size of a value, of `largest`, and 1; SvmtoolError where sums of squares would leave the numbers.

    labels: the largest number that the labels bring into the problem.
    """
    largest = max(largest, table.largest or 1.0, 1.0)
    for at in range(0, len(table.values) if table.largest is None else 0, VALUES_AT_ONCE):
        some = table.values[at : at + VALUES_AT_ONCE]
        largest = max(float(some.max()), -float(some.min()), largest)
        if table.room is not None:
            table.room.check()
    refuse_range(len(table), C, class_weights, row_weights, largest, labels)
    return largest


def refuse_range(
    n: int, C: float, class_weights: tuple[tuple[int, float], ...], row_weights: np.ndarray | None, largest: float,
    labels: float,
) -> None:  # fmt: skip
    """SvmtoolError where sums of squares of numbers up to `largest`, in n rows, would leave the numbers."""
    cost = C
    for _, factor in class_weights:
        cost *= max(factor, 1.0)
    if row_weights is not None:
        cost *= float(row_weights.max(initial=1.0))
    digits = 2 * math.log10(max(largest, labels)) + math.log10(n + 1)
    if digits + math.log10(min(max(cost, 1.0), 1e300)) > 290:
        also = f" and labels up to {labels:g}" if labels > largest else ""
        raise SvmtoolError(
            f"feature values up to {largest:g}{also} at a cost of {cost:g} overflow when squared and summed: "
            "scale the features (svm-scale) or choose a smaller -c"
        )


def take(table: Table, chosen: np.ndarray) -> Table:
    """The rows `chosen` (i8) of a table, in that order."""
    some = rows.CsrRows(table.indptr, table.indices, table.values, table.n_features, room=table.room).take(chosen)
    return Table(table.labels[chosen], some.indptr, some.indices, some.values, table.n_features, table.room)
