"""Scores w.phi(x_i) of training rows for w = sum_j a_j phi(x_j) with few nonzero a_j, as FOSVM needs them.

A linear problem keeps w itself, in the feature space.  With a kernel z is updated by kernel rows in single precision,
which are cached as far as memory allows, and computed again in double precision when needed.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.dense import DenseRows
from svmtool.data.row_storage import Rows
from svmtool.kernels.problems import HardOneClass


class LinearRowScores:
    """Scores of n rows without a kernel.

    size: mean K(x, x).  z f8[n], w (length d): of the last point.  exact: whether z was computed in double precision.
    """

    exact = True

    def __init__(self, rows: Rows):
        self.rows, self.n = rows, rows.n
        self.ones = np.ones(rows.n)
        self.size = float(np.mean(rows.square_norms()))
        self.w, self.z = np.zeros(rows.d), np.zeros(rows.n)

    def inner(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """f8 (some, others): K between two sets of rows (i8), which have no bias feature."""
        rows = self.rows
        if isinstance(rows, DenseRows):
            return rows.X[some] @ rows.X[others].T
        P, right, ones = np.empty((len(some), len(others))), rows.take(others), np.ones(len(others))
        for k in range(len(some)):
            right.margins(rows.take(some[k : k + 1]).transpose_product(np.ones(1)), ones, P[k])
        return P

    def set_point(self, rows: np.ndarray, a: np.ndarray) -> None:
        """Set a to a_k at row rows[k] (i8, each once) and 0 elsewhere; EndedError leaves a and z unchanged."""
        self._weigh(rows, a)
        self.rows.margins(self.w, self.ones, self.z)

    def refresh(self) -> None:
        """Compute z in double precision; here it always is."""

    def scores_of(self, chosen: np.ndarray, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
        """z f8 of the rows `chosen` (i8) only, for a as in set_point."""
        self._weigh(rows, a)
        few, z = self.rows.take(chosen), np.empty(len(chosen))
        few.margins(self.w, np.ones(len(chosen)), z)
        return z

    def _weigh(self, rows: np.ndarray, a: np.ndarray) -> None:
        used = a > 0.0
        self.w = self.rows.take(rows[used]).transpose_product(a[used])


class KernelValues:
    """K between rows of a problem with a kernel, in double precision."""

    def __init__(self, problem: HardOneClass):
        from svmtool.kernels.tiles import tiles_of

        self.problem = problem
        self.tiles = tiles_of(problem.rows, problem.kernel, problem.matrix, np.float64)

    def inner(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """See LinearRowScores."""
        return self.tiles.take(others).all_values(self.tiles.take(some))


class KernelRowScores(KernelValues):
    """As LinearRowScores, with a kernel; cache_mb: memory for kernel rows."""

    def __init__(self, problem: HardOneClass, cache_mb: float):
        from svmtool.kernels.rows import KernelRows
        from svmtool.kernels.tiles import tiles_of

        super().__init__(problem)
        self.n, self.size = len(problem.row), problem.size
        self.columns = KernelRows(tiles_of(problem.rows, problem.kernel, problem.matrix), cache_mb)
        self.alpha, self.z = np.zeros(self.n), np.zeros(self.n)
        self.exact = True

    def set_point(self, rows: np.ndarray, a: np.ndarray) -> None:
        change = a - self.alpha[rows]
        changed = change != 0.0
        if np.any(changed):
            z = self.z.copy()
            self.columns.add(rows[changed], change[changed], z, np.ones(np.count_nonzero(changed), bool))
            self.z, self.exact = z, False
            self.alpha[rows] = a

    def refresh(self) -> None:
        from svmtool.kernels.rows import exact_sum

        self.z, self.exact = exact_sum(self.problem, self.alpha), True

    def scores_of(self, chosen: np.ndarray, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
        used = a > 0.0
        return a[used] @ self.columns.values(rows[used], chosen)


RowScores = LinearRowScores | KernelRowScores
