"""A slow reference solver of kernel problems: second-order pairs (Fan, Chen and Lin, JMLR 6 (2005)), the whole kernel
matrix in memory, no shrinking.

    i = argmax over I_up of q,  j = argmin over I_low, q_j < q_i, of  -(q_i - q_j)^2 / (K_ii + K_jj - 2 y_i y_j ...)

with q = -y G, G = Qa + p.  With two sums a pair has one sign, that with the larger violation.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.kernel import certificate_of
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import KernelProblem
from svmtool.kernels.results import KernelResult
from svmtool.solvers.shared.base import PRECISION, RULE, Monitor

TAU = 1e-12  # replaces a curvature that is not positive
WATCH_INTERVAL = 50  # pairs between two records


def kernel_matrix(problem: KernelProblem) -> np.ndarray:
    """K of the problem's rows, f8 (n, n)."""
    if problem.matrix is not None:
        return problem.matrix
    rows = problem.rows
    if isinstance(rows, DenseRows):
        X = rows.X
    else:
        X = np.zeros((rows.n, rows.n_features))
        X[np.repeat(np.arange(rows.n), np.diff(rows.indptr)), rows.indices] = rows.values
    norms = np.sum(X * X, axis=1)
    K = X @ X.T
    problem.kernel.finish(K, norms, norms)
    return K


def solve(
    problem: KernelProblem, monitor: Monitor, eps: float = 1e-3, cache_mb: float = 100.0, shrinking: bool = True
) -> KernelResult:
    """Solve to a violation of eps, or to monitor's gap; cache_mb and shrinking are ignored."""
    K, row, y, upper = kernel_matrix(problem), problem.row, problem.y, problem.upper
    diagonal = K[row, row]
    a = problem.start.copy()
    signed = np.zeros(len(K))
    np.add.at(signed, row, y * a)
    G = y * (K @ signed)[row] + problem.p
    status, iterations = None, 0
    while status is None:
        if iterations % WATCH_INTERVAL == 0:
            status = evaluate(problem, monitor, a, G)
            if status is not None:
                break
        i, j, violation = best_pair(problem, K, diagonal, a, G)
        if violation <= eps or i < 0:
            status = RULE
            break
        curvature = diagonal[i] + diagonal[j] - 2.0 * K[row[i], row[j]]
        step = (-y[i] * G[i] + y[j] * G[j]) / (curvature if curvature > 0 else TAU)
        distance_i = upper[i] - a[i] if y[i] > 0 else a[i]
        distance_j = a[j] if y[j] > 0 else upper[j] - a[j]
        step = min(step, distance_i, distance_j)
        for t, distance, way in ((i, distance_i, y[i] * step), (j, distance_j, -y[j] * step)):
            a[t] = (upper[t] if way > 0 else 0.0) if step == distance else a[t] + way
        if step <= 0.0 or (a[i] == a[i] + y[i] * step and a[j] == a[j] - y[j] * step):
            status = PRECISION
        G += y * step * (K[row[i]] - K[row[j]])[row]
        iterations += 1
    rho, r = multipliers(problem, a, G)
    found = certificate_of(problem, a, G, rho, r)
    monitor.step(found.primal, found.dual, found.gap)
    return KernelResult(a, rho, r, -found.dual, found.gap, iterations, status, G)


def evaluate(problem, monitor, a, G):
    """Pass the state to the monitor; returns its Status, or None."""
    rho, r = multipliers(problem, a, G)
    found = certificate_of(problem, a, G, rho, r)
    return monitor.step(found.primal, found.dual, found.gap)


def systems(problem, a):
    """(I_up, I_low): y a can increase; y a can decrease.  bool[m] each."""
    y = problem.y
    grows, shrinks = a < problem.upper, a > 0
    return np.where(y > 0, grows, shrinks), np.where(y > 0, shrinks, grows)


def best_pair(problem, K, diagonal, a, G):
    """(i, j, violation); i is -1 if there is no pair."""
    y, row = problem.y, problem.row
    q = -y * G
    up, low = systems(problem, a)
    best = (-1, -1, 0.0)
    for sign in (1.0, -1.0) if problem.two_sums else (0.0,):
        mine = (y == sign) if sign else np.ones(len(y), bool)
        if not np.any(up & mine) or not np.any(low & mine):
            continue
        i = int(np.argmax(np.where(up & mine, q, -np.inf)))
        violation = q[i] - np.min(q[low & mine])
        if violation <= best[2]:
            continue
        b = q[i] - q
        curvature = diagonal[i] + diagonal - 2.0 * K[row[i]][row]
        gain = np.where(low & mine & (b > 0), b * b / np.where(curvature > 0, curvature, TAU), -np.inf)
        best = (i, int(np.argmax(gain)), float(violation))
    return best


def multipliers(problem, a, G) -> tuple[float, float]:
    """rho and r: the mean of the free variables' y G (for two sums, G of either sign), else an interval's middle."""

    def of(values, free, least, most):
        if np.any(free):
            return float(np.mean(values[free]))
        low, high = (
            float(np.max(values[least], initial=-np.inf)),
            float(np.min(values[most], initial=np.inf)),
        )
        if low == -np.inf or high == np.inf:
            return 0.0 if low == -high else (high if low == -np.inf else low)
        return 0.5 * (low + high)

    y, upper = problem.y, problem.upper
    free = (a > 0) & (a < upper)
    full, empty = (a >= upper) & (upper > 0), (a <= 0) & (upper > 0)
    if not problem.two_sums:
        return of(y * G, free, (full & (y > 0)) | (empty & (y < 0)), (full & (y < 0)) | (empty & (y > 0))), 0.0
    one, two = (of(G, free & (y == s), full & (y == s), empty & (y == s)) for s in (1.0, -1.0))
    return 0.5 * (one - two), 0.5 * (one + two)
