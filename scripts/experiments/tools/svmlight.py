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
from typing import Any

import numpy as np

from experiments.problem import Fitted, Problem

WORD = np.dtype([("number", "i8"), ("value", "f4"), ("", "V4")])  # numbers begin at 1; 0 ends a row


def structure(name: str, fields: str) -> type[ctypes.Structure]:
    """A structure of C: its fields as `type: names`, in their order."""
    parts = (part.split(":") for part in fields.split(";"))
    return type(name, (ctypes.Structure,), {"_fields_": [(f, KINDS[k.strip()]) for k, names in parts
                                                         for f in names.split()]})  # fmt: skip


KINDS: dict[str, Any] = {
    "long": c_long, "double": c_double, "text": c_char * 200, "short text": c_char * 50, "pointer": c_void_p,
    "doubles": POINTER(c_double), "longs": POINTER(c_long), "six": c_double * 6,
}  # fmt: skip
LearnParm = structure("LearnParm", """long: type; double: svm_c eps svm_costratio transduction_posratio;
    long: biased_hyperplane sharedslack svm_maxqpsize svm_newvarsinqp kernel_cache_size;
    double: epsilon_crit epsilon_shrink; long: svm_iter_to_shrink maxiter remove_inconsistent skip_final_opt_check
    compute_loo; double: rho; long: xa_depth; text: predfile alphafile; double: epsilon_const epsilon_a opt_precision;
    long: svm_c_steps; double: svm_c_factor svm_costratio_unlab svm_unlabbound; doubles: svm_cost; long: totwords""")
KernelParm = structure("KernelParm", """long: kernel_type poly_degree; double: rbf_gamma coef_lin coef_const;
    short text: custom""")
Doc = structure("Doc", "long: docnum queryid; double: costfactor; long: slackid; pointer: f")
KINDS |= {"docs": POINTER(POINTER(Doc)), "kernel": KernelParm}
Model = structure("Model", """long: sv_num at_upper_bound; double: b; docs: supvec; doubles: alpha; longs: index;
    long: totwords totdoc; kernel: kernel_parm; six: estimates; doubles: lin_weights; double: maxdiff""")


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
