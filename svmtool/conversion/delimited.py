"""Reads and writes CSV and TSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from svmtool.conversion.table import MISSING, Column, Table, missing, refuse_nonfinite, refuse_repeated_names
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, clipped
from svmtool.formats.output import replacing
from svmtool.formats.source import Source, open_source
from svmtool.tolerances import MIB

ROWS_AT_ONCE = 4096  # read and written at a time
LONGEST_CELL = 1 << 24  # characters
MAX_CELLS = 2_000_000_000  # of a file that is written


class _Raw(io.RawIOBase):
    """A Source as Python's streams read it."""

    def __init__(self, source: Source):
        self.source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.source.read_into(buffer)


def read(path: str, delimiter: str | None, header: bool | None, text: Collection[str] = ()) -> Table:
    """Read a file with a header line or without one.

    delimiter: None: a comma, or a semicolon where the first line has no comma.  header: None: the first line is one if
    none of its cells is a number.  text: names of columns that are strings even if all their cells are numbers.
    Raises SvmtoolError with line and column for missing values and lines of another length.
    """
    with open_source(path) as opened:
        source = opened.repeatable()
        reader = _Reader(path, source, delimiter, header)
        names = reader.names
        refuse_repeated_names(path, names)
        forced = {k for k, name in enumerate(names) if name in text}
        chunks: list[list[Column]] = [[] for _ in names]
        for rows, lines in reader.chunks():
            for k, cells in enumerate(zip(*rows, strict=True)):
                chunks[k].append(_column(path, names[k], cells, lines, k in forced))
        mixed = {k for k, parts in enumerate(chunks) if len({isinstance(p, list) for p in parts}) > 1}
        if mixed:  # numbers at first: read their text
            source.rewind()
            for k in mixed:
                chunks[k] = []
            for rows, lines in _Reader(path, source, reader.delimiter, reader.header).chunks():
                for k in mixed:
                    chunks[k].append(_column(path, names[k], [row[k] for row in rows], lines, True))
        if not reader.lines or not names:
            raise SvmtoolError(f"{path} holds no rows")
        lines = reader.lines
        columns: list[Column] = [
            [cell for part in parts for cell in part] if isinstance(parts[0], list) else np.concatenate(parts)
            for parts in chunks
        ]
    return Table(path, names, columns, lambda row: f"line {lines[row]}")


class _Reader:
    """The rows of an open file as lists of cells; names of its columns."""

    def __init__(self, path: str, source: Source, delimiter: str | None, header: bool | None):
        self.path = path
        self.stream = io.TextIOWrapper(io.BufferedReader(_Raw(source), MIB), encoding="utf-8-sig", newline="")
        self.lines: list[int] = []  # of each row: its last line
        csv.field_size_limit(LONGEST_CELL)
        with _errors(path):
            first = self.stream.readline()
        if not first.strip():
            raise SvmtoolError(f"{path}: line 1 is empty: it must be a header or a row")
        self.delimiter = delimiter or (";" if "," not in first and ";" in first else ",")
        self.reader = csv.reader(self._from(first), delimiter=self.delimiter)
        with _errors(path):
            cells = next(self.reader)
        self.header = not any(map(_is_number, cells)) if header is None else header
        self.first = None if self.header else cells
        self.names = [c.strip() if self.header and c.strip() else f"column {k + 1}" for k, c in enumerate(cells)]

    def _from(self, first: str) -> Iterator[str]:
        yield first
        yield from self.stream

    def chunks(self) -> Iterator[tuple[list[list[str]], list[int]]]:
        """Up to ROWS rows at a time, and the line of each."""
        rows, lines, width = [], [], len(self.names)
        if self.first is not None:
            rows, lines = [self.first], [self.reader.line_num]
        with _errors(self.path):
            for row in self.reader:
                if not row:  # an empty line
                    continue
                if len(row) != width:
                    raise SvmtoolError(
                        f"{self.path}: line {self.reader.line_num} has {len(row)} cells, "
                        f"but {'the header' if self.header else 'the first line'} has {width}"
                    )
                rows.append(row)
                lines.append(self.reader.line_num)
                if len(rows) == ROWS_AT_ONCE:
                    self.lines += lines
                    yield rows, lines
                    rows, lines = [], []
        if rows:
            self.lines += lines
            yield rows, lines


class _errors:
    """Turns errors of decoding and of CSV syntax into an SvmtoolError that names the file."""

    def __init__(self, path: str):
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, e: Any, trace: Any) -> None:
        if isinstance(e, UnicodeDecodeError):
            raise SvmtoolError(f"{self.path} is not UTF-8 text: convert it, for example by iconv -t utf-8") from None
        if isinstance(e, csv.Error):
            raise SvmtoolError(f"{self.path}: not a table of text: {e}") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _column(path: str, name: str, cells: Any, lines: list[int], text: bool) -> Column:
    """Cells as numbers, or as strings where one is no number or `text` is set."""
    try:
        if not text:
            values = np.array(list(map(float, cells)))
            refuse_nonfinite(path, values, name, lambda row: f"line {lines[row]}")
            return values
    except SvmtoolError:
        raise
    except ValueError:
        pass  # strings
    found = [cell.strip() for cell in cells]
    for cell, line in zip(found, lines, strict=True):
        if cell.lower() in MISSING:
            raise missing(path, f"line {line}", name, cell)
    return found


def write(path: str, delimiter: str, names: list[str], label: str, rows: Dataset, label_texts: list[str]) -> None:
    """Write rows as a table: a header, the features in columns `names`, the label in the last column."""
    width = len(names)
    if len(rows) * width > MAX_CELLS:
        raise SvmtoolError(
            f"{path} would have {len(rows)} rows of {width} columns, most of them zero: choose .npz, which is sparse"
        )
    header = [*names, label]
    refuse_repeated_names(path, header)
    with replacing(path) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        out = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        out.writerow(header)
        for at in range(0, len(rows), ROWS_AT_ONCE):
            some = rows.take(np.arange(at, min(at + ROWS_AT_ONCE, len(rows))))
            for i in range(len(some)):
                cells = ["0"] * width
                here = slice(some.indptr[i], some.indptr[i + 1])
                for j, value in zip(some.indices[here].tolist(), some.values[here].tolist(), strict=True):
                    cells[j] = text_of(value)
                cells.append(label_texts[at + i])
                out.writerow(cells)
        stream.flush()
        stream.detach()


def text_of(x: float) -> str:
    """The shortest text that reads as x."""
    text = repr(float(x))
    return text[:-2] if text.endswith(".0") else text


def described(names: list[str], max_names: int = 4) -> str:
    """Names for a message: the first few."""
    shown = ", ".join(clipped(name) for name in names[:max_names])
    return shown + (f" and {len(names) - max_names} more" if len(names) > max_names else "")
