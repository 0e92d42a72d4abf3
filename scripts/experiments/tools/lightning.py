"""sklearn-contrib-lightning's CDClassifier: primal coordinate descent (PCD; Chang, Hsieh and Lin, 2008), squared hinge.

The method is "PCD".  A step is the number of passes over the features; settings: C.  Without bias.
"""

from __future__ import annotations

import time
import warnings
from importlib.metadata import version

from experiments.problem import Fitted, Problem

METHODS = ("PCD",)


def VERSION() -> str:
    import lightning.classification

    return f"lightning {version('sklearn-contrib-lightning')}" if lightning.classification else ""


def fit(problem: Problem, method: str, step: int | None, settings: dict) -> Fitted:
    from lightning.classification import CDClassifier

    warnings.simplefilter("ignore")
    machine = CDClassifier(
        loss="squared_hinge", penalty="l2", C=problem.C, alpha=1.0, max_iter=step or 20, tol=0.0, shrinking=False,
        random_state=problem.run,
    )  # fmt: skip
    columns = problem.X.tocsc()
    start = time.perf_counter()
    machine.fit(columns, problem.y)
    return Fitted(time.perf_counter() - start, machine.coef_.ravel().astype("f8"))
