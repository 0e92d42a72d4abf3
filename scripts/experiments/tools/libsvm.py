"""LIBSVM by its own Python package (libsvm-official): C-SVC with the RBF kernel, or linear, and one-class SVM (RBF).

Methods are "-s 0", "-s 0 -t 0" and "-s 2".  A step is -e; settings: C, gamma, nu, cache_mb.
"""

from __future__ import annotations

import time
from importlib.metadata import version

import numpy as np

from experiments.problem import Fitted, Problem


def VERSION() -> str:
    return f"LIBSVM {version('libsvm-official')}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    from libsvm.svm import libsvm, svm_parameter, svm_problem, toPyModel

    gamma = settings.get("gamma", 1.0 / problem.X.shape[1])
    asked = svm_parameter(
        f"{method} -c {problem.C!r} -g {gamma!r} -n {settings.get('nu', 0.5)} -m {settings.get('cache_mb', 1000)} -q"
        + ("" if step is None else f" -e {step!r}")
    )
    rows = svm_problem(problem.y, problem.X)
    start = time.perf_counter()
    found = libsvm.svm_train(rows, asked)
    seconds = time.perf_counter() - start
    model = toPyModel(found)
    sign = 1.0 if method == "-s 2" or model.get_labels()[0] == 1 else -1.0
    coefficients = sign * np.array([c[0] for c in model.get_sv_coef()])
    support = problem.X[np.array(model.get_sv_indices()) - 1]
    b = -sign * float(model.rho[0])
    if method == "-s 0 -t 0":
        return Fitted(seconds, support.T @ coefficients, b, facts={"support": support.shape[0]})
    return Fitted(seconds, kernel=(support, coefficients, b, gamma))
