"""scikit-learn's estimators, and those of scikit-learn-intelex, with their default tolerances and limits."""

from __future__ import annotations

import importlib
from typing import Any

from bench.peers import Fit
from bench.problem import Problem

NO_BIAS: dict[str, Any] = {"fit_intercept": False}
# class of estimator -> LIBLINEAR's number of its problem -> keywords
ESTIMATORS: dict[str, dict[int, dict[str, Any]]] = {
    "svm.LinearSVC": {1: {"dual": True}, 2: {"dual": False}, 3: {"loss": "hinge", "dual": True}},
    "svm.LinearSVR": {
        11: {"loss": "squared_epsilon_insensitive", "dual": False, "epsilon": 0.1},
        12: {"loss": "squared_epsilon_insensitive", "dual": True, "epsilon": 0.1}, 13: {"dual": True, "epsilon": 0.1},
    },
    "linear_model.LogisticRegression": {0: {}, 7: {"solver": "liblinear", "dual": True}},
}  # fmt: skip
KERNELS: dict[str, dict[int, dict[str, Any]]] = {"svm.SVC": {0: {}}, "svm.SVR": {3: {"epsilon": 0.1}}}


class Estimator(Fit):
    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        module, name = self.name.rsplit(".", 1)
        more = {"gamma": "auto"} if problem.kernel else NO_BIAS
        keywords = (KERNELS if problem.kernel else ESTIMATORS)[self.name.partition(".")[2]][problem.solver]
        return getattr(importlib.import_module(module), name)(C=problem.C, **more, **keywords).fit(X, y)

    def solves(self, problem: Problem, classes: int | None) -> bool:
        """Its logistic regression of several classes is another problem."""
        several = "Logistic" in self.name and (classes or 0) > 2
        return not several and super().solves(problem, classes)


PEERS = [Estimator(f"sklearn.{n}", "svmtool.fit", tuple(k), (), "sklearn") for n, k in ESTIMATORS.items()]
PEERS += [
    Estimator(f"{module}.{name}", "svmtool.fit", (), tuple(keywords), module)
    for name, keywords in KERNELS.items()
    for module in ("sklearn", "sklearnex")
]
