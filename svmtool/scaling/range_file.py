"""Reads and writes LIBSVM's range file, which svm-scale -s saves and -r restores.

y                        (only if labels are scaled)
y_lower y_upper
y_min y_max
x
lower upper
index min max            (one line for each feature that is not constant, ascending)
"""

from __future__ import annotations

from array import array

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.formats import output
from svmtool.formats.source import Source, open_source
from svmtool.integers import parse_integer
from svmtool.numbers import format_one, format_rows, parse_number

LAST_INDEX = 2147483647
BLOCK = 1 << 16  # bytes read at a time
LONGEST_WORD = 1 << 20  # bytes; numbers may have thousands of digits


class Ranges:
    """The content of a range file.

    y: (y_lower, y_upper, y_min, y_max) or None.  x: (lower, upper), or None without an x section.  index i8[k]
    (ascending, starting at 1), low f8[k], high f8[k]: the listed features.
    """

    __slots__ = ("y", "x", "index", "low", "high")

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
        return _parse(_Words(source, path), path)


class _Words:
    """Yields the words of a file; one block of it is in memory."""

    def __init__(self, source: Source, path: str):
        self.source, self.path = source, path
        self.block = bytearray(BLOCK)
        self.begun, self.ended = b"", False  # incomplete last token of the block; whether the file has ended
        self.first = b""  # first byte of the file
        self.words: list[bytes] = []  # in reverse order
        self._read()

    def _read(self) -> None:
        n = self.source.read_into(self.block)
        if self.block.find(0, 0, n) >= 0:  # a stream of NUL bytes may be endless
            raise RangeError(self.path, "not a text file: it contains NUL bytes")
        self.ended = n < BLOCK
        text = self.begun + self.block[:n]
        self.first = self.first or text[:1]
        words = text.split()
        self.begun = words.pop() if words and not self.ended and not text[-1:].isspace() else b""
        if len(self.begun) > LONGEST_WORD:
            raise RangeError(self.path, "not a text file: a word is longer than 1 MB")
        self.words = words[::-1]

    def peek(self) -> bytes:
        """The next word, which is not consumed; empty after the last."""
        while not self.words and not self.ended:
            self._read()
        return self.words[-1] if self.words else b""

    def take(self, end: str = "the file ends where two numbers should be") -> bytes:
        """Consume the next word; RangeError with the message `end` after the last."""
        if not self.peek():
            raise RangeError(self.path, end)
        return self.words.pop()

    def open_section(self) -> None:
        """Skip the section's letter, which the first number may follow without a blank."""
        letter = self.take()
        if len(letter) > 1:
            self.words.append(letter[1:])


def _parse(words: _Words, path: str) -> Ranges:
    y = x = None
    if words.first == b"y":
        words.open_section()
        y = (*_limits(words, path), *_limits(words, path))
    elif words.first != b"x":
        return Ranges(None, None, np.empty(0, np.int64), np.empty(0), np.empty(0))
    if words.peek()[:1] == b"x":
        words.open_section()
        x = _limits(words, path)
    elif words.peek():
        raise RangeError(path, f"{_shown(words.peek())} instead of the start of the x section")
    index, low, high = array("q"), array("d"), array("d")
    previous = 0
    while word := words.peek():
        words.take()
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


def _limits(words: _Words, path: str, *end: str) -> tuple[float, float]:
    values = []
    for word in (words.take(*end), words.take(*end)):
        try:
            values.append(parse_number(word))
        except ValueError:
            raise RangeError(path, f"{_shown(word)} is not a number") from None
        if values[-1] - values[-1] != 0.0:
            raise RangeError(path, f"{_shown(word)} is not finite")
    return values[0], values[1]


def _shown(word: bytes) -> str:
    return repr(word[:60].decode("utf-8", "backslashreplace"))
