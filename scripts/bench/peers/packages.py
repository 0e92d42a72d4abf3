"""LIBLINEAR and LIBSVM as programs and as modules, and estimators, with their default tolerances and limits."""

from __future__ import annotations

import os
from typing import Any

import packages
from bench.peers import Fit, Program
from bench.problem import KERNEL, LINEAR, Problem


class Package(Fit):
    """words: by number, of estimators; most: classes of the problems that it solves as svmtool does."""

    def __init__(self, name: str, package: str, linear: Any, kernel: Any = (), most: dict[int, int] | None = None):
        super().__init__(name, "svmtool.fit", tuple(linear), tuple(kernel), packages.PACKAGES[package][2][0])
        self.package, self.words, self.most = package, (linear, kernel), most or {}

    def solves(self, problem: Problem, classes: int | None) -> bool:
        return super().solves(problem, classes) and (classes or 0) <= self.most.get(problem.solver, 1 << 30)

    def fit(self, problem: Problem, X: Any, y: Any) -> Any:
        if self.package in packages.C_PACKAGES:
            import scipy.sparse

            rows = packages.rows_of(self.package, scipy.sparse.csr_matrix(X), y)
            return packages.trained(self.package, " ".join(problem.options), rows)
        words = self.words[problem.kernel][problem.solver]
        return packages.estimator(self.package, words, C=problem.C, cores=os.cpu_count()).fit(X, y)


SNAPML = "regularizer=1 / C, fit_intercept=False, n_jobs=cores"
PEERS = [
    Program("LIBLINEAR", "svm-train", LINEAR, (), "LIBLINEAR_DIR", "train", "liblinear-train"),
    Program("LIBSVM", "svm-train", (), KERNEL, "LIBSVM_DIR", "svm-train", "libsvm-train"),
    Package("liblinear-official", "liblinear", LINEAR),
    Package("libsvm-official", "libsvm", (), KERNEL),
    Package("sklearn.svm.LinearSVC", "sklearn", {
        1: "LinearSVC(C=C, dual=True, fit_intercept=False)", 2: "LinearSVC(C=C, dual=False, fit_intercept=False)",
        3: "LinearSVC(C=C, loss='hinge', dual=True, fit_intercept=False)",
    }),
    Package("sklearn.svm.LinearSVR", "sklearn", {
        11: "LinearSVR(C=C, loss='squared_epsilon_insensitive', dual=False, epsilon=0.1, fit_intercept=False)",
        12: "LinearSVR(C=C, loss='squared_epsilon_insensitive', dual=True, epsilon=0.1, fit_intercept=False)",
        13: "LinearSVR(C=C, dual=True, epsilon=0.1, fit_intercept=False)",
    }),
    Package("sklearn.linear_model.LogisticRegression", "sklearn", {
        0: "LogisticRegression(C=C, fit_intercept=False)",
        7: "LogisticRegression(C=C, solver='liblinear', dual=True, fit_intercept=False)",
    }, most={0: 2, 7: 2}),
    *(Package(f"{module}.{name}", package, {}, {number: f"{name[4:]}(C=C, gamma='auto'{more})"})
      for module, package in (("sklearn", "sklearn"), ("sklearnex", "onedal"))
      for name, number, more in (("svm.SVC", 0, ""), ("svm.SVR", 3, ", epsilon=0.1"))),
    Package("snapml", "snapml", {0: f"LogisticRegression(dual=True, {SNAPML})",
                                 3: f"SupportVectorMachine(loss='hinge', {SNAPML})"}, most={0: 2, 3: 2}),
]  # fmt: skip
