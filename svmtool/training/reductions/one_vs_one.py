"""Reduction of labelled rows to a two-class problem for each pair of classes; its model votes, as LIBSVM's do.

    decision value of the pair (i, j), i < j:  w_ij.x + b_ij,  above 0 for class i

The model is a KernelModel with the linear kernel and one support vector for each pair, of class i: the weights w_ij,
with coefficient 1 for the pair with j and 0 for the other pairs of i, and rho = -b_ij.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.models.kernel import FEATURES_NOTE, KernelModel
from svmtool.models.kernel_functions import Kernel
from svmtool.models.linear import LinearModel
from svmtool.objectives.task import Task
from svmtool.params import Settings
from svmtool.training.reductions.base import Reduction


class OneVsOne(Reduction):
    """The problems of pairs of classes, in the order of `combinations`; rows of other classes have no cost."""

    def __init__(self, table: Dataset, settings: Settings):
        super().__init__(table, settings)
        self.pairs = list(combinations(range(len(self.classes.labels)), 2))
        self.count = len(self.pairs)
        if self.count > 1:
            self.rows.serve_several()

    def name(self, k: int) -> str | None:
        i, j = self.pairs[k]
        return None if self.count == 1 else f"{self.classes.labels[i]} {self.classes.labels[j]}"

    def task(self, k: int) -> Task:
        s, number = self.settings.problem, self.classes.number
        i, j = self.pairs[k]
        inside = (number == i) | (number == j)
        cost = np.where(inside, s.C * self.factor[number] * self.row_weights, 0.0)
        return Task(
            self.rows, np.where(number == i, 1.0, -1.0), cost, not s.regularize_bias, None, self.loss.power,
            options=self.settings.run.options,
        )  # fmt: skip

    def model(self, W: np.ndarray, notes: tuple[str, ...] = ()) -> KernelModel:
        """See Reduction; W f8 (length of w, pairs)."""
        count, m, bias = len(self.classes.labels), self.n_features, self.settings.problem.bias
        rho = -bias * W[-1] if bias >= 0 else np.zeros(self.count)
        coef = np.zeros((max(1, count - 1), self.count))
        for k, (_, j) in enumerate(self.pairs):
            coef[j - 1, k] = 1.0
        of_pair, indices = np.nonzero(W[:m].T)
        indptr = np.searchsorted(of_pair, np.arange(self.count + 1)).astype(np.int64)
        return KernelModel(
            "c_svc", Kernel(0), tuple(self.classes.labels), count, rho + 0.0, coef,
            tuple(count - 1 - i for i in range(count)), indptr, indices.astype(np.int32), W[:m].T[of_pair, indices],
            notes=(*notes, f"{FEATURES_NOTE}{m}") if notes else (),
        )  # fmt: skip

    def start_from(self, model: LinearModel) -> np.ndarray:
        """See Reduction; no model of a file fits."""
        raise SvmtoolError("a model of one problem for each class is no start for pairs of classes")
