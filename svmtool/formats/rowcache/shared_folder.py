"""Folders that several runs create, use and remove concurrently.

A folder is made under a name of its own and renamed when it is whole.  To remove one a run locks it, renames it away
and then deletes it: under its name there is never half a folder, and no two runs take the same one away.  The lock is
on the folder itself and ends with the process; a run that only uses a folder holds its files open and needs none.
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

TRIES, PAUSE = 40, 0.025  # of a name that other runs take and leave, and seconds between two
NAME_BYTES = 200  # of a folder's name in that of one beside it


@contextlib.contextmanager
def partial(folder: Path) -> Iterator[Path]:
    """A new folder beside this one, for its owner alone, which goes at the end unless it was renamed.

    Those that killed runs left go now.
    """
    for left in folder.parent.glob(f".{glob.escape(_short(folder))}.*.tmp"):
        with contextlib.suppress(OSError), _claimed(left) as (fd, here):
            if here and is_mine(os.fstat(fd)) and set(os.listdir(fd)) <= {HEADER, *ARRAYS}:
                shutil.rmtree(left)
    with contextlib.ExitStack() as held:
        here = False
        while not here:  # another run may take it for left before it is locked
            fresh = _beside(folder)
            fresh.mkdir(mode=0o700)
            with contextlib.suppress(FileNotFoundError, BlockingIOError):
                _, here = held.enter_context(_claimed(fresh))
        held.callback(shutil.rmtree, fresh, ignore_errors=True)
        yield fresh


def _beside(folder: Path) -> Path:
    """A new name beside a folder."""
    return folder.parent / f".{_short(folder)}.{os.urandom(4).hex()}.tmp"


def _short(folder: Path) -> str:
    return os.fsdecode(os.fsencode(folder.name)[:NAME_BYTES])


@contextlib.contextmanager
def _claimed(folder: Path) -> Iterator[tuple[int, bool]]:
    """The lock of a folder: its descriptor, and whether it still has that name.

    BlockingIOError where another run has the lock, NotADirectoryError where it is no folder, FileNotFoundError.
    """
    with opened(folder) as fd:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield fd, has_name(fd, folder)


def belongs_to_another(path: Path) -> bool:
    """Whether something of this name, a link itself, is another user's."""
    try:
        return not is_mine(os.lstat(path))
    except OSError:  # nothing has that name, or no longer
        return False


def is_replaceable(folder: Path) -> bool:
    """Whether this is an empty folder, or one of rows with its header; or nothing has that name."""
    try:
        while True:
            with opened(folder) as fd:
                if _holds_rows(fd):
                    return True
                if has_name(fd, folder):  # else another run was deleting it
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
    """Give a new folder its name, and what had it away; whether that was possible among other runs."""
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
    """Remove a folder of rows of ours; whether nothing has that name now.  Of other runs that use it none is hurt."""
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
    except OSError:  # another run has its lock, or it may not be removed
        return False
