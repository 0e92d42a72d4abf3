"""LIBLINEAR and LIBSVM by their own Python packages, and estimators, without bias except with a kernel.

liblinear   "-s N"; a step is -e
libsvm      "-s 0" and "-s 2" with the RBF kernel, "-s 0 -t 0"; a step is -e
sklearn     "TRON" (squared hinge: LIBLINEAR's trust-region Newton method, tron.cpp, which LIBLINEAR itself has
            replaced), "SVC", "RidgeClassifier" (least squares) and "SGDOneClassSVM" over Nystroem's features of the RBF
            kernel; a step is tol
onedal      "SVC" of scikit-learn-intelex; a step is tol
lightning   "PCD": primal coordinate descent (Chang, Hsieh and Lin, 2008), squared hinge; a step is a number of passes
skglm       "LinearSVC, all rows": hinge, coordinate descent on the dual without working sets, which grow too slowly
            where many multipliers are at a bound; a step is a number of epochs
snapml      "SVM hinge", "SVM squared": dual coordinate descent; a step is [tol, threads]; more threads are not always
            faster; its regularizer is 1 / C: it minimises regularizer / 2 |w|^2 + sum

Settings: C, with the RBF kernel gamma and cache_mb, for the one-class SVM gamma and nu.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import packages
from experiments.problem import SEED, Fitted, Problem

SVC = "SVC(C=C, gamma=gamma, cache_size=cache_mb, **tol)"
SNAPML = "SupportVectorMachine(loss=%r, regularizer=1 / C, max_iter=10_000, tol=step[0], n_jobs=step[1], **seed)"
METHODS = {
    "TRON": "LinearSVC(C=C, dual=False, fit_intercept=False, max_iter=100_000, **seed, **tol)",
    "SVC": SVC,
    "RidgeClassifier": "RidgeClassifier(alpha=0.5 / C, fit_intercept=False, **seed, **tol)",
    "SGDOneClassSVM": "make_pipeline(Nystroem(gamma=gamma, n_components=min(100, n), **seed), "
                      "SGDOneClassSVM(nu=nu, **seed))",
    "PCD": "CDClassifier(loss='squared_hinge', penalty='l2', C=C, alpha=1.0, max_iter=step or 20, tol=0.0, "
           "shrinking=False, **seed)",
    "LinearSVC, all rows": "LinearSVC(C=C, fit_intercept=False, max_iter=1, max_epochs=step, p0=n, tol=1e-9)",
    "SVM hinge": SNAPML % "hinge",
    "SVM squared": SNAPML % "squared_hinge",
}  # fmt: skip


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
    elif name == "lightning":
        X = X.tocsc()
    step = step or (1e-3, 1) if name == "snapml" else step
    more = {"seed": {"random_state": SEED}, "tol": {} if step is None else {"tol": step}, "step": step, "n": n}
    machine = packages.estimator(name, METHODS[method], **given, **more)
    start = time.perf_counter()
    machine.fit(X) if method == "SGDOneClassSVM" else machine.fit(X, y)
    seconds = time.perf_counter() - start
    if method == "SGDOneClassSVM":
        return Fitted(seconds, decide=machine.decision_function)
    if name == "onedal" and not hasattr(machine, "_onedal_estimator"):
        raise RuntimeError("scikit-learn-intelex left this fit to scikit-learn")
    return Fitted.of(machine, start, d) if method == "SVC" else Fitted(seconds, machine.coef_.ravel().astype("f8"))
