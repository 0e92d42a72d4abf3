"""LIBSVM's Python module `svmutil`, computed by svmtool's solvers.

Examples
--------
>>> from svmtool.svmutil import *
>>> y, x = svm_read_problem('data/digits')
>>> m = svm_train(y, x, '-c 4 -q')
>>> y_test, x_test = svm_read_problem('data/digits.t')
>>> labels, (accuracy, mse, scc), values = svm_predict(y_test, x_test, m, '-q')
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from svmtool.compat import commonutil
from svmtool.compat import libsvm as _low
from svmtool.compat.commonutil import *  # noqa: F403
from svmtool.compat.commonutil import evaluations
from svmtool.compat.errors import as_os_errors
from svmtool.compat.inputs import labels_of
from svmtool.compat.libsvm import *  # noqa: F403
from svmtool.compat.libsvm import fit, svm_model, svm_parameter, svm_problem, toPyModel
from svmtool.compat.options import prediction
from svmtool.compat.output import Output
from svmtool.compat.results import report
from svmtool.compat.solve import KernelRun
from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel as _file
from svmtool.params import PRECOMPUTED, kernel_of

__all__ = [
    "svm_load_model", "svm_save_model", "svm_train", "svm_predict", *_low.__all__, *commonutil.__all__,
]  # fmt: skip

DISABLED_NOTICE = "Model supports probability estimates, but disabled in predicton."  # in LIBSVM's spelling


def svm_load_model(model_file_name: Any) -> svm_model | None:
    """Read a model file of svm-train or LIBSVM.

    Parameters
    ----------
    model_file_name : str, bytes or PathLike
        The file.

    Returns
    -------
    svm_model or None
        None, after a line on standard output, where the file cannot be read or is no such model.
    """
    try:
        return svm_model(_file.read(os.fsdecode(model_file_name)))
    except SvmtoolError as e:
        print(e)
        return None


def svm_save_model(model_file_name: Any, model: svm_model) -> None:
    """Write a model file that LIBSVM reads.

    Parameters
    ----------
    model_file_name : str, bytes or PathLike
        The file; an old one stays whole until the new one is.
    model : svm_model
        The model.

    Raises
    ------
    OSError
        Where the file cannot be written.
    """
    with as_os_errors():
        _file.write(os.fsdecode(model_file_name), model.stored)


def svm_train(arg1: Any, arg2: Any = None, arg3: Any = None) -> Any:
    """Train a model: svm_train(y, x [, options]), svm_train(prob [, options]) or svm_train(prob, param).

    Parameters
    ----------
    arg1 : list, tuple or array, or svm_problem
        Labels y, or labelled rows.
    arg2 : rows, or str, list, svm_parameter or None
        Rows x (see `svm_problem`) behind labels; options behind a svm_problem.
    arg3 : str, list, svm_parameter or None
        Options (see `svm_parameter`) behind labels and rows.

    Returns
    -------
    svm_model
        The model, without -v.
    float
        With -v: accuracy in percent, or mean squared error.

    Raises
    ------
    ValueError
        For faulty options or data.
    TypeError
        For other types of arguments.
    KeyboardInterrupt
        After Ctrl-C.
    """
    prob, param = _arguments(arg1, arg2, arg3)
    settings, request = param.settings(), param.request()
    if kernel_of(settings).gamma == 0 and prob.n > 0:  # as LIBSVM's, in the caller's object
        param.gamma = 1.0 / prob.n
        settings = param.settings()
    if request.folds is None:
        return fit(prob, param)
    run = KernelRun(prob.of_kernel(param.kernel_type), settings, request, Output(param.print_func))
    accuracy, error, _ = evaluations(prob.y, run.validate())
    return error if settings.row.kind == "regression" else accuracy


def _arguments(arg1: Any, arg2: Any, arg3: Any) -> tuple[svm_problem, svm_parameter]:
    if isinstance(arg1, (list, tuple, np.ndarray)):
        if arg2 is None:
            raise TypeError("svm_train(y, x [, options]): x is missing")
        param = arg3 if isinstance(arg3, svm_parameter) else svm_parameter(arg3)
        return svm_problem(arg1, arg2, isKernel=param.kernel_type == PRECOMPUTED), param
    if isinstance(arg1, svm_problem):
        return arg1, arg2 if isinstance(arg2, svm_parameter) else svm_parameter(arg2)
    raise TypeError("Wrong types for the arguments")


def svm_predict(
    y: Any, x: Any, m: svm_model, options: Any = ""
) -> tuple[list[float], tuple[float, float, float], list[list[float]]]:
    """Predict rows and print how many predictions are right.

    Parameters
    ----------
    y : list, tuple or array
        True labels or values; empty: unknown, and taken as 0.
    x : rows
        See `svm_problem`.
    m : svm_model
        The model.
    options : str or list
        '-b 1' for probabilities, '-q' to print nothing.

    Returns
    -------
    labels : list of float
        Predicted labels or values.
    measures : tuple of float
        Accuracy in percent, mean squared error, squared correlation coefficient; see `evaluations`.
    values : list of list of float
        Of each row the decision values (one for each pair of classes) or, with -b 1, the probabilities in the order
        of the model's labels (one-class: inside and outside; regression: none).

    Raises
    ------
    ValueError
        Where the model gives no probabilities, for faulty options, and for lengths that differ.
    TypeError
        For other types of arguments.
    """
    probability, quiet = prediction(options)
    truth, rows = labels_of(y, False), toPyModel(m).rows_of(x)
    labels, values = m.answers(rows, probability)
    if not quiet:
        _notice(m, probability)
    measures = report(truth, labels, m.stored.kind == "regression", quiet)
    return labels.tolist(), measures, values


def _notice(m: svm_model, probability: bool) -> None:
    """Print what LIBSVM says before the results of a model with probabilities."""
    if not m.is_probability_model():
        return
    if not probability:
        print(DISABLED_NOTICE)
    elif m.stored.kind == "regression":
        print("Prob. model for test data: target value = predicted value + z,")
        print(f"z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={m.get_svr_probability():g}")
