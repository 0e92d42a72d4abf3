"""Reduction of rows to the one-class SVM without slack."""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.certify.one_class import certify_hard_linear
from svmtool.objectives.one_class import AMONG
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Result, Rule
from svmtool.training.reductions.one_class import OneClass


class HardOneClass(OneClass):
    """One problem without slack, hence without costs and --weights; see OneClass."""

    sparse_only = False
    _among = False

    def task(self, k: int) -> Task:
        t = super().task(k)
        t.options = self.settings.run.options
        return t

    def rule(self, k: int) -> Rule:
        return Rule()

    def finish(self, result: Result) -> None:
        self._among = self.rows.n > 0 and not np.any(result.w)

    def warnings(self) -> list[str]:
        """See Reduction; also a warning if no plane separates the rows from the origin."""
        found = super().warnings()
        return [*found, f"WARNING: w = 0: {AMONG}"] if self._among else found

    def summary(self, results: list[Result]) -> str:
        """The result of a sampling solver for all rows."""
        [result] = results
        return f"{result.status.advice}\n" if result.status.name == "sample" else ""

    def certify(self, k: int, result: Result, alpha: np.ndarray | None = None) -> Certificate:
        return certify_hard_linear(self.rows, result.alpha if alpha is None else alpha)

    def primal(self, k: int, w: np.ndarray) -> float:
        """Infeasible planes have no primal value, so that results are not compared."""
        return 0.0

    def value_at_zero(self, k: int) -> float:
        return np.inf
