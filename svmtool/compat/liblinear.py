"""LIBLINEAR's Python module `liblinear`: problems, parameters, models and low-level functions."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np

from svmtool.api.models import model_of
from svmtool.api.run import RunContext
from svmtool.api.values import flag, real, whole
from svmtool.compat import options
from svmtool.compat.errors import as_value_errors
from svmtool.compat.inputs import as_dicts, dataset, labels_of
from svmtool.compat.nodes import feature_node, gen_feature_nodearray, row_of
from svmtool.compat.output import Output, print_null
from svmtool.compat.parameters import Parameters
from svmtool.compat.solve import LinearRun
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.models.linear import CRAMMER_SINGER_WORD, ONE_CLASS_WORD, LinearModel
from svmtool.params import Request, Settings

__all__ = [
    "liblinear", "feature_node", "gen_feature_nodearray", "problem", "parameter", "model", "toPyModel", "solver_names",
    "print_null",
]  # fmt: skip


class solver_names(IntEnum):
    """LIBLINEAR's solvers by number."""

    L2R_LR = 0
    L2R_L2LOSS_SVC_DUAL = 1
    L2R_L2LOSS_SVC = 2
    L2R_L1LOSS_SVC_DUAL = 3
    MCSVM_CS = 4
    L1R_L2LOSS_SVC = 5
    L1R_LR = 6
    L2R_LR_DUAL = 7
    L2R_L2LOSS_SVR = 11
    L2R_L2LOSS_SVR_DUAL = 12
    L2R_L1LOSS_SVR_DUAL = 13
    ONECLASS_SVM = 21

    def __str__(self) -> str:
        return str(int(self))


globals().update(solver_names.__members__)
__all__ += list(solver_names.__members__)


class parameter(Parameters):
    """Options of a training run.

    Parameters
    ----------
    options : str, list or None
        As on LIBLINEAR's command line, such as '-s 0 -c 4 -B 1 -q'; long options of svm-train are taken as well.

    Attributes
    ----------
    solver_type, C, eps, p, nu, bias, regularize_bias
        What the options mean; may be changed.
    weight_label, weight, nr_weight
        -wLABEL; the first nr_weight of them count.
    flag_cross_validation, nr_fold, flag_find_parameters
        -v and -C.
    print_func : callable or None
        Receives the solver's lines; None: sys.stdout, `print_null`: nothing.
    """

    NAMES = {
        "solver_type": "solver", "C": "C", "p": "p", "nu": "nu", "bias": "bias", "regularize_bias": "regularize_bias",
    }  # fmt: skip
    VALIDATES = "flag_cross_validation"
    regularize_bias: int
    solver_type: int

    def read(self, given: Any) -> tuple[Settings, Request]:
        return options.linear(given)

    def parse_options(self, given: Any) -> None:
        """Set all attributes anew from options; ValueError with a message for an invalid one."""
        super().parse_options(given)
        request = self._request
        self.init_sol, self.w_recalc = None, False
        self.flag_C_specified, self.flag_p_specified = "-c" in request.given, "-p" in request.given
        self.flag_solver_specified, self.flag_find_parameters = "-s" in request.given, request.find_C

    def settings(self) -> Settings:
        """Return the settings that the attributes mean now."""
        return super().settings().replace(regularize_bias=flag("regularize_bias", self.regularize_bias))

    def request(self) -> Request:
        """Return what the attributes request besides the settings."""
        request = super().request()
        start = {"-c": self._flag("flag_C_specified"), "-p": self._flag("flag_p_specified")}  # where the search begins
        given = [name for name in request.given if name not in start] + [name for name, known in start.items() if known]
        auto = request.auto and whole("solver_type", self.solver_type) == self._parsed.problem.solver
        return request._replace(given=tuple(given), find_C=self._flag("flag_find_parameters"), auto=auto)


class problem:
    """Labelled rows.

    Parameters
    ----------
    y : list, tuple or array
        Labels.
    x : list, tuple, 2-D array or scipy sparse matrix
        Rows; in a list or tuple each is a dict from index to value, a list, a tuple or an array.
    bias : float
        Value of the feature that is appended to each row; below 0: none.

    Attributes
    ----------
    l : int
        Number of rows.
    n : int
        Number of features, with that of the bias.
    y : array of float64, (l,)
        Labels.
    x : list of list of feature_node
        Rows, made at each access.
    """

    def __init__(self, y: Any, x: Any, bias: float = -1):
        self.rows: Dataset = dataset(y, x)
        self.bias = real("bias", bias)

    @property
    def l(self) -> int:  # noqa: E743
        return len(self.rows)

    @property
    def n(self) -> int:
        return self.rows.n_features + (self.bias >= 0)

    @property
    def y(self) -> np.ndarray:
        return self.rows.labels

    @y.setter
    def y(self, labels: Any) -> None:
        found = labels_of(labels)
        if len(found) != len(self.rows):
            raise ValueError("len(y) != len(x)")
        self.rows = self.rows.replace(labels=found)

    @property
    def x(self) -> list[list[feature_node]]:
        found = []
        for row in as_dicts(self.rows):
            if self.bias >= 0:
                row[self.n] = self.bias
            found.append([feature_node(k, v) for k, v in row.items()] + [feature_node(-1, 0.0)])
        return found

    def set_bias(self, bias: float) -> None:
        """Change the bias."""
        self.bias = real("bias", bias)

    def copy(self) -> problem:
        """Return a problem on the same rows."""
        other = problem.__new__(problem)
        other.rows, other.bias = self.rows, self.bias
        return other


_Pointer: Any = ctypes.POINTER(ctypes.c_double)


class Weights(_Pointer):
    """A pointer to weights, as LIBLINEAR's, with their number: `np.ctypeslib.as_array(w, (len(w),))`."""

    _type_ = ctypes.c_double
    _array: np.ndarray

    @classmethod
    def of(cls, W: np.ndarray) -> Weights:
        """Return the pointer to the weights of a model, which it keeps alive."""
        found = ctypes.cast(W.ctypes.data, cls)
        found._array = W.reshape(-1)
        return found

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, at: Any) -> Any:
        return self._array[at].tolist()

    def __iter__(self) -> Iterator[float]:
        return iter(self._array.tolist())


class model:
    """A linear model.

    Parameters
    ----------
    stored : LinearModel
        The model itself.
    certificate : Certificate or None
        Of the training run; None for a model from a file.
    param : parameter or None
        Of the training run; None for a model from a file.

    Attributes
    ----------
    nr_class, nr_feature, bias, rho, label
        As in the model file; label is [0, 0] without classes.
    w : Weights
        Weights of the first feature for all columns, then those of the second and so on.
    param : parameter
        Of the training run; for a model from a file with its solver_type, and defaults.
    """

    def __init__(self, stored: LinearModel, certificate: Any = None, param: Any = None):
        stored.W = stored.W[:]  # a model of very many weights holds those other than zero
        self.stored, self.certificate = stored, certificate
        self.nr_class, self.nr_feature, self.bias = stored.nr_class, stored.n_features, stored.bias
        self.rho = stored.rho if stored.rho is not None else 0.0
        self.label = [0] * self.nr_class if stored.labels is None else list(stored.labels)
        self.param = parameter(f"-s {int(solver_names[stored.word])} -q") if param is None else param

    @property
    def w(self) -> Weights:
        return Weights.of(self.stored.W)

    def get_nr_feature(self) -> int:
        """Return the number of features, without that of the bias."""
        return self.nr_feature

    def get_nr_class(self) -> int:
        """Return the number of classes; 2 for a regression or one-class model."""
        return self.nr_class

    def get_labels(self) -> list[int]:
        """Return the class labels in the model's order."""
        return list(self.label)

    def get_decfun_coef(self, feat_idx: int, label_idx: int = 0) -> float:
        """Return the weight of a feature (from 1 on) for a label (by its place in get_labels); 0 for unknown ones."""
        if not 1 <= feat_idx <= self.nr_feature:
            return 0.0
        return float(self._weights(label_idx)[feat_idx - 1])

    def get_decfun_bias(self, label_idx: int = 0) -> float:
        """Return the bias for a label: the weight of the bias feature times its value."""
        if self.is_oneclass_model():
            print("ERROR: get_decfun_bias: a one-class model has no bias, use get_decfun_rho", file=sys.stderr)
            return 0.0
        return self.bias * float(self._weights(label_idx)[self.nr_feature]) if self.bias >= 0 else 0.0

    def get_decfun_rho(self) -> float:
        """Return rho of a one-class model."""
        if not self.is_oneclass_model():
            print("ERROR: get_decfun_rho: only a one-class model has it", file=sys.stderr)
            return 0.0
        return self.rho

    def get_decfun(self, label_idx: int = 0) -> tuple[list[float], float]:
        """Return the weights for a label and its bias (one-class: -rho)."""
        w = self._weights(label_idx)[: self.nr_feature].tolist()
        return w, -self.rho if self.is_oneclass_model() else self.get_decfun_bias(label_idx)

    def is_probability_model(self) -> bool:
        """Return whether predictions with -b 1 are possible."""
        return self.stored.gives_probabilities

    def is_regression_model(self) -> bool:
        """Return whether it predicts a quantity."""
        return self.stored.kind == "regression"

    def is_oneclass_model(self) -> bool:
        """Return whether it is a one-class model."""
        return self.stored.word == ONE_CLASS_WORD

    def _weights(self, label_idx: int) -> np.ndarray:
        """The weights for a label, f8[nr_feature], followed by that of the bias feature; 0 for unknown labels."""
        W = self.stored.W
        if self.stored.labels is None:
            return W[:, 0]
        if not 0 <= label_idx < self.nr_class:
            return np.zeros(len(W))
        if self.nr_class == 2 and self.stored.word != CRAMMER_SINGER_WORD:  # one column for both
            return W[:, 0] if label_idx == 0 else -W[:, 0]
        return W[:, label_idx]

    def answers(self, rows: Dataset, probability: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions f8[n], and decision values or probabilities f8 (n, columns).

        Raises TypeError, as LIBLINEAR does, where the model gives no probabilities.
        """
        with RunContext(None), as_value_errors():
            values = model_of(self.stored).decision_values(rows)
            labels = self.stored.labels_from(values)
        if not probability:
            return labels, values[:, :1] if self.nr_class == 2 else values
        try:
            return labels, self.stored.probabilities(values)
        except SvmtoolError as e:
            raise TypeError(str(e)) from None


def toPyModel(model_ptr: Any) -> model:
    """Return a model that a low-level function returned; TypeError for anything else."""
    if not isinstance(model_ptr, model):
        raise TypeError(f"a model is expected, not {type(model_ptr).__name__}")
    return model_ptr


def fit(prob: problem, param: parameter) -> model:
    """Train on a problem with its own bias; raises ValueError."""
    settings = param.settings().replace(bias=prob.bias)
    run = LinearRun(prob.rows, settings, param.request(), Output(param.print_func))
    done = run.train()
    return model(done.model, done.certificate, param.of_model(run.settings))


def _single(m: model, x: Any, probability: bool, out: Any = None) -> float:
    """The prediction for one row of nodes; out receives decision values or probabilities."""
    labels, values = m.answers(dataset(None, [row_of(x)]), probability)
    if out is not None:
        for k, value in enumerate(values[0].tolist()):
            out[k] = value
    return float(labels[0])


liblinear = SimpleNamespace(
    train=fit,
    predict=lambda m, x: _single(m, x, False),
    predict_values=lambda m, x, out: _single(m, x, False, out),
    predict_probability=lambda m, x, out: _single(m, x, True, out),
    get_nr_feature=model.get_nr_feature,
    get_nr_class=model.get_nr_class,
    check_probability_model=model.is_probability_model,
    check_regression_model=model.is_regression_model,
    check_oneclass_model=model.is_oneclass_model,
)
