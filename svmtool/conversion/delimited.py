"""Reads and writes CSV and TSV files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from svmtool.conversion.header import ROWS_BESIDE, judged
from svmtool.conversion.table import Column, Table, is_missing, refuse_repeated_names
from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError, clipped, visible
from svmtool.formats.output import replacing
from svmtool.formats.source import NUL_IN_LINE, Source, open_source
from svmtool.progress import counted, doing
from svmtool.tolerances import MIB

ROWS_AT_ONCE, CELLS_AT_ONCE = 4096, 1 << 20  # read and written at a time, at most
BYTE_ORDER_MARK = "\ufeff"  # a second one, after that of the file, is in no name
LONGEST_CELL = 1 << 24  # characters


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

    delimiter: None: a comma, or a semicolon where the first line has no comma.  header: None: see header.judged.
    text: names of columns that are strings even if all their cells are numbers.
    Raises SvmtoolError with the line for lines of another length.
    """
    with open_source(path) as opened, doing("reading", source=opened):
        source = opened.repeatable()
        reader = _Reader(path, source, delimiter, header)
        names = reader.names
        refuse_repeated_names(path, names)
        content = _Content(len(names), {k for k, name in enumerate(names) if name in text})
        for rows in reader.chunks():
            content.add(rows)
        if late := content.late:  # numbers at first: read their text
            source.rewind()
            for k in late:
                content.texts[k] = []
            for rows in _Reader(path, source, reader.delimiter, reader.header).chunks():
                for k in late:
                    content.texts[k] += _text([row[k] for row in rows])
        if not reader.lines or not names:
            raise SvmtoolError(f"{path} holds no rows" + (f": {reader.note}" if reader.note else ""))
        lines = reader.lines
        columns = content.columns()
    return Table(path, names, columns, lambda row: f"line {lines[row]}", content.missing, reader.note)


class _Reader:
    """The rows of an open file as lists of cells; names of its columns."""

    def __init__(self, path: str, source: Source, delimiter: str | None, header: bool | None):
        self.path = path
        self.stream = io.TextIOWrapper(io.BufferedReader(_Raw(source), MIB), encoding="utf-8-sig", newline="")
        self.lines: list[int] = []  # of each row: its last line
        csv.field_size_limit(LONGEST_CELL)
        with _errors(path, lambda: 1):
            first = self.stream.readline()
        if not first.strip():
            raise SvmtoolError(f"{path}: line 1 is empty: it must be a header or a row")
        self.delimiter = delimiter or (";" if "," not in first and ";" in first else ",")
        self.reader = csv.reader(self._from(first), delimiter=self.delimiter, strict=True)
        with _errors(path, lambda: 1):
            cells = next(self.reader)
        self.ahead = [(cells, self.reader.line_num)]  # rows that are read, and the lines where they end
        self.header, self.note = header or False, ""
        if header is None:
            with _errors(path, lambda: self.reader.line_num):
                for row in islice(self._rows(), min(ROWS_BESIDE, 1 + CELLS_AT_ONCE // len(cells))):
                    self.ahead.append((row, self.reader.line_num))
            self.header, self.note = judged(cells, [row for row, _ in self.ahead[1:]])
        if self.header:
            del self.ahead[0]
        found = [c.lstrip(BYTE_ORDER_MARK).strip() if self.header else "" for c in cells]
        self.names = [name or f"column {k + 1}" for k, name in enumerate(found)]

    def _from(self, first: str) -> Iterator[str]:
        for number, line in enumerate(chain([first], self.stream), 1):
            if "\0" in line:  # UTF-16 without its mark, or no text at all
                raise SvmtoolError(f"{self.path}: line {number}: {NUL_IN_LINE}")
            yield line

    def _rows(self) -> Iterator[list[str]]:
        """The rows that are not read yet, without empty lines."""
        return filter(None, self.reader)

    def chunks(self) -> Iterator[list[list[str]]]:
        """Some rows at a time; `lines` then has them."""
        rows, width = [], len(self.names)
        with _errors(self.path, lambda: self.reader.line_num):
            for row, line in chain(self.ahead, ((row, self.reader.line_num) for row in self._rows())):
                if len(row) != width:
                    raise SvmtoolError(
                        f"{self.path}: line {line} has {len(row)} cells, "
                        f"but {'the header' if self.header else 'the first line'} has {width}"
                    )
                rows.append(row)
                self.lines.append(line)
                if len(rows) >= min(ROWS_AT_ONCE, CELLS_AT_ONCE / width):
                    yield rows
                    rows = []
        if rows:
            yield rows


class _errors:
    """Turns errors of decoding and of CSV syntax into an SvmtoolError that names the file and the line."""

    def __init__(self, path: str, line: Callable[[], int]):
        self.path, self.line = path, line

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, e: Any, trace: Any) -> None:
        if isinstance(e, UnicodeDecodeError):
            raise SvmtoolError(f"{self.path} is not UTF-8 text: convert it, for example by iconv -t utf-8") from None
        if isinstance(e, csv.Error):
            raise SvmtoolError(f"{self.path}: line {self.line()}: not a table of text: {e}") from None


class _Content:
    """The columns of the rows so far.

    blocks: numbers f8 (rows, columns), 0 in columns of text.  texts: the cells of these columns.  late: those of them
    that began as numbers.  missing: as of Table.
    """

    def __init__(self, width: int, text: set[int]):
        self.width, self.rows = width, 0
        self.blocks: list[np.ndarray] = []
        self.texts: dict[int, list[str | None]] = {k: [] for k in text}
        self.late: set[int] = set()
        self.missing: dict[int, tuple[int, str]] = {}

    def add(self, rows: list[list[str]]) -> None:
        block = np.zeros((len(rows), self.width))
        for k, cells in enumerate(zip(*rows, strict=True)):
            numbers = None if k in self.texts else _numbers(cells)
            if numbers is not None:
                block[:, k] = numbers
                continue
            if k not in self.texts and self.blocks:
                self.late.add(k)
            texts = _text(cells)
            self.texts.setdefault(k, []).extend(texts)
            if None in texts:
                self._note(k, texts.index(None), rows)
        for k in np.flatnonzero(np.isnan(block).any(axis=0)).tolist():
            self._note(k, int(np.argmax(np.isnan(block[:, k]))), rows)
        self.blocks.append(block)
        self.rows += len(rows)

    def _note(self, k: int, row: int, rows: list[list[str]]) -> None:
        self.missing.setdefault(k, (self.rows + row, rows[row][k]))

    def columns(self) -> list[Column]:
        """All columns; the blocks are freed."""
        X, stop = np.empty((self.width, self.rows)), self.rows
        while self.blocks:
            block = self.blocks.pop()
            X[:, stop - len(block) : stop] = block.T
            stop -= len(block)
        return [self.texts[k] if k in self.texts else X[k] for k in range(len(X))]


def _numbers(cells: Sequence[str]) -> list[float] | None:
    """Cells as numbers, nan where one is missing; None where one is text, or has the underscores that Python allows."""
    try:
        numbers = list(map(float, cells))
    except ValueError:
        try:
            numbers = [math.nan if is_missing(cell) else float(cell) for cell in cells]
        except ValueError:
            return None
    return None if "_" in "".join(cells) else numbers


def _text(cells: Sequence[str]) -> list[str | None]:
    """Cells as strings, None where one is missing."""
    return [None if is_missing(cell) else cell.strip() for cell in cells]


def write(
    path: str, delimiter: str, names: list[str], label: str | None, rows: Dataset, texts: list[str | None] | None
) -> None:
    """Write rows as a table: a header, the features in columns `names`, the label in the last column.

    label: None: no such column.  texts: of the labels; None: their numbers.  A label that is missing is an empty cell.
    """
    width = len(names)
    with replacing(path) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=False)
        all_texts = *names, label or "", *filter(None, texts or ())
        returns = any("\r" in text for text in all_texts)  # which csv leaves bare
        quoting = csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
        out = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=quoting)
        out.writerow(names if label is None else [*names, label])
        for at in counted("block of rows", range(0, len(rows), ROWS_AT_ONCE)):
            some = rows.take(np.arange(at, min(at + ROWS_AT_ONCE, len(rows))))
            for i in range(len(some)):
                cells = ["0"] * width
                here = slice(some.indptr[i], some.indptr[i + 1])
                for j, value in zip(some.indices[here].tolist(), some.values[here].tolist(), strict=True):
                    cells[j] = text_of(value)
                if label is not None:
                    cells.append(text_of(some.labels[i]) if texts is None else texts[at + i] or "")
                out.writerow(cells)
        stream.flush()
        stream.detach()


def text_of(x: float) -> str:
    """The shortest text that reads as x, empty for nan."""
    text = repr(float(x)) if x == x else ""
    return text[:-2] if text.endswith(".0") else text


def described(names: list[str], max_names: int = 4) -> str:
    """Names for a message: the first few."""
    shown = ", ".join(visible(clipped(name)) for name in names[:max_names])
    return shown + (f" and {len(names) - max_names} more" if len(names) > max_names else "")
