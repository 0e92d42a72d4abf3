"""Rows on both sides of a plane, with noise."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "simulated"
    requirements = ["numpy"]
    parameters = {"n_samples, n_features": [(2000, 50), (500, 2000)], "noise": [0.5], "seed": [1]}

    def get_data(self):
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n_samples, self.n_features))
        z = X @ rng.standard_normal(self.n_features)
        z = z / z.std() + self.noise * rng.standard_normal(self.n_samples)
        return {"X": X, "y": np.where(z > 0.0, 1.0, -1.0)}
