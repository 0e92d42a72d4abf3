"""From labelled rows to two-class problems and back: one problem for two classes, else one-vs-rest.

The problems of a one-vs-rest set share the rows and are solved side by side, a
thread each, which keeps every core busy without a word between them.  Passes shared
by all classes (X W for all columns) would visit for each class the rows that are
active in some other: after the first step the active rows of classes differ.
"""

from __future__ import annotations

import math
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
from svmtool.problem.labels import Classes
from svmtool.problem.task import Task
from svmtool.settings import Settings
from svmtool.solvers.base import Monitor, Result, Rule, StopFlag

DENSE_BELOW = 1500  # features up to which a set that is mostly non-zero is held as a dense matrix

LARGEST_START = 1e100  # weights of an initial model: their squares must stay numbers


class Problems:
    """The two-class problems of a training set.

    table is used up: its arrays become the rows (and may be given back to the system).
    row_weights f8[n] multiply C; rows of weight zero or below take no part.
    """

    def __init__(self, table: Table, settings: Settings, row_weights: np.ndarray | None = None):
        if row_weights is not None and np.any(row_weights <= 0):
            kept = np.flatnonzero(row_weights > 0)
            table, row_weights = take(table, kept), row_weights[kept]
        self.settings = settings
        self.solver = settings.row
        self.loss = losses.of(self.solver.loss, settings.loss_power)
        self.n_features = table.n_features
        _refuse_overflow(table, settings, row_weights)
        self.classes = Classes(table.labels)
        self.row_weights = row_weights
        self.factor, self.missing = self.classes.weights(settings.class_weights)
        self.rows = rows.from_csr(
            table.indptr, table.indices, table.values, table.n_features, settings.bias, DENSE_BELOW
        )
        self.count = self.classes.problems if len(table) else 0
        if self.count > 1:
            self.rows.serve_several()

    def cost(self, k: int) -> np.ndarray:
        return self.classes.costs(k, self.settings.C, self.factor, self.row_weights)

    def rule(self, k: int) -> Rule:
        """LIBLINEAR's stopping rule of problem k, or none where the gap decides."""
        s = self.settings
        eps = s.eps if s.eps is not None else self.solver.eps_default
        if s.gap is not None or eps is None:
            return Rule()
        if self.solver.space == "dual":
            return Rule(projected=eps)
        positive = int(self.classes.counts[k])
        smaller = min(positive, self.rows.n - positive)
        return Rule(gradient=eps * max(1, smaller) / self.rows.n)

    def gap(self) -> float | None:
        """The certified gap to stop at, or None where -e decides."""
        s = self.settings
        if s.gap is not None:
            return s.gap
        return self.solver.gap_default if s.eps is None else None

    def fit(
        self, start: np.ndarray | None = None, report: Callable[..., None] | None = None, stop: StopFlag | None = None
    ) -> list[Result]:
        """Solve every problem; start (d x problems) is a warm start, report takes the records of all runs."""
        solve = registry.entry(self.solver)
        results: list[Any] = [None] * self.count
        s = self.settings

        def one(k: int) -> None:
            sink = None
            if report is not None:
                label = self.classes.labels[k]
                sink = report if self.count == 1 else lambda **record: report(label=label, **record)
            y, cost, data = self.classes.signs(k), self.cost(k), self.rows
            used = None
            if cost.min() <= 0:  # -wi 0: rows that cost nothing only stand in the way
                used = np.flatnonzero(cost > 0)
                y, cost, data = y[used], cost[used], data.take(used)
            task = Task(
                data,
                y,
                cost,
                not s.regularize_bias,
                None,
                self.loss.power,
                self.count > 1,
                s.inner_steps,
                s.mu,
            )
            monitor = Monitor(self.gap(), s.max_iter, s.max_seconds, sink, stop)
            w = None if start is None else np.ascontiguousarray(start[:, k])
            result = solve(task, monitor, self.rule(k), w, 1 if s.seed is None else s.seed % 2**31)
            if result.alpha is not None and used is not None:
                alpha = np.zeros(self.rows.n)
                alpha[used] = result.alpha
                result.alpha = alpha
            results[k] = result

        threads.run_blocks(one, self.count)
        return results

    def certify(self, results: list[Result]) -> Certificate:
        """The judge's word on all problems: values summed, the worst gap and violation."""
        found: list[Any] = [None] * self.count

        def one(k: int) -> None:
            r = results[k]
            free = not self.settings.regularize_bias
            judge = Judge(self.rows, self.loss, self.classes.signs(k), self.cost(k), free)
            found[k] = judge.certify(r.w, r.alpha)

        threads.run_blocks(one, self.count)
        return worst(found)

    def weights(self, results: list[Result]) -> np.ndarray:
        """W, f8 (d, problems)."""
        return np.stack([r.w for r in results], axis=1) if results else np.zeros((self.rows.d, 0))

    def model(self, W: np.ndarray, notes: tuple[str, ...] = ()) -> LinearModel:
        bias = self.settings.bias
        return LinearModel(self.solver.word, tuple(self.classes.labels), self.n_features, bias, W, notes=notes)

    def start_from(self, model: LinearModel) -> np.ndarray:
        """The weights of a trained model as a warm start, f8 (d, problems): columns by label, features cut or padded.

        Raises SvmtoolError for a model of other classes or of another bias.
        """
        labels = list(self.classes.labels)
        if model.labels is None or set(model.labels) != set(labels) or (len(labels) == 2 and model.columns != 1):
            theirs = "none" if model.labels is None else list(model.labels)
            raise SvmtoolError(f"the initial model has labels {theirs}, the data {labels}: they must agree")
        if not np.all(np.abs(model.W) < LARGEST_START):
            raise SvmtoolError("the initial model has weights that are no numbers, or too large to start from")
        if (model.bias >= 0) != (self.settings.bias >= 0):
            raise SvmtoolError(f"the initial model has bias {model.bias:g}, this run -B {self.settings.bias:g}")
        if len(labels) == 2:
            W = model.W if list(model.labels) == labels else -model.W
        else:
            W = model.W[:, [model.labels.index(label) for label in labels]]
        start = np.zeros((self.rows.d, W.shape[1]))
        shared = min(self.n_features, model.n_features)
        start[:shared] = W[:shared]
        if model.bias >= 0:  # keep the same shift where the bias feature has another value
            start[-1] = W[-1] * (model.bias / self.settings.bias if self.settings.bias > 0 else 1.0)
        return start


def _refuse_overflow(table: Table, settings: Settings, row_weights: np.ndarray | None) -> None:
    """SvmtoolError where sums of squares would leave the range of floating-point numbers."""
    largest = max(float(table.values.max(initial=0.0)), -float(table.values.min(initial=0.0)), settings.bias, 1.0)
    cost = settings.C
    for _, factor in settings.class_weights:
        cost *= max(factor, 1.0)
    if row_weights is not None:
        cost *= float(row_weights.max(initial=1.0))
    digits = 2 * math.log10(largest) + math.log10(len(table) + 1) + math.log10(min(max(cost, 1.0), 1e300))
    if digits > 290:
        raise SvmtoolError(
            f"feature values up to {largest:g} at a cost of {cost:g} overflow when squared and summed: "
            "scale the features (svm-scale) or choose a smaller -c"
        )


def take(table: Table, chosen: np.ndarray) -> Table:
    """The rows `chosen` (i8) of a table, in that order."""
    some = rows.CsrRows(table.indptr, table.indices, table.values, table.n_features).take(chosen)
    return Table(table.labels[chosen], some.indptr, some.indices, some.values, table.n_features)
