"""Kernel functions: from inner products to their values, a block at a time."""

from __future__ import annotations

from collections import namedtuple

from svmtool.compiled import threads
from svmtool.compiled.loops.kernel.kernel_loops import (
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
    from collections.abc import Callable

    import numpy as np

NAMES = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")  # by number, as LIBSVM's -t and its model files
WITH_DEGREE, WITH_GAMMA, WITH_COEF0 = (POLYNOMIAL,), (POLYNOMIAL, RBF, SIGMOID), (POLYNOMIAL, SIGMOID)

BLOCK = 1 << 16  # kernel values that a thread works on at a time
LARGEST_EXPONENT = 64.0 * 2.0**29  # gamma (|x|^2 + |z|^2) up to which inner products in double tell rbf's exponent: an
# error of some 4e-6, as kernel_tiles allows with single precision
CANCELLED = 1e-12  # share of the squares that inner products of long rows may miss
NOTHING = 708.0  # rbf's exponent from which its value is 0


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

    def finish(
        self, P: np.ndarray, left: np.ndarray, right: np.ndarray, apart: Callable[..., np.ndarray] | None = None
    ) -> None:
        """Turn a block of inner products x_i.z_j, f8 or f4 (n, m) in C order, into kernel values in place.

        left f8[n] and right f8[m]: |x_i|^2 and |z_j|^2, which only rbf reads.  apart(i, j): |x_i - z_j|^2 of pairs by
        their differences, for rbf's pairs of which `near` says that inner products do not tell.
        """
        if self.kind in (LINEAR, PRECOMPUTED):
            return
        n, m = P.shape
        if self.kind == RBF and (left.size != n or right.size != m):
            raise ValueError(f"square norms of {left.size} and {right.size} rows for a block of {n} x {m}")
        pairs = self.near(P, left, right) if self.kind == RBF and apart is not None else ()
        finish = finish_kernel if P.dtype.itemsize == 8 else finish_kernel_single
        call = finish.bind(P, left, right)
        step = max(1, BLOCK // max(1, m))

        def work(b: int) -> None:
            call(self.kind, self.gamma, self.degree, self.coef0, m, b * step, min(n, (b + 1) * step))

        threads.run_blocks(work, -(-n // step))
        if pairs:
            self.set_near(P, pairs, apart)

    def near(self, P: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, ...]:
        """Pairs (i8, i8) whose rbf value is not 0, as far as inner products P tell, which is not far enough.

        |x|^2 + |z|^2 - 2 x.z keeps too few digits where the squares are large: K(x, x) itself was not 1 then.
        """
        if self.gamma * (left.max(initial=0.0) + right.max(initial=0.0)) <= LARGEST_EXPONENT:
            return ()
        import numpy as np

        found = []
        step = max(1, BLOCK // max(1, P.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for lo in range(0, len(P), step):
                sums = left[lo : lo + step, None] + right
                least = sums - 2.0 * P[lo : lo + step] - CANCELLED * sums
                far = (self.gamma * sums <= LARGEST_EXPONENT) | (self.gamma * least > NOTHING)
                i, j = np.nonzero(~far)
                found.append((i + lo, j))
        return tuple(np.concatenate(part) for part in zip(*found, strict=True))

    def set_near(self, P: np.ndarray, pairs: tuple[np.ndarray, ...], apart: Callable[..., np.ndarray]) -> None:
        """Write the rbf values of pairs."""
        import numpy as np

        with np.errstate(over="ignore", under="ignore"):
            P[pairs] = np.exp(-self.gamma * apart(*pairs))
