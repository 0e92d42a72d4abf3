"""The first pass of svm-scale: the range of each feature, stored for the features that occur.

As a rule there are arrays of all features up to the largest index.  Where that lies far above the number of values read
so far, only features that occur have places: each block brings its own, and blocks are merged by twos of like size, so
that all together takes as long as sorting.
"""

from __future__ import annotations

import sys

import numpy as np

from svmtool.compiled.loops.text import scale_loops
from svmtool.data.dataset import Dataset

LARGEST = sys.float_info.max
LEAST, FAR = 1 << 20, 4  # features, and features for each value read, above which those that occur have places
DENSE = np.empty(0, np.int32)  # in the place of names: feature j has place j


def _nothing(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """low, high and seen of features before any row."""
    return np.full(size, LARGEST), np.full(size, -LARGEST), np.zeros(size, np.int64)


class _Part:
    """Ranges of some features.

    names i4[k]: the features, ascending from 0 on.  low, high f8[k], seen i8[k]: as in ShapeOfData.
    """

    def __init__(self, names: np.ndarray, low: np.ndarray, high: np.ndarray, seen: np.ndarray):
        self.names, self.low, self.high, self.seen = names, low, high, seen

    def add(self, other: _Part) -> None:
        """Widen by a part that came later and whose features are all here; of equal extremes (0 and -0) its stay."""
        at = np.searchsorted(self.names, other.names)
        self.low[at] = np.where(self.low[at] < other.low, self.low[at], other.low)
        self.high[at] = np.where(self.high[at] > other.high, self.high[at], other.high)
        self.seen[at] += other.seen


def _new(names: np.ndarray) -> _Part:
    return _Part(names, *_nothing(len(names)))


def _merged(a: _Part, b: _Part) -> _Part:
    part = _new(np.union1d(a.names, b.names))
    part.add(a)
    part.add(b)
    return part


class ShapeOfData:
    """What the first pass finds out.

    names: DENSE, or i4[k] the features that have places, ascending from 0 on.
    low, high f8[k], seen i8[k]: range of each such feature's values and the number of
    rows that spell it out; y_low, y_high; rows; pairs; n_features: the largest index.
    """

    def __init__(self, features: np.ndarray | None = None):
        """features i8[k]: those that have places in any case, ascending from 0 on."""
        self.wanted = DENSE if features is None else features.astype(np.int32)
        self.n_features = int(self.wanted[-1]) + 1 if len(self.wanted) else 0
        self.names = DENSE
        self.low, self.high, self.seen = _nothing(0)
        self.y_low, self.y_high = LARGEST, -LARGEST
        self.rows = self.pairs = 0
        self._parts: list[_Part] | None = None  # of ever fewer features; None where all features have places

    def add(self, table: Dataset) -> None:
        """Widen the ranges by the rows of a table."""
        self.rows += len(table)
        self.pairs += len(table.values)
        self.n_features = max(self.n_features, table.n_features)
        self.y_low = min(self.y_low, float(table.labels.min()))
        self.y_high = max(self.y_high, float(table.labels.max()))
        if self.n_features <= max(LEAST, FAR * (self.pairs + len(self.wanted))):
            self._give_all_places()
            scale_loops.extend_ranges(table.indices, table.values, self.low, self.high, self.seen)
            return
        if self._parts is None:
            names = np.flatnonzero(self.seen).astype(np.int32)
            self._parts = [_Part(names, self.low[names], self.high[names], self.seen[names])]
            self.low, self.high, self.seen = _nothing(0)
        part = _new(np.unique(table.indices))
        places = np.searchsorted(part.names, table.indices).astype(np.int32)
        scale_loops.extend_ranges(places, table.values, part.low, part.high, part.seen)
        self._parts.append(part)
        while len(self._parts) > 1 and len(self._parts[-2].names) <= 2 * len(self._parts[-1].names):
            later, earlier = self._parts.pop(), self._parts.pop()
            self._parts.append(_merged(earlier, later))

    def _give_all_places(self) -> None:
        """Have arrays of n_features numbers at least."""
        if self.n_features > len(self.low):
            more = _nothing(max(self.n_features, min(2 * len(self.low), LEAST)) - len(self.low))
            old = self.low, self.high, self.seen
            self.low, self.high, self.seen = (np.concatenate(pair) for pair in zip(old, more, strict=True))
        if self._parts is not None:
            whole = _Part(np.arange(len(self.low), dtype=np.int32), self.low, self.high, self.seen)
            for part in self._parts:
                whole.add(part)
            self._parts = None

    def finish(self) -> None:
        """Count the value 0 of the rows in which a feature is absent (a lone -0 that is an extreme becomes 0)."""
        if self._parts is not None or self.n_features > max(LEAST, FAR * (self.pairs + len(self.wanted))):
            part = _new(self.wanted)
            for each in self._parts or ():
                part = _merged(part, each)
            self.names, self.low, self.high, self.seen = part.names, part.low, part.high, part.seen
        else:
            self._give_all_places()
            d = self.n_features
            self.low, self.high, self.seen = self.low[:d].copy(), self.high[:d].copy(), self.seen[:d]
        self._parts = None
        if self.rows:
            absent = self.seen < self.rows
            self.low[absent & ~(self.low < 0.0)] = 0.0
            self.high[absent & ~(self.high > 0.0)] = 0.0

    def indices(self) -> np.ndarray:
        """The index of each place as files have it, from 1 on."""
        return (self.names if self.names is not DENSE else np.arange(self.n_features)) + np.int64(1)

    def places(self, features: np.ndarray) -> np.ndarray:
        """Where features (integers from 0 on, below n_features) have their places: ValueError for one without."""
        if self.names is DENSE:
            return features
        at = np.searchsorted(self.names, features).astype(features.dtype)
        if not np.array_equal(self.names.take(at, mode="clip"), features):
            raise ValueError("a feature has no place")
        return at
