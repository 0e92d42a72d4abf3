"""Temporary files for atomic writing, and removal of those that killed runs have left.

A run locks its temporary file while it writes; an unlocked one was left by a killed run.
"""

from __future__ import annotations

import contextlib
import os
import re

from svmtool import interrupts
from svmtool.formats.regular_file import open_regular

MAX_NAME = 200  # characters of the target's name in a temporary name

_tidied: set[str] = set()  # targets whose left files this process has removed


def create(target: str, mode: int) -> tuple[str, int]:
    """Create a temporary file in the folder of `target`; returns its name and a descriptor for writing.

    Until `end` is called it is removed at Ctrl-C.  Files that killed runs have left for this target are removed.
    Raises OSError.
    """
    folder, name = os.path.split(target)
    prefix = f".{name[:MAX_NAME]}."
    _tidy(folder, prefix)
    while True:
        scratch = os.path.join(folder, f"{prefix}{os.getpid()}-{os.urandom(4).hex()}.tmp")
        interrupts.begin_file(scratch)
        try:
            fd = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
        except OSError:
            interrupts.end_file(scratch)
            raise
        _lock(fd)
        if os.fstat(fd).st_nlink:
            return scratch, fd
        os.close(fd)  # another run removed it before it was locked
        interrupts.end_file(scratch)


def end(scratch: str, renamed: bool) -> None:
    """Finish a temporary file: remove it unless it is complete and `renamed`."""
    if not renamed:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
    interrupts.end_file(scratch)


def _lock(fd: int, wait: bool = True) -> bool:
    """Lock a file; returns whether this process holds the lock.  Some file systems have no locks."""
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _tidy(folder: str, prefix: str) -> None:
    """Remove this user's unlocked files with such names."""
    if folder + "/" + prefix in _tidied:
        return
    _tidied.add(folder + "/" + prefix)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        scratch = re.compile(re.escape(prefix) + r"[0-9]+-[0-9a-f]{8}\.tmp")
        for name in [entry.name for entry in entries if scratch.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _remove_if_left(os.path.join(folder, name))


def _remove_if_left(path: str) -> None:
    fd = open_regular(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        if os.fstat(fd).st_uid == os.geteuid() and _lock(fd, wait=False):
            os.unlink(path)
    finally:
        os.close(fd)
