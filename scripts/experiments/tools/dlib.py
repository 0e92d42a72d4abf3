"""dlib's svm_c_trainer_linear: the hinge by cutting planes (OCA), as SVMperf and BMRM, which have no packages.

The method is "cutting planes".  A step is epsilon; settings: C (its own is C n).  It adds a feature of 1 whose weight
is regularised: this replaces the rows' last feature (Data.bias), which they must have.
"""

from __future__ import annotations

import time
from importlib.metadata import version

import numpy as np

from experiments.problem import Fitted, Problem

DENSE = 0.2  # share of non-zeros from which its dense vectors are faster


def VERSION() -> str:
    return f"dlib {version('dlib-bin')}"


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    import dlib

    if not (problem.X[:, [-1]].toarray() == 1.0).all():
        raise ValueError("rows without a last feature of 1")
    X, (n, d) = problem.X[:, :-1], problem.X.shape
    dense = problem.X.nnz > DENSE * n * d
    machine = dlib.svm_c_trainer_linear() if dense else dlib.svm_c_trainer_sparse_linear()
    rows, labels = _rows(X, dense), dlib.array(problem.y.tolist())
    machine.set_c(problem.C * n)
    machine.epsilon = 1e-3 if step is None else step
    start = time.perf_counter()
    found = machine.train(rows, labels)
    seconds = time.perf_counter() - start
    w = np.zeros(d)
    w[-1] = -found.bias
    if dense:
        w[:-1] = found.weights
    else:
        for pair in found.weights:
            w[pair.first] = pair.second
    return Fitted(seconds, w)


def _rows(X, dense: bool):
    import dlib

    if dense:
        return dlib.vectors([dlib.vector(row) for row in X.toarray().tolist()])
    rows = dlib.sparse_vectors()
    for i in range(X.shape[0]):
        at = slice(X.indptr[i], X.indptr[i + 1])
        row = dlib.sparse_vector()
        for j, value in zip(X.indices[at].tolist(), X.data[at].tolist(), strict=True):
            row.append(dlib.pair(j, value))
        rows.append(row)
    return rows
