"""LIBLINEAR and LIBSVM by their own Python packages, and estimators, without bias except with a kernel.

liblinear   "-s N"; a step is -e
libsvm      "-s 0" and "-s 2" with the RBF kernel, "-s 0 -t 0"; a step is -e
sklearn     "TRON" (squared hinge: LIBLINEAR's trust-region Newton method, tron.cpp, which LIBLINEAR itself has
            replaced), "SVC" and "RidgeClassifier" (least squares); a step is tol; "SGD": hinge, steps along single
            rows' subgradients, of length 1 / (lambda t) like Pegasos; a step is a number of passes

Settings: C, with the RBF kernel gamma and cache_mb, for the one-class SVM gamma and nu.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import packages
from experiments.problem import SEED, Fitted, Problem

METHODS = {
    "TRON": "LinearSVC(C=C, dual=False, fit_intercept=False, max_iter=100_000, **seed, **tol)",
    "SVC": "SVC(C=C, gamma=gamma, cache_size=cache_mb, **tol)",
    "RidgeClassifier": "RidgeClassifier(alpha=0.5 / C, fit_intercept=False, **seed, **tol)",
    "SGD": "SGDClassifier(alpha=1 / (C * n), fit_intercept=False, max_iter=step or 5, tol=None, **seed)",
}


def fit(name: str, problem: Problem, method: str, step: Any, settings: dict) -> Fitted:
    warnings.simplefilter("ignore")  # the evaluator reports runs that have not converged
    X, y, (n, d) = problem.X, problem.y, problem.X.shape
    given = {"gamma": 1.0 / d, "nu": 0.5, "cache_mb": 1000, **settings, "C": problem.C}
    if name in packages.C_PACKAGES:
        words = f"{method} -c {problem.C!r}" + ("" if step is None else f" -e {step!r}")
        if name == "libsvm":
            words += " -g {gamma!r} -n {nu!r} -m {cache_mb!r}".format(**given)
        rows = packages.rows_of(name, X, y)
        start = time.perf_counter()
        return Fitted.of(packages.trained(name, words, rows), start, d)
    if method == "SVC":  # dense rows where more than a tenth of the values are not 0, which is faster for it
        X = X.toarray() if X.nnz > 0.1 * n * d else X
    more = {"seed": {"random_state": SEED}, "tol": {} if step is None else {"tol": step}, "step": step, "n": n}
    machine = packages.estimator(name, METHODS[method], **given, **more)
    start = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - start
    return Fitted.of(machine, start, d) if method == "SVC" else Fitted(seconds, machine.coef_.ravel().astype("f8"))
