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

PACKED_FROM = 1 << 22  # numbers; from here on the weights of several problems are kept without their zeros
PIECE_VALUES = 1 << 19  # weights that are sorted by feature at a time
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
    """Numbers f8 at the end of an open file, read in slices when they are needed; OSError if there is no space."""

    def __init__(self, file: Scratch, values: np.ndarray):
        with _storing:
            self.file, self.start, self.size = file, file.seek(0, os.SEEK_END), len(values)
            if (file.write(values) or 0) < values.nbytes:
                raise OSError("no space is left")

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, _ = part.indices(self.size)
        return np.frombuffer(systems.pread(self.file.fileno(), 8 * (stop - start), self.start + 8 * start))


class Column:
    """The weights f8 of a vector that are there, bool[n]: places take a bit each, or four bytes for each value."""

    def __init__(self, there: np.ndarray, values: Any):
        self.size, self.values = len(there), values
        sparse = 32 * np.count_nonzero(there) < self.size
        self.places = np.flatnonzero(there).astype(np.int32) if sparse else np.packbits(there)

    def __len__(self) -> int:
        return self.size

    def within(self, start: int, stop: int, first: int) -> np.ndarray:
        """The places from start, a multiple of 8, to stop, of which `first` is the first among all, less start."""
        if self.places.dtype == np.int32:
            return self.places[first : self.places.searchsorted(np.int32(stop))] - start
        return np.flatnonzero(np.unpackbits(self.places[start // 8 : -(-stop // 8)], count=stop - start))


class Columns:
    """The weights of many problems, (n, problems), each a Column."""

    def __init__(self, columns: list[Column], n: int):
        self.columns, self.shape = columns, (n, len(columns))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def finite(self) -> bool:
        """Whether all weights are."""
        return all(bool(np.all(np.isfinite(column.values[:]))) for column in self.columns)

    @cached_property
    def counts(self) -> np.ndarray:
        """How many weights each feature has, i8[n]."""
        found = np.zeros(len(self), np.int64)
        for column in self.columns:
            found[column.within(0, len(self), 0)] += 1
        return found

    def pieces(self) -> Iterator[SparseWeights]:
        """The weights of consecutive features, some PIECE_VALUES of them at a time."""
        from scipy.sparse import csc_matrix

        n, k = self.shape
        before, first = np.cumsum(self.counts), [0] * k
        packed = [column.places for column in self.columns if column.places.dtype == np.uint8]
        start = 0
        while start < n:
            held = before[start - 1] if start else 0
            stop = int(np.searchsorted(before, held + PIECE_VALUES, side="right"))
            stop = min(max(stop - stop % 8, start + 8), n)
            places, values, indptr = [], [], np.zeros(k + 1, np.int64)
            bits = np.array([some[start // 8 : -(-stop // 8)] for some in packed], np.uint8).reshape(len(packed), -1)
            there = np.unpackbits(bits, axis=1, count=stop - start).view(bool)
            at = there.reshape(-1).nonzero()[0] % (stop - start)
            of_packed = iter(np.split(at, np.cumsum(there.sum(axis=1))))
            for c, column in enumerate(self.columns):
                sparse = column.places.dtype == np.int32
                places.append(column.within(start, stop, first[c]) if sparse else next(of_packed))
                indptr[c + 1] = indptr[c] + len(places[-1])
                values.append(column.values[first[c] : first[c] + len(places[-1])])
                first[c] += len(places[-1])
            found = csc_matrix((np.concatenate(values), np.concatenate(places), indptr), (stop - start, k)).tocsr()
            yield SparseWeights(found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data, k)
            start = stop

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
        found = []
        for column in self.columns:
            there = np.zeros(n, bool)
            there[places[column.within(0, len(self), 0)]] = True
            found.append(Column(there, column.values))
        return Columns(found, n)


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
    values: Any = w[there]
    if file is not None:
        with suppress(OSError):
            values = Stored(file, values)
    return Column(there, values)
