"""Snap ML's SupportVectorMachine (dual coordinate descent), without bias.

Methods: "SVM hinge", "SVM squared".  A step is [tol, threads]; more threads are not always faster.
Settings: C (its regularizer is 1 / C: it minimises regularizer / 2 |w|^2 + sum).
"""

from __future__ import annotations

import time
from importlib.metadata import version

from experiments.problem import Fitted, Problem

METHODS = ("SVM hinge", "SVM squared")


def VERSION() -> str:
    return f"Snap ML {version('snapml')}"


def fit(problem: Problem, method: str, step: tuple[float, int] | None, settings: dict) -> Fitted:
    from snapml import SupportVectorMachine

    tol, threads = step or (1e-3, 1)
    machine = SupportVectorMachine(
        loss="hinge" if method == "SVM hinge" else "squared_hinge", regularizer=1.0 / problem.C, max_iter=10_000,
        tol=tol, n_jobs=threads, random_state=problem.run,
    )  # fmt: skip
    start = time.perf_counter()
    machine.fit(problem.X, problem.y)
    return Fitted(time.perf_counter() - start, machine.coef_.ravel().astype("f8"))
