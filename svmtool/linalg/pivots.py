"""min 1/2 a'Qa - t'a over a >= 0 by systems of the positive entries: exact for very small losses.

Portugal, Judice and Vicente, A Comparison of Block Pivoting and Interior-Point Algorithms for Linear Least Squares
OneVsRest with Nonnegative Variables, Mathematics of Computation 63 (1994) 625-643: all entries of the wrong sign change
sides at once, and where that has brought no fewer of them a few times in a row only the last of them, until it has.
"""

from __future__ import annotations

import numpy as np

from svmtool.linalg.systems import solve_positive

TRIES = 3  # exchanges of all entries of the wrong sign that may bring no fewer of them
MOST = 500  # systems
ROUNDS = 8.0  # a slope is zero within so many roundings of its terms


def nonnegative(Q: np.ndarray, t: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The minimiser a (f8[n]) for a positive definite Q (f8[n, n]), its first guess the entries `above` zero (bool[n]).

    Where rounding keeps all signs from being right, the last system's entries that are.
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
