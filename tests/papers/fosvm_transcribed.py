"""FOSVM written from the paper's text alone: Algorithms 2 and 3 on a kernel matrix, with numpy only.

The hard one-class SVM of Eq. 2 on the rows of A is solved through its optimality conditions: w = sum_j a_j Phi(x_j),
sum_j a_j = 1, a_j >= 0, w'Phi(x_j) = rho where a_j > 0 and >= rho elsewhere.  All sets of rows with a_j > 0 are tried.
"""

from __future__ import annotations

import itertools

import numpy as np


def ocsvm(K: np.ndarray) -> tuple[np.ndarray, float]:
    """a and rho of the rows with this kernel matrix."""
    k, best = len(K), None
    for size in range(1, k + 1):
        for chosen in itertools.combinations(range(k), size):
            at = np.ix_(chosen, chosen)
            if np.linalg.matrix_rank(K[at]) < size:
                continue
            part = np.linalg.solve(K[at], np.ones(size))
            a = np.zeros(k)
            a[list(chosen)] = part / np.sum(part)
            rho = 1.0 / np.sum(part)
            if np.all(a >= 0.0) and rho > 0.0:
                short = float(np.max(rho - K @ a))
                if best is None or short < best[0]:
                    best = short, a, rho
        if best is not None and best[0] <= 1e-12:
            break
    return best[1], best[2]


def algorithm(K: np.ndarray, theta: float, samples: list[np.ndarray | None]) -> list[dict]:
    """Each iteration's variables; samples: the rows that each one of Algorithm 3 draws; None: all, Algorithm 2."""
    A, found = [0, 1], []
    for drawn in samples:
        a, rho = ocsvm(K[np.ix_(A, A)])
        rest = [i for i in range(len(K)) if i not in A] if drawn is None else list(drawn)
        values = {i: float(K[i, A] @ a) - rho for i in rest}
        found.append({"A": list(A), "alpha": a, "rho": rho})
        if not values:
            break
        i = min(values, key=values.__getitem__)
        found[-1] |= {"i": i, "o": values[i]}
        if values[i] >= -theta * rho:
            break
        A.append(i)
    return found
