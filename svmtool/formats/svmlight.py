"""LIBSVM text (`label index:value ...`, one row a line) <-> rows in memory.

A file is cut into fixed blocks at line ends.  A first pass counts newlines and
colons; every good line has as many pairs as colons, so the second pass parses
each block straight to its place.  Threads take blocks, each through a buffer of
one block, and the text never stays in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np

from svmtool.compiled import text_loops, threads
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.source import Source, open_source

BLOCK = 1 << 20  # bytes of text a thread works on at a time; fits the second-level cache
STREAM_BLOCK = 1 << 18  # the same where a whole chunk is in memory
CHUNK = 1 << 22

OddLine = Callable[[bytes, int, str], tuple[float, list[int], list[float]]]


class Table:
    """Rows of a sparse data set.

    labels f8[n]; indptr i8[n + 1]; indices i4[nnz], from 0 on (the file's index
    less one), ascending in a row; values f8[nnz], zeros that the file spells out
    included; n_features: the largest index in the file (from 1 on), 0 for none.
    """

    __slots__ = ("labels", "indptr", "indices", "values", "n_features")

    def __init__(self, labels, indptr, indices, values, n_features: int):
        self.labels, self.indptr, self.indices, self.values = labels, indptr, indices, values
        self.n_features = n_features

    @classmethod
    def empty(cls, rows: int, pairs: int) -> Table:
        indptr = np.empty(rows + 1, np.int64)
        indptr[0] = 0
        return cls(np.empty(rows), indptr, np.empty(pairs, np.int32), np.empty(pairs), 0)

    def __len__(self) -> int:
        return len(self.labels)


def read(path: str) -> Table:
    """The whole file (`-`: standard input) as one Table.

    Raises SvmtoolError where it cannot be opened, DataError for the first malformed line.
    """
    with open_source(path) as source:
        return _read_regular(source) if source.size is not None else _join(list(tables(source)))


def blocks(path: str, block_bytes: int = CHUNK) -> Iterator[Table]:
    """The same rows in Tables of about block_bytes of text each; memory does not grow with the file.

    n_features is that of the block.  Lines are numbered over the whole file in errors.
    """
    with open_source(path) as source:
        yield from tables(source, block_bytes)


class _Piece:
    """A run of whole lines: where its text starts and ends, and which rows and pairs it holds."""

    __slots__ = ("start", "stop", "rows", "pairs")

    def __init__(self, start: int, stop: int, rows: tuple[int, int], pairs: tuple[int, int]):
        self.start, self.stop, self.rows, self.pairs = start, stop, rows, pairs


def _pieces(facts: np.ndarray, block: int, size: int, unfinished: bool) -> tuple[list[_Piece], int, int]:
    """Cut `size` bytes into whole lines, from the facts of text_loops.count_marks about each block.

    A cut is behind the first newline of a block.  unfinished: the last line lacks its newline.
    Returns the pieces and the numbers of rows and pairs.
    """
    lines = np.concatenate(([0], np.cumsum(facts[:, 0]))).tolist()
    colons = np.concatenate(([0], np.cumsum(facts[:, 1]))).tolist()
    rows, pairs = lines[-1] + unfinished, colons[-1]
    cuts = [(0, 0, 0)]
    for b in range(1, len(facts)):
        head = int(facts[b, 2])
        if head >= 0:
            cuts.append((b * block + head + 1, lines[b] + 1, colons[b] + int(facts[b, 3])))
    cuts.append((size, rows, pairs))
    found = [
        _Piece(a[0], z[0], (a[1], z[1]), (a[2], z[2])) for a, z in zip(cuts[:-1], cuts[1:], strict=True) if a[0] < z[0]
    ]
    return found, rows, pairs


def _read_regular(source: Source) -> Table:
    size = source.size
    assert size is not None
    n_blocks = -(-size // BLOCK)
    facts = np.zeros((n_blocks, 4), np.int64)
    buffers: dict[int, np.ndarray] = {}

    def load(start: int, stop: int) -> np.ndarray:
        """This thread's buffer, holding bytes start..stop of the file from its beginning."""
        me, n = threading.get_ident(), stop - start
        text = buffers.get(me)
        if text is None or len(text) < n + text_loops.PADDING:
            text = buffers[me] = np.zeros(n + n // 4 + text_loops.PADDING, np.uint8)
        source.read_at(text[:n], start)
        return text

    def count(b: int) -> None:
        start, stop = b * BLOCK, min((b + 1) * BLOCK, size)
        text_loops.count_marks(load(start, stop), facts[b], 0, stop - start)

    threads.run_blocks(count, n_blocks)
    unfinished = size > 0 and load(size - 1, size)[0] != text_loops.NEWLINE
    pieces, rows, pairs = _pieces(facts, BLOCK, size, unfinished)
    table = Table.empty(rows, pairs)

    def parse(piece: _Piece) -> int:
        text, n = load(piece.start, piece.stop), piece.stop - piece.start
        if unfinished and piece.stop == size:
            text[n] = text_loops.NEWLINE
            n += 1
        return _parse(text, 0, n, table, piece, 0, source.name)

    _parse_all(parse, pieces, table)
    return table


def _parse_all(parse: Callable[[_Piece], int], pieces: list[_Piece], table: Table) -> None:
    """Parse the pieces side by side; of several bad lines the first in the file is reported."""
    largest = [0] * len(pieces)
    errors: dict[int, DataError] = {}

    def work(k: int) -> None:
        if errors and k > min(errors.copy()):
            return
        try:
            largest[k] = parse(pieces[k])
        except DataError as e:
            errors[k] = e

    threads.run_blocks(work, len(pieces))
    if errors:
        raise errors[min(errors)]
    table.n_features = max(largest, default=0)


def _parse(
    text: np.ndarray, start: int, stop: int, table: Table, piece: _Piece, first_line: int, name: str,
    odd_line: OddLine | None = None,
) -> int:  # fmt: skip
    """Parse the lines of text[start:stop] to their place in the table; returns the largest index."""
    state = np.array([start, piece.rows[0], piece.pairs[0], 0], np.int64)
    loop = text_loops.parse_lines.bind(text, table.labels, table.indptr, table.indices, table.values, state)
    while loop(stop, piece.rows[1], piece.pairs[1]):
        if odd_line is None:
            from svmtool.formats.odd_line import parse_line as odd_line
        at, row, pair, largest = state.tolist()
        line = _line_at(text, at)
        label, indices, values = odd_line(line, first_line + row + 1, name)
        stop_pair = pair + len(indices)
        if row >= piece.rows[1] or stop_pair > piece.pairs[1]:
            break
        table.labels[row] = label
        table.indices[pair:stop_pair] = np.array(indices, np.int64) - 1
        table.values[pair:stop_pair] = values
        table.indptr[row + 1] = stop_pair
        state[:] = at + len(line) + 1, row + 1, stop_pair, max(largest, indices[-1] if indices else 0)
    if state[1] != piece.rows[1] or state[2] != piece.pairs[1]:
        raise SvmtoolError(f"{name} changed while it was read")
    return int(state[3])


def _line_at(text: np.ndarray, at: int) -> bytes:
    """The line that starts at text[at], without its newline."""
    length = 4096
    while (end := text[at : at + length].tobytes().find(b"\n")) < 0:
        length *= 2
    return text[at : at + end].tobytes()


def tables(source: Source, chunk: int = CHUNK, odd_line: OddLine | None = None) -> Iterator[Table]:
    """Tables of about `chunk` bytes of text each, read in sequence from where the source stands.

    odd_line(line, number, file) -> (label, indices, values) reads what the
    compiled loop leaves aside; the usual one is odd_line.parse_line.
    """
    text = np.zeros(2 * chunk + text_loops.PADDING, np.uint8)
    held, first_line, ended = 0, 0, False
    while not ended:
        if len(text) < held + chunk + text_loops.PADDING:  # a line longer than a chunk
            text = np.concatenate((text, np.zeros(len(text), np.uint8)))
        n = source.read_into(text[held : held + chunk])
        ended = n < chunk
        fresh, held = held, held + n
        if ended and held and text[held - 1] != text_loops.NEWLINE:
            text[held] = text_loops.NEWLINE
            held += 1
        whole = fresh + int(text_loops.after_last_newline(text[fresh:], held - fresh))
        if whole == fresh:  # no newline among the new bytes, and none among the old ones
            continue
        table = _parse_memory(text, whole, first_line, source.name, odd_line)
        first_line += len(table)
        yield table
        text[: held - whole] = text[whole:held]
        held -= whole


def _parse_memory(text: np.ndarray, size: int, first_line: int, name: str, odd_line: OddLine | None) -> Table:
    """The whole lines of text[:size]."""
    n_blocks = -(-size // STREAM_BLOCK)
    facts = np.zeros((n_blocks, 4), np.int64)
    threads.run_blocks(
        lambda b: text_loops.count_marks(text, facts[b], b * STREAM_BLOCK, min((b + 1) * STREAM_BLOCK, size)), n_blocks
    )
    pieces, rows, pairs = _pieces(facts, STREAM_BLOCK, size, False)
    table = Table.empty(rows, pairs)

    def parse(piece: _Piece) -> int:
        return _parse(text, piece.start, piece.stop, table, piece, first_line, name, odd_line)

    _parse_all(parse, pieces, table)
    return table


def _join(parts: list[Table]) -> Table:
    """One Table out of consecutive ones, which are taken apart on the way to save memory."""
    if len(parts) == 1:
        return parts[0]
    table = Table.empty(sum(len(t) for t in parts), sum(len(t.values) for t in parts))
    table.n_features = max((t.n_features for t in parts), default=0)
    row, pair = 0, 0
    parts.reverse()
    while parts:
        t = parts.pop()
        n, m = len(t), len(t.values)
        table.labels[row : row + n] = t.labels
        table.indptr[row + 1 : row + n + 1] = t.indptr[1:] + pair
        table.indices[pair : pair + m] = t.indices
        table.values[pair : pair + m] = t.values
        row, pair = row + n, pair + m
    return table
