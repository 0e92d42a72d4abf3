"""Inner products among rows, computed once and kept: for problems with more features than active rows."""

from __future__ import annotations

import numpy as np

from svmtool.problem.rows import CsrRows


class KernelCache:
    """x_i.x_j among the rows asked for so far; only those with new rows are computed.  Memory: f8 (rows seen)^2."""

    def __init__(self, rows: CsrRows):
        self.rows = rows
        self.place = np.full(rows.n, -1)  # where a row stands in K
        self.known = np.empty(0, np.int64)
        self.K = np.empty((0, 0))

    def block(self, used: np.ndarray) -> np.ndarray:
        """x_i.x_j for i, j in `used` (i8), as a matrix of its own."""
        new = used[self.place[used] < 0]
        if len(new):
            m = len(self.known)
            self.place[new] = m + np.arange(len(new))
            self.known = np.concatenate([self.known, new])
            cross = self.rows.kernel(new, self.known)
            K = np.empty((len(self.known), len(self.known)))
            K[:m, :m], K[m:], K[:m, m:] = self.K, cross, cross[:, :m].T
            self.K = K
        at = self.place[used]
        return self.K[np.ix_(at, at)]
