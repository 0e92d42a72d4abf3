"""Pegasos as printed: Shalev-Shwartz, Singer and Srebro, Pegasos: Primal Estimated sub-GrAdient SOlver for SVM, ICML
2007, Figure 1 with k = 1 and the projection.

The method is "Pegasos".  A step is the number of iterations over that of rows; settings: C (lambda = 1 / (C n)).  It
has no bias but the rows' own.  The loop is compiled: w = a v, so that a step costs the non-zeros of one row.
"""

from __future__ import annotations

import math
import time

import numba
import numpy as np

from experiments.problem import SEED, Fitted, Problem


def VERSION() -> str:
    return f"Pegasos as printed (numba {numba.__version__})"


@numba.njit(cache=True)
def iterate(indptr, indices, values, y, d, lam, count, seed):
    """Run `count` iterations from w = 0; returns w."""
    np.random.seed(seed)
    v, a, squares = np.zeros(d), 1.0, 0.0  # |w|^2
    for t in range(1, count + 1):
        i = np.random.randint(len(y))
        margin = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            margin += v[indices[k]] * values[k]
        margin *= a
        eta = 1.0 / (lam * t)
        shrink = 1.0 - eta * lam
        if shrink > 0.0:
            a, squares = a * shrink, squares * shrink * shrink
        else:
            v[:], a, squares = 0.0, 1.0, 0.0
        if y[i] * margin < 1.0:
            norm = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                v[indices[k]] += eta * y[i] * values[k] / a
                norm += values[k] * values[k]
            squares += 2.0 * eta * y[i] * shrink * margin + eta * eta * norm
        if squares * lam > 1.0:  # onto the ball of radius 1 / sqrt(lambda)
            a, squares = a / math.sqrt(squares * lam), 1.0 / lam
        if a < 1e-100:
            v, a = v * a, 1.0
    return a * v


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    X, n = problem.X, len(problem.y)
    count = round((5 if step is None else step) * n)
    start = time.perf_counter()
    w = iterate(X.indptr, X.indices, X.data, problem.y, X.shape[1], 1.0 / (problem.C * n), count, SEED)
    return Fitted(time.perf_counter() - start, w)
