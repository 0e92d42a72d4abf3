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


def solve(problem: KernelProblem, monitor: Monitor, eps: float = 1e-3) -> KernelResult:
    """Solve to a violation of eps, or to monitor's gap."""
    K, y, upper, a = kernel_matrix(problem), problem.y, problem.upper, problem.start.copy()
    Q = y[:, None] * K[np.ix_(problem.row, problem.row)] * y
    G, diagonal = Q @ a + problem.p, np.diag(Q)
    sides = [y > 0, y < 0] if problem.two_sums else [np.ones(len(y), bool)]
    status, iterations = None, 0
    while status is None:
        if iterations % WATCH_INTERVAL == 0:
            found = certificate_of(problem, a, G, *multipliers(problem, a, G))
            status = monitor.step(found.primal, found.dual, found.gap)
            if status is not None:
                break
        q, grows, shrinks = -y * G, a < upper, a > 0
        up, low = np.where(y > 0, grows, shrinks), np.where(y > 0, shrinks, grows)
        ranges = [np.max(q[up & s], initial=-np.inf) - np.min(q[low & s], initial=np.inf) for s in sides]
        side = sides[int(np.argmax(ranges))]
        if not max(ranges) > eps:
            status = RULE
            break
        i = int(np.argmax(np.where(up & side, q, -np.inf)))
        b = np.where(low & side, q[i] - q, 0.0)
        curvature = diagonal[i] + diagonal - 2.0 * y[i] * y * Q[i]
        j = int(np.argmax(np.where(b > 0, b * b / np.where(curvature > 0, curvature, TAU), -np.inf)))
        distances = upper[i] - a[i] if y[i] > 0 else a[i], a[j] if y[j] > 0 else upper[j] - a[j]
        step = min(b[j] / max(curvature[j], TAU), *distances)
        for t, distance, way in ((i, distances[0], y[i]), (j, distances[1], -y[j])):
            a[t] = (upper[t] if way > 0 else 0.0) if step == distance else a[t] + way * step
        G += step * (y[i] * Q[i] - y[j] * Q[j])
        status = None if step > 0.0 else PRECISION
        iterations += 1
    rho, r = multipliers(problem, a, G)
    found = certificate_of(problem, a, G, rho, r)
    monitor.step(found.primal, found.dual, found.gap)
    return KernelResult(a, rho, r, -found.dual, found.gap, iterations, status, G)


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
