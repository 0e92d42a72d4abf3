"""Reads a file of row weights (`-W FILE`, `--weights FILE`): one number for each row of the training file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.formats.source import open_source
from svmtool.numbers import parse_number

PIECE = 1 << 20  # bytes read at once, and the limit of a number's length


def read(path: str, rows: int) -> np.ndarray:
    """Read `rows` numbers, separated by blanks or line ends, as f8[rows].

    Raises SvmtoolError for a token that is no finite number, and for too few or too many numbers; reading stops at the
    first error.
    """
    weights, count = np.empty(rows), 0
    for token in _tokens(path):
        if count == rows:
            raise SvmtoolError(f"{path}: more than {rows} weights for {rows} rows: it needs one number for each row")
        try:
            weights[count] = parse_number(token)
        except ValueError:
            weights[count] = np.nan
        if not np.isfinite(weights[count]):
            shown = token[:60].decode("utf-8", "replace")
            raise SvmtoolError(f"{path}: weight {count + 1} is {shown!r}: it must be a finite number")
        count += 1
    if count < rows:
        raise SvmtoolError(f"{path}: {count} weights for {rows} rows: it needs one number for each row")
    return weights


def _tokens(path: str) -> Iterator[bytes]:
    """Yield the tokens between blanks while reading."""
    buffer, rest = bytearray(PIECE), b""
    with open_source(path) as source:
        while n := source.read_into(buffer):
            text = rest + buffer[:n]
            found = text.split()
            rest = b"" if text[-1:].isspace() else found.pop()
            yield from found
            if len(rest) > PIECE:
                raise SvmtoolError(f"{path}: not a text file of numbers: no blank in {PIECE} bytes")
    if rest:
        yield rest
