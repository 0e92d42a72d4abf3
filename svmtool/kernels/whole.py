"""The whole kernel matrix in double precision, where it fits in memory."""

from __future__ import annotations

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.kernels.interior import kernel_matrix
from svmtool.kernels.problems import Points
from svmtool.limits import memory

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
