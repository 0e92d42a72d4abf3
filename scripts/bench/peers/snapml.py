"""snapml's estimators of two classes (pip install snapml)."""

from __future__ import annotations

import os
from typing import Any

from bench.peers import Fit
from bench.problem import Problem


class Snap(Fit):
    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        import snapml

        options = {"regularizer": 1.0 / problem.C, "fit_intercept": False, "n_jobs": os.cpu_count()}
        if problem.solver == 3:
            return snapml.SupportVectorMachine(loss="hinge", **options).fit(X, y)
        return snapml.LogisticRegression(dual=True, **options).fit(X, y)

    def solves(self, problem: Problem, classes: int | None) -> bool:
        return classes == 2 and super().solves(problem, classes)


PEERS = [Snap("snapml", "svmtool.fit", (0, 3), (), "snapml")]
