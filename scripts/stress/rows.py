"""Labelled rows, their text, and products with weights with bounds of the round-off."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

EPS = float(np.finfo(np.float64).eps)


class Rows(NamedTuple):
    """labels f8[n]; indptr i8[n + 1], indices i8[nnz] starting at 0, ascending in a row, values f8[nnz]."""

    labels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def d(self) -> int:
        """Number of features: the largest index."""
        return int(self.indices.max(initial=-1)) + 1

    @property
    def row(self) -> np.ndarray:
        """The row of each value, i8[nnz]."""
        return np.repeat(np.arange(self.n), np.diff(self.indptr))

    def take(self, chosen: np.ndarray) -> Rows:
        """The rows `chosen` (i8), in that order."""
        parts = [np.arange(self.indptr[i], self.indptr[i + 1]) for i in chosen]
        at = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        indptr = np.concatenate(([0], np.cumsum([len(p) for p in parts]))).astype(np.int64)
        return Rows(self.labels[chosen], indptr, self.indices[at], self.values[at])

    def only_columns(self, kept: np.ndarray) -> Rows:
        """The columns `kept` (i8, ascending), renumbered from 0."""
        place = np.full(max(self.d, int(kept.max(initial=-1)) + 1), -1)
        place[kept] = np.arange(len(kept))
        to = place[self.indices]
        inside = to >= 0
        counts = np.bincount(self.row[inside], minlength=self.n)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        return Rows(self.labels, indptr, to[inside], self.values[inside])

    def labelled(self, labels: np.ndarray) -> Rows:
        return self._replace(labels=np.asarray(labels, dtype=np.float64))

    def products(self, w: np.ndarray, bias: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
        """x_i.w f8[n] and a bound of its round-off for any order of the sum; w is truncated or padded.

        bias >= 0: the value of an additional feature, whose weight is the last of w.
        """
        inner = w[:-1] if bias >= 0 else w
        weights = np.zeros(max(self.d, len(inner)))
        weights[: len(inner)] = inner
        each = self.values * weights[self.indices]
        z = np.bincount(self.row, each, minlength=self.n)
        size = np.bincount(self.row, np.abs(each), minlength=self.n)
        if bias >= 0:
            z, size = z + bias * w[-1], size + abs(bias * w[-1])
        return z, EPS * (np.diff(self.indptr) + 4) * size

    def dense(self) -> np.ndarray:
        X = np.zeros((self.n, self.d))
        X[self.row, self.indices] = self.values
        return X

    def text(self) -> str:
        """The rows as a data file."""
        lines = []
        for i in range(self.n):
            pairs = range(self.indptr[i], self.indptr[i + 1])
            label = f"{self.labels[i]:.17g}"
            lines.append(" ".join([label, *(f"{self.indices[k] + 1}:{self.values[k]:.17g}" for k in pairs)]))
        return "\n".join(lines) + "\n" if lines else ""


def of_dense(X: np.ndarray, labels: np.ndarray) -> Rows:
    """Rows of f8 (n, d); zeros are left out."""
    row, column = np.nonzero(X)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(X))))).astype(np.int64)
    values = X[row, column].astype(np.float64)
    return Rows(np.asarray(labels, dtype=np.float64), indptr, column.astype(np.int64), values)


def of_lists(rows: list[dict[int, float]], labels: np.ndarray) -> Rows:
    """Rows given as {index starting at 0: value}."""
    columns = [sorted(row) for row in rows]
    indptr = np.concatenate(([0], np.cumsum([len(c) for c in columns]))).astype(np.int64)
    indices = np.array([j for c in columns for j in c], dtype=np.int64)
    values = np.array([row[j] for row, c in zip(rows, columns, strict=True) for j in c], dtype=np.float64)
    return Rows(np.asarray(labels, dtype=np.float64), indptr, indices, values)


def parse(text: str) -> Rows:
    """The rows of a valid data file."""
    labels, rows = [], []
    for line in text.splitlines():
        label, *pairs = line.split()
        labels.append(float(label))
        rows.append({int(j) - 1: float(v) for j, v in (pair.split(":") for pair in pairs)})
    return of_lists(rows, np.array(labels))


def read(path: Path) -> Rows:
    return parse(path.read_text())
