"""Kernel models: decision values, labels and probabilities.

Arrays are numpy's, or Buffers if svm-predict runs without numpy.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.kernel.one_vs_one_loops import couple, vote
from svmtool.compiled.loops.text.decision_loops import choose
from svmtool.errors import ModelError
from svmtool.models.kernel_functions import Kernel
from svmtool.models.kernel_scores import KernelScores

if TYPE_CHECKING:
    import numpy as np

CLASSIFIERS, ONE_CLASS, REGRESSIONS = ("c_svc", "nu_svc"), "one_class", ("epsilon_svr", "nu_svr")
SVM_TYPES = (*CLASSIFIERS, ONE_CLASS, *REGRESSIONS)  # by number, as LIBSVM's -s

NO_PROBABILITIES = "Model does not support probabiliy estimates"  # in LIBSVM's spelling
UNFIT = "a row for a precomputed kernel must be 0:number 1:K(x,row 1) 2:K(x,row 2) ... without gaps, at least up to {}"


class KernelModel:
    """A kernel model with the content of LIBSVM's file.

    svm_type       one of SVM_TYPES
    kernel         models.kernel_functions.Kernel
    labels         class labels in the model's order; None for regression and one-class
    nr_class       number of classes; 2 for regression and one-class
    rho            f8[pairs of classes], in the order (0, 1), (0, 2) .. (1, 2) ..: subtracted from decision values
    coef           f8 (max(1, nr_class - 1), support vectors), C order: of a support vector of class c, row m stands
                   for the pair with class m if m < c, else m + 1 (regression, one-class: one row)
    nr_sv          support vectors of each class, which stand together in this order; None as labels
    indptr, indices, values
                   support vectors as rows of a Dataset: i8, i4 (the file's index less one), f8;
                   precomputed: each holds one value, its serial number from 1 on, at index -1 (the file's 0)
    probA, probB   f8[pairs], sigmoids 1 / (1 + exp(A f + B)); regression: A holds the scale of Laplace's
                   distribution of the errors, B is None
    density_marks  10 numbers, decision values between which one-class probabilities lie, or None
    notes          lines, each starting with '#', written after the support vectors
    """

    is_ordinal = False

    def __init__(
        self, svm_type: str, kernel: Kernel, labels: tuple[int, ...] | None, nr_class: int, rho, coef,
        nr_sv: tuple[int, ...] | None, indptr, indices, values, probA=None, probB=None, density_marks=None,
        notes: tuple[str, ...] = (),
    ):  # fmt: skip
        self.svm_type, self.kernel, self.labels, self.nr_class = svm_type, kernel, labels, nr_class
        self.rho, self.coef, self.nr_sv = rho, coef, nr_sv
        self.indptr, self.indices, self.values = indptr, indices, values
        self.probA, self.probB, self.density_marks, self.notes = probA, probB, density_marks, tuple(notes)

    @property
    def task(self) -> str:
        """`classification`, `regression` or `one-class`."""
        if self.svm_type in CLASSIFIERS:
            return "classification"
        return "one-class" if self.svm_type == ONE_CLASS else "regression"

    @property
    def total_sv(self) -> int:
        return self.indptr.size - 1

    @property
    def columns(self) -> int:
        """Number of decision values of a row: one for each pair of classes, or one without classes."""
        return self.nr_class * (self.nr_class - 1) // 2

    @property
    def coef_rows(self) -> int:
        """Number of coefficients of a support vector."""
        return max(1, self.nr_class - 1)

    @property
    def gives_probabilities(self) -> bool:
        """Whether the model was trained with -b 1."""
        if self.task == "classification":
            return self.probA is not None and self.probB is not None
        return (self.density_marks if self.task == "one-class" else self.probA) is not None

    @cached_property
    def scores(self) -> KernelScores:
        """The model prepared for prediction."""
        return KernelScores(self)

    def decision_values(self, table) -> np.ndarray:
        """Decision values f8 (n, columns) of a Dataset.

        Raises ModelError for rows without the required values of a precomputed kernel.
        """
        import numpy as np

        row = self.scores.unfit_row(table)
        if row >= 0:
            raise ModelError(f"row {row + 1}: {UNFIT.format(self.scores.last)}")
        out = np.empty((len(table), self.columns))
        self.scores.decide(table, len(table), out)
        return out

    def choose(self, decisions, places, n: int) -> None:
        """Set places i8[n] to the index of each row's predicted class (one-class: 0 inside, 1 outside)."""
        if self.task == "one-class":
            choose(decisions, places, 1, 1, n)
        else:
            vote(decisions, Buffer("i8", self.nr_class), places, self.nr_class, n)

    def labels_from(self, decisions: np.ndarray) -> np.ndarray:
        """Predicted labels (or values) f8[n] from decision values."""
        import numpy as np

        if self.task == "regression":
            return decisions[:, 0].copy()
        places = np.empty(len(decisions), dtype=np.int64)
        self.choose(decisions, places, len(decisions))
        return np.array((1, -1) if self.labels is None else self.labels, dtype=np.float64)[places]

    def predict(self, table) -> np.ndarray:
        """Predicted labels (or values) f8[n] of a Dataset."""
        return self.labels_from(self.decision_values(table))

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Probabilities f8 (n, nr_class) of the classes, or (n, 2) of inside and outside, from decision values.

        Raises ModelError if the model gives none, as for every regression.
        """
        return self.estimate(decisions)[0]

    def estimate(self, decisions: np.ndarray) -> tuple[np.ndarray, int]:
        """The `probabilities`, and the number of rows for which LIBSVM's iteration limit was reached."""
        import numpy as np

        if not self.gives_probabilities or self.task == "regression":
            raise ModelError(NO_PROBABILITIES)
        if self.task == "one-class":
            return _inside(decisions[:, 0], np.array(self.density_marks)), 0
        k, n = self.nr_class, len(decisions)
        out = np.empty((n, k))
        missed = couple(decisions, self.probA, self.probB, out, np.empty(k * (2 * k + 1)), k, n)
        return out, missed


def _inside(values: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """LIBSVM's probabilities of inside and outside: tenths, given by the marks around a value.

    A value at the last mark gets 0, as in LIBSVM.
    """
    import numpy as np

    above = np.searchsorted(marks[1:], values, side="right")  # number of marks 1 .. 9 up to the value
    inside = np.where(above < 9, (above + 1) / 10, 0.0)
    inside[values < marks[0]] = 0.001
    inside[values > marks[9]] = 0.999
    return np.stack([inside, 1.0 - inside], axis=1)
