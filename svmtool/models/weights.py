"""Weights of many classes without their zeros, by problem as these are solved, by feature in models."""

from __future__ import annotations

import io
import math
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from svmtool import systems
from svmtool.compiled import threads

PACKED_FROM = 1 << 22  # numbers; from here on the weights of several problems are kept without their zeros
PIECE_VALUES = 1 << 20  # weights that are sorted by feature at a time
STORED_FROM = 1 << 25  # numbers; from here on these weights wait in a file

_storing = threading.Lock()


class SparseWeights:
    """Weights f8 (features, columns) that hold only those other than zero, feature by feature (CSR).

    Attributes
    ----------
    indptr : ndarray of int64 (features + 1,)
        Where the values of each feature begin.
    labels : ndarray of int32 (values,)
        Their columns, ascending in each feature.
    values : ndarray of float64 (values,)
        The weights.
    shape : tuple of int
        (features, columns).
    """

    def __init__(self, indptr: np.ndarray, labels: np.ndarray, values: np.ndarray, columns: int):
        self.indptr, self.labels, self.values = indptr, labels, values
        self.shape = (len(indptr) - 1, columns)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def finite(self) -> bool:
        """Whether all weights are."""
        return bool(np.all(np.isfinite(self.values)))

    def __getitem__(self, some: slice) -> np.ndarray:
        """The weights of consecutive features, f8 (features, columns), C order."""
        start, stop, _ = some.indices(len(self))
        found = np.zeros((stop - start, self.shape[1]))
        lo, hi = self.indptr[start], self.indptr[stop]
        rows = np.repeat(np.arange(stop - start), np.diff(self.indptr[start : stop + 1]))
        found[rows, self.labels[lo:hi]] = self.values[lo:hi]
        return found

    def pieces(self) -> Iterator[SparseWeights]:
        """The weights themselves, see Columns."""
        yield self

    def dense_if_small(self) -> SparseWeights | np.ndarray:
        """All weights as an array of up to PACKED_FROM numbers, else the weights themselves."""
        return self if math.prod(self.shape) > PACKED_FROM else self[:]


class Scratch(io.FileIO):
    """A file that is closed with the last numbers in it."""

    def __del__(self) -> None:
        self.close()


class Stored:
    """Numbers at the end of an open file, read in slices when they are needed; OSError if there is no space."""

    def __init__(self, file: Scratch, values: np.ndarray):
        with _storing:
            self.file, self.start, self.size = file, file.seek(0, os.SEEK_END), len(values)
            self.dtype = values.dtype
            if (file.write(values) or 0) < values.nbytes:
                raise OSError("no space is left")

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, _ = part.indices(self.size)
        width = self.dtype.itemsize
        return np.frombuffer(
            systems.pread(self.file.fileno(), width * (stop - start), self.start + width * start), self.dtype
        )


def stored(values: np.ndarray, file: Scratch | None) -> np.ndarray | Stored:
    """The numbers in the file, if there is one that has space."""
    if file is not None:
        with suppress(OSError):
            return Stored(file, values)
    return values


class Column:
    """The weights f8 of a vector that are there, bool[n]: places take a bit each, or four bytes for each value."""

    def __init__(self, there: np.ndarray, values: Any):
        self.size, self.values = len(there), values
        self.count = int(np.count_nonzero(there))
        self._places = np.flatnonzero(there).astype(np.int32) if 32 * self.count < self.size else np.packbits(there)

    def __len__(self) -> int:
        return self.size

    @property
    def places(self) -> np.ndarray:
        """Where the weights are, ascending."""
        if self._places.dtype == np.int32:
            return self._places
        return np.flatnonzero(np.unpackbits(self._places, count=self.size).view(bool))


class Group:
    """The weights of consecutive columns from `first` on by feature, in the file if there is one.

    counts: how many each feature has.
    """

    def __init__(self, columns: list[Column], first: int, file: Scratch | None):
        from svmtool.compiled.loops.loss.l1_loops import fill_columns

        places = np.concatenate([column.places for column in columns], dtype=np.int32)
        counts = np.bincount(places, minlength=len(columns[0]))
        self.counts = counts.astype(np.min_scalar_type(len(columns)))
        self.labels: Any = np.broadcast_to(np.int32(first), len(places))
        self.values, values = columns[0].values, np.concatenate([column.values[:] for column in columns])
        self.finite = bool(np.all(np.isfinite(values)))
        if len(columns) > 1:
            labels, sorted_values = np.empty(len(places), np.int32), np.empty(len(places))
            starts = np.cumsum([0, *(column.count for column in columns)])
            fill_columns(starts, places, values, np.cumsum(counts) - counts, labels, sorted_values, 0, len(columns))
            labels += np.int32(first)
            self.labels, self.values = stored(labels, file), stored(sorted_values, file)


class Joined(SparseWeights):
    """The weights of consecutive features from parts of groups, each with the places of its values.

    A file takes one of the two arrays at a time: they are made when they are asked for.  (Type checkers take a cached
    property for read-only, which it is not.)
    """

    def __init__(self, indptr: np.ndarray, moves: list[tuple[Group, slice, np.ndarray]], columns: int):
        self.indptr, self.shape, self._moves = indptr, (len(indptr) - 1, columns), moves

    @cached_property
    def labels(self) -> np.ndarray:  # type: ignore[override]
        return self._joined("labels", np.int32)

    @cached_property
    def values(self) -> np.ndarray:  # type: ignore[override]
        return self._joined("values", np.float64)

    def _joined(self, name: str, dtype: type) -> np.ndarray:
        found = np.empty(self.indptr[-1], dtype)
        for group, part, to in self._moves:
            found[to] = getattr(group, name)[part]
        return found


class Columns:
    """The weights of many problems, each a Column, at `places` (ascending; None: at all) of n features."""

    def __init__(self, columns: list[Column], n: int, places: np.ndarray | None = None):
        self.columns, self.shape = columns, (n, len(columns))
        self._places = np.arange(n, dtype=np.int32) if places is None else places

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def finite(self) -> bool:
        """Whether all weights are."""
        return all(group.finite for group in self._groups)

    @cached_property
    def _groups(self) -> list[Group]:
        """The weights, some PIECE_VALUES of them each."""
        number = np.cumsum([0, *(column.count for column in self.columns[:-1])]) // PIECE_VALUES
        cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
        groups: list[Any] = [None] * (len(cuts) - 1)
        file = file_for(STORED_FROM)

        def make(g: int) -> None:
            groups[g] = Group(self.columns[cuts[g] : cuts[g + 1]], cuts[g], file)

        threads.run_blocks(make, len(groups))
        return groups

    @cached_property
    def counts(self) -> np.ndarray:
        """How many weights each feature has, i8[n]."""
        found = np.zeros(len(self), np.int64)
        for group in self._groups:
            found[self._places] += group.counts
        return found

    def pieces(self) -> Iterator[SparseWeights]:
        """The weights of consecutive features, some PIECE_VALUES of them at a time."""
        n, places = len(self), self._places
        wanted, begun = self.counts if len(places) == n else self.counts[places], [0] * len(self._groups)
        before = np.cumsum(wanted)
        first = start = 0
        while start < len(places):
            held = before[start - 1] if start else 0
            stop = max(int(np.searchsorted(before, held + PIECE_VALUES, side="right")), start + 1)
            last = int(places[stop]) if stop < len(places) else n
            indptr = np.zeros(last - first + 1, np.int64)
            indptr[places[start:stop] - first + 1] = wanted[start:stop]
            indptr = np.cumsum(indptr, out=indptr)
            at = before[start:stop] - held - wanted[start:stop]  # where the next weight of each feature comes
            moves = []
            for g, group in enumerate(self._groups):
                counts = group.counts[start:stop].astype(np.int64)
                ends = np.cumsum(counts)
                part = slice(begun[g], begun[g] + int(ends[-1]))
                moves.append((group, part, np.repeat(at + counts - ends, counts) + np.arange(ends[-1])))
                at, begun[g] = at + counts, part.stop
            yield Joined(indptr, moves, self.shape[1])
            first, start = last, stop

    def by_feature(self) -> SparseWeights:
        """All weights in the other order."""
        indptr = np.concatenate(([0], np.cumsum(self.counts)))
        found = SparseWeights(indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1]), self.shape[1])
        at = 0
        for piece in self.pieces():
            found.labels[at : at + len(piece.values)] = piece.labels
            found.values[at : at + len(piece.values)] = piece.values
            at += len(piece.values)
        return found

    def spread(self, places: np.ndarray, n: int) -> Columns:
        """The same weights at `places` (ascending) of n features."""
        return Columns(self.columns, n, places)


def by_feature(W: np.ndarray) -> SparseWeights:
    """The weights f8 (features, columns) without zeros; -0 is kept."""
    rows, columns = np.nonzero(W.view(np.int64))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(W)))))
    return SparseWeights(indptr, columns.astype(np.int32), W[rows, columns], W.shape[1])


def values_of(w: np.ndarray | Column) -> np.ndarray:
    """The weights of a problem; of a Column without zeros."""
    return w.values[:] if isinstance(w, Column) else w


def file_for(numbers: int) -> Scratch | None:
    """A file without a name, in the folder of temporary files, for the weights among so many; None: for few."""
    if numbers >= STORED_FROM:
        import tempfile

        with suppress(OSError), tempfile.TemporaryFile(prefix="svmtool-") as file:
            return Scratch(os.dup(file.fileno()), "r+b")
    return None


def kept(w: np.ndarray, problems: int, file: Scratch | None = None) -> np.ndarray | Column:
    """The weights of a finished problem as they are kept until the model is made; -0 too, as it is written.

    file: where they wait, if it has space.
    """
    if problems <= 2 or w.size * problems < PACKED_FROM:
        return w
    there = w.view(np.int64) != 0
    return Column(there, stored(w[there], file))
