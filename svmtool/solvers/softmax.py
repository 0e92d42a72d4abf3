"""Multinomial logistic regression, with an elastic net or no penalty; logistic regression with those.

    min over W, b of  r ((1-s)/2 |W|^2 + s |W|_1) + sum_i C_i (log sum_k exp z_ik - z_{i y_i}),   z_i = W x_i + b

Proximal Newton steps: Lee, Sun and Saunders, Proximal Newton-Type Methods for Minimizing Composite Functions, SIAM
Journal on Optimization 24 (2014) 1420-1443.  Each step minimises the quadratic model of the smooth part plus the norm:
without |W|_1 by a factorised matrix or conjugate gradients, with it by accelerated proximal gradient steps.  Its length
is found by halving (their Eq. 2.14).  Two classes may have one column, that of the second: z_i1 = 0.

Every step is certified.  A run ends when the certified gap and the largest partial derivative of P, for each unit of
the costs, are at most the tolerance; without a penalty, where no gap is certified, by the latter alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svmtool.certify.linear import Certificate
from svmtool.certify.softmax import SoftmaxCertifier
from svmtool.limits import EndedError, until
from svmtool.linalg.systems import Factored, conjugate_gradient
from svmtool.objectives.softmax import Softmax
from svmtool.solvers.shared.base import GAP, PRECISION, TIME, Monitor, Status
from svmtool.tolerances import ARMIJO, CG_LOOSE, CG_TIGHT, EPS, MAX_TRIALS, SEARCH_RTOL, STALL_STEPS

# Weights up to which the Hessian is formed.  On ten sets of 5 to 222 weights, C = 1, 100 and an elastic net, products
# with it took 2.1 times as long in the geometric mean (0.29 to 12.5)
SYSTEM_BELOW = 300
INNER_STEPS = 1000  # most proximal gradient steps for a model
POWER_STEPS = 20  # of the power method for the largest curvature


def solve(
    X: Any, number: np.ndarray, columns: int, cost: np.ndarray, penalty: float, share: float, free: bool,
    tolerance: float, monitor: Monitor, start: np.ndarray | None = None,
) -> tuple[np.ndarray, Status, Certificate]:  # fmt: skip
    """Solve the problem.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
        Rows.
    number : ndarray of int, shape (n,)
        The class of each row, from 0 on.
    columns : int
        Columns of the weights: one for each class, or 1 for two classes.
    cost : ndarray of shape (n,)
        C_i, above 0.
    penalty, share : float
        r, 0 for none, and s, 0 to 1.
    free : bool
        Whether there is an intercept.
    tolerance : float
        Of the certified gap and of the derivatives.
    monitor : Monitor
        Limits and records, without a gap of its own.
    start : ndarray of shape (columns, d + 1), optional
        Where to begin: weights, the intercepts last.

    Returns
    -------
    V : ndarray of shape (columns, d + 1)
        The best weights, the intercepts last.
    status : Status
        Why the run ended.
    certificate : Certificate
        Of V.
    """
    problem = Softmax(X, number, columns, cost, penalty, share, free)
    certifier = SoftmaxCertifier(X, number, columns, cost, penalty, share, free)
    V = np.zeros(problem.shape) if start is None else start.copy()
    best, found, idle = V, certifier.certify(V[:, :-1], V[:, -1]), 0
    Z, total = problem.scores(V), float(cost.sum())
    with until(monitor.ended):
        while True:
            here = certifier.certify(V[:, :-1], V[:, -1])
            idle = 0 if here.primal < found.primal or here.gap < found.gap else idle + 1
            if here.primal <= found.primal:
                best, found = V, here.bounded_by(found)
            G = problem.expand(V, Z)
            steep = problem.steepness(V, G)
            status = monitor.step(found.primal, found.dual, found.gap, best, gradient=steep)
            if (found.gap <= tolerance or penalty == 0.0) and steep <= tolerance * total:
                status = GAP
            if status is None and idle >= STALL_STEPS:
                status = PRECISION
            if status is None:
                try:
                    V, Z = _step(problem, V, Z, G, found.gap, monitor)
                except EndedError:
                    status = monitor.limit() or TIME
            if status is not None:
                return best, status, found


def _step(
    o: Softmax, V: np.ndarray, Z: np.ndarray, G: np.ndarray, gap: float, monitor: Monitor
) -> tuple[np.ndarray, np.ndarray]:
    """The point after one step, and its scores."""
    small = V.size <= SYSTEM_BELOW
    H = o.hessian() if small else None
    product = o.product if H is None else H.__matmul__
    if o.l1 == 0.0:
        if H is not None:
            P = -Factored(H).solve(G.ravel())
        else:
            tolerance = min(CG_LOOSE, max(CG_TIGHT, gap**0.5))
            P = -conjugate_gradient(product, G.ravel(), o.diagonal(), tolerance, 10 * V.size, monitor.ended)[0]
        P = P.reshape(V.shape)
    else:
        P = _minimum(o, product, V, G, monitor) - V
    W, U = V[:, :-1], P[:, :-1]
    expected = float(np.sum(G * P)) + o.l1 * float(np.abs(W + U).sum() - np.abs(W).sum())
    T, f, t = o.scores(P), o.value(V, Z), 1.0
    for _ in range(MAX_TRIALS):
        if o.value(V + t * P, Z + t * T) <= f + ARMIJO * t * expected + EPS * abs(f):
            break
        t *= 0.5
    V = V + t * P
    return V, o.scores(V)


def _minimum(o: Softmax, product: Any, V: np.ndarray, G: np.ndarray, monitor: Monitor) -> np.ndarray:
    """About the minimum over U of  G.(U-V) + 1/2 (U-V).H(U-V) + l1 |U|_1, by accelerated proximal gradient steps.

    Beck and Teboulle, SIAM Journal on Imaging Sciences 2 (2009) 183-202, in variables in which H has the diagonal 1.
    """
    scale = 1.0 / np.sqrt(o.diagonal())
    threshold = np.full(o.shape, o.l1)
    threshold[:, -1] = 0.0
    threshold = threshold.ravel() * scale
    v, g = V.ravel() / scale, G.ravel() * scale

    def slope(u: np.ndarray) -> np.ndarray:
        return g + scale * product(scale * (u - v))

    q = np.random.default_rng(0).normal(size=len(v))
    for _ in range(POWER_STEPS):
        q = scale * product(scale * q)
        steepest = float(np.sqrt(q @ q))
        if not steepest > 0.0:
            break
        q /= steepest
    L, u, y, momentum, first = 1.1 * steepest if steepest > 0.0 else 1.0, v, v, 1.0, 0.0
    for _ in range(INNER_STEPS):
        if monitor.ended():
            break
        moved = y - slope(y) / L
        new = np.sign(moved) * np.maximum(np.abs(moved) - threshold / L, 0.0)
        change = new - u
        length = float(np.sqrt(change @ change))
        if float((y - new) @ change) > 0.0:  # the momentum points uphill
            momentum = 1.0
        later = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        y, u, momentum = new + (momentum - 1.0) / later * change, new, later
        first = first or length
        if length <= SEARCH_RTOL * first:
            break
    return (scale * u).reshape(V.shape)
