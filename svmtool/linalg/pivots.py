"""Block principal pivoting for min 1/2 a'Qa - t'a over a >= 0: accurate even for very small losses.

Portugal, Judice and Vicente, A Comparison of Block Pivoting and Interior-Point Algorithms for Linear Least Squares
Problems with Nonnegative Variables, Mathematics of Computation 63 (1994) 625-643: all infeasible entries are exchanged
at once; after a few exchanges that do not reduce their number only the last one is exchanged, until it is reduced.
"""

from __future__ import annotations

import numpy as np

from svmtool.linalg.systems import solve_positive

TRIES = 3  # exchanges of all infeasible entries without reducing their number
MOST = 500  # systems solved, at most
ROUNDS = 8.0  # a slope counts as zero up to this many rounding errors of its terms


def nonnegative(Q: np.ndarray, t: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The minimiser a (f8[n]) for a positive definite Q (f8[n, n]).

    above (bool[n]): first guess of the positive entries.  If round-off prevents convergence, the non-negative part of
    the last system's solution.
    """
    above, least, tries = above.copy(), len(t) + 1, TRIES
    size = np.abs(Q)
    for _ in range(MOST):
        a, used = np.zeros(len(t)), np.flatnonzero(above)
        if len(used):
            a[used] = solve_positive(np.ascontiguousarray(Q[np.ix_(used, used)]), t[used])
        noise = ROUNDS * np.finfo(float).eps * (size @ np.abs(a) + np.abs(t))
        wrong = np.where(above, a < 0.0, Q @ a - t < -noise)
        count = int(np.count_nonzero(wrong))
        if not count:
            break
        tries = TRIES if count < least else tries - 1
        least = min(count, least)
        if tries <= 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        above ^= wrong
    return np.maximum(a, 0.0)
