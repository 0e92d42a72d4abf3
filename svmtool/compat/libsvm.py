"""LIBSVM's Python module `svm`: problems, parameters, models and low-level functions."""

from __future__ import annotations

import sys
from ctypes import CFUNCTYPE, c_char_p, c_double
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np

from svmtool.api.models import model_of
from svmtool.api.run import RunContext
from svmtool.compat import options
from svmtool.compat.errors import as_value_errors
from svmtool.compat.inputs import as_dicts, dataset
from svmtool.compat.nodes import gen_svm_nodearray, row_of, svm_node
from svmtool.compat.output import Output, print_null
from svmtool.compat.parameters import Parameters
from svmtool.compat.solve import KernelRun
from svmtool.data.dataset import Dataset
from svmtool.models.kernel import NO_KERNEL_PROBABILITIES, SVM_TYPES, KernelModel
from svmtool.params import PRECOMPUTED as PRECOMPUTED_KERNEL
from svmtool.params import Request, Settings

__all__ = [
    "libsvm", "svm_problem", "svm_parameter", "toPyModel", "gen_svm_nodearray", "print_null", "svm_node", "svm_forms",
    "PRINT_STRING_FUN", "kernel_names", "c_double", "svm_model",
]  # fmt: skip
PRINT_STRING_FUN = CFUNCTYPE(None, c_char_p)


class svm_forms(IntEnum):
    """LIBSVM's problems by number."""

    C_SVC = 0
    NU_SVC = 1
    ONE_CLASS = 2
    EPSILON_SVR = 3
    NU_SVR = 4

    def __str__(self) -> str:
        return str(int(self))


class kernel_names(IntEnum):
    """LIBSVM's kernels by number."""

    LINEAR = 0
    POLY = 1
    RBF = 2
    SIGMOID = 3
    PRECOMPUTED = 4

    def __str__(self) -> str:
        return str(int(self))


CONSTANTS = {**svm_forms.__members__, **kernel_names.__members__}
globals().update(CONSTANTS)
__all__ += CONSTANTS


class svm_parameter(Parameters):
    """Options of a training run.

    Parameters
    ----------
    options : str, list or None
        As on LIBSVM's command line, such as '-s 0 -t 2 -c 4 -q'; long options of svm-train are taken as well.

    Attributes
    ----------
    svm_type, kernel_type, degree, gamma, coef0, cache_size, eps, C, nu, p, shrinking, probability
        What the options mean; may be changed.  A gamma of 0 means one over the number of features.
    weight_label, weight, nr_weight
        -wLABEL; the first nr_weight of them count.
    cross_validation, nr_fold
        -v.
    print_func : callable or None
        Receives the solver's lines; None: sys.stdout, `print_null`: nothing.
    """

    NAMES = {
        "svm_type": "solver", "kernel_type": "kernel_type", "degree": "degree", "gamma": "gamma", "coef0": "coef0",
        "cache_size": "cache_mb", "C": "C", "nu": "nu", "p": "p", "shrinking": "shrinking",
        "probability": "probability",
    }  # fmt: skip
    VALIDATES = "cross_validation"
    svm_type: int
    kernel_type: int
    degree: int
    gamma: float
    coef0: float
    probability: int

    def read(self, given: Any) -> tuple[Settings, Request]:
        return options.kernel(given)


class svm_problem:
    """Labelled rows.

    Parameters
    ----------
    y : list, tuple or array
        Labels.
    x : list, tuple, 2-D array or scipy sparse matrix
        Rows; in a list or tuple each is a dict from index to value, a list, a tuple or an array.
    isKernel : bool
        Whether they are rows of a precomputed kernel: their first element, of index 0, is the row's number from 1 on,
        and K(row, k) has the index k.  Not needed for `svm_train`, which knows it from -t 4.

    Attributes
    ----------
    l : int
        Number of rows.
    n : int
        Largest index.
    y : array of float64, (l,)
        Labels.
    x : list of list of svm_node
        Rows, made at each access.
    """

    def __init__(self, y: Any, x: Any, isKernel: bool = False):
        numbered = isinstance(x, (list, tuple)) and len(x) > 0 and isinstance(x[0], dict) and 0 in x[0]
        self._given, self.isKernel = (y, x), bool(isKernel) or numbered
        self.rows = dataset(y, x, self.isKernel)

    def of_kernel(self, kernel_type: int) -> Dataset:
        """Return the rows as a kernel of this number takes them."""
        serial = kernel_type == PRECOMPUTED_KERNEL
        return self.rows if serial == self.isKernel else dataset(*self._given, serial)

    @property
    def l(self) -> int:  # noqa: E743
        return len(self.rows)

    @property
    def n(self) -> int:
        return self.rows.n_features

    @property
    def y(self) -> np.ndarray:
        return self.rows.labels

    @property
    def x(self) -> list[list[svm_node]]:
        return [[svm_node(k, v) for k, v in row.items()] + [svm_node()] for row in as_dicts(self.rows)]


class svm_model:
    """A kernel model.

    Parameters
    ----------
    stored : KernelModel
        The model itself.
    training : Training or None
        Where it comes from; None for a model from a file.
    rows : Dataset or None
        The training rows, of which those of a precomputed kernel are kept.
    param : svm_parameter or None
        Of the training run; None for a model from a file.

    Attributes
    ----------
    certificate : Certificate or None
        Of the training run; None for a model from a file.
    nr_class, l, rho, probA, probB, prob_density_marks
        As in the model file; l is the number of support vectors.
    label, nSV : list of int or None
        Class labels and support vectors of each class; None without classes.
    param : svm_parameter
        Of the training run; for a model from a file with its problem and kernel, and defaults.
    """

    def __init__(self, stored: KernelModel, training: Any = None, rows: Dataset | None = None, param: Any = None):
        self.stored = stored
        self.certificate = None if training is None else training.certificate
        self._support = None if training is None else training.support
        self._rows = rows if stored.kernel.kind == PRECOMPUTED_KERNEL else None  # the model keeps no values of them
        self.nr_class, self.l = stored.nr_class, stored.total_sv
        self.rho, self.probA, self.probB = stored.rho, stored.probA, stored.probB
        self.prob_density_marks = stored.density_marks
        self.label = None if stored.labels is None else list(stored.labels)
        self.nSV = None if stored.nr_sv is None else list(stored.nr_sv)
        if param is not None:
            self.param = param
            return
        kernel = stored.kernel
        self.param = svm_parameter("-q")
        self.param.svm_type, self.param.kernel_type = SVM_TYPES.index(stored.svm_type), kernel.kind
        self.param.gamma, self.param.degree, self.param.coef0 = kernel.gamma, kernel.degree, kernel.coef0
        self.param.probability = int(stored.gives_probabilities)

    def get_svm_type(self) -> int:
        """Return the number of the problem, see svm_forms."""
        return SVM_TYPES.index(self.stored.svm_type)

    def get_nr_class(self) -> int:
        """Return the number of classes; 2 for a regression or one-class model."""
        return self.nr_class

    def get_labels(self) -> list[int]:
        """Return the class labels in the model's order; zeros without classes."""
        return [0] * self.nr_class if self.label is None else list(self.label)

    def get_svr_probability(self) -> float:
        """Return the scale of the errors' Laplace distribution (regression with -b 1), else 0 after a message."""
        if self.stored.kind != "regression" or self.probA is None:
            print("Model doesn't contain information for SVR probability inference", file=sys.stderr)
            return 0.0
        return float(self.probA[0])

    def is_probability_model(self) -> bool:
        """Return whether predictions with -b 1 are possible."""
        return self.stored.gives_probabilities

    def get_nr_sv(self) -> int:
        """Return the number of support vectors."""
        return self.l

    def get_sv_indices(self) -> list[int]:
        """Return the support vectors' places in the training set, from 1 on; zeros for a model from a file."""
        return [0] * self.l if self._support is None else (self._support + 1).tolist()

    def get_sv_coef(self) -> list[tuple[float, ...]]:
        """Return the coefficients of each support vector, one for each class but its own (see KernelModel.coef)."""
        return list(map(tuple, self.stored.coef.T.tolist()))

    def get_SV(self) -> list[dict[int, float]]:
        """Return the support vectors as dicts; of a precomputed kernel their numbers alone for a model from a file."""
        m = self.stored
        if self._rows is not None and self._support is not None:
            return as_dicts(self._rows.take(self._support))
        return as_dicts(Dataset(np.zeros(self.l), m.indptr, m.indices, m.values, 0))

    @property
    def SV(self) -> list[list[svm_node]]:
        """The support vectors as nodes."""
        return [[svm_node(k, v) for k, v in row.items()] + [svm_node()] for row in self.get_SV()]

    @property
    def sv_coef(self) -> np.ndarray:
        """f8 (max(1, nr_class - 1), l)."""
        return self.stored.coef

    def rows_of(self, x: Any) -> Dataset:
        """Return rows as this model takes them."""
        return dataset(None, x, self.stored.kernel.kind == PRECOMPUTED_KERNEL)

    def answers(self, rows: Dataset, probability: bool = False) -> tuple[np.ndarray, list[list[float]]]:
        """Return predictions f8[n], and of each row the decision values or probabilities.

        Decision values: one for each pair of classes; of a model with one class the number 1.  A regression has no
        probabilities: with `probability` its lists are empty.  Raises ValueError where the model gives none.
        """
        m = model_of(self.stored)
        if probability and not m.gives_probabilities:
            raise ValueError(NO_KERNEL_PROBABILITIES)
        with RunContext(None), as_value_errors():
            decisions = m.decision_values(rows)
            labels = m.labels_from(decisions)
            if not probability:
                return labels, decisions.tolist() if m.columns else [[1] for _ in labels]
            if m.kind == "regression":
                return labels, [[] for _ in labels]
            found = m.probabilities(decisions)
        if m.kind == "classification":
            labels = np.array(m.labels, np.float64)[np.argmax(found, axis=1)]
        return labels, found.tolist()


def toPyModel(model_ptr: Any) -> svm_model:
    """Return a model that a low-level function returned; TypeError for anything else."""
    if not isinstance(model_ptr, svm_model):
        raise TypeError(f"a model is expected, not {type(model_ptr).__name__}")
    return model_ptr


def fit(prob: svm_problem, param: svm_parameter) -> svm_model:
    """Train on a problem; raises ValueError."""
    rows, settings = prob.of_kernel(param.kernel_type), param.settings()
    done = KernelRun(rows, settings, param.request(), Output(param.print_func)).train()
    return svm_model(done.model, done, rows, param.of_model(settings))


def _single(m: svm_model, x: Any, probability: bool, out: Any = None) -> float:
    """The prediction for one row of nodes; out receives decision values or probabilities."""
    labels, values = m.answers(m.rows_of([row_of(x)]), probability)
    if out is not None:
        for k, value in enumerate(values[0]):
            out[k] = value
    return float(labels[0])


libsvm = SimpleNamespace(
    svm_train=fit,
    svm_predict=lambda m, x: _single(m, x, False),
    svm_predict_values=lambda m, x, out: _single(m, x, False, out),
    svm_predict_probability=lambda m, x, out: _single(m, x, True, out),
    svm_get_svm_type=svm_model.get_svm_type,
    svm_get_nr_class=svm_model.get_nr_class,
    svm_get_nr_sv=svm_model.get_nr_sv,
    svm_get_svr_probability=svm_model.get_svr_probability,
    svm_check_probability_model=svm_model.is_probability_model,
)
