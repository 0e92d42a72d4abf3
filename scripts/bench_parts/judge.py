"""The neutral judge of both tools: LIBLINEAR's objectives of a weight matrix, summed over the classes.

Also the loop over costs and tolerances that both measuring children share.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import numpy as np

ENOUGH_SECONDS = 0.3  # a run is repeated until so much time is spent, or five times and at least SOME_SECONDS
SOME_SECONDS = 0.02


def objective(X, y: np.ndarray, W: np.ndarray, labels: list[int], C: float, power: float = 2.0) -> float:
    """Sum over columns of 1/2 |w|^2 + C sum max(0, 1 - y w.x)^power; X (n, d) is a scipy CSR matrix, W (d, k)."""
    Z = X @ W
    total = 0.0
    for c in range(W.shape[1]):
        side = np.where(y == labels[c], 1.0, -1.0)
        short = np.maximum(0.0, 1.0 - side * Z[:, c])
        total += 0.5 * float(W[:, c] @ W[:, c]) + C * float(np.sum(short**power))
    return total


def regression_objective(X, y: np.ndarray, W: np.ndarray, C: float, epsilon: float = 0.1) -> float:
    """1/2 |w|^2 + C sum max(0, |y - w.x| - epsilon)."""
    w = W[:, 0]
    return 0.5 * float(w @ w) + C * float(np.sum(np.maximum(0.0, np.abs(y - X @ w) - epsilon)))


def climb(order: dict, fit: Callable, value: Callable) -> list[dict]:
    """Run every step of every ladder at every C, while the budget of seconds for a ladder lasts.

    fit(solver, C, e) -> (seconds, solution); value(solution, C) -> objective.
    """
    runs = []
    first = next(iter(order["ladders"]))
    fit(int(first), order["costs"][0], order["ladders"][first][0])  # warm-up: libraries are loaded, caches filled
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
    """(X as scipy CSR, labels, cut to whole numbers unless `regression`) of a data file, read by our reader."""
    import scipy.sparse

    from svmtool.formats import svmlight

    table = svmlight.read(path)
    X = scipy.sparse.csr_matrix(
        (table.values, table.indices, table.indptr), shape=(len(table.labels), table.n_features)
    )
    return X, table.labels if regression else np.trunc(table.labels)


def answer(runs: list[dict]) -> None:
    """Hand the runs to the benchmark."""
    print(json.dumps(runs))
