"""Several labels a row: the sets of labels of rows, and the classes that they make."""

from __future__ import annotations

import numpy as np

from svmtool.data.labels import cost_factors, refuse_large
from svmtool.errors import RowsError


class LabelSets:
    """The labels of each row.

    indptr : i8[rows + 1]
    labels : f8, those of row i are labels[indptr[i]:indptr[i + 1]]
    count : number of labels 0, 1, .. that rows could have; None: not known
    """

    count: int | None = None

    def __init__(self, indptr: np.ndarray, labels: np.ndarray):
        self.indptr, self.labels = indptr, labels

    @classmethod
    def of_counts(cls, counts: np.ndarray, labels: np.ndarray) -> LabelSets:
        """The sets of rows that have `counts` labels each."""
        return cls(np.concatenate(([0], np.cumsum(counts, dtype=np.int64))), labels)

    @classmethod
    def of_labels(cls, labels: np.ndarray) -> LabelSets:
        """Sets of one label each, f8[rows]; nan: of none."""
        there = labels == labels
        return cls.of_counts(there, labels[there])

    @classmethod
    def joined(cls, parts: list[LabelSets]) -> LabelSets:
        """The sets of consecutive rows."""
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls.of_counts(counts, np.concatenate([part.labels for part in parts]))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def rows(self) -> np.ndarray:
        """The row of each label, i8."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    def take(self, chosen: np.ndarray) -> LabelSets:
        """The sets of the rows `chosen`, i8."""
        counts = np.diff(self.indptr)[chosen]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.indptr[chosen] - (ends - counts), counts)
        found = LabelSets.of_counts(counts, self.labels[places])
        found.count = self.count
        return found


class SetClasses:
    """The labels of sets as classes, in ascending order, each against the rows without it; as labels.Classes.

    labels: the distinct labels; counts: the rows that have each; number: i8[n], without meaning here, since a row has
    no one class.
    """

    def __init__(self, sets: LabelSets):
        whole = np.trunc(sets.labels)
        refuse_large(whole)
        if len(wrong := np.flatnonzero(whole != sets.labels)):
            raise RowsError(f"label {sets.labels[wrong[0]]:g} is no whole number, as labels of sets are")
        found, place = np.unique(whole, return_inverse=True)
        n = len(sets)
        pairs = np.unique(place.reshape(-1) * n + sets.rows)  # by label, then by row; a repeated label counts once
        self.labels = [int(label) for label in found]
        self._rows = pairs % max(n, 1)
        self._starts = np.searchsorted(pairs, np.arange(len(found) + 1) * n)
        self.counts, self.number = np.diff(self._starts), np.zeros(n, np.int64)

    @property
    def problems(self) -> int:
        """One for each label."""
        return len(self.labels)

    def rows_of(self, k: int) -> np.ndarray:
        """The rows that have label k, i8, ascending."""
        return self._rows[self._starts[k] : self._starts[k + 1]]

    def signs(self, k: int) -> np.ndarray:
        """+1 for the rows that have label k, -1 for the rest, f8[n]."""
        found = np.full(len(self.number), -1.0)
        found[self.rows_of(k)] = 1.0
        return found

    def weights(self, class_weights: tuple[tuple[int, float], ...]) -> tuple[np.ndarray, list[int]]:
        """Cost factor of each label (repeated -wi multiply), and the labels of -wi that do not occur."""
        return cost_factors(self.labels, class_weights)

    def costs(self, k: int, C: float, factor: np.ndarray) -> np.ndarray:
        """C_i of problem k, f8[n], without weights of rows: only the rows that have the label have its factor."""
        found = np.full(len(self.number), C)
        found[self.rows_of(k)] *= factor[k]
        return found
