"""A data file's rows in binary on disk, for sets larger than memory: parsed once, used by all later runs.

The folder NAME.rows, beside the data or in --scratch, holds the arrays of a svmlight.Table as they are in memory
(labels f8, indptr i8, indices i4, values f8, in the machine's byte order) and header.json, which tells what file they
were made from: its size, time and a sample of its bytes.  It is written under another name and renamed when it is whole
and on the disk; one that does not fit its file is made anew, and what is no such folder stays as it is.  A link of its
name is followed.  Several runs may make and use one at the same time: each maps its own arrays, or those of one whose
header is still there afterwards.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.formats.room import MEGABYTE, Room
from svmtool.formats.source import Source, open_source
from svmtool.formats.svmlight import Table, raw_tables

FORMAT = f"svmtool rows 1, {sys.byteorder}-endian"
HEADER = "header.json"
CHECK = "check"  # key of the header's digest of its rest: compiled loops take what that says of the arrays as it is
ARRAYS = {"labels": "f8", "indptr": "i8", "indices": "i4", "values": "f8"}
SAMPLES, SAMPLE_BYTES = 16, 1 << 16  # places of a data file that its sample is taken at, and bytes at each
LEAST_MEMORY = 300e6  # bytes: python, numpy and the compiled loops take a third of that
BYTES_A_BYTE = 2.0  # of rows in memory for each of text, at most: "1:1 " is 12 bytes, numbers have more digits
OVERHEAD = 150e6  # bytes of a run beside its rows


class DiskReading:
    """The reading of a data file by way of its folder; has the face of formats.reading.Reading.

    memory: bytes that the run may hold; scratch: a folder, empty: the data file's own; keep: whether the rows stay for
    later runs.
    """

    def __init__(self, path: str, memory: float, scratch: str, keep: bool):
        self.path, self.memory, self.scratch, self.keep = path, memory, scratch, keep

    def start(self) -> None:
        """Nothing is read beforehand: it would be without numpy."""

    def table(self) -> Table:
        """The rows: in memory where they are sure to fit, else mapped from their folder.

        Raises SvmtoolError where the file cannot be opened or the folder not be written, DataError for the first
        malformed line.
        """
        if self.memory < LEAST_MEMORY:
            raise SvmtoolError(f"ERROR: --memory: a run takes {LEAST_MEMORY / MEGABYTE:.0f}M at least")
        mark = self._mark()  # before it is opened: one that takes its place meanwhile does not bear its mark
        with open_source(self.path) as source:
            if source.size is not None and BYTES_A_BYTE * source.size + OVERHEAD < self.memory:
                from svmtool.formats.svmlight import joined, read_raw

                return joined(read_raw(source))
            folder = self._folder()
            room = Room(int(self.memory), str(folder.parent))
            table = _kept(folder, mark, room) if mark else None
            if table is None:
                table = self._made(source, folder, mark, room)
        if mark and not self.keep:
            _remove(folder)  # what is mapped stays until the run ends
        return table

    def _mark(self) -> dict[str, Any] | None:
        """What tells one state of the data file from another; None where it is no file, or cannot be read."""
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
        """Where the rows go; where a link has that name, what it leads to."""
        if self.path == "-" or not self.scratch:
            own = Path("stdin" if self.path == "-" else self.path)
            folder = (Path(self.scratch) if self.scratch else own.parent) / (own.name + ".rows")
        else:
            path = Path(self.path).resolve()
            where = hashlib.sha256(str(path.parent).encode()).hexdigest()[:8]
            folder = Path(self.scratch) / f"{path.name}.{where}.rows"
        return Path(os.path.realpath(folder)) if folder.is_symlink() else folder

    def _made(self, source: Source, folder: Path, mark: dict[str, Any] | None, room: Room) -> Table:
        """Parse the source; the rows stay in the folder if later runs are to have them."""
        stay = mark is not None and self.keep
        if stay and os.path.lexists(folder) and not _is_ours(folder):
            raise SvmtoolError(
                f"can't keep the rows of {self.path} in {folder}: something else has that name (--scratch DIR names "
                "another folder)"
            )
        try:
            with _partial(folder) as partial:
                header = {"format": FORMAT, **(mark or {}), **_write(source, partial)}
                (partial / HEADER).write_text(json.dumps({**header, CHECK: _digest(header)}) + "\n")
                table = _mapped(partial, header, room)
                if stay:
                    _settle(partial)
                    _remove(folder)
                    _replace(partial, folder)
        except OSError as e:
            raise SvmtoolError(
                f"can't keep the rows of {self.path} in {folder}: {e.strerror} (--scratch DIR names another folder)"
            ) from e
        return table


@contextlib.contextmanager
def _locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a folder, which ends with the process; BlockingIOError if another has it and wait is false."""
    import fcntl

    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(fd)


@contextlib.contextmanager
def _partial(folder: Path) -> Iterator[Path]:
    """A new folder beside this one, which goes at the end unless it was renamed; those that killed runs left go now."""
    with contextlib.ExitStack() as held:
        with _locked(folder.parent):  # nobody takes one for left that was made but is not locked yet
            for left in folder.parent.glob(f".{glob.escape(folder.name)}.*.tmp"):
                with contextlib.suppress(BlockingIOError, FileNotFoundError):
                    if _is_ours(left, partial=True):
                        with _locked(left, wait=False):
                            shutil.rmtree(left)
            partial = folder.with_name(f".{folder.name}.{os.urandom(4).hex()}.tmp")
            partial.mkdir()
            held.callback(shutil.rmtree, partial, ignore_errors=True)
            held.enter_context(_locked(partial))
        yield partial


def _settle(partial: Path) -> None:
    """Have the rows on the disk itself: else a power cut might leave a header, and sizes that fit, above zeros."""
    for path in (*(partial / name for name in (*ARRAYS, HEADER)), partial):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _replace(partial: Path, folder: Path) -> None:
    """Rename to a name that was free; where another run has taken it since, that one's rows stay."""
    try:
        partial.rename(folder)
    except OSError as e:
        if e.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def _is_ours(folder: Path, partial: bool = False) -> bool:
    """Whether this is an empty folder, or one of rows; with its header unless `partial`, which is written last."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    found = {entry.name for entry in folder.iterdir()}
    return found <= {HEADER, *ARRAYS} and (partial or not found or HEADER in found)


def _remove(folder: Path) -> None:
    """Remove a folder of rows, its header last: one that was left half removed is still known for what it is."""
    with contextlib.suppress(FileNotFoundError):  # no such folder, or another run removes it too
        if _is_ours(folder):
            for name in (*ARRAYS, HEADER):
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()


def _write(source: Source, folder: Path) -> dict[str, int]:
    """Parse the rows, a piece of text at a time; returns how many rows, pairs and features there are."""
    rows = pairs = features = 0
    files = {name: open(folder / name, "wb") for name in ARRAYS}
    try:
        files["indptr"].write(np.zeros(1, "i8"))
        for raw in raw_tables(source):
            part = raw.table()
            files["labels"].write(part.labels)
            files["indptr"].write(part.indptr[1:] + pairs)
            files["indices"].write(part.indices)
            files["values"].write(part.values)
            rows, pairs = rows + len(part), pairs + len(part.values)
            features = max(features, part.n_features)
    finally:
        for file in files.values():
            file.close()
    return {"rows": rows, "pairs": pairs, "features": features}


def _kept(folder: Path, mark: dict[str, Any], room: Room) -> Table | None:
    """The rows in a folder that was made from the file so marked; None where there is none."""
    try:
        header = _header(folder, mark)
        table = None if header is None else _mapped(folder, header, room)
    except FileNotFoundError:  # another run makes it anew
        return None
    return table if header == _header(folder, mark) else None


def _header(folder: Path, mark: dict[str, Any]) -> dict[str, Any] | None:
    """The header of a folder that was made from the file so marked; None where there is none."""
    try:
        header = json.loads((folder / HEADER).read_text())
        sizes = {name: (folder / name).stat().st_size for name in ARRAYS}
        whole = header.pop(CHECK) == _digest(header)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    if not whole or header != {**header, "format": FORMAT, **mark}:
        return None
    rows, pairs = header["rows"], header["pairs"]
    due = {"labels": 8 * rows, "indptr": 8 * (rows + 1), "indices": 4 * pairs, "values": 8 * pairs}
    return header if sizes == due else None


def _digest(header: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header).encode()).hexdigest()


def _mapped(folder: Path, header: dict[str, Any], room: Room) -> Table:
    """The rows, mapped but for what there is one of for each row."""
    counts = {"labels": header["rows"], "indptr": header["rows"] + 1}
    labels, indptr = (np.fromfile(folder / name, ARRAYS[name], count) for name, count in counts.items())
    indices, values = (room.open(folder / name, ARRAYS[name], header["pairs"]) for name in ("indices", "values"))
    return Table(labels, indptr, indices, values, header["features"], room)
