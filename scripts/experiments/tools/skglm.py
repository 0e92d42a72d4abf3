"""skglm's LinearSVC (hinge, working sets and coordinate descent on the dual), without bias.

Methods: "LinearSVC"; a step is tol.  "LinearSVC, all rows": no working sets, which grow too slowly where many
multipliers are at a bound; a step is the number of epochs.  Settings: C.
"""

from __future__ import annotations

import time
import warnings
from importlib.metadata import version

from experiments.problem import Fitted, Problem

METHODS = ("LinearSVC", "LinearSVC, all rows")


def VERSION() -> str:
    return f"skglm {version('skglm')}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    from skglm import LinearSVC

    warnings.simplefilter("ignore")
    if method == "LinearSVC":
        asked = {"max_iter": 200} | ({} if step is None else {"tol": step})
    else:
        asked = {"max_iter": 1, "max_epochs": step, "p0": len(problem.y), "tol": 1e-9}
    machine = LinearSVC(C=problem.C, fit_intercept=False, **asked)
    start = time.perf_counter()
    machine.fit(problem.X, problem.y)
    return Fitted(time.perf_counter() - start, machine.coef_.ravel().astype("f8"))
