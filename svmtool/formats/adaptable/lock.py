"""Lock file of an adaptable model: only one run at a time may change the model."""

from __future__ import annotations

import contextlib
import os

from svmtool import interrupts
from svmtool.errors import ModelError
from svmtool.formats.adaptable.names import LOCK
from svmtool.formats.output import open_regular


class ModelLock:
    """Locks the model `path` until `close`; ModelError if another run holds the lock.

    The lock ends with the process.  The file left by a killed process is reused by the next run.
    """

    def __init__(self, path: str):
        import fcntl

        self._name, self._fd = path + LOCK, -1
        try:
            with interrupts.Uninterrupted():
                while not self._is_mine():
                    self.close_file()  # its last holder has removed the name since it was opened
                    self._fd = open_regular(self._name, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0))
                    fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                interrupts.begin_file(self._name)
        except BlockingIOError:
            self.close_file()
            raise ModelError(f"{path}: another run is changing this model") from None
        except OSError as e:
            self.close_file()
            raise ModelError(f"can't save the model's state beside {path}: {self._name}: {e.strerror}") from None

    def _is_mine(self) -> bool:
        """Whether the open file still has its name."""
        try:
            return self._fd >= 0 and os.path.samestat(os.fstat(self._fd), os.lstat(self._name))
        except FileNotFoundError:
            return False

    def close_file(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def close(self) -> None:
        """Release the lock and remove its file."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self._name)
            interrupts.end_file(self._name)
        self.close_file()
