"""Binary rows on disk for data sets larger than memory; they are parsed once and used by all later runs.

The folder NAME.rows, beside the data or in --scratch, holds the rows (arrays.py) and a mark of the data file: its size,
time and a sample of its bytes.  It belongs to one user and is private.  It gets its name when it is complete and on
disk (shared_folder.py).  A folder that does not match its data file or fails verification is replaced; anything else
with that name is left alone.  A link with that name is followed if it belongs to the user.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from svmtool.activity import doing
from svmtool.data.dataset import Dataset
from svmtool.data.mapped_arrays import MappedArrays
from svmtool.errors import SvmtoolError
from svmtool.formats.rowcache import arrays, shared_folder
from svmtool.formats.source import Source, open_source
from svmtool.formats.svmlight.table import LONGEST_LINE
from svmtool.tolerances import MB

SAMPLES, SAMPLE_BYTES = 16, 1 << 16  # number and size of the samples of a data file
MIN_MEMORY = 300e6  # bytes; Python, numpy and the compiled loops use a third of it
BYTES_A_BYTE = 2.0  # bytes of rows in memory for each byte of text, at most
OVERHEAD = 150e6  # bytes of a run in addition to its rows
LINE_SHARE = 1 / 32  # of the memory: limit of a line, whose text and rows are in memory several times
OTHER_FOLDER = "--scratch DIR names another folder"


class DiskReading:
    """Reads a data file through its row folder; has the interface of svmlight.inputs.Reading.

    memory: limit of the run's memory in bytes.  scratch: parent of the row folder; empty: the data file's folder, or
    for a pipe the current one.  keep: whether the rows are kept for later runs.  warn: gets messages about unused rows.
    """

    def __init__(self, path: str, memory: float, scratch: str, keep: bool, warn: Callable[[str], None]):
        self.path, self.memory, self.scratch, self.keep, self.warn = path, memory, scratch, keep, warn

    def start(self) -> None:
        """No effect: reading needs numpy."""

    def table(self) -> Dataset:
        """The rows, in memory if they certainly fit, else mapped from their folder.

        Raises SvmtoolError if the file cannot be opened or the folder not be written, DataError for the first malformed
        line.
        """
        if self.memory < MIN_MEMORY:
            raise SvmtoolError(f"ERROR: --memory: a run needs at least {MIN_MEMORY / MB:.0f}M")
        mark = self._mark()  # before the file is opened: if it is replaced meanwhile, the mark will not match
        with open_source(self.path) as source, doing("reading", source=source):
            if source.size is not None and BYTES_A_BYTE * source.size + OVERHEAD < self.memory:
                from svmtool.formats.svmlight.table import joined, read_raw

                return joined(read_raw(source))
            folder = self._folder()
            mapped = MappedArrays(int(self.memory), str(folder.parent))
            if mark is not None and not self._may_have(folder):
                mark = None
            table = self._kept(folder, mark, mapped) if mark else None
            if table is None:
                table = self._made(source, folder, mark, mapped)
        if mark and not self.keep:
            shared_folder.remove(folder)  # mapped files stay until the run ends
        return table

    def _mark(self) -> dict[str, Any] | None:
        """The mark that identifies a state of the data file; None if it is no file or cannot be read."""
        if self.path == "-" or not os.path.isfile(self.path):
            return None
        digest = hashlib.sha256()
        try:
            with open(self.path, "rb") as file:
                facts = os.fstat(file.fileno())
                for k in range(SAMPLES):
                    file.seek(max(0, (facts.st_size - SAMPLE_BYTES) * k // (SAMPLES - 1)))
                    digest.update(file.read(SAMPLE_BYTES))
        except OSError:
            return None
        return {"size": facts.st_size, "time_ns": facts.st_mtime_ns, "sample": digest.hexdigest()}

    def _folder(self) -> Path:
        """The path of the row folder, with a link of the user's own resolved."""
        if self.path == "-":
            folder = Path(self.scratch, "stdin.rows")
        elif os.path.exists(self.path) and not os.path.isfile(self.path):
            folder = Path(self.scratch, Path(self.path).name + ".rows")  # /dev/fd/63 has no folder that can be written
        elif not self.scratch:
            folder = Path(self.path).parent / (Path(self.path).name + ".rows")
        else:  # each user of a shared folder has a row folder
            path = Path(self.path).resolve()
            where = hashlib.sha256(os.fsencode(f"{path.parent} {os.geteuid()}")).hexdigest()[:8]
            folder = Path(self.scratch) / f"{path.name}.{where}.rows"
        own_link = folder.is_symlink() and not shared_folder.belongs_to_another(folder)
        return Path(os.path.realpath(folder)) if own_link else folder

    def _may_have(self, folder: Path) -> bool:
        """Whether this run may use and replace the folder; SvmtoolError if the rows must be kept and cannot."""
        if shared_folder.belongs_to_another(folder):
            self.warn(f"WARNING: {folder} belongs to another user: it is not used, no rows are kept ({OTHER_FOLDER})")
            return False
        if shared_folder.is_replaceable(folder):
            return True
        if self.keep:
            raise SvmtoolError(
                f"can't keep the rows of {self.path} in {folder}: it exists and is no folder of rows ({OTHER_FOLDER})"
            )
        return False

    def _kept(self, folder: Path, mark: dict[str, Any], mapped: MappedArrays) -> Dataset | None:
        """The rows of an earlier run, None if there are none that match."""
        try:
            return arrays.kept(folder, mark, mapped)
        except arrays.UnfitError as e:
            self.warn(f"WARNING: the rows in {folder} are not used and are written again: {e}")
            return None

    def _made(self, source: Source, folder: Path, mark: dict[str, Any] | None, mapped: MappedArrays) -> Dataset:
        """Parse the source; the folder is kept if `keep` is set."""
        longest = min(LONGEST_LINE, int(self.memory * LINE_SHARE))
        try:
            with shared_folder.partial(folder) as fresh:
                header = arrays.write(source, fresh, mark or {}, longest)
                table = arrays.written(fresh, header, mapped)
                if mark is not None and self.keep:
                    arrays.settle(fresh)
                    if not shared_folder.place(fresh, folder):
                        self.warn(f"WARNING: other runs use {folder}: the rows of this run are not kept")
        except OSError as e:
            raise SvmtoolError(f"can't keep the rows of {self.path} in {folder}: {e.strerror} ({OTHER_FOLDER})") from e
        return table
