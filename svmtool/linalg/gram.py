"""Cached inner products of rows, for problems with more features than active rows."""

from __future__ import annotations

import numpy as np

from svmtool.data.blocks import Rows

MANY = 2048  # rows kept: 32 MB


class KernelCache:
    """x_i.x_j among the rows asked for so far; only those with new rows are computed.

    Once more rows than MANY, and than twice those asked for, would be kept, the others are dropped.
    Memory: f8 (rows kept)^2.
    """

    def __init__(self, rows: Rows):
        self.rows = rows
        self._drop()

    def _drop(self) -> None:
        self.place = np.full(self.rows.n, -1)  # where a row stands in K
        self.known = np.empty(0, np.int64)
        self.K = np.empty((0, 0))

    def block(self, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows `used` (i8) in the order they have here, and their x_i.x_j as a matrix of its own.

        Only the matrix's lower triangle is meaningful.
        """
        new = used[self.place[used] < 0]
        if len(self.known) + len(new) > max(MANY, 2 * len(used)):
            self._drop()
            new = used
        if len(new):
            m = len(self.known)
            known = np.concatenate([self.known, new])
            K = np.zeros((len(known), len(known)))  # the other triangle too must be numbers
            K[:m, :m] = self.K
            self.rows.fill_kernel(known, K, m)
            self.K, self.known = K, known
            self.place[new] = m + np.arange(len(new))
        at = np.sort(self.place[used])
        return self.known[at], self.K[np.ix_(at, at)]
