"""Lock file of a model that keeps a state: only one run at a time may change it."""

from __future__ import annotations

import contextlib
import os

from svmtool import interrupts
from svmtool.errors import ModelError
from svmtool.formats.adaptable.names import LOCK
from svmtool.formats.regular_file import open_regular


class ModelLock:
    """The lock of the model `path`, from here to `close`; ModelError where another run has it.

    It ends with its process, however that ends; the file of one that was killed is taken over by the next run.
    """

    def __init__(self, path: str):
        import fcntl

        self._name, self._fd = path + LOCK, -1
        try:
            with interrupts.Uninterrupted():
                while not self._is_mine():
                    self.close_file()  # its last holder has taken the name away since it was opened
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
        """Whether the file that is open is the one of that name."""
        try:
            return self._fd >= 0 and os.path.samestat(os.fstat(self._fd), os.lstat(self._name))
        except FileNotFoundError:
            return False

    def close_file(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def close(self) -> None:
        """Give the lock back, and take its file away."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self._name)
            interrupts.end_file(self._name)
        self.close_file()
