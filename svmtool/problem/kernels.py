"""Kernel functions: from inner products to their values, a block at a time."""

from __future__ import annotations

from collections import namedtuple

from svmtool.compiled import threads
from svmtool.compiled.kernel_loops import (
    LINEAR,
    POLYNOMIAL,
    PRECOMPUTED,
    RBF,
    SIGMOID,
    finish_kernel,
    finish_kernel_single,
)

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    import numpy as np

NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")  # by number, as LIBSVM's -t and its model files
WITH_DEGREE, WITH_GAMMA, WITH_COEF0 = (POLYNOMIAL,), (POLYNOMIAL, RBF, SIGMOID), (POLYNOMIAL, SIGMOID)

BLOCK = 1 << 16  # kernel values that a thread works on at a time


class Kernel(namedtuple("Kernel", ("kind", "gamma", "degree", "coef0"), defaults=(0.0, 3, 0.0))):
    """A kernel function by its number in NAMES, with the numbers it takes.

    linear       K(x, z) = x.z
    polynomial   (gamma x.z + coef0)^degree, degree a whole number from 0 on
    rbf          exp(-gamma |x - z|^2)
    sigmoid      tanh(gamma x.z + coef0)
    precomputed  K(x, z) is a number of the data
    """

    __slots__ = ()

    @property
    def positive(self) -> bool:
        """Whether some feature space has it for its inner product, whatever the rows are: of others nobody knows."""
        if self.kind == POLYNOMIAL:
            return self.coef0 >= 0.0 and self.gamma >= 0.0
        return self.kind in (LINEAR, RBF)

    def finish(self, P: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
        """Turn a block of inner products x_i.z_j, f8 or f4 (n, m) in C order, into kernel values in place.

        left f8[n] and right f8[m]: |x_i|^2 and |z_j|^2, which only rbf reads.
        """
        if self.kind in (LINEAR, PRECOMPUTED):
            return
        n, m = P.shape
        if self.kind == RBF and (left.size != n or right.size != m):
            raise ValueError(f"square norms of {left.size} and {right.size} rows for a block of {n} x {m}")
        finish = finish_kernel if P.dtype.itemsize == 8 else finish_kernel_single
        call = finish.bind(P, left, right)
        step = max(1, BLOCK // max(1, m))

        def work(b: int) -> None:
            call(self.kind, self.gamma, self.degree, self.coef0, m, b * step, min(n, (b + 1) * step))

        threads.run_blocks(work, -(-n // step))
