"""LIBLINEAR by its own Python module, on the primal or the dual problem."""

import numpy as np
import scipy.sparse
from benchopt import BaseSolver

NUMBERS = {
    ("hinge", "dual"): 3, ("squared_hinge", "primal"): 2, ("squared_hinge", "dual"): 1, ("logistic", "primal"): 0,
    ("logistic", "dual"): 7,
}  # fmt: skip


class Solver(BaseSolver):
    name = "LIBLINEAR"
    requirements = ["pip::liblinear-official"]
    parameters = {"form": ["primal", "dual"]}

    def skip(self, X, y, C, loss):
        there = (loss, self.form) in NUMBERS
        return not there, None if there else f"no {self.form} solver of {loss}"

    def set_objective(self, X, y, C, loss):
        from liblinear.liblinearutil import problem

        self.options = f"-s {NUMBERS[loss, self.form]} -c {C!r} -q"
        self.problem = problem(y, scipy.sparse.csr_matrix(X))

    def run(self, tolerance):
        from liblinear.liblinearutil import parameter, train

        self.model = train(self.problem, parameter(f"{self.options} -e {max(tolerance, 1e-15)!r}"))

    def get_result(self):
        w = np.ctypeslib.as_array(self.model.w, (self.model.nr_feature,)).copy()
        return {"w": w if self.model.label[0] > 0 else -w}
