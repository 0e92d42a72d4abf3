"""Interior-point solution of a kernel machine's dual in double precision, for few variables.

    min over a of  1/2 a'Qa + p'a,   E a = e,   0 <= a <= u        (kernels/problems.py)

Primal-dual interior-point steps (engine/interior.py): a step costs a Cholesky factor of Q + diag(z/a + w/(u - a)), with
the multipliers z and w of the two bounds.  The number of steps is almost independent of costs, scales and the condition
of the kernel matrix, unlike that of steps of pairs.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.dense import DenseRows
from svmtool.engine.interior import BOUND_SHARE, Path, refined
from svmtool.errors import SvmtoolError
from svmtool.kernels.problems import KernelProblem, Points
from svmtool.kernels.tiles import apart
from svmtool.linalg.systems import Factored, mirror, restore_sum
from svmtool.tolerances import DUAL_RTOL, MATRIX_ROWS, MIN_POSITIVE, SUM_RTOL

# a direct solution of m variables costs CUBE_COST m^3 + FIXED_COST values of kernel rows
CUBE_COST, FIXED_COST = 2.5, 2e7


def kernel_matrix(points: Points) -> np.ndarray:
    """K f8 (n, n) of all rows, in double precision."""
    if points.matrix is not None:
        return np.array(points.matrix, dtype=np.float64)
    if isinstance(points.rows, DenseRows):
        values = points.rows.X @ points.rows.X.T
    else:
        values = np.zeros((points.n, points.n))
        points.rows.fill_kernel(np.arange(points.n), values, 0)
        mirror(values.T)
    norms = points.rows.square_norms()
    points.kernel.finish(values, norms, norms, apart(points.rows, points.rows))
    return values


def cost(problem: KernelProblem) -> float:
    """The cost of `minima`, in values of kernel rows read by steps of pairs; inf for problems it does not solve."""
    m = len(problem.y)
    few = m <= MATRIX_ROWS and bool((problem.upper < np.inf).all())
    return CUBE_COST * m**3 + FIXED_COST if few else np.inf


def minima(problem: KernelProblem) -> list[np.ndarray]:
    """Return feasible a f8[m] close to the minimum; none if round-off or an indefinite kernel prevents it.

    In the first, variables are set to bounds according to the multipliers.  The second is the last iterate: if
    round-off ends the search early, setting variables to bounds may increase the value.
    All bounds must be finite.  Raises EndedError if the run ends meanwhile.
    """
    used = np.flatnonzero(problem.upper > 0.0)
    if not len(used):
        return []
    y, upper, row = problem.y[used], problem.upper[used], problem.row[used]
    sides = [y > 0, y < 0] if problem.two_sums else [np.ones(len(y), bool)]
    sides = [side for side in sides if np.any(side)]
    E = np.stack([np.where(side, y, 0.0) for side in sides])
    curvature, slope = float(np.abs(problem.diagonal()[row]).max()), float(np.abs(problem.p[used]).max())
    unit = float(upper.max())  # a = unit x, so that x is about 1
    if problem.floor == 0.0 and slope > 0.0 and curvature > 0.0:
        unit = min(unit, slope / curvature)
    with np.errstate(all="ignore"):  # the result is checked to be finite
        p = unit * problem.p[used]
        size = max(float(np.abs(p).max()), unit * unit * curvature)
        if not 0.0 < size < np.inf:
            return []
        Q = (unit * y)[:, None] * kernel_matrix(problem.points)[np.ix_(row, row)] * (unit * y) / size
        path = _Box(Q, p / size, E, E @ (problem.start[used] / unit), upper / unit, problem.floor / size)
    found = []
    for x in path.minima():
        with np.errstate(all="ignore"):
            a = np.clip(unit * x, 0.0, upper)
            a[x >= upper / unit] = upper[x >= upper / unit]
        for e in E:
            restore_sum(a, e, upper, float(e @ problem.start[used]))
        if np.all(np.isfinite(a)):
            found.append(np.zeros(len(problem.y)))
            found[-1][used] = a
    return found


class _Box(Path):
    """The problem in units of its size.  gap: the largest relative error, of the products and of both residuals.

    floor: errors are relative to at least this value.
    """

    def __init__(self, Q: np.ndarray, p: np.ndarray, E: np.ndarray, fixed: np.ndarray, u: np.ndarray, floor: float):
        self.Q, self.p, self.E, self.fixed, self.u, self.floor = Q, p, E, fixed, u, floor
        x = np.minimum(0.5 * u, 1.0)
        super().__init__([x, u - x], [np.ones(len(p)), np.ones(len(p))], [np.zeros(len(E))])

    def measure(self) -> None:
        (x, _), (z, w), Qx = self.x, self.z, self.Q @ self.x[0]
        self._dual, self._missing = Qx + self.p - self.E.T @ self.free[0] - z + w, self.E @ x - self.fixed
        self.primal = max(0.5 * float(x @ Qx), float(np.abs(self.p) @ x), self.floor, MIN_POSITIVE)
        self.products = self.mu * self._total / self.primal
        self.gap = max(
            self.products,
            float(np.abs(self._dual).max()) / max(1.0, float(np.abs(Qx).max()), float(z.max()), float(w.max())),
            float(np.abs(self._missing).max()) / float(x.max()),
        )

    def factorise(self) -> None:
        """H = I + S Q S, S^-2 = z/x + w/slack, bordered by E."""
        (x, slack), (z, w) = self.x, self.z
        self._scale = scale = 1.0 / np.sqrt(z / x + w / slack)
        self._H = scale[:, None] * self.Q * scale
        self._H.flat[:: len(self._H) + 1] += 1.0
        self._factor = Factored(self._H)
        self._border = np.stack([self._solved(e) for e in self.E])
        self._corner = self.E @ self._border.T

    def _solved(self, g: np.ndarray) -> np.ndarray:
        """(Q + S^-2)^-1 g, refined, because the factor may be of a slightly shifted matrix."""
        return self._scale * refined(self._factor.solve, self._H.__matmul__, self._scale * g)

    def solve(self, changes: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        plain = self._solved(changes[0] / self.x[0] - changes[1] / self.x[1] - self._dual)
        dlam = np.linalg.solve(self._corner, -self._missing - self.E @ plain)
        dx = plain + self._border.T @ dlam
        return [dx, -dx], [dlam]

    def minima(self) -> list[np.ndarray]:
        """The best x found, first with variables at the bounds that the multipliers indicate."""
        best, found, u = np.inf, [], self.u
        for _ in self.steps():
            (x, slack), (z, w) = self.x, self.z
            if self.gap < best:
                best = self.gap
                low, high = (x <= slack) & (x < BOUND_SHARE * z * u), (slack < x) & (slack < BOUND_SHARE * w * u)
                found = [np.where(low, 0.0, np.where(high, u, x)), x.copy()]
            if self.gap <= DUAL_RTOL or (self.products <= DUAL_RTOL and self.gap > best):  # round-off is left
                break
        return found


def least_squares(K: np.ndarray, y: np.ndarray, cost: np.ndarray, shift: float) -> np.ndarray | None:
    """c f8[n] of (K + shift + D) c = y, with a shift of 0 of that with sum c = 0 and a free constant.

    K f8 (n, n); see LeastSquaresSvc.  None if numbers overflow or the kernel is not positive semidefinite.  Raises
    EndedError if the run ends meanwhile.
    """
    scale = np.sqrt(2.0 * cost)
    H = scale[:, None] * (K + shift) * scale
    H.flat[:: len(H) + 1] += 1.0
    try:
        factor = Factored(H)
    except SvmtoolError:
        return None
    if factor.shift > SUM_RTOL * float(H.diagonal().max()):  # more than round-off: the matrix is indefinite
        return None

    def solve(g: np.ndarray) -> np.ndarray:
        return scale * refined(factor.solve, H.__matmul__, scale * g)

    c = solve(y)
    if shift == 0.0:
        one = solve(np.ones(len(y)))
        c -= float(np.sum(c)) / float(np.sum(one)) * one
    return c if np.all(np.isfinite(c)) else None
