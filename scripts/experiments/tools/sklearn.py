"""scikit-learn: LinearSVC without bias, "TRON" (squared hinge, its dual=False: LIBLINEAR's trust-region Newton method,
tron.cpp, which LIBLINEAR itself has replaced), SVC, RidgeClassifier (least squares, without bias) and SGDOneClassSVM
over Nystroem's features of the RBF kernel.

A step is tol.  Settings: C, for SVC gamma and cache_mb, for the one-class SVM gamma and nu.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from experiments.problem import Fitted, Problem

METHODS = ("TRON", "SVC", "RidgeClassifier", "SGDOneClassSVM")
NYSTROEM = 100  # features, its default


def VERSION() -> str:
    import sklearn

    return f"scikit-learn {sklearn.__version__}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    from sklearn.linear_model import RidgeClassifier
    from sklearn.svm import SVC, LinearSVC

    warnings.simplefilter("ignore")  # the evaluator reports runs that have not converged
    if method == "SGDOneClassSVM":
        return _novelty(problem, settings)
    tolerance = {} if step is None else {"tol": step}
    if method == "SVC":
        gamma = settings.get("gamma", 1.0 / problem.X.shape[1])
        machine = SVC(C=problem.C, gamma=gamma, cache_size=settings.get("cache_mb", 1000), **tolerance)
        return kernel_fit(machine, problem, gamma)
    if method == "RidgeClassifier":
        machine = RidgeClassifier(alpha=0.5 / problem.C, fit_intercept=False, random_state=problem.run, **tolerance)
    else:
        machine = LinearSVC(
            C=problem.C, loss="squared_hinge", dual=False, fit_intercept=False, max_iter=100_000,
            random_state=problem.run, **tolerance,
        )  # fmt: skip
    start = time.perf_counter()
    machine.fit(problem.X, problem.y)
    return Fitted(time.perf_counter() - start, machine.coef_.ravel(), float(np.ravel(machine.intercept_)[0]))


def _novelty(problem: Problem, settings: dict) -> Fitted:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDOneClassSVM
    from sklearn.pipeline import make_pipeline

    columns = min(NYSTROEM, problem.X.shape[0])
    features = Nystroem(gamma=settings.get("gamma"), n_components=columns, random_state=problem.run)
    machine = make_pipeline(features, SGDOneClassSVM(nu=settings.get("nu", 0.5), random_state=problem.run))
    start = time.perf_counter()
    machine.fit(problem.X)
    return Fitted(time.perf_counter() - start, decide=machine.decision_function)


def kernel_fit(machine, problem: Problem, gamma: float) -> Fitted:
    """An SVC's fit: dense rows where more than a tenth of the values are not 0, which is faster for it."""
    X = problem.X.toarray() if problem.X.nnz > 0.1 * problem.X.shape[0] * problem.X.shape[1] else problem.X
    start = time.perf_counter()
    machine.fit(X, problem.y)
    seconds = time.perf_counter() - start
    coefficients = machine.dual_coef_
    coefficients = (coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients)[0]
    return Fitted(seconds, kernel=(problem.X[machine.support_], coefficients, float(machine.intercept_[0]), gamma))
