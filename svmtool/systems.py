"""What POSIX has and Windows lacks: reads at a position, locks, renaming and removing open files, owners.

On POSIX these are the system's own functions.
"""

from __future__ import annotations

import os
import sys

POSIX = sys.platform != "win32"

# For os.open: not inherited by other programs, bytes as they are; not through links; not waiting for pipes.
PRIVATE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)

LOCKED_BYTE = 1 << 40  # where Windows locks a file: behind its content, which others may read

if sys.platform != "win32":
    import fcntl

    pread, pwrite, user = os.pread, os.pwrite, os.geteuid

    def read_into(fd: int, buffer: memoryview) -> int:
        """Fill a buffer from the file's position; returns the number of bytes read, 0 at the end."""
        return os.readv(fd, [buffer])

    def read_into_at(fd: int, buffer: memoryview, offset: int) -> int:
        """Fill a buffer from byte `offset`; the file's position stays.  From any thread."""
        return os.preadv(fd, [buffer], offset)

    def set_mode(fd: int, mode: int) -> None:
        """Set the mode bits of an open file."""
        os.fchmod(fd, mode)

    def lock(fd: int, wait: bool = False) -> None:
        """Lock a file until it is closed.

        Raises BlockingIOError if another run holds the lock, another OSError where the file system has no locks.
        """
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

else:
    import msvcrt
    import threading

    _positions = threading.RLock()  # held while a file's position is another

    def user() -> int:
        return 0  # as in st_uid

    def set_mode(fd: int, mode: int) -> None:
        pass  # new files have the rights of their folder

    def _at(fd: int, offset: int, work):
        with _positions:
            before = os.lseek(fd, 0, os.SEEK_CUR)
            try:
                os.lseek(fd, offset, os.SEEK_SET)
                return work()
            finally:
                os.lseek(fd, before, os.SEEK_SET)

    def pread(fd: int, n: int, offset: int) -> bytes:
        return _at(fd, offset, lambda: os.read(fd, n))

    def pwrite(fd: int, data, offset: int) -> int:
        return _at(fd, offset, lambda: os.write(fd, data))

    def read_into(fd: int, buffer: memoryview) -> int:
        data = os.read(fd, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read_into_at(fd: int, buffer: memoryview, offset: int) -> int:
        return _at(fd, offset, lambda: read_into(fd, buffer))

    def lock(fd: int, wait: bool = False) -> None:
        kind = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK
        try:
            _at(fd, LOCKED_BYTE, lambda: msvcrt.locking(fd, kind, 1))
        except PermissionError as e:
            raise BlockingIOError(e.errno, e.strerror) from None


def after_fork(**hooks) -> None:
    """os.register_at_fork, where processes can fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**hooks)


def in_foreground(fd: int) -> bool:
    """Whether this process may write to the terminal `fd`: another process group may have it."""
    return not POSIX or os.tcgetpgrp(fd) == os.getpgrp()
