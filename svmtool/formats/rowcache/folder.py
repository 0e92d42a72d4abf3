"""Rows in binary on disk for sets larger than memory: parsed once, used by all later runs.

The folder NAME.rows, beside the data or in --scratch, holds the rows (arrays.py), with what states which state of
the file they were made from: its size, time and a sample of its bytes.  It belongs to one user, who alone may read it.
It has its name once it is whole and on the disk (shared_folder.py); one that does not fit its file, or cannot be
believed, is made anew, and what is no such folder stays as it is.  A link of its name is followed where it is the
user's own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from svmtool.data.dataset import Dataset
from svmtool.data.mapped_arrays import MEGABYTE, MappedArrays
from svmtool.errors import SvmtoolError
from svmtool.formats.rowcache import arrays, shared_folder
from svmtool.formats.source import Source, open_source
from svmtool.formats.svmlight.table import LONGEST_LINE

SAMPLES, SAMPLE_BYTES = 16, 1 << 16  # places of a data file that its sample is taken at, and bytes at each
LEAST_MEMORY = 300e6  # bytes: python, numpy and the compiled loops take a third of that
BYTES_A_BYTE = 2.0  # of rows in memory for each of text, at most: "1:1 " is 12 bytes, numbers have more digits
OVERHEAD = 150e6  # bytes of a run beside its rows
LINE_BYTES = 1 / 32  # of the memory, that a line may have: its text and rows are in memory together, several times
OTHER_FOLDER = "--scratch DIR names another folder"


class DiskReading:
    """The reading of a data file by way of its folder; has the face of formats.reading.Reading.

    memory: bytes that the run may hold; scratch: a folder, empty: the data file's own,
    for a pipe the current one; keep: whether the rows stay for later runs; warn takes messages about rows that are
    there but not used.
    """

    def __init__(self, path: str, memory: float, scratch: str, keep: bool, warn: Callable[[str], None]):
        self.path, self.memory, self.scratch, self.keep, self.warn = path, memory, scratch, keep, warn

    def start(self) -> None:
        """Nothing is read beforehand: it would be without numpy."""

    def table(self) -> Dataset:
        """The rows: in memory where they are sure to fit, else mapped from their folder.

        Raises SvmtoolError where the file cannot be opened or the folder not be written, DataError for the first
        malformed line.
        """
        if self.memory < LEAST_MEMORY:
            raise SvmtoolError(f"ERROR: --memory: a run takes {LEAST_MEMORY / MEGABYTE:.0f}M at least")
        mark = self._mark()  # before it is opened: one that takes its place meanwhile does not bear its mark
        with open_source(self.path) as source:
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
            shared_folder.remove(folder)  # what is mapped stays until the run ends
        return table

    def _mark(self) -> dict[str, Any] | None:
        """What states one state of the data file from another; None where it is no file, or cannot be read."""
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
        """Where the rows go; where a link of the user's own has that name, what it leads to."""
        if self.path == "-":
            folder = Path(self.scratch, "stdin.rows")
        elif os.path.exists(self.path) and not os.path.isfile(self.path):
            folder = Path(self.scratch, Path(self.path).name + ".rows")  # nobody can write beside /dev/fd/63
        elif not self.scratch:
            folder = Path(self.path).parent / (Path(self.path).name + ".rows")
        else:  # users who share it have a folder each
            path = Path(self.path).resolve()
            where = hashlib.sha256(os.fsencode(f"{path.parent} {os.geteuid()}")).hexdigest()[:8]
            folder = Path(self.scratch) / f"{path.name}.{where}.rows"
        own_link = folder.is_symlink() and not shared_folder.belongs_to_another(folder)
        return Path(os.path.realpath(folder)) if own_link else folder

    def _may_have(self, folder: Path) -> bool:
        """Whether rows of this name are ours to use and to replace; SvmtoolError where they were to stay and cannot."""
        if shared_folder.belongs_to_another(folder):
            self.warn(f"WARNING: {folder} belongs to another user: it is not used, and no rows stay ({OTHER_FOLDER})")
            return False
        if shared_folder.is_replaceable(folder):
            return True
        if self.keep:
            raise SvmtoolError(
                f"can't keep the rows of {self.path} in {folder}: something else has that name ({OTHER_FOLDER})"
            )
        return False

    def _kept(self, folder: Path, mark: dict[str, Any], mapped: MappedArrays) -> Dataset | None:
        """The rows of an earlier run, None where there are none that fit."""
        try:
            return arrays.kept(folder, mark, mapped)
        except arrays.UnfitError as e:
            self.warn(f"WARNING: the rows in {folder} are not used but made anew: {e}")
            return None

    def _made(self, source: Source, folder: Path, mark: dict[str, Any] | None, mapped: MappedArrays) -> Dataset:
        """Parse the source; the rows stay in the folder if later runs are to have them."""
        longest = min(LONGEST_LINE, int(self.memory * LINE_BYTES))
        try:
            with shared_folder.partial(folder) as fresh:
                header = arrays.write(source, fresh, mark or {}, longest)
                table = arrays.written(fresh, header, mapped)
                if mark is not None and self.keep:
                    arrays.settle(fresh)
                    if not shared_folder.place(fresh, folder):
                        self.warn(f"WARNING: other runs use {folder}: the rows of this run do not stay")
        except OSError as e:
            raise SvmtoolError(f"can't keep the rows of {self.path} in {folder}: {e.strerror} ({OTHER_FOLDER})") from e
        return table
