"""Binary rows on disk for data sets larger than memory; they are parsed once and used by all later runs.

The folder NAME.rows, beside the data or in --scratch, holds the rows (arrays.py) and a mark of the data file: its size,
time and a sample of its bytes.  It belongs to one user and is private.  A folder that does not match its data file or
fails verification is replaced; anything else with that name is left alone.  A link with that name is followed if it
belongs to the user.

Several runs may create, use and remove it at once.  It is created under a temporary name and renamed when it is
complete and on disk.  To remove it, a run locks it, renames it and then deletes it.  So a folder is always complete,
and no two runs remove the same one.  The lock is on the folder itself and ends with the process; a run that only uses
a folder keeps its files open and needs no lock.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from svmtool import systems
from svmtool.data.dataset import Dataset
from svmtool.data.mapped_arrays import MappedArrays
from svmtool.errors import SvmtoolError
from svmtool.formats.output import shortened
from svmtool.formats.rowcache import arrays
from svmtool.formats.rowcache.arrays import ARRAYS, HEADER, has_name, is_mine, opened
from svmtool.formats.source import Source, open_source
from svmtool.formats.svmlight.inputs import in_time
from svmtool.formats.svmlight.table import MAX_LINE
from svmtool.limits import StopFlag
from svmtool.progress import doing
from svmtool.tolerances import MB

SAMPLES, SAMPLE_BYTES = 16, 1 << 16  # number and size of the samples of a data file
MIN_MEMORY_BYTES = 300e6  # bytes; Python, numpy and the compiled loops use a third of it
ROW_BYTES_PER_TEXT_BYTE = 2.0  # at most, of rows in memory
OVERHEAD_BYTES = 150e6  # bytes of a run in addition to its rows
MAX_LINE_SHARE = 1 / 32  # of the memory: limit of a line, whose text and rows are in memory several times
MAX_TRIES, LOCK_PAUSE_SECONDS = 40, 0.025  # attempts to use a name that other runs create and remove, and pause
OTHER_FOLDER = "--scratch DIR names another folder"


class DiskReading:
    """Reads a data file through its row folder; has the interface of svmlight.inputs.Reading.

    memory: limit of the run's memory in bytes.  scratch: parent of the row folder; empty: the data file's folder, or
    for a pipe the current one.  keep: whether the rows are kept for later runs.  warn: gets messages about unused rows,
    tell the name and size of new ones.  stop: has the time limit of the command.
    """

    def __init__(
        self, path: str, memory: float, scratch: str, keep: bool, warn: Callable[[str], None],
        stop: StopFlag | None = None, tell: Callable[[str], None] | None = None,
    ):  # fmt: skip
        self.path, self.memory, self.scratch, self.keep, self.warn = path, memory, scratch, keep, warn
        self.tell = tell
        self.stop = StopFlag() if stop is None else stop

    def start(self) -> None:
        """No effect: reading needs numpy."""

    def table(self) -> Dataset:
        """The rows, in memory if they certainly fit, else mapped from their folder.

        Raises SvmtoolError if the file cannot be opened or the folder not be written, DataError for the first malformed
        line.
        """
        if self.memory < MIN_MEMORY_BYTES:
            raise SvmtoolError(f"ERROR: --memory: a run needs at least {MIN_MEMORY_BYTES / MB:.0f}M")
        mark = self._mark()  # before the file is opened: if it is replaced meanwhile, the mark will not match
        with open_source(self.path) as source, doing("reading", source=source), in_time(self.path, self.stop):
            if source.size is not None and ROW_BYTES_PER_TEXT_BYTE * source.size + OVERHEAD_BYTES < self.memory:
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
            remove(folder)  # mapped files stay until the run ends
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
            where = hashlib.sha256(os.fsencode(f"{path.parent} {systems.user()}")).hexdigest()[:8]
            folder = Path(self.scratch) / f"{path.name}.{where}.rows"
        own_link = folder.is_symlink() and not belongs_to_another(folder)
        return Path(os.path.realpath(folder)) if own_link else folder

    def _may_have(self, folder: Path) -> bool:
        """Whether this run may use and replace the folder; SvmtoolError if the rows must be kept and cannot."""
        if belongs_to_another(folder):
            self.warn(f"WARNING: {folder} belongs to another user: it is not used, no rows are kept ({OTHER_FOLDER})")
            return False
        if is_replaceable(folder):
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
        longest = min(MAX_LINE, int(self.memory * MAX_LINE_SHARE))
        try:
            with partial(folder) as fresh:
                header = arrays.write(source, fresh, mark or {}, longest)
                table = arrays.written(fresh, header, mapped)
                if mark is not None and self.keep:
                    arrays.sync(fresh)
                    size = sum(file.stat().st_size for file in fresh.iterdir()) / MB
                    if not place(fresh, folder):
                        self.warn(f"WARNING: other runs use {folder}: the rows of this run are not kept")
                    elif self.tell is not None:
                        self.tell(f"{folder}: rows kept for the next run, {size:.3g} MB (--no-cache: not kept)")
        except OSError as e:
            raise SvmtoolError(f"can't keep the rows of {self.path} in {folder}: {e.strerror} ({OTHER_FOLDER})") from e
        return table


@contextlib.contextmanager
def partial(folder: Path) -> Iterator[Path]:
    """Create a temporary folder beside this one, private to its owner; it is removed at the end unless renamed.

    Those left by killed runs are removed first.
    """
    for left in folder.parent.glob(f".{glob.escape(shortened(folder.name))}.*.tmp"):
        with contextlib.suppress(OSError), _claimed(left) as (fd, here):
            if here and is_mine(os.fstat(fd)) and set(os.listdir(fd)) <= {HEADER, *ARRAYS}:
                shutil.rmtree(left)
    with contextlib.ExitStack() as held:
        here = False
        while not here:  # another run may remove it before it is locked
            fresh = _beside(folder)
            fresh.mkdir(mode=0o700)
            with contextlib.suppress(FileNotFoundError, BlockingIOError):
                _, here = held.enter_context(_claimed(fresh))
        held.callback(shutil.rmtree, fresh, ignore_errors=True)
        yield fresh


def _beside(folder: Path) -> Path:
    """A new temporary name beside a folder."""
    return folder.parent / f".{shortened(folder.name)}.{os.urandom(4).hex()}.tmp"


@contextlib.contextmanager
def _claimed(folder: Path) -> Iterator[tuple[int, bool]]:
    """Lock a folder; yields its descriptor and whether it still has that name.

    Raises BlockingIOError if another run holds the lock, NotADirectoryError, or FileNotFoundError.
    """
    with opened(folder) as fd:
        systems.lock(fd)
        yield fd, has_name(fd, folder)


def belongs_to_another(path: Path) -> bool:
    """Whether this path exists and belongs to another user; links are not followed."""
    try:
        return not is_mine(os.lstat(path))
    except OSError:  # it does not exist
        return False


def is_replaceable(folder: Path) -> bool:
    """Whether this is missing, an empty folder, or a folder of rows with its header."""
    try:
        while True:
            with opened(folder) as fd:
                if _holds_rows(fd):
                    return True
                if has_name(fd, folder):  # else another run is deleting it
                    return False
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _holds_rows(fd: int) -> bool:
    found = set(os.listdir(fd))
    if not found <= {HEADER, *ARRAYS} or (found and HEADER not in found):
        return False
    return not any(stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode) for name in found)


def place(fresh: Path, folder: Path) -> bool:
    """Rename a new folder to `folder`, replacing an old one; returns whether other runs allowed that."""
    for _ in range(MAX_TRIES):
        try:
            fresh.rename(folder)
            return True
        except OSError as e:
            if e.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if not remove(folder):
            time.sleep(LOCK_PAUSE_SECONDS)
    return False


def remove(folder: Path) -> bool:
    """Remove a folder of our rows, safely for runs that use it; returns whether the name is free now."""
    try:
        with _claimed(folder) as (fd, here):
            if not here or not is_mine(os.fstat(fd)) or not _holds_rows(fd):
                return False
            away = _beside(folder)
            folder.rename(away)
            shutil.rmtree(away, ignore_errors=True)
            return True
    except FileNotFoundError:
        return True
    except OSError:  # another run holds its lock, or we may not remove it
        return False
