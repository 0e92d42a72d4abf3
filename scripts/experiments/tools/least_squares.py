"""Regularised least squares, min |w|^2 / 2 + C sum (1 - y w.x)^2, in the two ways that Keerthi and DeCoste compare: by
conjugate gradients ("CGLS", their Section 4.3 with the rule of Eq. 13) and by factorising X'X ("factorisation").

A step is eps of Eq. 13; settings: C.  Both are numpy and scipy on one core.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.linalg

from experiments.problem import Fitted, Problem
from svmtool.papers.mfn_steps import cgls

EPS = 1e-6  # the paper's
DENSE = 0.5  # share of non-zeros from which a dense matrix is faster


def VERSION() -> str:
    return f"scipy {scipy.__version__}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    X, y, (n, d) = problem.X, problem.y, problem.X.shape
    X = X.toarray() if X.nnz > DENSE * n * d else X
    nu, count = 0.5 / problem.C, 1
    start = time.perf_counter()
    if method == "CGLS":
        w, _, _, count = cgls(X, y, np.ones(n), nu, np.zeros(d), step or EPS, 10 * d)
    else:  # (X'X + nu I) w = X'y by Cholesky's factors
        gram = X.T @ X
        gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
        gram[np.diag_indices_from(gram)] += nu
        w = scipy.linalg.solve(gram, X.T @ y, overwrite_a=True, assume_a="pos")
    return Fitted(time.perf_counter() - start, w, facts={"iterations": count})
