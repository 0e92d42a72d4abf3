"""Reduction of labelled rows to one Crammer-Singer problem over all classes.

    min over W of  1/2 sum_m |w_m|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)

Crammer and Singer, On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines, JMLR 2 (2001).
With two classes the minimum has w_2 = -w_1, and v = 2 w_1 minimises twice the objective, the hinge loss of costs 2 C_i,

    1/2 |v|^2 + sum_i 2 C_i max(0, 1 - y_i v.x_i),

with a_i1 = -a_i2 = alpha_i y_i / 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool import registry
from svmtool.certify.crammer_singer import CrammerSingerCertifier
from svmtool.coordinate.hinge import MAX_EPOCHS
from svmtool.limits import StopFlag
from svmtool.models.linear import LinearModel
from svmtool.objectives.class_rows import ClassTask
from svmtool.objectives.task import Task
from svmtool.registry import Solver
from svmtool.solvers.shared.base import Monitor, Result, Rule
from svmtool.training.lines import Sink
from svmtool.training.reductions.base import Reduction

HALVES = (0.5, -0.5)  # of v: the weights of two classes
TWO_CLASS_SOLVER = 3  # solver number for two classes


class CrammerSinger(Reduction):
    """One problem over all classes; see Reduction.  w is the flat W, features x classes, or v for two classes."""

    robust = True

    def _read_labels(self, labels: np.ndarray) -> None:
        super()._read_labels(labels)
        self.k = len(self.factor)

    @property
    def cost(self) -> np.ndarray:
        return self.settings.problem.C * self.factor[self.classes.number] * self.row_weights

    @property
    def method(self) -> Solver:
        return registry.find(TWO_CLASS_SOLVER) if self.k == 2 else self.solver

    def task(self, k: int) -> Any:
        if self.k == 2:
            return Task(self.rows, self.classes.signs(0), 2.0 * self.cost, p=self.loss.power)
        return ClassTask(self.rows, self.classes.number, self.k, self.cost)

    def _rule_of(self, k: int, eps: float) -> Rule:
        return Rule(range=eps, epochs=MAX_EPOCHS)

    def finish(self, result: Result) -> None:
        """With two classes, convert v to W and alpha to the dual point of both."""
        if self.k == 2:
            result.w = np.outer(result.w, HALVES).reshape(-1)
            result.alpha = np.outer(result.alpha * self.classes.signs(0), HALVES)

    def _monitor(self, sink: Sink, stop: StopFlag) -> Monitor:
        found = super()._monitor(sink, stop)
        found.unit = 0.5 if self.k == 2 else 1.0
        return found

    def _certifier(self, k: int) -> Any:
        return CrammerSingerCertifier(self.rows, self.classes.number, self.k, self.cost, self.settings.target)

    def parts(self, w: np.ndarray) -> tuple[Any, ...]:
        return (w.reshape(self.rows.d, self.k),)

    def values_of(self, model: LinearModel) -> np.ndarray:
        """See Reduction; of two classes a start keeps only the difference of the weights: their sum is regularised."""
        found = super().values_of(model)
        return found + 0.25 * np.sum(np.square(model.W[:].sum(axis=1))) if self.k == model.columns == 2 else found

    def zero_weights(self) -> np.ndarray:
        return np.zeros(self.rows.d * self.k)

    def zero_dual_point(self, k: int) -> np.ndarray | None:
        return np.zeros((self.rows.n, self.k))

    def _start_of(self, k: int, start: np.ndarray | None) -> np.ndarray | None:
        if start is None:
            return None
        return np.outer(start[:, 0], HALVES).reshape(-1) if self.k == 2 else start[:, 0].copy()

    def weights(self, results: list[Result]) -> np.ndarray:
        """W, f8 (features, classes)."""
        return results[0].w.reshape(self.rows.d, self.k)

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction; columns are matched by label.  SvmtoolError for a model of other classes or bias."""
        columns, W = self._columns_of(model), model.W[:]
        W = np.outer(W, HALVES) if len(columns) == 2 and model.columns == 1 else W
        return self.as_start(self._start_with(W[:, columns], model))

    def as_start(self, W: np.ndarray) -> np.ndarray:
        return W[:, :1] - W[:, 1:] if self.k == 2 else W.reshape(-1, 1)
