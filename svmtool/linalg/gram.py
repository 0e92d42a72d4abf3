"""Cache of inner products of rows, for problems with more features than active rows."""

from __future__ import annotations

import numpy as np

from svmtool.data.blocks import Rows

MANY = 2048  # cached rows: 32 MB


class KernelCache:
    """Cache of x_i.x_j among the rows requested so far; only products with new rows are computed.

    If there would be more cached rows than MANY and than twice the requested ones, the others are dropped.
    Memory: f8 (cached rows)^2.
    """

    def __init__(self, rows: Rows):
        self.rows = rows
        self._drop()

    def _drop(self) -> None:
        self.place = np.full(self.rows.n, -1)  # index of each row in K
        self.known = np.empty(0, np.int64)
        self.K = np.empty((0, 0))

    def block(self, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows `used` (i8), in the cache's order, and a new matrix of their x_i.x_j, lower triangle.
        """
        new = used[self.place[used] < 0]
        if len(self.known) + len(new) > max(MANY, 2 * len(used)):
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
