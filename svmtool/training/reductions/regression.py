"""Reduction of rows with real labels to one hinge problem with two rows for each.

The loss C_i max(0, |t_i - w.x_i| - eps)^p of support vector regression is a hinge on each side of the tube:

    max(0, (t_i - eps) - w.x_i)^p  +  max(0, (-t_i - eps) + w.x_i)^p

so each row is used twice, with signs +1 and -1 and targets t_i - eps and -t_i - eps.  The dual variable of a row is
beta_i = alpha_i - alpha'_i, as in LIBLINEAR (p = 1: between -C_i and C_i); at the optimum one of the two is zero.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate, Certifier
from svmtool.data.replicated import RepeatedRows
from svmtool.data.twofold import two_sum
from svmtool.errors import SvmtoolError
from svmtool.models.linear import LinearModel
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Result, Rule
from svmtool.tolerances import LATE_TUBE_SHARE, RULE_MIN_GAP, TUBE_GAP_AN_EPS
from svmtool.training.reductions.base import Reduction, gap_of_eps


class Regression(Reduction):
    """One problem; class weights are ignored, as in LIBLINEAR.  See Reduction."""

    untrained = "the model predicts 0"

    def _read_labels(self, labels: np.ndarray) -> None:
        self.targets = np.ascontiguousarray(labels, dtype=np.float64)

    def _largest_label(self, labels: np.ndarray) -> float:
        return max(float(np.abs(labels).max(initial=1.0)), self.settings.problem.p)

    def task(self, k: int) -> Task:
        n, t, problem = self.rows.n, self.targets, self.settings.problem
        eps, free_bias = problem.p, not problem.regularize_bias
        cost = problem.C * self.row_weights
        signs, targets = np.repeat((1.0, -1.0), n), np.concatenate((t - eps, -t - eps))
        return Task(RepeatedRows(self.rows, 2), signs, np.tile(cost, 2), free_bias, targets, self.loss.power)

    def _certifier(self, k: int) -> Certifier:
        found, t = super()._certifier(k), self.targets
        _, found.target_lost = two_sum(np.concatenate((t, -t)), -self.settings.problem.p)
        return found

    def _rule_of(self, k: int, eps: float) -> Rule:
        if self.solver.space == "primal":
            return Rule(eps)
        late = LATE_TUBE_SHARE * eps if self.loss.power == 2.0 else None
        return Rule(sums=eps, late=late, gap=gap_of_eps(eps, TUBE_GAP_AN_EPS, RULE_MIN_GAP))

    def finish(self, result: Result) -> None:
        """Replace alpha by beta, one number for each row."""
        if result.alpha is not None:
            result.alpha = np.subtract(*result.alpha.reshape(2, -1))

    def certify(self, k: int, result: Result) -> Certificate:
        """See Reduction; the certificate's dual point is beta."""
        found = super().certify(k, result)
        if found.point is not None:
            found.point = np.subtract(*found.point.reshape(2, -1))
        return found

    def dual_point(self, result: Result) -> np.ndarray | None:
        if result.alpha is None:
            return None
        return np.concatenate((np.maximum(result.alpha, 0.0), np.maximum(-result.alpha, 0.0)))

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction.  SvmtoolError unless it is a regression model with the same bias."""
        if model.kind != "regression":
            raise SvmtoolError(f"the initial model is of {model.word}: a regression starts from a regression")
        return self._start_with(model.W, model)
