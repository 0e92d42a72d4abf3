"""Repeated rows: k virtual copies of each row, with every product over the data computed once.

Virtual row r n + i is copy r of row i (n rows of data).  Regression needs two copies of each row, for the upper and the
lower side of the tube; ordinal regression one for each threshold, with the threshold as a feature.
"""

from __future__ import annotations

import numpy as np

from svmtool.data.row_storage import Rows
from svmtool.data.twofold import summed, two_sum, twofold_dot


class RepeatedRows(Rows):
    """Each row of `base` k times; n = k base.n, d and bias as in base."""

    def __init__(self, base: Rows, k: int):
        self.base, self.k, self.have_kernel = base, k, base.have_kernel
        self.n, self.d, self.bias, self.nnz = k * base.n, base.d, base.bias, k * base.nnz
        self._ones = np.ones(base.n)

    @property
    def n_features(self) -> int:
        return self.base.n_features

    @property
    def in_memory(self) -> bool:
        return self.base.in_memory

    def serve_several(self) -> None:
        self.base.serve_several()

    def with_bias(self, bias: float) -> RepeatedRows:
        return type(self)(self.base.with_bias(bias), self.k)

    def copies(self, v: np.ndarray) -> np.ndarray:
        """A view of v (length n) as k x base.n, one row for each copy."""
        return v.reshape(self.k, self.base.n)

    def products(self, w: np.ndarray) -> np.ndarray:
        """x_i.w of the rows of data, length base.n; w as base sees it."""
        out = np.empty(self.base.n)
        self.base.margins(w, self._ones, out)
        return out

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        np.multiply(self.copies(y), self.products(w), out=self.copies(z))

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        return self.base.transpose_product(self.copies(u).sum(axis=0))

    def twofold_margins(self, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z, rest = (np.tile(part, self.k) for part in self.base.twofold_margins(w, self._ones))
        return y * z, y * rest

    def twofold_sums(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = (self.base.twofold_sums(np.ascontiguousarray(copy)) for copy in self.copies(u))
        return summed(parts, self.base.d)

    @property
    def longest(self) -> int:
        return self.base.longest + 1

    def sums_by_side(self, u: np.ndarray, y: np.ndarray) -> np.ndarray:
        part = np.where(y > 0.0, u, 0.0)
        return np.stack([self.transpose_product(part), self.transpose_product(u - part)])

    def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.base.curvature_product(self.copies(c).sum(axis=0), v)

    def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
        self.base.add_gram(self.copies(c).sum(axis=0), gram)

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        return self.base.diagonal(self.copies(c).sum(axis=0))

    def square_norms(self) -> np.ndarray:
        return np.tile(self.base.square_norms(), self.k)

    def fill_kernel(self, chosen: np.ndarray, K: np.ndarray, first: int) -> None:
        self.base.fill_kernel(chosen % self.base.n, K, first)

    def dense_of(self, chosen: np.ndarray) -> np.ndarray:
        return self.base.dense_of(chosen % self.base.n)

    def take(self, chosen: np.ndarray) -> RepeatedRows:
        """Copy the rows `chosen` (i8): all copies of some rows of data, copy after copy; ValueError for others."""
        lines = chosen.reshape(self.k, -1) if self.k else np.empty((1, 0), np.int64)
        if not np.array_equal(lines, lines[0] + self.base.n * np.arange(len(lines))[:, None]):
            raise ValueError("repeated rows must be taken with all their copies")
        return type(self)(self.base.take(lines[0]), self.k)


def base_rows(rows: Rows) -> Rows:
    """The rows of data of possibly repeated rows."""
    return rows.base if isinstance(rows, RepeatedRows) else rows


class OrdinalRows(RepeatedRows):
    """Copy s of row x_i is (x_i, -e_s): its product with beta = (w, b_1 .. b_k) is w.x_i - b_s.

    The base has no bias feature: the thresholds are the bias.  d = base.d + k.
    """

    def __init__(self, base: Rows, k: int):
        super().__init__(base, k)
        if base.bias >= 0:
            raise ValueError("the thresholds are the bias: the rows of data must not have a bias feature")
        self.d = base.d + k

    @property
    def n_features(self) -> int:
        return self.d

    def margins(self, w: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
        m, out = self.base.d, self.copies(z)
        np.subtract(self.products(w[:m]), w[m:, None], out=out)
        out *= self.copies(y)

    def twofold_margins(self, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        m = self.base.d
        z, rest = super().twofold_margins(w[:m], np.ones(self.n))
        z, lost = two_sum(z, -np.repeat(w[m:], self.base.n))
        return y * z, y * (rest + lost)

    def twofold_sums(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g, rest = super().twofold_sums(u)
        more = np.array([twofold_dot(-1.0, copy) for copy in self.copies(u)]).reshape(-1, 2)
        return np.append(g, more[:, 0]), np.append(rest, more[:, 1])

    def transpose_product(self, u: np.ndarray) -> np.ndarray:
        return np.append(super().transpose_product(u), -self.copies(u).sum(axis=1))

    def curvature_product(self, c: np.ndarray, v: np.ndarray) -> np.ndarray:
        m = self.base.d
        t = self.products(v[:m]) - v[m:, None]
        t *= self.copies(c)
        return self.transpose_product(t.ravel())

    def add_gram(self, c: np.ndarray, gram: np.ndarray) -> None:
        m = self.base.d
        part = np.zeros((m, m))
        super().add_gram(c, part)
        gram[:m, :m] += part
        for s, line in enumerate(self.copies(c)):
            if np.any(line):
                gram[:m, m + s] -= self.base.transpose_product(line)
                gram[m + s, m + s] += float(np.sum(line))

    def diagonal(self, c: np.ndarray) -> np.ndarray:
        return np.append(super().diagonal(c), self.copies(c).sum(axis=1))

    def square_norms(self) -> np.ndarray:
        return super().square_norms() + 1.0

    def fill_kernel(self, chosen: np.ndarray, K: np.ndarray, first: int) -> None:
        super().fill_kernel(chosen, K, first)
        threshold = chosen // self.base.n
        K[first:] += threshold[first:, None] == threshold

    def dense_of(self, chosen: np.ndarray) -> np.ndarray:
        thresholds = np.arange(self.k) == (chosen // self.base.n)[:, None]
        return np.hstack([super().dense_of(chosen), -thresholds.astype(float)])


def stored_rows(rows: Rows) -> Rows:
    """The rows whose arrays are passed over for these rows."""
    return rows.base if isinstance(rows, RepeatedRows) and not isinstance(rows, OrdinalRows) else rows
