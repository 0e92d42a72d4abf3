"""The whole kernel matrix in double precision, where it fits in memory."""

from __future__ import annotations

import numpy as np

from svmtool.data.dense import DenseRows
from svmtool.errors import SvmtoolError
from svmtool.kernels.problems import Points
from svmtool.kernels.tiles import apart
from svmtool.limits import memory
from svmtool.linalg.systems import mirror

MATRICES = 2  # of n x n numbers at a time: the kernel's values, and what is computed from them


def whole_matrix(points: Points, advice: str) -> np.ndarray:
    """K f8 (n, n); SvmtoolError, which ends with `advice`, where it does not fit in memory."""
    needed, there = 8 * points.n**2 * MATRICES, available()
    if needed > there:
        raise SvmtoolError(
            f"the kernel matrix of {points.n} rows needs {needed / 1e9:.3g} GB of memory, of which "
            f"{there / 1e9:.3g} GB are available: {advice}"
        )
    return kernel_matrix(points)


def available() -> int:
    """Bytes of memory that can be used; where the system does not say, those of the machine."""
    try:
        with open("/proc/meminfo") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return memory()


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
