"""svmtool by LIBLINEAR's numbers; the tolerance is the certified gap."""

from benchopt import BaseSolver

NUMBERS = {
    ("hinge", "dual"): 3, ("squared_hinge", "primal"): 2, ("squared_hinge", "dual"): 1, ("logistic", "primal"): 0,
    ("logistic", "dual"): 7,
}  # fmt: skip


class Solver(BaseSolver):
    name = "svmtool"
    requirements = ["pip::svmtool"]
    parameters = {"form": ["primal", "dual"]}

    def skip(self, X, y, C, loss):
        there = (loss, self.form) in NUMBERS
        return not there, None if there else f"no {self.form} solver of {loss}"

    def set_objective(self, X, y, C, loss):
        self.X, self.y = X, y
        self.problem = {"solver": NUMBERS[loss, self.form], "C": C}

    def run(self, tolerance):
        import svmtool

        self.fit = svmtool.fit(self.X, self.y, gap=min(0.5, max(tolerance, 1e-13)), **self.problem)

    def get_result(self):
        sign = 1.0 if self.fit.model.labels[0] > 0 else -1.0
        return {"w": sign * self.fit.model.W[:, 0], "gap": self.fit.certificate.gap}
