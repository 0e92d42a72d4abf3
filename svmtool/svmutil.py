"""LIBSVM's Python module `svmutil`, computed by svmtool's solvers.

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
from svmtool.compat.libsvm import fit, svm_model, svm_parameter, svm_problem
from svmtool.compat.options import prediction
from svmtool.compat.output import Output
from svmtool.compat.results import report
from svmtool.compat.solve import KernelRun
from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel as _file
from svmtool.kernel_params import PRECOMPUTED

__all__ = [
    "svm_load_model", "svm_save_model", "svm_train", "svm_predict", *_low.__all__, *commonutil.__all__,
]  # fmt: skip

DISABLED = "Model supports probability estimates, but disabled in predicton."  # in LIBSVM's spelling


def svm_load_model(model_file_name: Any) -> svm_model | None:
    """Read a model file of svm-train or LIBSVM.

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
    """Write a model file that LIBSVM reads; OSError where it cannot be written."""
    with as_os_errors():
        _file.write(os.fsdecode(model_file_name), model.stored)


def svm_train(arg1: Any, arg2: Any = None, arg3: Any = None) -> Any:
    """Train a model: svm_train(y, x [, options]), svm_train(prob [, options]) or svm_train(prob, param).

    Parameters
    ----------
    y, x : labels and rows, see `svm_problem`
    prob : svm_problem
    options : str, list or None
        see `svm_parameter`
    param : svm_parameter

    Returns
    -------
    svm_model
    float
        with -v: accuracy in percent, or mean squared error.

    Raises
    ------
    ValueError
        for faulty options or data.
    TypeError
        for other types of arguments.
    KeyboardInterrupt
        after Ctrl-C.
    """
    prob, param = _arguments(arg1, arg2, arg3)
    settings, request = param.settings(), param.request()
    if request.folds is None:
        return fit(prob, param)
    run = KernelRun(prob.of_kernel(param.kernel_type), settings, request, Output(param.print_func))
    accuracy, error, _ = evaluations(prob.y, run.validate())
    return error if settings.row.task == "regression" else accuracy


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
    y : true labels or values; empty: unknown, and taken as 0
    x : rows, see `svm_problem`
    m : model
    options : '-b 1' for probabilities, '-q' to print nothing

    Returns
    -------
    labels : list of float
        predicted labels or values
    measures : tuple of float
        accuracy in percent, mean squared error, squared correlation coefficient; see `evaluations`
    values : list of list of float
        of each row the decision values (one for each pair of classes) or, with -b 1, the probabilities in the order
        of the model's labels (one-class: inside and outside; regression: none)

    Raises
    ------
    ValueError
        where the model gives no probabilities, for faulty options, and for lengths that differ.
    TypeError
        for other types of arguments.
    """
    probability, quiet = prediction(options)
    truth, rows = labels_of(y), m.rows_of(x)
    labels, values = m.answers(rows, probability)
    if not quiet:
        _notice(m, probability)
    measures = report(truth, labels, m.stored.task == "regression", quiet)
    return labels.tolist(), measures, values


def _notice(m: svm_model, probability: bool) -> None:
    """Print what LIBSVM says before the results of a model with probabilities."""
    if not m.is_probability_model():
        return
    if not probability:
        print(DISABLED)
    elif m.stored.task == "regression":
        print("Prob. model for test data: target value = predicted value + z,")
        print(f"z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={m.get_svr_probability():g}")
