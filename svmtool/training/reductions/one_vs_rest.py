"""Reduction of labelled rows to two-class problems: one for two classes, otherwise one-vs-rest; several labels a row.

The problems share the rows and are solved in parallel, one thread each, without synchronisation.  Passes shared by all
classes (X W for all columns) would visit for each class rows that are active only in others, because the active rows
differ between classes after the first step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svmtool import limits
from svmtool.data.dataset import Dataset
from svmtool.data.label_sets import SetClasses
from svmtool.errors import RowsError, SvmtoolError
from svmtool.limits import EndedError, StopFlag
from svmtool.models.linear import MULTILABEL_NOTE, LinearModel, stored_word
from svmtool.objectives.task import Task
from svmtool.params import Settings
from svmtool.solvers.shared.base import INTERRUPTED, TIME, Result, Rule
from svmtool.tolerances import L1_GAP_AN_EPS, LATE_RULE_SHARE, SLOW_MIN_GAP
from svmtool.training.lines import Sink
from svmtool.training.reductions.base import Reduction, gap_of_eps

if TYPE_CHECKING:
    from svmtool.data.class_statistics import ClassStatistics
    from svmtool.objectives.normal_equations import NormalEquations


class OneVsRest(Reduction):
    """The two-class problems of a training set; see Reduction."""

    def __init__(self, table: Dataset, settings: Settings):
        super().__init__(table, settings)
        self.count = self.classes.problems if len(self.classes.number) else 0
        self._equations: list[NormalEquations] = []
        if self.count > 1 and not self.by_sums:
            self.rows.serve_several()

    @property
    def by_sums(self) -> bool:
        """Whether the problems are also given as normal equations, which describe the optimum."""
        return self.solver.optimal and self.rows.d <= self.solver.sums_below

    def prepare(self) -> None:
        if self.settings.run.loo and not self.by_sums:
            raise SvmtoolError(f"--loo needs a matrix of features x features: {self.rows.d} are too many")
        if self.by_sums and self.count:
            if self.sums is None:
                self.sums = self._summed(self.row_weights)
                limits.check()  # the equations copy the sums
            from svmtool.objectives.normal_equations import equations_of  # here because most runs do not need it

            s = self.settings.problem
            self._equations = equations_of(self.sums, s.C, s.bias, self.factor)  # of this C

    def _summed(self, r: np.ndarray) -> ClassStatistics:
        """The sums over all rows with weights r."""
        from svmtool.data.class_statistics import ClassStatistics

        sums = ClassStatistics([label for label, _ in self.settings.problem.class_weights])
        sums.update(self.rows, self.classes.labels, self.classes.number, r)
        return sums

    def sums_of(self, results: list[Result]) -> ClassStatistics | None:
        """See Reduction; for a two-class model of FALSVM the sums over the rows added."""
        taken = results[0].taken if self.count == 1 else None
        if self.solver.printed and self.solver.optimal and "--add" in self.solver.supported and self.count:
            ended = any(r.status in (TIME, INTERRUPTED) for r in results)  # before all rows were added
            return None if ended else self._summed(self.row_weights)
        return self.sums if taken is None else self._summed(taken * self.row_weights)

    def _solve(
        self, k: int, start: np.ndarray | None, report: Sink, stop: StopFlag, before: Result | None = None
    ) -> Result:
        """See Reduction; of P that several classes of an adaptable model share one is kept."""
        result = super()._solve(k, start, report, stop, before)
        if self.count > 1 and (self.factor[:k][self.factor[:k] == self.factor[k]] == 1.0).any():
            result.inverse = None
        return result

    def name(self, k: int) -> int | None:
        return None if self.count == 1 else self.classes.labels[k]

    def task(self, k: int) -> Task:
        s = self.settings.problem
        cost = self.classes.costs(k, s.C, self.factor) * self.row_weights
        target = np.zeros(self.rows.n) if self.loss.target == 0.0 else None
        return Task(
            self.rows, self.classes.signs(k), cost, not s.regularize_bias, target, self.loss.power,
            options=self.settings.run.options,
            equations=self._equations[k] if self._equations else None,
        )  # fmt: skip

    def _rule_of(self, k: int, eps: float) -> Rule:
        positive = int(self.classes.counts[k])
        smaller = min(positive, self.rows.n - positive)
        gradient = eps * max(1, smaller) / self.rows.n
        if self.solver.space == "dual":
            late = LATE_RULE_SHARE * gradient if self.solver.loss == "squared hinge" else None
            return Rule(range=eps, late=late)
        if self.solver.regulariser == "|w|_1":
            return Rule(gradient, gap=gap_of_eps(eps, L1_GAP_AN_EPS, SLOW_MIN_GAP))
        return Rule(gradient)

    def leave_one_out(self, model: LinearModel) -> float | None:
        if not self.settings.run.loo or not self.count:
            return None
        from svmtool.training.validation.leave_one_out import right

        if not self._equations:  # the time limit was reached before they were formed
            raise EndedError
        tasks = [self.task(k) for k in range(self.count)]
        return float(np.mean(right(tasks, model, self.classes.number, self.classes.counts)))

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction; columns are matched by label.  SvmtoolError for a model of other classes or bias."""
        two, W = len(self.classes.labels) == 2, model.W[:]
        columns = self._columns_of(model, fits=not two or model.columns == 1)
        if two:
            return self._start_with(W if columns == [0, 1] else -W, model)
        return self._start_with(W[:, columns], model)


class MultiLabel(OneVsRest):
    """The two-class problems of labels in ascending order, of rows with several each; see Reduction."""

    several = True
    by_sums = False  # sums by class are of rows with one class each

    def _read_labels(self, labels: np.ndarray) -> None:
        if not len(self._sets.labels):
            raise RowsError("no row has a label: --multilabel has nothing to train")
        self.classes = SetClasses(self._sets)
        self.factor, self.missing = self.classes.weights(self.settings.problem.class_weights)

    def name(self, k: int) -> int:
        return self.classes.labels[k]

    def model(self, W: Any, notes: tuple[str, ...] = ()) -> LinearModel:
        """See Reduction."""
        labels, bias = tuple(self.classes.labels), self.settings.problem.bias
        word, count = stored_word(self.solver.word, len(labels)), self._sets.count
        note = MULTILABEL_NOTE + self.solver.word + ("" if count is None else f" of {count}")
        return LinearModel(word, labels, self.n_features, bias, W, notes=(note, *notes))

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction; columns are matched by label."""
        return self._start_with(model.W[:][:, self._columns_of(model)], model)
