"""Rows with a score for each of k classes, and the Crammer-Singer problem.

    min over W (d x k) of  1/2 |W|^2 + sum_i C_i max_m ([m != y_i] + w_m.x_i - w_{y_i}.x_i)

Weights are the flat W: the k weights of feature 1, then those of feature 2, and so on.  Arrays with k numbers for each
row are padded to `wide` numbers.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.rows import class_loops as loops
from svmtool.data.row_storage import BLOCK_WORK, MAX_BLOCKS, Rows

CLASS_NONZEROS = 8  # fixed cost of one class of a row, in non-zeros
CLASS_SPEEDUP = 4  # non-zeros handled in the time of one in a two-class problem, since classes share the row's index


class ClassTask:
    """The problem: rows, number (i8[n], the class of each row), k classes, cost (f8[n], C_i > 0)."""

    __slots__ = ("rows", "number", "k", "cost")

    def __init__(self, rows: Rows, number: np.ndarray, k: int, cost: np.ndarray):
        self.rows, self.number, self.k, self.cost = rows, number, k, cost

    def only(self, chosen: np.ndarray) -> ClassTask:
        """The same task on the rows `chosen` (i8)."""
        return ClassTask(self.rows.take(chosen), self.number[chosen], self.k, self.cost[chosen])


class ClassRows(Rows):
    """Rows for all classes: virtual row i wide + m is row i of `base` with column m of W.

    n = wide base.n, d = k base.d; numbers m >= k are zero.
    """

    def __init__(self, base: Rows, k: int):
        self.base, self.k, self.wide = base, k, -(-k // 4) * 4
        self.n, self.d, self.bias, self.nnz = self.wide * base.n, k * base.d, base.bias, k * base.nnz
        self.arrays = base.row_arrays
        work = self.wide * (base.nnz + CLASS_NONZEROS * base.n) // CLASS_SPEEDUP
        n_blocks = min(MAX_BLOCKS, work // BLOCK_WORK, base.nnz // (4 * max(base.d, 1)))
        self.blocks = base._partition(self.arrays[0], n_blocks)  # ranges of rows of `base`

    def widened(self, w: np.ndarray) -> np.ndarray:
        """The flat W with `wide` numbers for each feature."""
        W = np.zeros((self.base.d, self.wide))
        W[:, : self.k] = w.reshape(self.base.d, self.k)
        return W.reshape(-1)

    def narrowed(self, W: np.ndarray) -> np.ndarray:
        """Inverse of `widened`, for any number of rows or features."""
        return W.reshape(-1, self.wide)[:, : self.k].reshape(-1)

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        """z_im = w_m.x_i; all signs y are +1."""
        call = loops.class_scores.bind(*self.arrays, self.widened(w), z)
        self.for_each_block(lambda lo, hi: call(self.bias, self.wide, lo, hi))

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        """sum_i x_i u_i', flat."""
        G, _ = self._sum_over(
            self.blocks,
            self.base.d * self.wide,
            lambda g, lo, hi: loops.class_transpose_product(*self.arrays, u, g, self.bias, self.wide, lo, hi),
        )
        return self.narrowed(G)

    def square_norms(self) -> np.ndarray:
        """|x_i|^2 with the bias feature, f8[base.n]."""
        return self.base.square_norms()
