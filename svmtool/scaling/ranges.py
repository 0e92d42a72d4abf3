"""Ranges of features: the first pass of svm-scale, and LIBSVM's range file, which -s saves and -r restores.

y                        (only if labels are scaled)
y_lower y_upper
y_min y_max
x
lower upper
index min max            (one line for each feature that is not constant, ascending)

Arrays usually have an entry for each feature up to the largest index.  If that is much larger than the number of values
read so far, only features that occur have entries: each block gives its own part, and parts of similar size are merged,
which takes as long as sorting.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from itertools import chain

import numpy as np

from svmtool.compiled.loops.text import scale_loops
from svmtool.compiled.loops.text.text_loops import LAST_INDEX
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.formats import output
from svmtool.formats.source import Source, open_source
from svmtool.integers import parse_integer
from svmtool.numbers import format_one, format_rows, parse_number
from svmtool.tolerances import MIB

MAX_FLOAT = sys.float_info.max
MIN_SPARSE_FEATURES, SPARSE_RATIO = 1 << 20, 4  # features, and features per value read, above which entries are sparse
ALL_FEATURES = np.empty(0, np.int32)  # as names: feature j has entry j
RANGE_FILE_BYTES = 1 << 16  # bytes of a range file read at a time
MAX_RANGE_WORD_BYTES = MIB  # bytes; numbers may have thousands of digits


def _nothing(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Initial low, high and seen."""
    return np.full(size, MAX_FLOAT), np.full(size, -MAX_FLOAT), np.zeros(size, np.int64)


class _SparseRanges:
    """Ranges of some features.

    names i4[k]: the features, ascending, starting at 0.  low, high f8[k], seen i8[k]: as in ShapeOfData.
    """

    def __init__(self, names: np.ndarray, low: np.ndarray, high: np.ndarray, seen: np.ndarray):
        self.names, self.low, self.high, self.seen = names, low, high, seen

    def add(self, other: _SparseRanges) -> None:
        """Merge a later part whose features are all here; of equal extremes (0 and -0) the later ones are kept."""
        at = np.searchsorted(self.names, other.names)
        self.low[at] = np.where(self.low[at] < other.low, self.low[at], other.low)
        self.high[at] = np.where(self.high[at] > other.high, self.high[at], other.high)
        self.seen[at] += other.seen


def _new(names: np.ndarray) -> _SparseRanges:
    return _SparseRanges(names, *_nothing(len(names)))


def _merged(a: _SparseRanges, b: _SparseRanges) -> _SparseRanges:
    part = _new(np.union1d(a.names, b.names))
    part.add(a)
    part.add(b)
    return part


class ShapeOfData:
    """Results of the first pass.

    names: ALL_FEATURES, or i4[k] the features with entries, ascending, starting at 0.  low, high f8[k], seen i8[k]:
    range of each feature's values and number of rows with an explicit value.  y_low, y_high: range of labels.  rows,
    pairs: counts.  n_features: the largest index.
    """

    def __init__(
        self, features: np.ndarray | None = None, min_sparse: int = MIN_SPARSE_FEATURES, ratio: int = SPARSE_RATIO
    ):
        """features i8[k]: features that always have entries, ascending, starting at 0; min_sparse, ratio: see above."""
        self._min_sparse, self._sparse_ratio = min_sparse, ratio
        self.wanted = ALL_FEATURES if features is None else features.astype(np.int32)
        self.n_features = int(self.wanted[-1]) + 1 if len(self.wanted) else 0
        self.names = ALL_FEATURES
        self.low, self.high, self.seen = _nothing(0)
        self.y_low, self.y_high = MAX_FLOAT, -MAX_FLOAT
        self.rows = self.pairs = 0
        self._parts: list[_SparseRanges] | None = None  # of decreasing sizes; None if all features have entries

    def add(self, table: Dataset) -> None:
        """Widen the ranges by the rows of a table."""
        self.rows += len(table)
        self.pairs += len(table.values)
        self.n_features = max(self.n_features, table.n_features)
        labels = table.labels[table.labels == table.labels]  # nan is no label
        self.y_low = min(self.y_low, float(labels.min(initial=MAX_FLOAT)))
        self.y_high = max(self.y_high, float(labels.max(initial=-MAX_FLOAT)))
        if self.n_features <= self._max_dense():
            self._make_dense()
            scale_loops.extend_ranges(table.indices, table.values, self.low, self.high, self.seen)
            return
        if self._parts is None:
            names = np.flatnonzero(self.seen).astype(np.int32)
            self._parts = [_SparseRanges(names, self.low[names], self.high[names], self.seen[names])]
            self.low, self.high, self.seen = _nothing(0)
        part = _new(np.unique(table.indices))
        places = np.searchsorted(part.names, table.indices).astype(np.int32)
        scale_loops.extend_ranges(places, table.values, part.low, part.high, part.seen)
        self._parts.append(part)
        while len(self._parts) > 1 and len(self._parts[-2].names) <= 2 * len(self._parts[-1].names):
            later, earlier = self._parts.pop(), self._parts.pop()
            self._parts.append(_merged(earlier, later))

    def _max_dense(self) -> int:
        """The number of features up to which all have entries."""
        return max(self._min_sparse, self._sparse_ratio * (self.pairs + len(self.wanted)))

    def _make_dense(self) -> None:
        """Change to arrays of at least n_features entries."""
        if self.n_features > len(self.low):
            more = _nothing(max(self.n_features, min(2 * len(self.low), self._min_sparse)) - len(self.low))
            old = self.low, self.high, self.seen
            self.low, self.high, self.seen = (np.concatenate(pair) for pair in zip(old, more, strict=True))
        if self._parts is not None:
            whole = _SparseRanges(np.arange(len(self.low), dtype=np.int32), self.low, self.high, self.seen)
            for part in self._parts:
                whole.add(part)
            self._parts = None

    def finish(self) -> None:
        """Include the value 0 of rows in which a feature is absent (an extreme of -0 becomes 0)."""
        if self._parts is not None or self.n_features > self._max_dense():
            part = _new(self.wanted)
            for each in self._parts or ():
                part = _merged(part, each)
            self.names, self.low, self.high, self.seen = part.names, part.low, part.high, part.seen
        else:
            self._make_dense()
            d = self.n_features
            self.low, self.high, self.seen = self.low[:d].copy(), self.high[:d].copy(), self.seen[:d]
        self._parts = None
        if self.rows:
            absent = self.seen < self.rows
            self.low[absent & ~(self.low < 0.0)] = 0.0
            self.high[absent & ~(self.high > 0.0)] = 0.0

    def indices(self) -> np.ndarray:
        """The index of each entry as in files, starting at 1."""
        return (self.names if self.names is not ALL_FEATURES else np.arange(self.n_features)) + np.int64(1)

    def places(self, features: np.ndarray) -> np.ndarray:
        """Entries of features (integers >= 0, below n_features); ValueError for a feature without an entry."""
        if self.names is ALL_FEATURES:
            return features
        at = np.searchsorted(self.names, features).astype(features.dtype)
        if not np.array_equal(self.names.take(at, mode="clip"), features):
            raise ValueError("a feature has no entry")
        return at


class Ranges:
    """The content of a range file.

    y: (y_lower, y_upper, y_min, y_max) or None.  x: (lower, upper), or None without an x section.  index i8[k]
    (ascending, starting at 1), low f8[k], high f8[k]: the listed features.
    """

    def __init__(self, y, x, index: np.ndarray, low: np.ndarray, high: np.ndarray):
        self.y, self.x, self.index, self.low, self.high = y, x, index, low, high


class RangeError(SvmtoolError):
    """An invalid range file; LIBSVM's message, followed by the reason."""

    exit_code = 255

    def __init__(self, path: str, reason: str):
        super().__init__(f"ERROR: failed to read scaling parameters: {path}: {reason}")


def write(path: str, ranges: Ranges) -> None:
    """Write the file atomically, without constant features."""
    assert ranges.x is not None
    with output.replacing(path, "can't open file") as file:
        if ranges.y is not None:
            a, b, c, d = (format_one(v, 17) for v in ranges.y)
            file.write(f"y\n{a} {b}\n{c} {d}\n".encode())
        lower, upper = (format_one(v, 17) for v in ranges.x)
        file.write(f"x\n{lower} {upper}\n".encode())
        kept = ranges.low != ranges.high
        columns = [ranges.index[kept], ranges.low[kept], ranges.high[kept]]
        file.write(format_rows(np.column_stack(columns).astype(np.float64), 17))


def read(path: str) -> Ranges:
    """Read a range file; raises SvmtoolError if it cannot be opened, RangeError if it is invalid.

    As in LIBSVM, a file that starts with neither x nor y has no ranges.
    """
    with open_source(path, "can't open file") as source:
        return _parse(_words(source, path), path)


def _words(source: Source, path: str) -> Iterator[bytes]:
    """Yield the first byte of a file, then the words after it, with one block of the file in memory."""
    block, rest, begun = bytearray(RANGE_FILE_BYTES), b"", False  # rest: start of a word that the next block continues
    while n := source.read_into(block):
        if block.find(0, 0, n) >= 0:  # a stream of NUL bytes may be endless
            raise RangeError(path, "not a text file: it contains NUL bytes")
        text = rest + block[:n]
        if not begun:
            yield text[:1]
            text, begun = text[1:], True
        words = text.split()
        rest = words.pop() if words and not text[-1:].isspace() else b""
        if len(rest) > MAX_RANGE_WORD_BYTES:
            raise RangeError(path, "not a text file: a word is longer than 1 MB")
        yield from words
    if rest:
        yield rest


def _parse(words: Iterator[bytes], path: str) -> Ranges:
    y = x = None
    section = next(words, b"")
    if section == b"y":  # the first number may follow the letter of a section without a blank
        y = (*_limits(words, path), *_limits(words, path))
        section = next(words, b"")
    elif section != b"x":
        return Ranges(None, None, np.empty(0, np.int64), np.empty(0), np.empty(0))
    if section[:1] == b"x":
        words = chain(filter(None, [section[1:]]), words)
        x = _limits(words, path)
    elif section:
        raise RangeError(path, f"{_shown(section)} instead of the start of the x section")
    index, low, high = array("q"), array("d"), array("d")
    previous = 0
    for word in words:
        try:
            i = parse_integer(word)
        except ValueError:
            i = 0
        if not 0 < i <= LAST_INDEX:
            raise RangeError(path, f"{_shown(word)} is not a feature index")
        if i <= previous:
            raise RangeError(path, f"feature {i} follows {previous}: indices must ascend")
        previous = i
        a, b = _limits(words, path, "the last line is not `index min max`")
        index.append(i)
        low.append(a)
        high.append(b)
    return Ranges(y, x, np.array(index, np.int64), np.array(low), np.array(high))


def _limits(
    words: Iterator[bytes], path: str, end: str = "the file ends where two numbers should be"
) -> tuple[float, float]:
    """Parse two words as finite numbers; RangeError if one is not, or, with the message `end`, if words are missing."""
    values = []
    for _ in range(2):
        word = next(words, None)
        if word is None:
            raise RangeError(path, end)
        try:
            values.append(parse_number(word))
        except ValueError:
            raise RangeError(path, f"{_shown(word)} is not a number") from None
        if values[-1] - values[-1] != 0.0:
            raise RangeError(path, f"{_shown(word)} is not finite")
    return values[0], values[1]


def _shown(word: bytes) -> str:
    return repr(word[:60].decode("utf-8", "backslashreplace"))
