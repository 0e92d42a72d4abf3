"""The primal objective of linear classifiers of two classes without a bias, and the gap that a solver certifies."""

import numpy as np
from benchopt import BaseObjective
from benchopt.stopping_criterion import SufficientProgressCriterion

LOSSES = {
    "hinge": lambda z: np.maximum(0.0, 1.0 - z),
    "squared_hinge": lambda z: np.maximum(0.0, 1.0 - z) ** 2,
    "logistic": lambda z: np.logaddexp(0.0, -z),
}


class Objective(BaseObjective):
    """1/2 |w|^2 + C sum_i loss(y_i x_i w), labels y of -1 and 1."""

    name = "Linear SVM"
    min_benchopt_version = "1.6"
    requirements = ["numpy", "scipy"]
    sampling_strategy = "tolerance"
    # several tolerances in a row can give the same model
    stopping_criterion = SufficientProgressCriterion(patience=15, strategy="tolerance")
    parameters = {"loss": list(LOSSES), "C": [0.01, 1.0]}

    def set_data(self, X, y):
        self.X, self.y = X, y

    def get_objective(self):
        return {"X": self.X, "y": self.y, "C": self.C, "loss": self.loss}

    def evaluate_result(self, w, gap=np.nan):
        """gap: (P - D)/P of a solver that has a dual point; P is at most this far above the minimum, relative to P."""
        value = 0.5 * float(w @ w) + self.C * float(np.sum(LOSSES[self.loss](self.y * (self.X @ w))))
        return {"value": value, "certified_gap": gap}

    def get_one_result(self):
        return {"w": np.zeros(self.X.shape[1])}
