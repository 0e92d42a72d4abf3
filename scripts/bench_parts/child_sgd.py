"""Child process: times scikit-learn's SGDClassifier (hinge, as Pegasos).  Arguments: training file, test file."""

from __future__ import annotations

import json
import sys
import time
import warnings

from sklearn.datasets import load_svmlight_files
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier


def main() -> None:
    X, y, Z, t = load_svmlight_files(sys.argv[1:3])
    for M in (X, Z):  # required by it
        M.indices, M.indptr = M.indices.astype("i4"), M.indptr.astype("i4")
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = SGDClassifier(alpha=1.0 / len(y), fit_intercept=False, random_state=1)  # objective with C = 1, over n
    start = time.perf_counter()
    model.fit(X, y)
    print(json.dumps({"seconds": time.perf_counter() - start, "accuracy": float(model.score(Z, t))}))


if __name__ == "__main__":
    main()
