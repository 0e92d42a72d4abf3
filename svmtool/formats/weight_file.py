"""The file of row weights (`-W FILE`, `--weights FILE`): one number for each row of the training file."""

from __future__ import annotations

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.formats.numbers import parse_number
from svmtool.formats.source import open_source


def read(path: str, rows: int) -> np.ndarray:
    """`rows` numbers, separated by blanks or line ends, as f8[rows].

    Raises SvmtoolError for a token that is no finite number, and where there are too few or too many.
    """
    pieces, buffer = [], bytearray(1 << 20)
    with open_source(path) as source:
        while n := source.read_into(buffer):
            pieces.append(bytes(buffer[:n]))
    tokens = b"".join(pieces).split()
    if len(tokens) != rows:
        raise SvmtoolError(f"{path}: {len(tokens)} weights for {rows} rows of data: one number a row is needed")
    weights = np.empty(rows)
    for k, token in enumerate(tokens):
        try:
            weights[k] = parse_number(token)
        except ValueError:
            weights[k] = np.nan
        if not np.isfinite(weights[k]):
            shown = token[:60].decode("utf-8", "replace")
            raise SvmtoolError(f"{path}: weight {k + 1} is {shown!r}: it must be a finite number")
    return weights
