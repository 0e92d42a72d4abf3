"""scikit-learn's LinearSVC and LogisticRegression."""

import warnings

from benchopt import BaseSolver

ITERATIONS = 10_000_000  # the tolerance ends a run


class Solver(BaseSolver):
    name = "scikit-learn"
    requirements = ["scikit-learn"]

    def set_objective(self, X, y, C, loss):
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        self.X, self.y = X, y
        common = {"C": C, "fit_intercept": False, "max_iter": ITERATIONS}
        if loss == "logistic":
            self.model = LogisticRegression(**common)
        else:
            self.model = LinearSVC(loss=loss, dual=True if loss == "hinge" else "auto", **common)

    def run(self, tolerance):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.set_params(tol=max(tolerance, 1e-15)).fit(self.X, self.y)

    def get_result(self):
        return {"w": self.model.coef_.ravel()}
