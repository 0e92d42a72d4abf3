"""Reduction of rows labelled by ranks to one problem with a row for each threshold.

MFN paper, Section 7 (Eq. 25): one w and thresholds b_1 .. b_{p-1} for p ranks, all of beta = (w, b) regularised,

    1/2 |beta|^2 + sum_s sum_i C_i max(0, 1 - y_si (w.x_i - b_s))^2,   y_si = +1 where row i ranks above s, else -1

which is the squared hinge, or by --loss another one, over p - 1 copies of each row.  The distinct labels, ascending,
are the ranks 1 .. p.
The model is LIBLINEAR's for several classes: score_s(x) = (s - 1) w.x - sum_{r<s} b_r is largest for the rank
1 + (number of thresholds below w.x); for two ranks its two-class model, the higher rank first.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.labels import cost_factors
from svmtool.data.replicated import OrdinalRows
from svmtool.errors import RowsError, SvmtoolError
from svmtool.metrics import rank_places
from svmtool.models.linear import RANKS_NOTE, LinearModel
from svmtool.numbers import distinct
from svmtool.objectives.task import Task
from svmtool.solvers.shared.base import Result, Rule
from svmtool.training.inputs import checked_start
from svmtool.training.reductions.base import Reduction

THRESHOLD_BIAS = 1.0  # bias of the model: its weights are the thresholds


class Ordinal(Reduction):
    """One problem; see Reduction.  w is beta: the features' weights, then the thresholds."""

    def _read_labels(self, labels: np.ndarray) -> None:
        ranks, number = np.unique(labels, return_inverse=True)
        for label in ranks.tolist():
            if label != int(label) or not -(2**31) <= label < 2**31:
                raise RowsError(
                    f"label {label:g} is not a rank: -s {self.solver.number} needs 32-bit integers as labels, "
                    "in the order of the ranks"
                )
        self.labels, self.number = tuple(map(int, ranks)), number.reshape(-1)
        self.count = 1 if self.labels else 0
        self.thresholds = max(len(self.labels) - 1, 0)
        self.factor, self.missing = cost_factors(self.labels, self.settings.problem.class_weights)

    def task(self, k: int) -> Task:
        cost = self.settings.problem.C * self.factor[self.number] * self.row_weights
        above = self.number > np.arange(self.thresholds)[:, None]
        repeated = OrdinalRows(self.rows, self.thresholds)
        y, options = np.where(above, 1.0, -1.0).ravel(), self.settings.run.options
        return Task(repeated, y, np.tile(cost, self.thresholds), options=options)

    def _rule_of(self, k: int, eps: float) -> Rule:
        return Rule(eps)

    def zero_weights(self) -> np.ndarray:
        return np.zeros(self.rows.d + self.thresholds)

    def finish(self, result: Result) -> None:
        """Sort the thresholds; rows only change from above one to below the next, so the objective does not rise."""
        result.w[self.rows.d :].sort()

    def model(self, W: np.ndarray, notes: tuple[str, ...] = ()) -> LinearModel:
        m, p = self.n_features, len(self.labels)
        beta = W[:, 0] if W.size else np.zeros(m + self.thresholds)
        w, b = beta[:m], beta[m:]
        if p == 2:
            labels, columns = self.labels[::-1], np.append(w, -b)[:, None]
        else:
            labels, scores = self.labels, np.append(0.0, -np.cumsum(b))[:p]
            columns = np.vstack([np.outer(w, np.arange(p)), scores])
        return LinearModel(self.solver.word, labels, m, THRESHOLD_BIAS, columns, notes=(*notes, RANKS_NOTE))

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction.  SvmtoolError for a model that is not ordinal or has other ranks."""
        if not model.is_ordinal:
            raise SvmtoolError(f"the initial model is not an ordinal model: -s {self.solver.number} trains these")
        if tuple(sorted(model.labels)) != self.labels:
            raise SvmtoolError(
                f"the initial model has ranks {sorted(model.labels)}, the data {list(self.labels)}: they must agree"
            )
        steps = np.diff(model.W, axis=1) if model.columns > 1 else model.W  # one column for each threshold
        shared, start = min(self.n_features, model.n_features), np.zeros((self.n_features + self.thresholds, 1))
        if self.thresholds:
            start[:shared, 0] = steps[:shared, 0]
            start[self.n_features :, 0] = -steps[-1]
        return checked_start(start)

    def summary(self, results: list[Result]) -> str:
        """Zero-one and mean absolute error on the training rows."""
        if not results:
            return ""
        beta, products = results[0].w, np.empty(self.rows.n)
        self.rows.margins(beta[: self.rows.d], np.ones(self.rows.n), products)
        rank = np.searchsorted(beta[self.rows.d :], products, side="left")
        return error_lines("Training", rank - self.number)


def error_lines(title: str, distances: np.ndarray) -> str:
    """Lines with zero-one and mean absolute error of predicted ranks; distances: error of each row, in ranks."""
    wrong, absolute = float(np.mean(distances != 0)), float(np.mean(np.abs(distances)))
    return f"{title} zero-one error = {wrong:g}\n{title} mean absolute error = {absolute:g} (ranks)\n"


def validation_lines(labels: np.ndarray, predictions: np.ndarray) -> str:
    """`error_lines` of a cross-validation; labels, predictions: f8[n]."""
    ranks = distinct(labels)
    return error_lines("Cross Validation", rank_places(predictions, ranks) - rank_places(labels, ranks))
