"""Linear systems that solvers share."""

from __future__ import annotations

from typing import Callable

import numpy as np

from svmtool.compiled import solve_loops

SMALL = 64  # up to this order the compiled Cholesky beats the library's call


def solve_positive(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H^-1 g for a positive definite H whose upper triangle is given (destroyed).

    Raises numpy.linalg.LinAlgError where rounding has made H singular.
    """
    d = len(g)
    if d <= SMALL:
        p = np.empty(d)
        if solve_loops.cholesky_solve(H, g, p, d):
            raise np.linalg.LinAlgError("matrix is not positive definite")
        return p
    p = g.copy()
    solve_loops.substitute(np.ascontiguousarray(np.linalg.cholesky(H.T)), p, d)
    return p


def conjugate_gradient(
    product: Callable[[np.ndarray], np.ndarray],
    g: np.ndarray,
    diagonal: np.ndarray,
    tolerance: float,
    max_steps: int,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[np.ndarray, int, bool]:
    """Preconditioned conjugate gradients on H p = g from p = 0.

    `diagonal` is the preconditioner's.  Stops when |r| <= tolerance |g| in the preconditioner's norm.
    Returns p, the number of products, and whether the tolerance was reached.
    """
    p = np.zeros_like(g)
    r = g.copy()
    s = r / diagonal
    rho = float(r @ s)
    target = tolerance * tolerance * rho
    q = s.copy()
    for k in range(max_steps):
        if rho <= target or stopped():
            return p, k, rho <= target
        Hq = product(q)
        step = rho / float(q @ Hq)
        p += step * q
        r -= step * Hq
        s = r / diagonal
        rho, old = float(r @ s), rho
        q *= rho / old
        q += s
    return p, max_steps, rho <= target
