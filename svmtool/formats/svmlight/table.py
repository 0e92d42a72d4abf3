"""Reads LIBSVM text (`label index:value ...`, one row a line) into arrays, in parallel blocks; writes rows as text.

A file is cut into fixed blocks at line ends.  A first pass counts newlines and colons; a valid line has as many pairs
as colons, so that the second pass can write the rows of each block directly to their place.  Each thread reads its
blocks through a buffer of one block.

Reading needs no numpy and can run while numpy is imported (inputs.py); only the resulting Dataset holds numpy
arrays.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from svmtool import limits
from svmtool.compiled import threads
from svmtool.compiled.buffers import Buffer
from svmtool.compiled.loops.text import text_loops
from svmtool.compiled.loops.text.text_loops import LABELLED, SETS
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.source import END_OF_LINE, MAX_LINE, LineReader, Source, open_source, partial_line_error, too_long
from svmtool.formats.svmlight import additions
from svmtool.formats.svmlight.additions import NO_QUERY
from svmtool.numbers import rows_text
from svmtool.progress import doing
from svmtool.tolerances import MIB

if TYPE_CHECKING:
    from svmtool.data.dataset import Dataset
    from svmtool.data.label_sets import LabelSets

BLOCK_BYTES = MIB  # bytes of text that a thread parses at a time; fits the second-level cache
STREAM_BLOCK_BYTES = 1 << 18  # the same for a chunk in memory
CHUNK_BYTES = 1 << 22  # bytes of a stream read at a time
NO_MARKS = [0, 0, -1, 0]  # count_marks of an empty text

LineParser = Callable[[bytes, int, str], tuple[float | list[float], list[int], list[float]]]


class RawTable:
    """A Dataset whose arrays are Buffers, initially zero, for reading without numpy.

    columns: numbers before a row's pairs, stored in `labels` row by row (1 for data).
    first_index: the smallest valid index, 0 (stored as -1) or 1.
    form: LABELLED, or another form of text_loops, in which rows may have no label: it is nan then.
    dtype: of the values, f8 or f4.
    lines: lines of the text, which may have others than rows.
    queries, sets: of each row, see additions.py; None where no row has one.  additions: of a block of lines; else None.
    """

    __slots__ = (
        "labels", "indptr", "indices", "values", "n_features", "columns", "first_index", "form", "lines", "queries",
        "sets", "additions",
    )  # fmt: skip

    def __init__(
        self, rows: int, pairs: int, columns: int = 1, first_index: int = 1, form: int = LABELLED, dtype: str = "f8"
    ):  # fmt: skip
        self.columns, self.first_index, self.form = columns, first_index, form
        self.labels, self.indptr = Buffer("f8", rows * columns), Buffer("i8", rows + 1)
        self.indices, self.values = Buffer("i4", pairs), Buffer(dtype, pairs)
        self.n_features, self.lines = 0, rows
        self.queries: list[int] | None = None
        self.sets: LabelSets | None = None
        self.additions: additions.Rows | None = None

    def table(self) -> Dataset:
        """A Dataset that shares the memory.  Imports numpy."""
        import numpy as np

        from svmtool.data.dataset import Dataset

        labels, indptr, indices, values = (b.array() for b in (self.labels, self.indptr, self.indices, self.values))
        found = Dataset(labels, indptr, indices, values, self.n_features)
        found.groups = None if self.queries is None else np.array(self.queries, np.int64)
        found.additions, found.sets = self.additions, self.label_sets() if self.form == SETS else None
        return found

    def label_sets(self) -> LabelSets:
        """The sets of labels; rows whose text has one label each have none yet.  Imports numpy."""
        from svmtool.data.label_sets import LabelSets

        return LabelSets.of_labels(self.labels.array()) if self.sets is None else self.sets


def read(path: str, first_index: int = 1, form: int = LABELLED, dtype: str = "f8") -> Dataset:
    """Read a whole file (`-`: standard input) as one Dataset; `first_index`, `form` and `dtype` as in RawTable.

    Raises SvmtoolError if it cannot be opened, DataError for the first malformed line.
    """
    with open_source(path) as source, doing("reading", source=source):
        return joined(read_raw(source, first_index, form, dtype))


def read_raw(source: Source, first_index: int = 1, form: int = LABELLED, dtype: str = "f8") -> list[RawTable]:
    """Read an open source without numpy: one RawTable for a plain file, else one for each CHUNK_BYTES of text."""
    if source.size is not None:
        try:
            return [_read_regular(source, first_index, form, dtype)]
        except DataError:
            if not additions.tolerant:
                raise
            source.rewind()  # perhaps it has additions, which blocks of lines show
    return list(raw_tables(source, first_index=first_index, form=form, dtype=dtype))


def joined(parts: list[RawTable]) -> Dataset:
    """Join consecutive tables to one Dataset; empties the list to save memory."""
    return joined_raw(parts).table() if parts else RawTable(0, 0).table()


def joined_raw(parts: list[RawTable]) -> RawTable:
    """As `joined`, but to a RawTable, from at least one part; several parts need numpy."""
    if len(parts) == 1:
        return parts.pop()
    columns = parts[0].columns
    rows = sum(p.indptr.size - 1 for p in parts)
    pairs, first = sum(p.values.size for p in parts), parts[0]
    whole = RawTable(rows, pairs, columns, first.first_index, first.form, first.values.dtype)
    whole.n_features = max(p.n_features for p in parts)
    if any(p.queries is not None for p in parts):
        whole.queries = [q for p in parts for q in p.queries or [NO_QUERY] * p.labels.size]
    if whole.form == SETS:
        from svmtool.data.label_sets import LabelSets

        whole.sets = LabelSets.joined([p.label_sets() for p in parts])
    table = whole.table()
    row, pair = 0, 0
    parts.reverse()
    while parts:
        t = parts.pop().table()
        n, m = len(t.indptr) - 1, len(t.values)
        table.labels[row * columns : (row + n) * columns] = t.labels
        table.indptr[row + 1 : row + n + 1] = t.indptr[1:] + pair
        table.indices[pair : pair + m] = t.indices
        table.values[pair : pair + m] = t.values
        row, pair = row + n, pair + m
    return whole


def _read_regular(source: Source, first_index: int, form: int, dtype: str) -> RawTable:
    size = source.size
    assert size is not None
    n_blocks = -(-size // BLOCK_BYTES)
    facts: list[list[int]] = [[]] * n_blocks
    buffers: dict[int, Buffer] = {}
    faults: dict[int, str] = {}  # errors of blocks without a newline

    def load(start: int, stop: int) -> Buffer:
        """Read bytes start..stop of the file to the beginning of this thread's buffer; returns the buffer."""
        me, n = threading.get_ident(), stop - start
        text = buffers.get(me)
        if text is None or text.size < n + text_loops.PADDING:
            text = buffers[me] = Buffer("u1", n + n // 4 + text_loops.PADDING)
        source.read_at(text.items[:n], start)
        source.taken -= n // 2  # all bytes are read twice
        return text

    def count(b: int) -> None:
        limits.check()
        facts[b] = NO_MARKS
        if faults and b > min(faults.copy()):
            return
        start, stop = b * BLOCK_BYTES, min((b + 1) * BLOCK_BYTES, size)
        text = load(start, stop)
        facts[b] = count_marks(text, 0, stop - start)
        if facts[b][2] < 0 and (reason := partial_line_error(text, 0, stop - start)):
            faults[b] = reason

    threads.run_blocks(count, n_blocks)
    unfinished = size > 0 and load(size - 1, size).items[0] != text_loops.NEWLINE
    pieces, rows, pairs = cut_into_pieces(facts, BLOCK_BYTES, size, unfinished)
    table = RawTable(rows, pairs, first_index=first_index, form=form, dtype=dtype)

    def reject_last_line(piece: Piece, fault: str) -> None:
        """Raise DataError for the piece's last line, or an earlier malformed one in the piece's first block."""
        stop = min(piece.start + BLOCK_BYTES, piece.stop)
        text = load(piece.start, stop)
        n = text.memory.rfind(END_OF_LINE, 0, stop - piece.start) + 1
        (row, pair), (lines, colons) = (piece.rows[0], piece.pairs[0]), count_marks(text, 0, n)[:2]
        whole = Piece(piece.start, piece.start + n, (row, row + lines), (pair, pair + colons))
        _parse(text, 0, n, table, whole, 0, source.name)
        raise DataError(row + lines + 1, source.name, "", fault)

    def parse(piece: Piece) -> int:
        n = piece.stop - piece.start
        fault = next((faults[b] for b in sorted(faults) if piece.start <= b * BLOCK_BYTES < piece.stop), "")
        if fault or n > MAX_LINE + BLOCK_BYTES:
            reject_last_line(piece, fault or too_long(MAX_LINE))
        text = load(piece.start, piece.stop)
        if unfinished and piece.stop == size:
            text.items[n] = text_loops.NEWLINE
            n += 1
        return _parse(text, 0, n, table, piece, 0, source.name)

    _parse_all(parse, pieces, table)
    return table


def _parse_all(parse: Callable[[Piece], int], pieces: list[Piece], table: RawTable) -> None:
    """Parse the pieces in parallel; of several malformed lines the first in the file is reported."""
    largest = [0] * len(pieces)
    errors: dict[int, DataError] = {}

    def work(k: int) -> None:
        limits.check()
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
    text: Buffer, start: int, stop: int, table: RawTable, piece: Piece, first_line: int, name: str,
    slow_line: LineParser | None = None,
) -> int:  # fmt: skip
    """Parse the lines of text[start:stop] into the table; returns the largest index."""
    state = Buffer("i8", 4)
    now = state.items  # position, row, pair, largest index so far
    now[0], now[1], now[2] = start, piece.rows[0], piece.pairs[0]
    loop = text_loops.parse_lines.bind(text, table.labels, table.indptr, table.indices, table.values, state)
    columns = table.columns
    while loop(stop, piece.rows[1], piece.pairs[1], columns, table.first_index, table.form):
        if slow_line is None:
            slow_line = _grammar(table.first_index, table.form)
        at, row, pair, largest = now
        line = bytes(text.items[at : text.memory.find(END_OF_LINE, at)])
        label, indices, values = slow_line(line, first_line + row + 1, name)
        stop_pair = pair + len(indices)
        if row >= piece.rows[1] or stop_pair > piece.pairs[1]:
            break
        for k, number in enumerate([label] if columns == 1 else label):
            table.labels.items[row * columns + k] = number
        for k, index, value in zip(range(pair, stop_pair), indices, values, strict=True):
            table.indices.items[k], table.values.items[k] = index - 1, value
            if math.isinf(table.values.items[k]):  # slow_line gives finite values
                raise DataError(first_line + row + 1, name, f"{index}:{value:g}", "the value is too large for float32")
        table.indptr.items[row + 1] = stop_pair
        now[0], now[1], now[2] = at + len(line) + 1, row + 1, stop_pair
        now[3] = max(largest, indices[-1] if indices else 0)
    if now[1] != piece.rows[1] or now[2] != piece.pairs[1]:
        raise SvmtoolError(f"{name} changed while it was read")
    return now[3]


def _grammar(first_index: int, form: int) -> LineParser:
    from svmtool.formats.svmlight.slow_line import parse_line

    return functools.partial(parse_line, first_index=first_index, form=form)


def padded(data: bytes) -> Buffer:
    """The text in a buffer for the loops."""
    text = Buffer("u1", len(data) + text_loops.PADDING)
    text.memory[: len(data)] = data
    return text


def raw_tables(
    source: Source, chunk: int = CHUNK_BYTES, slow_line: LineParser | None = None, first_index: int = 1,
    longest: int = MAX_LINE, *, form: int = LABELLED, dtype: str = "f8",
) -> Iterator[RawTable]:  # fmt: skip
    """Yield tables of about `chunk` bytes of text each, read in sequence from the source's position, without numpy.

    slow_line(line, number, file) -> (label, indices, values) parses lines that the compiled loop rejects; the default
    is slow_line.parse_line.  longest: limit of the length of a line longer than a chunk.
    """
    reader, first_line, text = LineReader(source, chunk, longest), 0, None
    while not reader.ended:
        limits.check()
        text, size, fault = reader.read(text)
        if fault:
            raise DataError(first_line + 1, source.name, "", fault)
        if size:
            table = parse_text(text, size, source.name, slow_line, 1, first_index, first_line, form, dtype=dtype)
            first_line += table.lines
            yield table


def parse_bytes(data: bytes, name: str, first_line: int = 0) -> RawTable:
    """`parse_text` of complete lines in memory."""
    return parse_text(padded(data), len(data), name, first_line=first_line)


def parse_text(
    text: Buffer, size: int, name: str, slow_line: LineParser | None = None, columns: int = 1, first_index: int = 1,
    first_line: int = 0, form: int = LABELLED, data: bool = True, dtype: str = "f8",
) -> RawTable:  # fmt: skip
    """Parse the complete lines of text[:size], followed by PADDING bytes; errors count lines from first_line + 1.

    data: whether the lines are those of a data file, which may have SVMlight's additions.
    """
    try:
        return _parse_plain(text, size, name, slow_line, columns, first_index, first_line, form, dtype)
    except SvmtoolError:  # svm-scale has errors of its own
        rows = additions.removed(bytes(text.memory[:size]), name, form, first_line) if data else None
        if rows is None:
            raise
    if slow_line is None:
        slow_line = _grammar(first_index, form)
    in_line, lines = slow_line, rows.lines

    def moved(line: bytes, number: int, file: str) -> tuple[float | list[float], list[int], list[float]]:
        return in_line(line, first_line + lines[number - first_line - 1] + 1, file)

    table = _parse_plain(padded(rows.text), len(rows.text), name, moved, columns, first_index, first_line, form, dtype)
    table.lines, table.queries, table.additions, table.sets = rows.count, rows.queries, rows, rows.sets
    return table


def _parse_plain(
    text: Buffer, size: int, name: str, slow_line: LineParser | None, columns: int, first_index: int, first_line: int,
    form: int, dtype: str,
) -> RawTable:  # fmt: skip
    """`parse_text` of lines without additions."""
    n_blocks = -(-size // STREAM_BLOCK_BYTES)
    facts: list[list[int]] = [[]] * n_blocks

    def count(b: int) -> None:
        facts[b] = count_marks(text, b * STREAM_BLOCK_BYTES, min((b + 1) * STREAM_BLOCK_BYTES, size))

    threads.run_blocks(count, n_blocks)
    pieces, rows, pairs = cut_into_pieces(facts, STREAM_BLOCK_BYTES, size, False)
    table = RawTable(rows, pairs, columns, first_index, form, dtype)

    def parse(piece: Piece) -> int:
        return _parse(text, piece.start, piece.stop, table, piece, first_line, name, slow_line)

    _parse_all(parse, pieces, table)
    return table


class Piece:
    """Complete lines: start and end of their text, and the ranges of their rows and pairs."""

    def __init__(self, start: int, stop: int, rows: tuple[int, int], pairs: tuple[int, int]):
        self.start, self.stop, self.rows, self.pairs = start, stop, rows, pairs


def count_marks(text: Buffer, start: int, stop: int) -> list[int]:
    """text_loops.count_marks of text[start:stop]."""
    facts = Buffer("i8", 4)
    text_loops.count_marks(text, facts, start, stop)
    return facts.items.tolist()


def cut_into_pieces(facts: list[list[int]], block: int, size: int, unfinished: bool) -> tuple[list[Piece], int, int]:
    """Cut `size` bytes into pieces of complete lines, given count_marks of each block.

    Cuts are after the first newline of a block.  unfinished: the last line has no newline.
    Returns the pieces and the numbers of rows and pairs.
    """
    cuts = [(0, 0, 0)]
    rows = pairs = 0
    for b, (lines, colons, head, head_colons) in enumerate(facts):
        if b and head >= 0:
            cuts.append((b * block + head + 1, rows + 1, pairs + head_colons))
        rows, pairs = rows + lines, pairs + colons
    rows += unfinished
    cuts.append((size, rows, pairs))
    found = [
        Piece(a[0], z[0], (a[1], z[1]), (a[2], z[2])) for a, z in zip(cuts[:-1], cuts[1:], strict=True) if a[0] < z[0]
    ]
    return found, rows, pairs


def write(path: str, data: Dataset) -> None:
    """Write the rows of a sparse Dataset, their labels in front; an old file stays whole until the new one is."""
    from svmtool.formats.output import replacing

    with replacing(path, "can't open output file") as file, doing("writing"):
        indices = data.indices.astype("i4", copy=False)
        for piece in rows_text(data.labels[None, :], data.indptr, indices, data.values, 17):
            file.write(piece)
