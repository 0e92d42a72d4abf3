"""skglm's LinearSVC (hinge, working sets and coordinate descent on the dual), without bias.

The method is "LinearSVC"; a step is tol; settings: C.
"""

from __future__ import annotations

import time
import warnings
from importlib.metadata import version

from experiments.problem import Fitted, Problem

METHODS = ("LinearSVC",)


def VERSION() -> str:
    return f"skglm {version('skglm')}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    from skglm import LinearSVC

    warnings.simplefilter("ignore")
    machine = LinearSVC(C=problem.C, fit_intercept=False, max_iter=200, **({} if step is None else {"tol": step}))
    start = time.perf_counter()
    machine.fit(problem.X, problem.y)
    return Fitted(time.perf_counter() - start, machine.coef_.ravel().astype("f8"))
