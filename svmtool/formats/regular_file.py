"""Opens the files kept beside a model: regular files only, without blocking."""

from __future__ import annotations

import contextlib
import errno
import os
import stat


def open_regular(path: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open the regular file `path` like os.open; OSError also for other kinds of files.

    With O_NOFOLLOW these include symbolic links.  A pipe is refused at once; opening it would wait for its other end.
    """
    extra = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    try:
        fd = os.open(path, flags | extra, mode)
    except OSError as e:
        if e.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link", path) from None
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return fd


def refuse_other_kinds(path: str) -> None:
    """Raise OSError if `path` exists and is no regular file."""
    with contextlib.suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, "it is a symbolic link", path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)


def mode_of(path: str) -> int | None:
    """Mode bits of the file, None if it is missing; OSError if it is not writable, as for fopen."""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        return None
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return mode
