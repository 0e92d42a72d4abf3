"""Linear systems that solvers share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmtool.compiled import solve_loops
from svmtool.errors import SvmtoolError

SMALL = 64  # up to this order the compiled Cholesky beats the library's call


def solve_positive(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H^-1 g for a positive definite H whose upper triangle is given.

    Where rounding has made H singular a multiple of the identity is added, no larger than it must be.
    """
    d = len(g)
    shift = 0.0
    while True:
        p = g.copy()
        if d <= SMALL:
            upper = H.copy()
            if not solve_loops.cholesky_solve(upper, g, p, d):
                return p
        else:
            try:
                solve_loops.substitute(np.ascontiguousarray(np.linalg.cholesky(H.T)), p, d)
                return p
            except np.linalg.LinAlgError:
                pass  # not positive definite: shifted below
        largest = float(np.abs(H.flat[:: d + 1]).max())
        if not np.isfinite(largest) or shift > largest:
            raise SvmtoolError("the numbers overflow: scale the features (svm-scale) or choose a smaller -c")
        step = max(10.0 * shift, 1e-15 * largest) - shift
        H = H.copy()
        H.flat[:: d + 1] += step
        shift += step


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
