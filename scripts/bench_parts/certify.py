"""Neutral evaluator for all tools: LIBLINEAR's objectives of a weight matrix, summed over one-vs-rest problems.

Also the loop over costs and tolerances that both measuring children share.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import numpy as np

ENOUGH_SECONDS = 0.3  # a run is repeated for this time, or five times and at least SOME_SECONDS
SOME_SECONDS = 0.02


EPSILON = 0.1  # half-width of the tube of regression, LIBLINEAR's default
REGRESSION, ONE_CLASS, JOINT, L1 = (11, 12, 13), (21,), (4,), (5, 6)


def varied(solver: int) -> str:
    """The varied setting: C, or nu for one-class."""
    return "nu" if solver in ONE_CLASS else "C"


def unlabelled(order: dict) -> bool:
    """Whether the solvers use labels as numbers or not at all."""
    return {int(s) for s in order["ladders"]} <= {*REGRESSION, *ONE_CLASS}


POINTWISE = {
    **dict.fromkeys((0, 6, 7), lambda z: np.logaddexp(0.0, -z)),
    **dict.fromkeys((1, 2, 5), lambda z: np.maximum(0.0, 1.0 - z) ** 2),
    3: lambda z: np.maximum(0.0, 1.0 - z),
    **dict.fromkeys((11, 12), lambda r: np.maximum(0.0, np.abs(r) - EPSILON) ** 2),
    13: lambda r: np.maximum(0.0, np.abs(r) - EPSILON),
}


def value_of(solver: int, X, y: np.ndarray, W: np.ndarray, labels: list[int], C: float) -> float:
    """The objective of LIBLINEAR's solver number at W (d, k); X (n, d) is a scipy CSR matrix, y the labels.

    C: or nu, as `varied` says.
    """
    Z = X @ W
    norm = float(np.sum(np.abs(W))) if solver in L1 else 0.5 * float(np.sum(W * W))
    if solver in REGRESSION:
        return norm + C * float(np.sum(POINTWISE[solver](y - Z[:, 0])))
    if solver in ONE_CLASS:
        z = np.sort(Z[:, 0])
        rho = z[min(int(C * len(z)), len(z) - 1)]  # the minimiser in rho
        return norm + float(np.sum(np.maximum(0.0, rho - z))) - C * len(z) * float(rho)
    own = np.searchsorted(np.sort(labels), y)
    column = np.argsort(labels)[np.minimum(own, len(labels) - 1)]
    if solver in JOINT:
        rows = np.arange(len(y))
        right = Z[rows, column].copy()
        Z += 1.0
        Z[rows, column] -= 1.0
        return norm + C * float(np.sum(Z.max(axis=1) - right))
    signs = (column[:, None] == np.arange(W.shape[1])) * 2.0 - 1.0
    return norm + C * float(np.sum(POINTWISE[solver](signs * Z)))


def climb(order: dict, fit: Callable, value: Callable) -> list[dict]:
    """Run every step of every ladder at every C, within the time budget of a ladder.

    fit(solver, C, e) -> (seconds, solution); value(solution, C) -> objective.
    """
    runs = []
    first = next(iter(order["ladders"]))
    fit(int(first), order["costs"][0], order["ladders"][first][0])  # warm-up
    for C in order["costs"]:
        for solver, steps in order["ladders"].items():
            spent = time.perf_counter()
            for e in steps:
                seconds = []
                while True:
                    t, solution = fit(int(solver), C, e)
                    seconds.append(t)
                    if sum(seconds) > ENOUGH_SECONDS or (len(seconds) >= 5 and sum(seconds) > SOME_SECONDS):
                        break
                runs.append(
                    {
                        "C": C, "solver": int(solver), "e": e, "seconds": statistics.median(seconds),
                        "objective": value(solution, C),
                    }
                )  # fmt: skip
                if time.perf_counter() - spent > order["budget"]:
                    break
    return runs


def rows_of(path: str, regression: bool = False):
    """Read a data file with our reader: X as scipy CSR, and labels, truncated unless `regression`."""
    import scipy.sparse

    from svmtool.formats.svmlight import table as svmlight

    table = svmlight.read(path)
    X = scipy.sparse.csr_matrix(
        (table.values, table.indices, table.indptr), shape=(len(table.labels), table.n_features)
    )
    return X, table.labels if regression else np.trunc(table.labels)


def answer(runs: list[dict]) -> None:
    """Print the runs for the parent process."""
    print(json.dumps(runs))
