"""skglm's LinearSVC: the hinge."""

from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "skglm"
    requirements = ["pip::skglm"]

    def skip(self, X, y, C, loss):
        return loss != "hinge", None if loss == "hinge" else "it has the hinge alone"

    def set_objective(self, X, y, C, loss):
        from skglm import LinearSVC

        self.X, self.y, self.model = X, y, LinearSVC(C=C, fit_intercept=False)
        self.run(1.0)  # compiles

    def run(self, tolerance):
        self.model.set_params(tol=max(tolerance, 1e-15)).fit(self.X, self.y)

    def get_result(self):
        return {"w": self.model.coef_.ravel()}
