"""The inputs of a training: a data file read in the background, rows as they arrive, a file of row weights."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from svmtool.compiled import ahead_of_time
from svmtool.compiled.loops.text.text_loops import LABELLED
from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.source import END_OF_LINE, MAX_LINE, NUL_IN_LINE, open_source, too_long
from svmtool.formats.svmlight.additions import NO_QUERY
from svmtool.formats.svmlight.table import RawTable, joined, parse_bytes, read_raw
from svmtool.limits import EndedError, StopFlag, until
from svmtool.numbers import parse_number
from svmtool.progress import doing
from svmtool.systems import POSIX
from svmtool.tolerances import MIB

if TYPE_CHECKING:
    import numpy as np

    from svmtool.data.dataset import Dataset
    from svmtool.formats.source import Source

MAX_READ_BYTES = 1 << 22  # bytes of standard input read at once, at most
NO_QID = "with --groups each row has a qid after its label, such as qid:3"
WAIT_SECONDS = 0.1  # between two checks of `stopped`, at most
PIECE_BYTES = MIB  # bytes of weights read at once, and the limit of a number's length


class Reading:
    """Reads one file (`-`: standard input); `table` returns the rows once, `start` reads them ahead.

    The import of numpy takes some 50 ms of one core, in which a thread parses some 20 MB of text.

    first_index, form, dtype: see RawTable.  stop: has the time limit of the command, which counts reading.
    grouped: whether each row needs a qid.
    """

    def __init__(
        self, path: str, first_index: int = 1, form: int = LABELLED, stop: StopFlag | None = None, dtype: str = "f8",
        grouped: bool = False,
    ):  # fmt: skip
        self.path, self.first_index, self.form, self.dtype, self.grouped = path, first_index, form, dtype, grouped
        self.stop = StopFlag() if stop is None else stop
        self._parts: list[RawTable] = []
        self._error: BaseException | None = None
        self._started = False
        self._source: Source | None = None
        self._finished = threading.Event()

    def start(self) -> None:
        """Start reading in a thread.

        Has no effect if loops are compiled just in time: numba has imported numpy then, and compiles on one thread.
        """
        if ahead_of_time():
            self._started = True
            threading.Thread(target=self._work, daemon=True).start()

    def table(self) -> Dataset:
        """Wait for the whole file and return it as one Dataset; imports numpy.

        Raises SvmtoolError if it cannot be opened or the time limit is reached, DataError for the first malformed line.
        """
        with doing("reading", source=self), in_time(self.path, self.stop):
            if self._started:
                left = self.stop.seconds_left  # unlike Thread.join, this wait can be interrupted by Ctrl-C
                if not self._finished.wait(None if left == math.inf else max(left, 0.0)):
                    raise EndedError
            else:
                self._read()
            if self._error is not None:
                raise self._error
            return joined(self._parts)

    def _work(self) -> None:
        try:
            with until(self.stop.over):
                self._read()
        except BaseException as e:  # raised by `table`
            self._error = e
        finally:
            self._finished.set()

    def _read(self) -> None:
        with open_source(self.path) as source:
            self._source = source
            self._parts = read_raw(source, self.first_index, self.form, self.dtype)
        if self.grouped:
            refuse_rows_without_query(self._parts, self.path)

    @property
    def taken(self) -> int:
        """Bytes read so far."""
        return 0 if self._source is None else self._source.taken

    @property
    def size(self) -> int | None:
        """Bytes of the file, None if they are not known."""
        return None if self._source is None else self._source.size


def refuse_rows_without_query(parts: list[RawTable], file: str) -> None:
    """DataError for the first row of consecutive tables that has no qid; its token is what stands in its place."""
    line = 0
    for part in parts:
        queries = [NO_QUERY] if part.queries is None else part.queries
        if part.labels.size and NO_QUERY in queries:
            k, rows, token = queries.index(NO_QUERY), part.additions, ""
            if rows is not None:
                words = rows.text.split(b"\n")[k].split(None, 2)
                k, token = rows.lines[k], b"".join(words[1:2]).decode("utf-8", "backslashreplace")
            raise DataError(line + k + 1, file, token, NO_QID)
        line += part.lines


@contextlib.contextmanager
def in_time(path: str, stop: StopFlag) -> Iterator[None]:
    """A block that reads a file; it ends with SvmtoolError where the time is over."""
    try:
        with until(stop.over):
            yield
    except EndedError:
        raise SvmtoolError(f"time limit reached while {path} was read, before training: raise --max-seconds") from None


def arriving_rows(stopped: Callable[[], bool]) -> Iterator[RawTable | None]:
    """Yield tables of the complete lines that have arrived, or None if none arrives within WAIT_SECONDS.

    Ends with the input or once stopped().  A malformed line raises DataError, after the rows before it.
    """
    import select

    if sys.stdin is None:
        raise SvmtoolError("can't open input file -: there is no standard input")
    fd, line, ended = sys.stdin.fileno(), 0, False
    rest, length = [], 0  # pieces of an incomplete line, and their bytes
    while not ended and not stopped():
        if POSIX and not select.select([fd], [], [], WAIT_SECONDS)[0]:
            yield None
            continue
        try:
            data = os.read(fd, MAX_READ_BYTES)
        except OSError as e:
            raise SvmtoolError(f"can't read -: {e.strerror}") from e
        ended = not data
        rest.append(END_OF_LINE if ended and length else data)
        cut = rest[-1].rfind(END_OF_LINE) + 1
        if not cut:
            length += len(data)
            if b"\0" in data or length > MAX_LINE:
                raise DataError(line + 1, "-", "", NUL_IN_LINE if b"\0" in data else too_long(MAX_LINE))
            continue
        last = rest.pop()
        whole = b"".join([*rest, last[:cut]])
        rest, length = [last[cut:]], len(last) - cut
        try:
            table = parse_bytes(whole, "-", line)
        except DataError as e:
            if good := e.line - 1 - line:
                yield parse_bytes(b"".join(whole.splitlines(keepends=True)[:good]), "-", line)
            raise
        line += table.lines
        yield table


def weighted(table: Dataset, path: str | None, warn: Callable[[str], object] | None = None) -> Dataset:
    """The rows with the weights in a file, see `read_weights`; None: the table itself; warn: of rows left out."""
    if not path:
        return table
    from svmtool.data.dataset import left_out

    table = table.replace(weights=read_weights(path, len(table)))
    for sentence in left_out(table.weights, path):
        if warn is not None:
            warn(sentence)
    return table


def read_weights(path: str, rows: int) -> np.ndarray:
    """Read a file of `rows` numbers (`-W FILE`), separated by blanks or line ends, as f8[rows].

    Raises SvmtoolError for a token that is no finite number, and for too few or too many numbers; reading stops at the
    first error.
    """
    import numpy as np

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
    buffer, rest = bytearray(PIECE_BYTES), b""
    with open_source(path) as source:
        while n := source.read_into(buffer):
            text = rest + buffer[:n]
            found = text.split()
            rest = b"" if text[-1:].isspace() else found.pop()
            yield from found
            if len(rest) > PIECE_BYTES:
                raise SvmtoolError(f"{path}: not a text file of numbers: no blank in {PIECE_BYTES} bytes")
    if rest:
        yield rest
