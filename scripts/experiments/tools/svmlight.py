"""SVM-light 6.02 (hinge, a free bias) from the package svmlight of 2012.

The package builds but its module is for Python 2: importing it ends in "undefined symbol: PyCObject_Check".  Its
library holds SVM-light's own functions, which are called here by ctypes with svm_learn's default options.
Methods: "linear", "rbf".  A step is -e; settings: C, gamma, cache_mb.  Features are float32 within SVM-light.
"""

from __future__ import annotations

import ctypes
import os
import sysconfig
import time
from ctypes import POINTER, c_char, c_double, c_long, c_void_p
from importlib.metadata import distribution

import numpy as np

from experiments.problem import Fitted, Problem

WORD = np.dtype([("number", "i8"), ("value", "f4"), ("", "V4")])  # numbers begin at 1; 0 ends a row


class LearnParm(ctypes.Structure):
    _fields_ = [
        ("type", c_long), ("svm_c", c_double), ("eps", c_double), ("svm_costratio", c_double),
        ("transduction_posratio", c_double), ("biased_hyperplane", c_long), ("sharedslack", c_long),
        ("svm_maxqpsize", c_long), ("svm_newvarsinqp", c_long), ("kernel_cache_size", c_long),
        ("epsilon_crit", c_double), ("epsilon_shrink", c_double), ("svm_iter_to_shrink", c_long), ("maxiter", c_long),
        ("remove_inconsistent", c_long), ("skip_final_opt_check", c_long), ("compute_loo", c_long), ("rho", c_double),
        ("xa_depth", c_long), ("predfile", c_char * 200), ("alphafile", c_char * 200), ("epsilon_const", c_double),
        ("epsilon_a", c_double), ("opt_precision", c_double), ("svm_c_steps", c_long), ("svm_c_factor", c_double),
        ("svm_costratio_unlab", c_double), ("svm_unlabbound", c_double), ("svm_cost", POINTER(c_double)),
        ("totwords", c_long),
    ]  # fmt: skip


class KernelParm(ctypes.Structure):
    _fields_ = [
        ("kernel_type", c_long), ("poly_degree", c_long), ("rbf_gamma", c_double), ("coef_lin", c_double),
        ("coef_const", c_double), ("custom", c_char * 50),
    ]  # fmt: skip


class Doc(ctypes.Structure):
    _fields_ = [("docnum", c_long), ("queryid", c_long), ("costfactor", c_double), ("slackid", c_long), ("f", c_void_p)]


class Model(ctypes.Structure):
    _fields_ = [
        ("sv_num", c_long), ("at_upper_bound", c_long), ("b", c_double), ("supvec", POINTER(POINTER(Doc))),
        ("alpha", POINTER(c_double)), ("index", POINTER(c_long)), ("totwords", c_long), ("totdoc", c_long),
        ("kernel_parm", KernelParm), ("estimates", c_double * 6), ("lin_weights", POINTER(c_double)),
        ("maxdiff", c_double),
    ]  # fmt: skip


def VERSION() -> str:
    _library()
    return f"SVM-light 6.02 (svmlight {distribution('svmlight').version})"


def _library() -> ctypes.CDLL:
    path = distribution("svmlight").locate_file(f"svmlight{sysconfig.get_config_var('EXT_SUFFIX')}")
    library = ctypes.CDLL(str(path), mode=os.RTLD_LAZY)  # the symbols of Python 2 are not called
    library.create_svector.restype = library.create_example.restype = library.kernel_cache_init.restype = c_void_p
    library.create_svector.argtypes = [c_void_p, ctypes.c_char_p, c_double]
    library.create_example.argtypes = [c_long, c_long, c_long, c_double, c_void_p]
    library.kernel_cache_init.argtypes = [c_long, c_long]
    library.svm_learn_classification.argtypes = [c_void_p, c_void_p, c_long, c_long, *[c_void_p] * 5]
    c_long.in_dll(library, "verbosity").value = 0
    return library


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    library, X, (n, d) = _library(), problem.X, problem.X.shape
    gamma, labels = settings.get("gamma", 1.0 / d), np.ascontiguousarray(problem.y)
    docs = (c_void_p * n)(*(_row(library, X, i) for i in range(n)))
    learn = LearnParm(
        type=1, svm_c=problem.C, eps=0.1, svm_costratio=1.0, transduction_posratio=-1.0, biased_hyperplane=1,
        svm_maxqpsize=10, svm_newvarsinqp=10, kernel_cache_size=int(settings.get("cache_mb", 1000)),
        epsilon_crit=1e-3 if step is None else step, svm_iter_to_shrink=2 if method == "linear" else 100,
        maxiter=100_000, rho=1.0, predfile=b"trans_predictions", epsilon_a=1e-15, svm_costratio_unlab=1.0,
        svm_unlabbound=1e-5,
    )  # fmt: skip
    kernel = KernelParm(0 if method == "linear" else 2, 3, gamma, 1.0, 1.0, b"")
    model = Model()
    start = time.perf_counter()
    cache = None if method == "linear" else c_void_p(library.kernel_cache_init(n, learn.kernel_cache_size))
    library.svm_learn_classification(
        docs, labels.ctypes.data, n, d, ctypes.byref(learn), ctypes.byref(kernel),
        None if cache is None else ctypes.cast(cache, c_void_p), ctypes.byref(model), None,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    at = range(1, model.sv_num)
    rows = np.array([model.supvec[k].contents.docnum for k in at], dtype=int)
    coefficients = np.array([model.alpha[k] for k in at])
    if method == "linear":
        return Fitted(seconds, X[rows].T @ coefficients, -model.b, facts={"support": len(rows)})
    return Fitted(seconds, kernel=(X[rows], coefficients, -model.b, gamma))


def _row(library: ctypes.CDLL, X, i: int) -> int:
    """SVM-light's row number i."""
    at = slice(X.indptr[i], X.indptr[i + 1])
    words = np.zeros(at.stop - at.start + 1, dtype=WORD)
    words["number"][:-1], words["value"][:-1] = X.indices[at] + 1, X.data[at]
    return library.create_example(i, 0, 0, 1.0, library.create_svector(words.ctypes.data, b"", 1.0))
