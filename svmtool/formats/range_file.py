"""LIBSVM's range file: what svm-scale -s saves and -r restores.

y                        (only where labels are scaled)
y_lower y_upper
y_min y_max
x
lower upper
index min max            (one line for each feature that varies, ascending)
"""

from __future__ import annotations

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.formats import output
from svmtool.formats.numbers import format_one, format_rows, parse_number
from svmtool.formats.source import open_source
from svmtool.integers import parse_integer

LAST_INDEX = 2147483647


class Ranges:
    """y: (y_lower, y_upper, y_min, y_max) or None; x: (lower, upper) or None where the file has no x section.

    index i8[k] ascending from 1 on, low f8[k], high f8[k]: the features listed.
    """

    __slots__ = ("y", "x", "index", "low", "high")

    def __init__(self, y, x, index: np.ndarray, low: np.ndarray, high: np.ndarray):
        self.y, self.x, self.index, self.low, self.high = y, x, index, low, high


class RangeError(SvmtoolError):
    """A range file that cannot be understood; LIBSVM's sentence, then the reason."""

    exit_code = 255

    def __init__(self, path: str, reason: str):
        super().__init__(f"ERROR: failed to read scaling parameters: {path}: {reason}")


def write(path: str, ranges: Ranges) -> None:
    """Write the file atomically; features whose low equals their high are left out."""
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
    """Read a range file.  Raises SvmtoolError where it cannot be opened, RangeError where it cannot be understood.

    A file that begins with neither x nor y gives Ranges without both, as LIBSVM sees it.
    """
    return _parse(_content(path), path)


def _content(path: str) -> bytes:
    parts = []
    with open_source(path, "can't open file") as source:
        buffer = bytearray(1 << 16)
        while n := source.read_into(buffer):
            if buffer.find(0, 0, n) >= 0:  # a stream of them has no end, or a very far one
                raise RangeError(path, "it is no text: there are NUL bytes in it")
            parts.append(bytes(buffer[:n]))
    return b"".join(parts)


def _parse(text: bytes, path: str) -> Ranges:
    words = text.split()
    y = x = None
    at = 0
    if text[:1] == b"y":
        at = _open_section(words, 0)
        y = (*_limits(words, at, path), *_limits(words, at + 2, path))
        at += 4
    elif text[:1] != b"x":
        return _empty()
    if at < len(words) and words[at][:1] == b"x":
        at = _open_section(words, at)
        x = _limits(words, at, path)
        at += 2
    elif at < len(words):
        raise RangeError(path, f"{_shown(words[at])} where the x section should start")
    left = len(words) - at
    if left % 3:
        raise RangeError(path, "the last line is not `index min max`")
    n = left // 3
    index, low, high = np.empty(n, np.int64), np.empty(n), np.empty(n)
    previous = 0
    for k in range(n):
        word = words[at + 3 * k]
        try:
            i = parse_integer(word)
        except ValueError:
            i = 0
        if not 0 < i <= LAST_INDEX:
            raise RangeError(path, f"{_shown(word)} is not a feature index")
        if i <= previous:
            raise RangeError(path, f"feature {i} follows {previous}: indices must ascend")
        previous = index[k] = i
        low[k], high[k] = _limits(words, at + 3 * k + 1, path)
    return Ranges(y, x, index, low, high)


def _empty() -> Ranges:
    return Ranges(None, None, np.empty(0, np.int64), np.empty(0), np.empty(0))


def _open_section(words: list[bytes], at: int) -> int:
    """Step over the section's letter, which may have the first number right behind it."""
    if len(words[at]) > 1:
        words[at] = words[at][1:]
        return at
    return at + 1


def _limits(words: list[bytes], at: int, path: str) -> tuple[float, float]:
    pair = words[at : at + 2]
    if len(pair) < 2:
        raise RangeError(path, "the file ends where two numbers should be")
    values = []
    for word in pair:
        try:
            values.append(parse_number(word))
        except ValueError:
            raise RangeError(path, f"{_shown(word)} is not a number") from None
        if values[-1] - values[-1] != 0.0:
            raise RangeError(path, f"{_shown(word)} is not finite")
    return values[0], values[1]


def _shown(word: bytes) -> str:
    return repr(word[:60].decode("utf-8", "backslashreplace"))
