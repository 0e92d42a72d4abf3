"""Linear systems and what they are made of: Cholesky, least squares, conjugate gradients, inner products of rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from svmtool import limits
from svmtool.compiled.loops.rows import solve_loops
from svmtool.data.row_storage import Rows
from svmtool.errors import SvmtoolError
from svmtool.tolerances import MATRIX_ROWS, NEWTON_RTOL, STALL_STEPS, SUM_ROUNDOFF

# Costs of operations in nanoseconds on one core of 2024; only their ratios matter, for the choice of methods
VISIT_NS = 1.3  # a non-zero in an epoch of coordinate descent
# a row in an epoch, in addition: 5 to 90 on 36 sets, median 35, so that an epoch over rows of ten non-zeros costs as
# much as two to six products
ROW_VISIT_NS = 40.0
GRAM_NS = 0.4  # a non-zero in a matrix of inner products of rows, which is symmetric
DENSE_GRAM_NS = 0.05  # the same, dense rows: 0.035 to 0.1 on twelve shapes of 50 to 1000 rows and 100 to 1500 features
CALLS_NS = 2e5  # the calls of a Newton step, whatever the data
FACTOR_NS, COPY_NS = 0.02, 10.0  # a factorisation of order m: for each of m^3 and of m^2

CHUNK_NONZEROS = 1024  # about, of neighbours that coordinate descent visits one after the other
PART_ROWS = 128  # rows of a triangle copied, of an inverse computed, or of a large factor, at a time
MAX_EXCHANGES = 500  # of single entries, in `nonnegative`
# (rows + columns) (the fewer of these)^2 up to which an orthogonal factorisation takes at most a second
MAX_DENSE_WORK = 1 << 29


def solve_positive(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """H^-1 g for a positive definite H whose upper triangle is given.

    If H is singular up to round-off, the smallest multiple of the identity that suffices is added.
    Raises SvmtoolError if none does: non-finite numbers, or a diagonal of zeros.
    """
    return Factored(H).solve(g)


def mirror(H: np.ndarray) -> np.ndarray:
    """Copy the upper triangle of H to the lower one in place, PART_ROWS rows at a time; returns H."""
    for start in range(0, len(H), PART_ROWS):
        stop = start + PART_ROWS
        corner = H[start:stop, start:stop]
        corner[...] = np.triu(corner) + np.triu(corner, 1).T
        H[stop:, start:stop] = H[start:stop, stop:].T
    return H


class Factored:
    """Factorisation of a positive definite H, given its upper triangle; see solve_positive.

    shift: the multiple of the identity that was added; SvmtoolError if more than `max_shift` is needed.
    """

    def __init__(self, H: np.ndarray, max_shift: float = np.inf):
        shift = 0.0
        while (lower := _cholesky(H)) is None:
            H, shift = _shifted(H, shift)
            if shift > max_shift:
                raise SvmtoolError("the matrix is not positive definite: choose another kernel, -g or -r")
        self._lower, self.shift = lower, shift

    def solve(self, g: np.ndarray) -> np.ndarray:
        """H^-1 g."""
        p = g.copy()
        solve_loops.substitute(self._lower, p, len(p))
        return p

    def inverse(self) -> np.ndarray:
        """H^-1, both triangles: f8 of H's shape."""
        lower, d = self._lower, len(self._lower)
        half, whole = np.zeros((d, d)), np.empty((d, d))  # half: L^-1
        for start in range(0, d, PART_ROWS):
            limits.check()
            stop = min(start + PART_ROWS, d)
            corner = np.linalg.inv(lower[start:stop, start:stop])
            half[start:stop, :start] = -corner @ (lower[start:stop, :start] @ half[:start, :start])
            half[start:stop, start:stop] = corner
        for start in range(0, d, PART_ROWS):
            limits.check()
            whole[start : start + PART_ROWS] = half[start:, start : start + PART_ROWS].T @ half[start:]
        return mirror(whole)


def _cholesky(H: np.ndarray) -> np.ndarray | None:
    """The lower triangular L of H = L L', given the upper triangle of H; None if H is not positive definite."""
    d = len(H)
    try:
        lower = np.ascontiguousarray(np.linalg.cholesky(H.T)) if d <= MATRIX_ROWS else _in_panels(H)
    except np.linalg.LinAlgError:
        return None
    return None if d and math.isnan(lower[-1, -1]) else lower  # the library ignores a nan, which reaches this entry


def _in_panels(H: np.ndarray) -> np.ndarray:
    """As `_cholesky`, PART_ROWS columns at a time, to check limits; LinAlgError if H is not positive definite."""
    d = len(H)
    lower = np.zeros((d, d))
    for start in range(0, d, PART_ROWS):
        limits.check()
        own, below = slice(start, start + PART_ROWS), slice(start + PART_ROWS, None)
        panel = H[own, start:].T - lower[start:, :start] @ lower[own, :start].T
        lower[own, own] = corner = np.linalg.cholesky(panel[:PART_ROWS])
        np.matmul(panel[PART_ROWS:], np.linalg.inv(corner).T, out=lower[below, own])
    return lower


def _shifted(H: np.ndarray, shift: float) -> tuple[np.ndarray, float]:
    """H, singular up to round-off, plus a larger multiple of the identity than `shift`; and that multiple."""
    largest = float(np.abs(H.flat[:: len(H) + 1]).max())
    if not np.isfinite(largest) or shift > largest:
        raise SvmtoolError("numbers overflow: scale the features (svm-scale) or choose a smaller -c")
    new = max(10.0 * shift, 1e-15 * largest)
    if new <= shift:
        raise SvmtoolError("numbers underflow: scale the features (svm-scale) or choose a larger -c")
    H = H.copy()
    H.flat[:: len(H) + 1] += new - shift
    return H, new


def least_squares(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The x that minimises |A x - b|, and b - A x, for a matrix A of full column rank.

    Uses an orthogonal factorisation, which is accurate even if A'A is singular up to round-off.
    Raises SvmtoolError if columns are dependent or numbers overflow.
    """
    Q, R = np.linalg.qr(A)
    part = b @ Q
    try:
        x = np.linalg.solve(R, part)
    except np.linalg.LinAlgError:
        raise SvmtoolError("numbers underflow: scale the features (svm-scale) or choose a larger -c") from None
    if not np.all(np.isfinite(x)):
        raise SvmtoolError("numbers overflow: scale the features (svm-scale) or choose a smaller -c")
    r = b - Q @ part
    return x, r - Q @ (r @ Q)  # again, because round-off of b in A's range may be large relative to r


def conjugate_gradient(
    product: Callable[[np.ndarray], np.ndarray], g: np.ndarray,
    preconditioner: np.ndarray | Callable[[np.ndarray], np.ndarray], tolerance: float, max_steps: int,
    stopped: Callable[[], bool] = lambda: False, min_gain: float = 0.0,
) -> tuple[np.ndarray, int, bool]:  # fmt: skip
    """Solve H p = g by preconditioned conjugate gradients from p = 0.

    preconditioner: a diagonal or a function that applies the inverse.  Stops at |r| <= tolerance |g| in its norm, or
    after a step that raises g.p - 1/2 p'Hp by less than `min_gain` times the mean of all steps.
    Returns p, the number of products, and whether the tolerance was reached.
    """
    apply = preconditioner if callable(preconditioner) else lambda r: r / preconditioner
    p = np.zeros_like(g)
    r = g.copy()
    s = apply(r)
    rho = float(r @ s)
    target = tolerance * tolerance * rho
    q, gained = s.copy(), 0.0
    for k in range(max_steps):
        if rho <= target or stopped():
            return p, k, rho <= target
        Hq = product(q)
        curvature = float(q @ Hq)
        if not curvature > 0.0:  # underflow or overflow
            return p, k + 1, False
        step = rho / curvature
        p += step * q
        r -= step * Hq
        s = apply(r)
        rho, old = float(r @ s), rho
        gained += step * old
        if step * old * (k + 1) < min_gain * gained:
            return p, k + 1, rho <= target
        q *= rho / old
        q += s
    return p, max_steps, rho <= target


class KernelCache:
    """Cache of x_i.x_j among the rows requested so far; only products with new rows are computed.

    If there would be more cached rows than `max_rows` and than twice the requested ones, the others are dropped.
    Memory: f8 (cached rows)^2.
    """

    def __init__(self, rows: Rows, max_rows: int = MATRIX_ROWS):
        self.rows, self.max_rows = rows, max_rows
        self._drop()

    def _drop(self) -> None:
        self.place = np.full(self.rows.n, -1)  # index of each row in K
        self.known = np.empty(0, np.int64)
        self.K = np.empty((0, 0))

    def block(self, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows `used` (i8), in the cache's order, and a new matrix of their x_i.x_j, lower triangle."""
        new = used[self.place[used] < 0]
        if len(self.known) + len(new) > max(self.max_rows, 2 * len(used)):
            self._drop()
            new = used
        if len(new):
            m = len(self.known)
            known = np.concatenate([self.known, new])
            K = np.zeros((len(known), len(known)))  # the other triangle must be finite
            K[:m, :m] = self.K
            self.rows.fill_kernel(known, K, m)
            self.K, self.known = K, known
            self.place[new] = m + np.arange(len(new))
        at = np.sort(self.place[used])
        return self.known[at], self.K[np.ix_(at, at)]


def nonnegative(Q: np.ndarray, t: np.ndarray, start: np.ndarray, above: np.ndarray) -> np.ndarray:
    """The minimiser a (f8[n]) of 1/2 a'Qa - t'a over a >= 0, for a positive definite Q (f8[n, n]): also of tiny losses.

    Block principal pivoting (Portugal, Judice and Vicente, A Comparison of Block Pivoting and Interior-Point Algorithms
    for Linear Least Squares Problems with Nonnegative Variables, Mathematics of Computation 63 (1994) 625-643): all
    infeasible entries are exchanged at once.  If a few exchanges do not reduce their number, single entries enter and
    leave where they reach 0, which never raises the value (Lawson and Hanson, Solving Least Squares Problems, 1974).

    above (bool[n]): first guess of the positive entries; start (f8[n], >= 0): where single entries begin to enter.
    Raises EndedError if the run ends meanwhile.
    """
    used, least, tries = above.copy(), len(t) + 1, STALL_STEPS

    def solve() -> tuple[np.ndarray, np.ndarray]:
        """The minimiser over the entries `used`, and the slopes of the others; 0 where they are round-off."""
        limits.check()
        a, at = np.zeros(len(t)), np.flatnonzero(used)
        if len(at):
            a[at] = solve_positive(np.ascontiguousarray(Q[np.ix_(at, at)]), t[at])
        slopes, noise = Q @ a - t, SUM_ROUNDOFF * (np.abs(Q) @ np.abs(a) + np.abs(t))
        return a, np.where(used | (np.abs(slopes) <= noise), 0.0, slopes)

    while tries > 0:
        a, slopes = solve()
        wrong = (a < 0.0) | (slopes < 0.0)
        count = int(np.count_nonzero(wrong))
        if not count:
            return a
        tries = STALL_STEPS if count < least else tries - 1
        least = min(count, least)
        used ^= wrong
    a, used = start.copy(), start > 0.0
    for _ in range(MAX_EXCHANGES):
        best, slopes = solve()
        falling = np.flatnonzero(best < 0.0)
        if len(falling):
            parts = a[falling] / (a[falling] - best[falling])
            a += float(np.min(parts)) * (best - a)
            a[falling[np.argmin(parts)]] = 0.0
            used &= a > 0.0
            continue
        a = best
        if not np.any(slopes < 0.0):
            break
        used[np.argmin(slopes)] = True
    return a


def restore_sum(a: np.ndarray, e: np.ndarray, upper: np.ndarray, total: float) -> None:
    """Change a so that e'a = total up to round-off (e of 0 and +-1).

    First by variables strictly within their bounds, then by all.
    """
    for movable in ((a > 0.0) & (a < upper), np.ones(len(a), bool)):
        rest = total - float(e @ a)
        if abs(rest) <= NEWTON_RTOL * float(np.abs(e) @ a):
            return
        slack = np.where(e * rest > 0.0, upper - a, a) * np.abs(e) * movable
        whole = float(np.sum(slack))
        if whole > 0.0:
            a += np.sign(e * rest) * slack * min(abs(rest) / whole, 1.0)
            np.clip(a, 0.0, upper, out=a)
