"""Features of a single row, merged into one for each row: the same problem under 1/2 |w|^2 with fewer weights.

Such features of row i change nothing but its own margin.  Of all their weights with the same sum of w_j x_ij those
along x_ij are the shortest, v_i x_ij / r_i with r_i^2 = sum_j x_ij^2: one weight v_i for a feature of value r_i.
Of pairs of words most are of this kind.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.rows import row_loops
from svmtool.data.blocks import Rows
from svmtool.data.csr import CsrRows


class SingletonFeatures:
    """`rows` with the lone features folded, what `rows` is then; weights of the one and of the other."""

    def __init__(self, rows: CsrRows, counts: np.ndarray):
        self.whole, n = rows, rows.n
        self._shared = np.flatnonzero(counts > 1)
        common = len(self._shared)
        place = np.full(rows.plain, -1, np.int32)
        place[self._shared] = np.arange(common, dtype=np.int32)
        indptr, mapped = np.empty(n + 1, np.int64), int(np.sum(counts[self._shared])) + n
        indices, values, own = np.empty(mapped, np.int32), np.empty(mapped), np.empty(n)
        row_loops.csr_fold(rows.indptr, rows.indices, rows.values, place, indptr, indices, values, own, common)
        used, has = int(indptr[-1]), own > 0.0
        plain = common + int(np.count_nonzero(has))
        self.rows = CsrRows(indptr, indices[:used], values[:used], plain, rows.bias)
        # the lone numbers, the rows that they are in, and the weights of those
        self._at = np.flatnonzero(counts[rows.indices] == 1)
        row = np.searchsorted(rows.indptr, self._at, side="right") - 1
        length = own[row]
        filled = length > 0.0
        self._at, row, length = self._at[filled], row[filled], length[filled]
        self._weight = common - 1 + np.cumsum(has)[row]
        self._share = rows.values[self._at] / length

    @staticmethod
    def possible(rows: Rows) -> np.ndarray | None:
        """In how many rows each feature is, where more of them are in one row alone than there are rows; else None.

        None for rows on disk too: a second copy of them, and what leads from one to the other, would be in memory.
        """
        if not isinstance(rows, CsrRows) or rows.plain <= rows.n or rows.mapped is not None:
            return None
        counts = np.bincount(rows.indices, minlength=rows.plain)
        return counts if int(np.count_nonzero(counts == 1)) > rows.n else None

    def fold(self, w: np.ndarray) -> np.ndarray:
        """The weights of the folded features with the same margins, no longer than w."""
        v = np.zeros(self.rows.d)
        v[: len(self._shared)] = w[self._shared]
        v += np.bincount(self._weight, weights=self._share * w[self.whole.indices[self._at]], minlength=len(v))
        if self.rows.bias >= 0:
            v[-1] = w[-1]
        return v

    def unfold(self, v: np.ndarray) -> np.ndarray:
        """The weights of all features with the margins and the length of v."""
        w = np.zeros(self.whole.d)
        w[self._shared] = v[: len(self._shared)]
        w[self.whole.indices[self._at]] = self._share * v[self._weight]
        if self.rows.bias >= 0:
            w[-1] = v[-1]
        return w
