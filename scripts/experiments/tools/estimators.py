"""Packages whose estimators are called as scikit-learn's, without bias except with a kernel.

sklearn     "TRON" (squared hinge, LinearSVC with dual=False: LIBLINEAR's trust-region Newton method, tron.cpp, which
            LIBLINEAR itself has replaced), "SVC", "RidgeClassifier" (least squares) and "SGDOneClassSVM" over
            Nystroem's features of the RBF kernel; a step is tol
onedal      "SVC" of scikit-learn-intelex; a step is tol
lightning   "PCD": primal coordinate descent (Chang, Hsieh and Lin, 2008), squared hinge; a step is a number of passes
skglm       "LinearSVC, all rows": hinge, coordinate descent on the dual without working sets, which grow too slowly
            where many multipliers are at a bound; a step is a number of epochs
snapml      "SVM hinge", "SVM squared": dual coordinate descent; a step is [tol, threads]; more threads are not always
            faster; its regularizer is 1 / C: it minimises regularizer / 2 |w|^2 + sum

Settings: C, for SVC gamma and cache_mb, for the one-class SVM gamma and nu.
"""

from __future__ import annotations

import time
import warnings
from importlib import import_module
from importlib.metadata import version
from typing import Any

from experiments.problem import Fitted, Problem

PACKAGES = {  # name in reports, distribution, module
    "sklearn": ("scikit-learn", "scikit-learn", "sklearn"),
    "onedal": ("oneDAL", "scikit-learn-intelex", "sklearnex"),
    "lightning": ("lightning", "sklearn-contrib-lightning", "lightning.classification"),
    "skglm": ("skglm", "skglm", "skglm"),
    "snapml": ("Snap ML", "snapml", "snapml"),
}
NYSTROEM = 100  # features, its default


def version_of(name: str) -> str:
    label, distribution, module = PACKAGES[name]
    import_module(module)
    return f"{label} {version(distribution)}"


def fit(name: str, problem: Problem, method: str, step: Any, settings: dict) -> Fitted:
    warnings.simplefilter("ignore")  # the evaluator reports runs that have not converged
    X, gamma = problem.X, settings.get("gamma", 1.0 / problem.X.shape[1])
    machine = _machine(name, problem, method, step, settings, gamma)
    if method == "SVC":  # dense rows where more than a tenth of the values are not 0, which is faster for it
        X = X.toarray() if X.nnz > 0.1 * X.shape[0] * X.shape[1] else X
    elif name == "lightning":
        X = X.tocsc()
    start = time.perf_counter()
    machine.fit(X) if method == "SGDOneClassSVM" else machine.fit(X, problem.y)
    seconds = time.perf_counter() - start
    if method == "SGDOneClassSVM":
        return Fitted(seconds, decide=machine.decision_function)
    if method != "SVC":
        return Fitted(seconds, machine.coef_.ravel().astype("f8"))
    if name == "onedal" and not hasattr(machine, "_onedal_estimator"):
        raise RuntimeError("scikit-learn-intelex left this fit to scikit-learn")
    coefficients = machine.dual_coef_
    coefficients = (coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients)[0]
    return Fitted(seconds, kernel=(problem.X[machine.support_], coefficients, float(machine.intercept_[0]), gamma))


def _machine(name: str, problem: Problem, method: str, step: Any, settings: dict, gamma: float) -> Any:
    C, seed, tolerance = problem.C, {"random_state": problem.run}, {} if step is None else {"tol": step}
    if name == "lightning":
        from lightning.classification import CDClassifier

        stop = {"max_iter": step or 20, "tol": 0.0, "shrinking": False}
        return CDClassifier(loss="squared_hinge", penalty="l2", C=C, alpha=1.0, **stop, **seed)
    if name == "skglm":
        from skglm import LinearSVC

        return LinearSVC(C=C, fit_intercept=False, max_iter=1, max_epochs=step, p0=len(problem.y), tol=1e-9)
    if name == "snapml":
        from snapml import SupportVectorMachine

        tol, threads = step or (1e-3, 1)
        loss = "hinge" if method == "SVM hinge" else "squared_hinge"
        return SupportVectorMachine(loss=loss, regularizer=1.0 / C, max_iter=10_000, tol=tol, n_jobs=threads, **seed)
    if method == "SVC":
        SVC = import_module("sklearnex.svm" if name == "onedal" else "sklearn.svm").SVC
        return SVC(C=C, gamma=gamma, cache_size=settings.get("cache_mb", 1000), **tolerance)
    if method == "SGDOneClassSVM":
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import SGDOneClassSVM
        from sklearn.pipeline import make_pipeline

        features = Nystroem(gamma=settings.get("gamma"), n_components=min(NYSTROEM, problem.X.shape[0]), **seed)
        return make_pipeline(features, SGDOneClassSVM(nu=settings.get("nu", 0.5), **seed))
    if method == "RidgeClassifier":
        from sklearn.linear_model import RidgeClassifier

        return RidgeClassifier(alpha=0.5 / C, fit_intercept=False, **seed, **tolerance)
    from sklearn.svm import LinearSVC

    plain = {"dual": False, "fit_intercept": False, "max_iter": 100_000}
    return LinearSVC(C=C, loss="squared_hinge", **plain, **seed, **tolerance)
