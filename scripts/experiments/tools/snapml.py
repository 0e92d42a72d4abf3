"""Snap ML's SupportVectorMachine (hinge, dual coordinate descent) on the cores there are, without bias.

The method is "SVM"; a step is tol; settings: C (its regularizer is 1 / C: it minimises regularizer / 2 |w|^2 + sum).
"""

from __future__ import annotations

import os
import time
from importlib.metadata import version

from experiments.problem import Fitted, Problem

METHODS = ("SVM",)


def VERSION() -> str:
    return f"Snap ML {version('snapml')}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    from snapml import SupportVectorMachine

    machine = SupportVectorMachine(
        regularizer=1.0 / problem.C, max_iter=settings.get("epochs", 1000), tol=1e-3 if step is None else step,
        n_jobs=os.cpu_count() or 1, random_state=problem.run,
    )  # fmt: skip
    start = time.perf_counter()
    machine.fit(problem.X, problem.y)
    return Fitted(time.perf_counter() - start, machine.coef_.ravel().astype("f8"))
