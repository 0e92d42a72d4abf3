"""Folders that several runs create, use and remove concurrently.

A folder is created under a temporary name and renamed when it is complete.  To remove one, a run locks it, renames it
and then deletes it.  So a folder is always complete, and no two runs remove the same one.  The lock is on the folder
itself and ends with the process; a run that only uses a folder keeps its files open and needs no lock.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from svmtool.formats.rowcache.arrays import ARRAYS, HEADER, has_name, is_mine, opened

TRIES, PAUSE = 40, 0.025  # attempts to use a name that other runs create and remove, and seconds between them
NAME_BYTES = 200  # of a folder's name in a temporary name


@contextlib.contextmanager
def partial(folder: Path) -> Iterator[Path]:
    """Create a temporary folder beside this one, private to its owner; it is removed at the end unless renamed.

    Those left by killed runs are removed first.
    """
    for left in folder.parent.glob(f".{glob.escape(_short(folder))}.*.tmp"):
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
    return folder.parent / f".{_short(folder)}.{os.urandom(4).hex()}.tmp"


def _short(folder: Path) -> str:
    return os.fsdecode(os.fsencode(folder.name)[:NAME_BYTES])


@contextlib.contextmanager
def _claimed(folder: Path) -> Iterator[tuple[int, bool]]:
    """Lock a folder; yields its descriptor and whether it still has that name.

    Raises BlockingIOError if another run holds the lock, NotADirectoryError, or FileNotFoundError.
    """
    with opened(folder) as fd:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
    for _ in range(TRIES):
        try:
            fresh.rename(folder)
            return True
        except OSError as e:
            if e.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if not remove(folder):
            time.sleep(PAUSE)
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
