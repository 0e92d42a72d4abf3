"""Regularised least squares, min |w|^2 / 2 + C sum (1 - y w.x)^2, in the two ways that Keerthi and DeCoste compare: by
conjugate gradients ("CGLS", their Section 4.3 with the rule of Eq. 13) and by factorising X'X ("factorisation").

A step is eps of Eq. 13; settings: C.  Both are numpy and scipy on one core.
"""

from __future__ import annotations

import time

import numpy as np
import scipy
import scipy.linalg

from experiments.problem import Fitted, Problem

EPS = 1e-6  # the paper's
DENSE = 0.5  # share of non-zeros from which a dense matrix is faster


def VERSION() -> str:
    return f"scipy {scipy.__version__}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    X, (n, d) = problem.X, problem.X.shape
    X = X.toarray() if X.nnz > DENSE * n * d else X
    nu = 0.5 / problem.C
    start = time.perf_counter()
    w, count = cgls(X, problem.y, nu, step or EPS) if method == "CGLS" else (factorised(X, problem.y, nu), 1)
    return Fitted(time.perf_counter() - start, w, facts={"iterations": count})


def cgls(X, y: np.ndarray, nu: float, eps: float) -> tuple[np.ndarray, int]:
    """min nu |w|^2 + |y - X w|^2 from w = 0, until |r| <= eps |z|; returns w and the number of steps."""
    w, z = np.zeros(X.shape[1]), y.copy()
    r = X.T @ z
    p, square, count = r.copy(), float(r @ r), 0
    while square > (eps * eps) * float(z @ z) and count < 10 * len(w):
        q = X @ p
        gamma = square / (float(q @ q) + nu * float(p @ p))
        w += gamma * p
        z -= gamma * q
        r = X.T @ z - nu * w
        square, before = float(r @ r), square
        p = r + (square / before) * p
        count += 1
    return w, count


def factorised(X, y: np.ndarray, nu: float) -> np.ndarray:
    """(X'X + nu I) w = X'y by Cholesky's factors."""
    gram = X.T @ X
    gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
    gram[np.diag_indices_from(gram)] += nu
    return scipy.linalg.cho_solve(scipy.linalg.cho_factor(gram, overwrite_a=True), X.T @ y)
