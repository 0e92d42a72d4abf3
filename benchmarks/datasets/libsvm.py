"""A file in LIBSVM's text format with two labels: benchopt run benchmarks -d 'libsvm[path=/sets/a9a]'."""

from pathlib import Path

import numpy as np
from benchopt import BaseDataset

BREAST_CANCER = Path(__file__).resolve().parent.parent.parent / "data" / "breast_cancer"


class Dataset(BaseDataset):
    name = "libsvm"
    requirements = ["numpy", "scikit-learn"]
    parameters = {"path": [str(BREAST_CANCER)]}

    def get_data(self):
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(self.path)
        return {"X": X, "y": np.where(y == y.max(), 1.0, -1.0)}
