"""Temporary names of files that are being written, and removal of those that killed runs left behind.

A run holds a lock on its own file as long as it writes; one that nobody holds was left by a run that was killed.
"""

from __future__ import annotations

import contextlib
import os

from svmtool import interrupts
from svmtool.formats.regular_file import open_regular

LONGEST = 200  # characters of the file's own name in a temporary one

_tidied: set[str] = set()  # files beside which this process has looked


def create(target: str, mode: int) -> tuple[str, int]:
    """A new file in the folder of `target`: its temporary name, and a descriptor that it can be written to by.

    It goes at Ctrl-C, until `end` is called.  What killed runs have left of the same target is removed.
    Raises OSError.
    """
    folder, name = os.path.split(target)
    prefix = f".{name[:LONGEST]}."
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
        os.close(fd)  # another run examined it before it was locked, and took it away


def end(scratch: str, whole: bool) -> None:
    """The file is whole and has its own name by now, or it is to go."""
    if not whole:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
    interrupts.end_file(scratch)


def _lock(fd: int, wait: bool = True) -> bool:
    """Whether this process has the lock of a file now; some file systems have none."""
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _tidy(folder: str, prefix: str) -> None:
    """Remove this user's files of such names that no run holds."""
    if folder + "/" + prefix in _tidied:
        return
    _tidied.add(folder + "/" + prefix)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if _is_scratch(entry.name, prefix)]:
            with contextlib.suppress(OSError):
                _remove_if_left(os.path.join(folder, name))


def _is_scratch(name: str, prefix: str) -> bool:
    if not (name.startswith(prefix) and name.endswith(".tmp")):
        return False
    process, dash, rest = name[len(prefix) : -len(".tmp")].partition("-")
    return process.isdigit() and dash == "-" and len(rest) == 8 and not rest.strip("0123456789abcdef")


def _remove_if_left(path: str) -> None:
    fd = open_regular(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        if os.fstat(fd).st_uid == os.geteuid() and _lock(fd, wait=False):
            os.unlink(path)
    finally:
        os.close(fd)
