"""Kernel functions: convert blocks of inner products to kernel values."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING

from svmtool.compiled import threads
from svmtool.compiled.loops.kernel import kernel_loops
from svmtool.compiled.loops.kernel.kernel_loops import LINEAR, POLYNOMIAL, PRECOMPUTED, RBF, SIGMOID

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")  # by number, as LIBSVM's -t and its model files
WITH_DEGREE, WITH_GAMMA, WITH_COEF0 = (POLYNOMIAL,), (POLYNOMIAL, RBF, SIGMOID), (POLYNOMIAL, SIGMOID)

FINISHED_VALUES = 1 << 16  # kernel values that a thread computes at a time
MAX_DOUBLE_EXPONENT = 64.0 * 2.0**29  # gamma (|x|^2 + |z|^2) up to which inner products in double precision give rbf's
# exponent with an error of some 4e-6, as kernel_tiles allows for single precision
CANCELLATION_RTOL = 1e-12  # error of inner products of long rows relative to their squares
UNDERFLOW_EXPONENT = 708.0  # rbf's value is 0 from this exponent on


class Kernel(namedtuple("Kernel", ("kind", "gamma", "degree", "coef0"), defaults=(0.0, 3, 0.0))):
    """A kernel function: its number in NAMES and its parameters.

    linear       K(x, z) = x.z
    polynomial   (gamma x.z + coef0)^degree, degree a whole number >= 0
    rbf          exp(-gamma |x - z|^2)
    sigmoid      tanh(gamma x.z + coef0)
    precomputed  K(x, z) is given in the data
    """

    __slots__ = ()

    @property
    def positive(self) -> bool:
        """Whether the kernel is positive semidefinite for all rows."""
        if self.kind == POLYNOMIAL:
            return self.coef0 >= 0.0 and self.gamma >= 0.0
        return self.kind in (LINEAR, RBF)

    def finish(
        self, P: np.ndarray, left: np.ndarray, right: np.ndarray, apart: Callable[..., np.ndarray] | None = None
    ) -> None:
        """Turn a block of inner products x_i.z_j, f8 or f4 (n, m) in C order, into kernel values in place.

        left f8[n] and right f8[m]: |x_i|^2 and |z_j|^2, used only by rbf.  apart(i, j): computes |x_i - z_j|^2 of pairs
        from differences, for the pairs that `near` returns.
        """
        if self.kind in (LINEAR, PRECOMPUTED):
            return
        n, m = P.shape
        if self.kind == RBF and (left.size != n or right.size != m):
            raise ValueError(f"square norms of {left.size} and {right.size} rows for a block of {n} x {m}")
        pairs = self.near(P, left, right) if self.kind == RBF and apart is not None else ()
        call = kernel_loops.finish_kernel.bind(P, left, right)
        step = max(1, FINISHED_VALUES // max(1, m))

        def work(b: int) -> None:
            call(self.kind, self.gamma, self.degree, self.coef0, m, b * step, min(n, (b + 1) * step))

        threads.run_blocks(work, -(-n // step))
        if pairs:
            self.set_near(P, pairs, apart)

    def of_itself(self, squares: np.ndarray) -> np.ndarray:
        """K(x, x) from |x|^2, f8[n] each; not for a precomputed kernel."""
        import numpy as np

        if self.kind == RBF:
            return np.ones(len(squares))
        products = squares[:, None].copy()
        self.finish(products, squares, np.zeros(1))
        return products[:, 0]

    def near(self, P: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, ...]:
        """Pairs (i8, i8) with a non-zero rbf value for which inner products P are not accurate enough.

        |x|^2 + |z|^2 - 2 x.z loses too many digits if the squares are large: even K(x, x) would not be 1.
        """
        if self.gamma * (left.max(initial=0.0) + right.max(initial=0.0)) <= MAX_DOUBLE_EXPONENT:
            return ()
        import numpy as np

        found = []
        step = max(1, FINISHED_VALUES // max(1, P.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for lo in range(0, len(P), step):
                sums = left[lo : lo + step, None] + right
                least = sums - 2.0 * P[lo : lo + step] - CANCELLATION_RTOL * sums
                accurate = (self.gamma * sums <= MAX_DOUBLE_EXPONENT) | (self.gamma * least > UNDERFLOW_EXPONENT)
                i, j = np.nonzero(~accurate)
                found.append((i + lo, j))
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))

    def set_near(self, P: np.ndarray, pairs: tuple[np.ndarray, ...], apart: Callable[..., np.ndarray]) -> None:
        """Write the rbf values of pairs into P."""
        import numpy as np

        with np.errstate(over="ignore", under="ignore"):
            P[pairs] = np.exp(-self.gamma * apart(*pairs))
