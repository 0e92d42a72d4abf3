"""Merges features that occur in a single row into one feature for each row: the same problem with fewer weights.

Such features of row i change only its margin.  Of all their weights with the same sum of w_j x_ij those of least norm
are v_i x_ij / r_i with r_i^2 = sum_j x_ij^2.  So under 1/2 |w|^2 one weight v_i for a feature of value r_i replaces
them.  Most pairs of words in texts are of this kind.
"""

from __future__ import annotations

import numpy as np

from svmtool.compiled.loops.rows import row_loops
from svmtool.data.csr import CsrRows
from svmtool.data.row_storage import Rows


class SingletonFeatures:
    """Rows with merged singleton features, `rows`, and the conversion of weights from and to the original features."""

    def __init__(self, whole: Rows):
        rows: CsrRows = whole.as_csr()
        self.whole, n, counts = rows, rows.n, rows.feature_counts
        self._shared = np.flatnonzero(counts > 1)
        common = len(self._shared)
        place = np.full(rows.n_features, -1, np.int32)
        place[self._shared] = np.arange(common, dtype=np.int32)
        indptr, space = np.empty(n + 1, np.int64), int(np.sum(counts[self._shared])) + n
        indices, values, own = np.empty(space, np.int32), np.empty(space), np.empty(n)
        row_loops.csr_fold(rows.indptr, rows.indices, rows.values, place, indptr, indices, values, own, common)
        used, has = int(indptr[-1]), own > 0.0
        plain = common + int(np.count_nonzero(has))
        self.rows = CsrRows(indptr, indices[:used], values[:used], plain, rows.bias)
        # values of singleton features, their rows, and the merged weights of these
        self._at = np.flatnonzero(counts[rows.indices] == 1)
        row = np.searchsorted(rows.indptr, self._at, side="right") - 1
        length = own[row]
        filled = length > 0.0
        self._at, row, length = self._at[filled], row[filled], length[filled]
        self._weight = common - 1 + np.cumsum(has)[row]
        self._share = rows.values[self._at] / length

    @staticmethod
    def possible(rows: Rows) -> bool:
        """Return whether there are more singleton features than rows.

        False for rows on disk, because the merged rows would be in memory.
        """
        if not isinstance(rows, CsrRows) or rows.n_features <= rows.n or rows.mapped is not None:
            return False
        return int(np.count_nonzero(rows.feature_counts == 1)) > rows.n

    def merged_weights(self, w: np.ndarray) -> np.ndarray:
        """Weights for the merged rows with the same margins as w, and no longer than w."""
        v = np.zeros(self.rows.d)
        v[: len(self._shared)] = w[self._shared]
        v += np.bincount(self._weight, weights=self._share * w[self.whole.indices[self._at]], minlength=len(v))
        if self.rows.bias >= 0:
            v[-1] = w[-1]
        return v

    def original_weights(self, v: np.ndarray) -> np.ndarray:
        """Weights for the original rows with the margins and the length of v."""
        w = np.zeros(self.whole.d)
        w[self._shared] = v[: len(self._shared)]
        w[self.whole.indices[self._at]] = self._share * v[self._weight]
        if self.rows.bias >= 0:
            w[-1] = v[-1]
        return w
