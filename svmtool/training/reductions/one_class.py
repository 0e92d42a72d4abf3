"""Reduction of rows to the linear one-class SVM.

Labels are read but unused, as are C and class weights; --weights are the upper ends of the dual variables.  The
answers of solvers are w and, behind it, rho.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.certify.one_class import OneClassCertifier
from svmtool.data.dense import DenseRows
from svmtool.errors import SvmtoolError
from svmtool.models.linear import LinearModel
from svmtool.objectives.task import Task
from svmtool.params import Settings
from svmtool.solvers.shared.base import Monitor, Result, Rule
from svmtool.training.reductions.base import Reduction


class OneClass(Reduction):
    """The one problem of a one-class SVM; see Reduction."""

    untrained = "the model predicts -1"
    sparse_only = True  # whether rows are taken one by one

    def __init__(self, table, settings: Settings, row_weights: np.ndarray | None = None):
        super().__init__(table, settings, row_weights)
        if self.sparse_only and isinstance(self.rows, DenseRows):
            self.rows = self.rows.as_csr()

    def _read_labels(self, labels: np.ndarray) -> None:
        """They say nothing here."""

    def task(self, k: int) -> Task:
        n = self.rows.n
        cost = np.ones(n) if self.row_weights is None else self.row_weights
        return Task(self.rows, np.ones(n), cost, nu=self.settings.problem.nu)

    def rule(self, k: int) -> Rule:
        return Rule() if self.eps is None else Rule(projected=self.eps)

    def _certifier(self, k: int) -> OneClassCertifier:
        t = self.task(k)
        return OneClassCertifier(t.rows, t.cost, t.nu)

    def certify(self, k: int, result: Result, alpha: np.ndarray | None = None) -> Certificate:
        w = result.w
        return self._certifier(k).certify(w[:-1], float(w[-1]), result.alpha if alpha is None else alpha)

    def primal(self, k: int, w: np.ndarray) -> float:
        return self._certifier(k).primal(w[:-1], float(w[-1]))

    def value_at_zero(self, k: int) -> float:
        return 0.0

    def zero_weights(self) -> np.ndarray:
        return np.zeros(self.rows.d + 1)

    def zero_dual_point(self, k: int) -> np.ndarray | None:
        return np.zeros(self.rows.n)

    def is_finite(self, w: np.ndarray) -> bool:
        """rho may be infinite: with -n 0 or 1 the whole line is optimal, and LIBLINEAR ends so."""
        return bool(np.all(np.isfinite(w[:-1])))

    def polished(self, k: int, result: Result, found: Certificate, work: float, monitor: Monitor) -> None:
        """None: the pairs of rows that the solver moves are such steps."""

    def solve_anew(self, k: int, start: np.ndarray, gap: float, monitor: Monitor) -> Result | None:
        """None: moving pairs of rows is the sound method already."""

    def model(self, W: np.ndarray, notes: tuple[str, ...] = ()) -> LinearModel:
        return LinearModel(self.solver.word, None, self.n_features, -1.0, W[:-1], float(W[-1, 0]), notes)

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction.  SvmtoolError for a model that is no one-class model."""
        if model.task != "one-class":
            raise SvmtoolError(f"the initial model is of {model.word}: a one-class SVM starts from a one-class model")
        return np.vstack([self._start_with(model.W, model), [[model.rho]]])

    def summary(self, results: list[Result]) -> str:
        """A note on rows that no plane separates from the origin."""
        if not self.rows.n or self.settings.problem.nu == 0.0 or np.any(results[0].w[:-1]):
            return ""
        return "w = 0: with this -n the origin lies among the rows, and all decision values are equal\n"
