"""Ctrl-C during training: the first one asks the solvers to stop, the second one ends the command."""

from __future__ import annotations

import signal
from typing import Any

from svmtool.limits import StopFlag


class Interruptible:
    """Context in which the first Ctrl-C sets a flag that solvers check, and the second ends the command.

    flag: an existing flag to use.
    """

    def __init__(self, flag: StopFlag | None = None):
        self.flag = StopFlag() if flag is None else flag

    def __enter__(self) -> StopFlag:
        self.before = None
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # background job of a shell: keep ignoring
            return self.flag
        try:
            self.before = signal.signal(signal.SIGINT, self._handle)
        except ValueError:
            pass  # not the main thread: Python delivers signals elsewhere
        return self.flag

    def _handle(self, *received: Any) -> None:
        if self.flag.set and callable(self.before):
            self.before(*received)
        self.flag.set = True

    def __exit__(self, *_: Any) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
