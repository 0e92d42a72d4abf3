"""Reads a data file on a background thread while the main thread imports numpy.

The import takes some 50 ms of one core, in which a thread parses some 20 MB of text.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from svmtool.activity import doing
from svmtool.compiled import ahead_of_time
from svmtool.formats.source import open_source
from svmtool.formats.svmlight.table import RawTable, joined, read_raw

if TYPE_CHECKING:
    from svmtool.data.dataset import Dataset
    from svmtool.formats.source import Source

SWITCH_SECONDS = 1e-4  # longest time that the importing thread keeps this one waiting between two blocks


class Reading:
    """Reads one file (`-`: standard input); `table` returns the rows once, `start` reads them ahead.

    least: see RawTable.
    """

    def __init__(self, path: str, least: int = 1):
        self.path, self.least = path, least
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

        Raises SvmtoolError if it cannot be opened, DataError for the first malformed line.
        """
        with doing("reading", source=self):
            if self._started:
                self._finished.wait()  # unlike Thread.join, this wait can be interrupted by Ctrl-C
            else:
                self._read()
        if self._error is not None:
            raise self._error
        return joined(self._parts)

    def _work(self) -> None:
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            self._read()
        except BaseException as e:  # raised by `table`
            self._error = e
        finally:
            sys.setswitchinterval(before)
            self._finished.set()

    def _read(self) -> None:
        with open_source(self.path) as source:
            self._source = source
            self._parts = read_raw(source, self.least)

    @property
    def taken(self) -> int:
        """Bytes read so far."""
        return 0 if self._source is None else self._source.taken

    @property
    def size(self) -> int | None:
        """Bytes of the file, None if they are not known."""
        return None if self._source is None else self._source.size
