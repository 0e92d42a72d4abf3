"""Kernel models: decision values, labels and probabilities.

Arrays are numpy's, or Buffers if svm-predict runs without numpy.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING

from svmtool import limits
from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.kernel import kernel_loops
from svmtool.compiled.loops.kernel.kernel_loops import LANES, LINEAR, PRECOMPUTED, STRIP_VECTORS
from svmtool.compiled.loops.text.decision_loops import choose, couple, vote
from svmtool.errors import ModelError
from svmtool.models.kernel_functions import NAMES, Kernel
from svmtool.models.linear import Model
from svmtool.numbers import distinct

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

CLASSIFIER_TYPES, ONE_CLASS_TYPE, REGRESSION_TYPES = ("c_svc", "nu_svc"), "one_class", ("epsilon_svr", "nu_svr")
SVM_TYPES = (*CLASSIFIER_TYPES, ONE_CLASS_TYPE, *REGRESSION_TYPES)  # by number, as LIBSVM's -s
DENSITY_MARKS = 10  # decision values with which a one-class model calibrates: LIBSVM's prob_density_marks

FEATURES_NOTE = "# Features: "  # followed by the largest index of the training rows, which support vectors may lack
NO_KERNEL_PROBABILITIES = "Model does not support probabiliy estimates"  # in LIBSVM's spelling
UNFIT = "a row for a precomputed kernel must be 0:number 1:K(x,row 1) 2:K(x,row 2) ... without gaps, at least up to {}"

MAX_DIRECT_PLACES = 1 << 18  # up to this index a feature's place is its index; the table has 32 MB a thread
MAX_WEIGHTS = 1 << 24  # numbers in the weights of all pairs; beyond, a linear kernel is computed like the others
BLOCK_VALUES = 1 << 18  # kernel values that a thread computes at a time, about
MAX_BLOCK_ROWS = 2048  # limit of the rows of a block

# 2 gamma |z|^2 of a support vector z up to which distances from it are taken from inner products: their error, some
# units in the last place of that number, changes a kernel value by about 1e-14 (rows much longer than z have a value
# of nearly 0).  For sparse support vectors differences are slow, and 1e-11 is accepted.
MAX_PRODUCT_SQUARE, MAX_SPARSE_SQUARE = 64.0, 1e4
# share of non-zeros below which support vectors count as sparse.  Differences took 1.3 to 2 times as long as products
# on seven sets with shares from 0.8 on, 3 to 9 times on five from 0.03 to 0.34 (10 to 780 features)
MAX_SPARSE_SHARE = 0.5


class KernelModel(Model):
    """A kernel model with the content of LIBSVM's file.

    Attributes
    ----------
    svm_type : str
        One of SVM_TYPES.
    kernel : Kernel
        The kernel and its parameters.
    labels : tuple of int or None
        Class labels in the model's order; None for regression and one-class.
    nr_class : int
        Number of classes; 2 for regression and one-class.
    rho : ndarray (pairs of classes,)
        In the order (0, 1), (0, 2) .. (1, 2) ..: subtracted from decision values.
    coef : ndarray (max(1, nr_class - 1), support vectors)
        C order: of a support vector of class c, row m stands for the pair with class m if m < c, else m + 1; of
        regression and one-class one row.
    nr_sv : tuple of int or None
        Support vectors of each class, which stand together in this order; None as labels.
    indptr, indices, values : ndarray
        Support vectors as rows of a Dataset: i8, i4 (the file's index less one), f8; precomputed: each holds one value,
        its serial number from 1 on, at index -1 (the file's 0).
    probA, probB : ndarray (pairs of classes,) or None
        Sigmoids 1 / (1 + exp(A f + B)); regression: A holds the scale of Laplace's distribution of the errors, B is
        None.
    density_marks : ndarray (10,) or None
        Decision values between which one-class probabilities lie.
    notes : tuple of str
        Lines, each starting with '#', written after the support vectors.
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
    def kind(self) -> str:
        if self.svm_type in CLASSIFIER_TYPES:
            return "classification"
        return "one-class" if self.svm_type == ONE_CLASS_TYPE else "regression"

    def __repr__(self) -> str:
        vectors = f"{self.total_sv} support vector{'s' * (self.total_sv != 1)}"
        return f"<KernelModel {self.svm_type}: kernel {NAMES[self.kernel.kind]}, {vectors}{self._of_classes()}>"

    @property
    def total_sv(self) -> int:
        return self.indptr.size - 1

    @property
    def columns(self) -> int:
        """Number of decision values of a row: one for each pair of classes, or one without classes."""
        return self.nr_class * (self.nr_class - 1) // 2

    @property
    def noted_features(self) -> int | None:
        """Number of features of the training rows, from the notes; None where a file does not state it."""
        for note in self.notes:
            count = note.removeprefix(FEATURES_NOTE)
            if count != note and count.isascii() and count.isdecimal() and len(count) < 11:
                return int(count)
        return None

    @property
    def coef_rows(self) -> int:
        """Number of coefficients of a support vector."""
        return max(1, self.nr_class - 1)

    @property
    def gives_probabilities(self) -> bool:
        """Whether the model was trained with -b 1."""
        if self.kind == "classification":
            return self.probA is not None and self.probB is not None
        return (self.density_marks if self.kind == "one-class" else self.probA) is not None

    @cached_property
    def scores(self) -> KernelScores:
        """The model prepared for prediction."""
        return KernelScores(self)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__.pop("scores", None)  # prepared for other values
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Without `scores`, which hold memory of this process; for pickle and copy."""
        return {name: value for name, value in vars(self).items() if name != "scores"}

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
        if self.kind == "one-class":
            choose(decisions, places, 1, 1, n)
        else:
            vote(decisions, Buffer("i8", self.nr_class), places, self.nr_class, n)

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Probabilities f8 (n, nr_class) of the classes, or (n, 2) of inside and outside, from decision values.

        Raises ModelError if the model gives none, as for every regression.
        """
        return self.estimate(decisions)[0]

    def estimate(self, decisions: np.ndarray) -> tuple[np.ndarray, int]:
        """The `probabilities`, and the number of rows for which LIBSVM's iteration limit was reached."""
        import numpy as np

        if not self.gives_probabilities or self.kind == "regression":
            raise ModelError(NO_KERNEL_PROBABILITIES)
        if self.kind == "one-class":
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


class KernelScores:
    """A KernelModel prepared for prediction: decision values of blocks of rows, on several threads.

    For a linear kernel the support vectors are summed to one vector of weights for each pair of classes.
    """

    def __init__(self, model: Any):
        self.kernel, self.rho, self.coef = model.kernel, model.rho, model.coef
        self.columns, self.n_sv, self.pairs = model.coef_rows, model.total_sv, model.columns
        counts = (self.n_sv,) if model.nr_sv is None else model.nr_sv
        self.ends = Buffer("i8", len(counts) + 1)
        for c, count in enumerate(counts):
            self.ends.items[c + 1] = self.ends.items[c] + count
        self.indptr, self.values = model.indptr, model.values
        self.features = Buffer("i4", 0)
        self.places, self.norms = Buffer("i4", model.indices.size), Buffer("f8", self.n_sv)
        self.last = self.n_places = 0
        self.largest_square = MAX_PRODUCT_SQUARE
        self.W: Buffer | None = None
        self._scratch: dict[tuple[int, bool], list[Buffer]] = {}
        if self.kernel.kind == PRECOMPUTED:
            for s, serial in enumerate(memoryview(getattr(model.values, "items", model.values))):
                self.places.items[s] = int(serial)
            self.last = kernel_loops.largest_index(self.places)
            return
        self.n_places = kernel_loops.largest_index(model.indices) + 2  # indices as in the file, starting at 0
        if self.n_places > MAX_DIRECT_PLACES:
            self.features = distinct(model.indices.array() if isinstance(model.indices, Buffer) else model.indices)
            self.n_places = len(self.features)
        rows = model.indptr, model.indices, model.values
        kernel_loops.place_support(*rows, self.features, self.places, self.norms, self.n_places)
        sparse = model.indices.size < MAX_SPARSE_SHARE * self.n_sv * (self.n_places - 1)
        self.largest_square = MAX_SPARSE_SQUARE if sparse else MAX_PRODUCT_SQUARE
        if self.kernel.kind == LINEAR and self.n_places * self.pairs <= MAX_WEIGHTS:
            self.W, rest = (Buffer("f8", self.n_places * self.pairs) for _ in range(2))
            support = self.indptr, self.places, self.values, self.coef, self.ends
            kernel_loops.pair_weights(*support, self.W, rest, self.columns, self.pairs)

    def unfit_row(self, rows) -> int:
        """The first row that does not have the values that a precomputed kernel needs; -1 for none."""
        if self.kernel.kind != PRECOMPUTED:
            return -1
        return kernel_loops.first_row_without(rows.indptr, rows.indices, self.last)

    def decide(self, rows, n: int, decisions, own: int = -1) -> None:
        """Compute decision values f8 (n, pairs) of a Dataset or RawTable of n rows, none of them unfit.

        own: the only class whose pairs are wanted, without their rho, which needs numpy: then f8 (n, columns), as the
        coefficients of a support vector of that class.
        """
        if self.pairs == 0:
            return
        if self.W is not None:
            weights = (self.W, self.rho) if own < 0 else self._weights_of(own)
            call = kernel_loops.linear_decisions.bind(
                rows.indptr, rows.indices, rows.values, self.features, *weights, decisions
            )
            self._run(lambda lo, hi: call(self.n_places, lo, hi), n, MAX_BLOCK_ROWS)
            return
        kernel, classes = self.kernel, self.ends.size - 1
        # of a thread's table, scratch memory and sums
        sums = self.columns * LANES * (classes if own < 0 else 1)
        sizes = self.n_places * LANES, self.n_places + (2 + STRIP_VECTORS) * LANES, sums

        def work(lo: int, hi: int) -> None:
            limits.check()
            me = threading.get_ident(), own < 0
            if me not in self._scratch:
                self._scratch[me] = [Buffer("f8", size) for size in sizes]
            kernel_loops.kernel_decisions(
                rows.indptr, rows.indices, rows.values, self.features, self.indptr, self.places, self.values,
                self.norms, self.coef, self.ends, self.rho, *self._scratch[me], decisions, kernel.kind, kernel.gamma,
                kernel.degree, kernel.coef0, self.columns, self.n_places, self.largest_square, own, lo, hi,
            )  # fmt: skip

        self._run(work, n, min(MAX_BLOCK_ROWS, LANES * max(1, BLOCK_VALUES // (LANES * max(1, self.n_sv)))))

    def _weights_of(self, own: int) -> tuple[np.ndarray, np.ndarray]:
        """The weights of the pairs of one class, by the other class, and a rho of 0 for each."""
        import numpy as np

        assert self.W is not None
        classes, other = self.columns + 1, np.delete(np.arange(self.columns + 1), own)
        i, j = np.minimum(own, other), np.maximum(own, other)
        W = self.W.array().reshape(self.n_places, self.pairs)[:, i * (2 * classes - i - 1) // 2 + j - i - 1]
        return np.ascontiguousarray(W).ravel(), np.zeros(self.columns)

    def _run(self, work, n: int, step: int) -> None:
        threads.run_blocks(lambda b: work(b * step, min(n, (b + 1) * step)), -(-n // step))
