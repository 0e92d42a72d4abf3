"""What a training set in the blocks of a crew asks of a solver; see training/problem_set.py for the face."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.limits import StopFlag, Turns
from svmtool.problem import losses
from svmtool.problem.certify import Certificate, worst
from svmtool.problem.label_sums import LabelSums
from svmtool.problem.labels import Classes
from svmtool.settings import Settings
from svmtool.solvers.base import Result
from svmtool.spark.block import Tube, TwoClasses
from svmtool.spark.crew import Crew
from svmtool.spark.judge import certify
from svmtool.spark.objective import FarRows, FarTask, Kept
from svmtool.training.multiclass import Problems
from svmtool.training.problem_set import ProblemSet
from svmtool.training.ranges import refuse_range
from svmtool.training.regression import Regression


class _Far(ProblemSet):
    """What both kinds share: facts of the rows instead of the rows."""

    def __init__(self, crew: Crew, settings: Settings):
        self.crew, self.settings, self.solver = crew, settings, settings.row
        self.loss = losses.of(self.solver.loss, settings.loss_power)
        self.row_weights = None
        facts = crew.ask("facts")
        n, nnz = (sum(part[key] for part in facts) for key in ("n", "nnz"))
        self.n_features = max((part["features"] for part in facts), default=0)
        largest = max([1.0, settings.bias, *(part["largest"] for part in facts)])
        self._largest = max((part["label"] for part in facts), default=0.0)
        labels = self._largest_label(np.array([self._largest]))
        refuse_range(n, settings.C, settings.class_weights, None, largest, labels)
        self._read_labels(np.zeros(0))
        gram_entries = max(crew.ask("lay", self.n_features, settings.bias), default=1.0)
        self.rows = FarRows(crew, n, self.n_features, nnz, settings.bias, gram_entries)
        self._mark = crew.mark()

    def _begin(self, spec: Any, costs: np.ndarray, **more: Any) -> FarTask:
        """The task of a problem; the blocks turn to it and forget the one before."""
        self.crew.forget(self._mark)
        n, r = sum(self.crew.ask("begin", spec)), self.rows
        nnz = r.nnz * n // max(r.n, 1)
        rows = FarRows(self.crew, n, r.plain, nnz, r.bias, r.gram_entries)
        return FarTask(self.crew, rows, costs, not self.settings.regularize_bias, **more)

    def fit_and_certify(
        self, start: np.ndarray | None = None, report: Callable[..., None] | None = None, stop: StopFlag | None = None
    ) -> tuple[list[Result], Certificate]:
        """See ProblemSet: one problem after the other, each judged before the blocks turn to the next."""
        stop = self._prepared(stop)
        turns, results, found = Turns(stop, self.count, 1), [], []
        for k in range(self.count):
            results.append(self._solve(k, start, report, turns.next()))
            self.solved_at = time.perf_counter()
            found.append(self.judge(k, results[k]))
        return results, worst(found)

    def _untouched(self, k: int, w: np.ndarray | None, stop: StopFlag) -> None:
        """None: the blocks have to turn to the problem in any case."""

    def judge(self, k: int, result: Result) -> Certificate:
        """The judge's word on problem k, which is the one that the blocks are at."""
        if not self.rows.n:
            return Certificate(0.0, 0.0, 0.0)
        free_bias = not self.settings.regularize_bias
        return certify(self.crew, self.loss, result.w, free_bias, isinstance(result.alpha, Kept))


class FarProblems(_Far, Problems):
    """Classes: one problem after the other."""

    def __init__(self, crew: Crew, settings: Settings):
        super().__init__(crew, settings)
        self._equations = []
        self.count = self.classes.problems if self.rows.n else 0

    def _read_labels(self, labels: np.ndarray) -> None:
        """The labels that the blocks have, in order of appearance, and the rows of each."""
        parts = self.crew.ask("classes")
        found = np.array([label for part, _ in parts for label in part])
        self.classes = Classes(found)
        self.classes.counts = np.zeros(len(self.classes.labels), np.int64)
        np.add.at(self.classes.counts, self.classes.number, [n for _, counts in parts for n in counts])
        self.factor, self.missing = self.classes.weights(self.settings.class_weights)

    def _summed(self, r: np.ndarray | None) -> LabelSums:
        own = [label for label, _ in self.settings.class_weights]
        parts = self.crew.ask("label_sums", own, list(self.classes.labels))
        whole = parts[0]
        for part in parts[1:]:
            whole.join(part)
        whole.make_room(self.n_features, self.classes.labels)
        return whole

    def task(self, k: int) -> FarTask:
        """See ProblemSet."""
        s, two = self.settings, len(self.classes.labels) == 2
        costs = s.C * np.array([self.factor[k], self.factor[1 - k] if two else 1.0])
        target = 0.0 if self.solver.loss == "logistic" else None  # its slack is -y_i x_i.w
        spec = TwoClasses(self.classes.labels[k], *costs.tolist(), target)
        return self._begin(
            spec, costs[costs > 0.0], p=self.loss.power, one_of_several=self.count > 1, inner_steps=s.inner_steps,
            mu=s.mu, equations=self._equations[k] if self._equations else None,
        )  # fmt: skip


class FarRegression(_Far, Regression):
    """A regression: each row twice, as the sides of the tube."""

    def _read_labels(self, labels: np.ndarray) -> None:
        """The blocks keep them."""

    def task(self, k: int) -> FarTask:
        """See ProblemSet."""
        C = self.settings.C
        return self._begin(Tube(C, self.settings.p), np.array([C]), target=np.array([self._largest]))
