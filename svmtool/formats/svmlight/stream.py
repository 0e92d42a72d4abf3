"""Reads rows from standard input as they arrive, without waiting for its end."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator

from svmtool.errors import DataError, SvmtoolError
from svmtool.formats.source import LONGEST_LINE, NEWLINE, NUL, too_long
from svmtool.formats.svmlight.table import RawTable, parse_bytes

READ = 1 << 22  # bytes read at once, at most
WAIT_SECONDS = 0.1  # between two checks of `stopped`, at most


def arriving_rows(stopped: Callable[[], bool]) -> Iterator[RawTable | None]:
    """Yield tables of the complete lines that have arrived, or None if none arrives within WAIT_SECONDS.

    Ends with the input or once stopped().  A malformed line raises DataError, after the rows before it.
    """
    if sys.stdin is None:
        raise SvmtoolError("can't open input file -: there is no standard input")
    fd, line, ended = sys.stdin.fileno(), 0, False
    rest, length = [], 0  # pieces of an incomplete line, and their bytes
    while not ended and not stopped():
        if not select.select([fd], [], [], WAIT_SECONDS)[0]:
            yield None
            continue
        try:
            data = os.read(fd, READ)
        except OSError as e:
            raise SvmtoolError(f"can't read -: {e.strerror}") from e
        ended = not data
        rest.append(NEWLINE if ended and length else data)
        cut = rest[-1].rfind(NEWLINE) + 1
        if not cut:
            length += len(data)
            if b"\0" in data or length > LONGEST_LINE:
                raise DataError(line + 1, "-", "", NUL if b"\0" in data else too_long(LONGEST_LINE))
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
        line += table.labels.size
        yield table
