"""Writes rows as text: numbers in front of each row, then its pairs `index:value`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svmtool.compiled.buffers import Buffer
from svmtool.numbers import format_one

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy as np

    from svmtool.data.dataset import Dataset

PIECE = 1 << 18  # bytes printed at a time


def rows_text(
    front: np.ndarray, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, digits: int
) -> Iterator[bytes]:
    """The text of CSR rows, a piece at a time.

    front : f8 (k, rows), C order: the numbers before each row's pairs, printed as C's %.17g
    indices : i4, from 0 on (-1 becomes 0)
    digits : of the values; 17 keeps every bit
    """
    from svmtool.compiled.loops.text.support_vector_loops import DONE, UNSETTLED, support_text

    columns = len(front)
    out, state = Buffer("u1", PIECE), Buffer("i8", 3)
    call = support_text.bind(out, front, indptr, indices, values, state)
    status = None
    while status != DONE:
        status = call(columns, digits)
        s, item, p = state.items
        yield bytes(out.items[:p])
        state.items[2] = 0
        if status == UNSETTLED:
            if item < columns:
                yield format_one(float(front[item, s]), 17).encode() + b" "
            else:
                k = int(indptr[s]) + item - columns
                yield b"%d:%s " % (indices[k] + 1, format_one(float(values[k]), digits).encode())
            state.items[1] = item + 1


def write(path: str, data: Dataset) -> None:
    """Write the rows of a sparse Dataset, their labels in front; an old file stays whole until the new one is."""
    from svmtool.formats.output import replacing

    file: Any
    with replacing(path, "can't open output file") as file:
        for piece in rows_text(data.labels[None, :], data.indptr, data.indices, data.values, 17):
            file.write(piece)
