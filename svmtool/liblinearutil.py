"""LIBLINEAR's Python module `liblinearutil`, computed by svmtool's solvers.

Examples
--------
>>> from svmtool.liblinearutil import *
>>> y, x = svm_read_problem('data/digits')
>>> m = train(y, x, '-s 0 -c 4 -q')
>>> y_test, x_test = svm_read_problem('data/digits.t')
>>> labels, (accuracy, mse, scc), values = predict(y_test, x_test, m, '-b 1 -q')
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from svmtool.compat import commonutil
from svmtool.compat import liblinear as _low
from svmtool.compat.commonutil import *  # noqa: F403
from svmtool.compat.commonutil import evaluations
from svmtool.compat.errors import as_os_errors
from svmtool.compat.inputs import dataset, labels_of
from svmtool.compat.liblinear import *  # noqa: F403
from svmtool.compat.liblinear import model, parameter, problem, toPyModel
from svmtool.compat.options import prediction
from svmtool.compat.output import Output
from svmtool.compat.results import report
from svmtool.compat.solve import LinearRun
from svmtool.errors import SvmtoolError
from svmtool.formats.models import linear as _file
from svmtool.training.adapting.adaptable import save

__all__ = ["load_model", "save_model", "train", "predict", *_low.__all__, *commonutil.__all__]


def load_model(model_file_name: Any) -> model | None:
    """Read a model file of svm-train or LIBLINEAR.

    Parameters
    ----------
    model_file_name : str, bytes or PathLike
        The file.

    Returns
    -------
    model or None
        None, after a line on standard output, where the file cannot be read or is no such model.
    """
    try:
        return model(_file.read(os.fsdecode(model_file_name)))
    except SvmtoolError as e:
        print(e)
        return None


def save_model(model_file_name: Any, model: model) -> None:
    """Write a model file that LIBLINEAR reads.

    Parameters
    ----------
    model_file_name : str, bytes or PathLike
        The file; an old one stays whole until the new one is.
    model : model
        The model.

    Raises
    ------
    OSError
        Where the file cannot be written.
    """
    with as_os_errors():
        save(os.fsdecode(model_file_name), model.stored)


def train(arg1: Any, arg2: Any = None, arg3: Any = None) -> Any:
    """Train a model: train(y, x [, options]), train(prob [, options]) or train(prob, param).

    Parameters
    ----------
    arg1 : list, tuple or array, or problem
        Labels y, or labelled rows.  The bias of a problem becomes that of the options.
    arg2 : rows, or str, list, parameter or None
        Rows x (see `problem`) behind labels; options behind a problem.
    arg3 : str, list, parameter or None
        Options (see `parameter`) behind labels and rows.

    Returns
    -------
    model
        The model, without -v and -C.
    float
        With -v: accuracy in percent, or mean squared error.
    tuple of float
        With -C: best C, best p (-1 unless -s 11), and the accuracy (from 0 to 1) or mean squared error there.

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
    prob.set_bias(settings.problem.bias)
    run = LinearRun(prob.rows, settings, request, Output(param.print_func))
    if request.find_C:
        best = run.search().best
        regression = run.settings.row.kind == "regression"
        return (best.C, best.p, -best.score) if regression else (best.C, -1.0, best.score)
    if request.folds is not None:
        accuracy, error, _ = evaluations(prob.y, run.validate())
        return error if run.settings.row.kind == "regression" else accuracy
    done = run.train()
    return model(done.model, done.certificate, param.of_model(run.settings))


def _arguments(arg1: Any, arg2: Any, arg3: Any) -> tuple[problem, parameter]:
    if isinstance(arg1, (list, tuple, np.ndarray)):
        if arg2 is None:
            raise TypeError("train(y, x [, options]): x is missing")
        return problem(arg1, arg2), arg3 if isinstance(arg3, parameter) else parameter(arg3)
    if isinstance(arg1, problem):
        return arg1, arg2 if isinstance(arg2, parameter) else parameter(arg2)
    raise TypeError("Wrong types for the arguments")


def predict(y: Any, x: Any, m: model, options: Any = "") -> tuple[list[float], tuple[float, float, float], list[Any]]:
    """Predict rows and print how many predictions are right.

    Parameters
    ----------
    y : list, tuple or array
        True labels or values; empty: unknown, and taken as 0.
    x : rows
        See `problem`.
    m : model
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
        Of each row the decision values (one for two classes) or, with -b 1, the probabilities in the order of the
        model's labels.

    Raises
    ------
    TypeError
        Where the model gives no probabilities, and for other types of arguments.
    ValueError
        For faulty options, and for lengths that differ.
    """
    probability, quiet = prediction(options)
    truth, rows = labels_of(y, False), dataset(None, x)
    labels, values = toPyModel(m).answers(rows, probability)
    measures = report(truth, labels, m.is_regression_model(), quiet)
    return labels.tolist(), measures, values.tolist()
