"""Child process: scikit-learn on the same problem, including reading.  Arguments: file, solver (1: dual, 2: primal)."""

from __future__ import annotations

import sys
import warnings

from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC


def main() -> None:
    X, y = load_svmlight_file(sys.argv[1])
    X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")  # required by LinearSVC
    dual = sys.argv[2] == "1"
    warnings.simplefilter("ignore", ConvergenceWarning)  # of LIBLINEAR's iteration limit
    LinearSVC(C=1.0, dual=dual, tol=0.1 if dual else 0.01, fit_intercept=False, max_iter=300 if dual else 1000).fit(
        X, y
    )


if __name__ == "__main__":
    main()
