"""Labelled rows and their text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
        at = np.concatenate([np.zeros(0, np.int64), *parts])
        return Rows(self.labels[chosen], _ends([len(p) for p in parts]), self.indices[at], self.values[at])

    def only_columns(self, kept: np.ndarray) -> Rows:
        """The columns `kept` (i8, ascending), renumbered from 0."""
        inside = np.isin(self.indices, kept)
        counts = np.bincount(self.row[inside], minlength=self.n)
        return Rows(self.labels, _ends(counts), np.searchsorted(kept, self.indices[inside]), self.values[inside])

    def labelled(self, labels: np.ndarray) -> Rows:
        return self._replace(labels=np.asarray(labels, dtype=np.float64))

    def text(self) -> str:
        """The rows as a data file."""
        pairs = [f" {j + 1}:{v:.17g}" for j, v in zip(self.indices.tolist(), self.values.tolist(), strict=True)]
        ends = zip(self.labels.tolist(), self.indptr[:-1], self.indptr[1:], strict=True)
        return "".join(f"{label:.17g}{''.join(pairs[a:b])}\n" for label, a, b in ends)


def _ends(counts) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def of_dense(X: np.ndarray, labels: np.ndarray) -> Rows:
    """Rows of f8 (n, d); zeros are left out."""
    row, column = np.nonzero(X)
    values = X[row, column].astype(np.float64)
    return Rows(np.asarray(labels, dtype=np.float64), _ends(np.bincount(row, minlength=len(X))), column, values)


def of_lists(rows: list[dict[int, float]], labels: np.ndarray) -> Rows:
    """Rows given as {index starting at 0: value}."""
    pairs = [pair for row in rows for pair in sorted(row.items())]
    indices, values = (np.array([pair[k] for pair in pairs], kind) for k, kind in enumerate((np.int64, np.float64)))
    return Rows(np.asarray(labels, dtype=np.float64), _ends([len(row) for row in rows]), indices, values)


def parse(text: str) -> Rows:
    """The rows of a valid data file."""
    labels, rows = [], []
    for line in text.splitlines():
        label, *pairs = line.split()
        labels.append(float(label))
        rows.append({int(j) - 1: float(v) for j, v in (pair.split(":") for pair in pairs)})
    return of_lists(rows, np.array(labels))
