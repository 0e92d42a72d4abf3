"""svm-scale: finds the range of each feature in a first pass and writes the scaled rows in a second.

Memory holds a few numbers for each feature (ranges.py) and a few blocks of text, for any number of rows.  Threads
format pieces of a block in parallel and write them in order.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.compiled import threads
from svmtool.compiled.loops.text import scale_loops
from svmtool.compiled.loops.text.text_loops import PADDING, SOME_LABELLED
from svmtool.data.dataset import Dataset
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats import output
from svmtool.formats.source import Source, open_source
from svmtool.formats.svmlight.slow_line import SPACE, advice, parse_line
from svmtool.formats.svmlight.table import RawTable, raw_tables
from svmtool.numbers import format_numbers, format_one, number_length
from svmtool.progress import doing
from svmtool.scaling import ranges
from svmtool.scaling.ranges import Ranges, ShapeOfData

PIECE_PAIRS = 1 << 16  # pairs (or rows) formatted by one thread at a time
BUFFER_BYTES = 1 << 22  # bytes of output a thread holds


class LabelError(SvmtoolError):
    """A line without a label; LIBSVM's message, followed by file and line."""

    exit_code = 255

    def __init__(self, number: int, file: str, token: str, about: str = ""):
        shown = f"{token[:60]!r} is not a number" if token else "the line is empty"
        shown += about and f": {about}"
        super().__init__(f"ERROR: failed to read labels: {file}: line {number}: {shown}")


def run(options, warn: Callable[[str], None]) -> bool:
    """Scale options.file to standard output (see cli.scale.Options); `warn` gets warnings, one line each.

    Returns whether there are features and all were left out, since each has a single value in this file.
    """
    with open_source(options.file, "can't open file") as first:
        restored = ranges.read(options.restore) if options.restore is not None else None
        with first.repeatable() as source:
            reader = SlowLines(warn)
            shape = ShapeOfData(None if restored is None else restored.index - 1)
            with doing("reading ranges", source=source):
                for table in raw_tables(source, slow_line=reader.read, form=SOME_LABELLED):
                    shape.add(table.table())
            shape.finish()
            reader.report()
            y, limits = _factors(options, restored, shape, warn)
            if options.save is not None:
                ranges.write(options.save, Ranges(y, limits, shape.indices(), shape.low, shape.high))
            source.rewind()
            with doing("scaling", source=source):
                new = _write(source, reader, shape, y, limits)
    if new > shape.pairs:
        warn(
            f"WARNING: original #nonzeros {shape.pairs}\n       > new      #nonzeros {new}\n"
            "If feature values are non-negative and sparse, use -l 0 rather than the default -l -1"
        )
    return restored is None and shape.pairs > 0 and np.array_equal(shape.low, shape.high)


def _factors(options, restored: Ranges | None, shape: ShapeOfData, warn):
    """The labels' (y_lower, y_upper, y_min, y_max) or None, and (lower, upper); shape gets the restored ranges."""
    labelled = shape.y_low <= shape.y_high
    if options.y and shape.rows and not labelled:
        raise SvmtoolError(f"{options.file}: the rows have no labels: leave out -y")
    y = (*options.y, shape.y_low, shape.y_high) if options.y else None
    limits = options.lower, options.upper
    if restored is None:
        return y, limits
    if restored.y is not None:
        y = restored.y
        if labelled and y[2] == y[3] and not shape.y_low == shape.y_high == y[2]:
            raise SvmtoolError(f"{options.restore}: the range of the labels is empty, so these labels cannot be scaled")
    if restored.x is None:
        what = "features" if restored.y is not None else "labels or features"
        lack = f"{options.restore} has no scaling factors for {what}"
        warn(f"WARNING: {lack}: {options.file} is scaled by its own ranges")
        return y, limits
    places = shape.places(restored.index - 1)
    known = np.zeros(len(shape.low), bool)
    known[places] = True
    for index in shape.indices()[~known & (shape.low != shape.high)]:
        warn(
            f"WARNING: feature index {index} appeared in file {options.file} was not seen in the scaling factor file "
            f"{options.restore}. The feature is scaled to 0."
        )
    shape.low[~known] = shape.high[~known] = 0.0
    shape.low[places], shape.high[places] = restored.low, restored.high
    return y, restored.x


class SlowLines:
    """Parses unusual lines as LIBSVM's svm-scale does, where that is well defined.

    In addition to svm-train's grammar: CRLF after a label without features, values below the normal range, and a label
    with text after its number (`1,2`), of which only the number is kept; the first such label is reported.
    """

    def __init__(self, warn: Callable[[str], None]):
        self.warn = warn
        self.cut: dict[int, tuple[str, str]] = {}  # line -> file, label; filled by threads

    def read(self, line: bytes, number: int, file: str) -> tuple[float, list[int], list[float]]:
        body = line.removesuffix(b"\r").lstrip(SPACE)
        word = body.split(None, 1)[0] if body else b""
        length = number_length(word)
        if length == 0:
            about = advice(line) if number == 1 else ""
            raise LabelError(number, file, word.decode("utf-8", "backslashreplace"), about)
        rest = body[len(word) :]
        if length != len(word):
            shown = word.decode("utf-8", "backslashreplace")
            if b":" in word:
                raise DataError(number, file, shown, "the label is missing")
            self.cut[number] = file, shown
        return parse_line(word[:length] + rest, number, file, tiny=True, form=SOME_LABELLED)

    def report(self) -> None:
        if self.cut:
            line = min(self.cut)
            file, label = self.cut[line]
            others = f" ({len(self.cut)} such lines)" if len(self.cut) > 1 else ""
            self.warn(f"WARNING: {file}: line {line}: only the leading number of the label {label!r} is kept{others}")


def _write(source: Source, reader: SlowLines, shape: ShapeOfData, y, limits) -> int:
    """Second pass; returns the number of index:value pairs written."""
    writer = RowWriter(shape, limits)
    rows = 0
    with output.replacing("-") as file:
        for table in map(RawTable.table, raw_tables(source, slow_line=reader.read, form=SOME_LABELLED)):
            if rows + len(table) > shape.rows or table.n_features > shape.n_features:
                break
            try:
                table.indices = shape.places(table.indices)
            except ValueError:
                break
            if y is not None:
                table.labels = scaled_values(table.labels, *y)
            if table.additions is None:
                writer.write(table, file)
            else:
                with io.BytesIO() as lines:
                    writer.write(table, lines)
                    file.write(table.additions.returned(lines.getvalue()))
            rows += len(table)
    if rows != shape.rows:
        raise SvmtoolError(f"{source.name} changed while it was read")
    return writer.written + rows * writer.n_absent - writer.spared


def scaled_values(x: np.ndarray, lower: float, upper: float, low: Any, high: Any) -> np.ndarray:
    """x f8[n] mapped linearly from low..high (numbers, or f8[n]) to lower..upper, in LIBSVM's order of operations."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = lower + (upper - lower) * (x - low) / (high - low)
    scaled[x == high] = upper
    scaled[x == low] = lower
    return scaled


class RowWriter:
    """Writes scaled rows.

    n_absent: number of features written for a row without explicit values.
    written, spared: see compiled.loops.text.scale_loops.scaled_rows, summed over all rows.
    """

    def __init__(self, shape: ShapeOfData, limits: tuple[float, float]):
        self.names, self.low, self.high, self.limits = shape.names, shape.low, shape.high, limits
        self.at = np.zeros(len(shape.low) + 1, np.int64)
        self.absent = self._absent_text()
        self.n_absent = int(np.count_nonzero(np.diff(self.at)))
        self.written = self.spared = 0
        self.buffers: dict[int, np.ndarray] = {}

    def _absent_text(self) -> np.ndarray:
        """The concatenated texts of all features of value 0, in the order of a row; `at`: where each begins."""
        scaled = scaled_values(np.zeros(len(self.low)), *self.limits, self.low, self.high)
        places = np.flatnonzero((self.low != self.high) & (scaled != 0.0))
        indices = 1 + (self.names[places] if len(self.names) else places)
        numbers = format_numbers(scaled[places], 6).split()
        items = [b"%d:%s " % item for item in zip(indices.tolist(), numbers, strict=True)]
        self.at[places + 1] = [len(item) for item in items]
        np.cumsum(self.at, out=self.at)
        return np.frombuffer(b"".join(items) + bytes(PADDING), np.uint8)

    def write(self, table: Dataset, file) -> None:
        """Append the rows of the table to the file."""
        starts = [0]
        while starts[-1] < len(table):
            row = starts[-1]
            by_pairs = int(np.searchsorted(table.indptr, table.indptr[row] + PIECE_PAIRS, "right")) - 1
            by_text = row + max(1, BUFFER_BYTES // (len(self.absent) + 32))
            starts.append(min(max(row + 1, min(by_pairs, by_text)), len(table)))
        turn = threading.Condition()
        writing = 0  # index of the piece to be written next; -1 after a failure
        failures: list[BaseException] = []

        def await_turn(piece: int) -> None:
            with turn:
                turn.wait_for(lambda: writing in (piece, -1))
                if writing == -1:
                    raise _Abandoned

        def end_turn(to: int) -> None:
            nonlocal writing
            with turn:
                writing = to
                turn.notify_all()

        def work(piece: int) -> None:
            try:
                self._write_piece(table, starts[piece], starts[piece + 1], file, lambda: await_turn(piece))
            except BaseException as e:
                failures.append(e)
                end_turn(-1)
                raise
            end_turn(piece + 1)

        try:
            threads.run_blocks(work, len(starts) - 1)
        except _Abandoned:
            raise failures[0] from None

    def _write_piece(self, table: Dataset, start: int, stop: int, file, await_turn: Callable[[], None]) -> None:
        me = threading.get_ident()
        out = self.buffers.get(me)
        if out is None:
            out = self.buffers[me] = np.empty(BUFFER_BYTES, np.uint8)
        state = np.array([start, table.indptr[start], -1, 0, 0, 0], np.int64)
        rows = table.labels, table.indptr, table.indices, table.values
        loop = scale_loops.scaled_rows.bind(out, *rows, self.names, self.low, self.high, self.absent, self.at, state)
        while answer := loop(stop, *self.limits):
            if answer == scale_loops.FULL:
                await_turn()
                file.write(memoryview(out)[: state[3]])
                state[3] = 0
            else:
                self._write_stopped(table, out, state)
        await_turn()
        file.write(memoryview(out)[: state[3]])
        self.written += int(state[4])
        self.spared += int(state[5])

    def _write_stopped(self, table: Dataset, out: np.ndarray, state: np.ndarray) -> None:
        """Print the label or value at which the loop stopped."""
        row, pair, done, p = state[:4].tolist()
        if done < 0:
            item = format_one(float(table.labels[row]), 17).encode() + b" "
            state[2] = 0
        else:
            j = int(table.indices[pair])
            value, low, high = float(table.values[pair]), float(self.low[j]), float(self.high[j])
            scaled = scale_loops.scaled_value(value, low, high, *self.limits)
            item = b"%d:%s " % (1 + (int(self.names[j]) if len(self.names) else j), format_one(scaled, 6).encode())
            state[1], state[2] = pair + 1, self.at[j + 1]
            state[4] += 1
            state[5] += self.at[j + 1] > self.at[j]
        out[p : p + len(item)] = np.frombuffer(item, np.uint8)
        state[3] = p + len(item)


class _Abandoned(Exception):
    """Another thread failed; its exception is reported."""
