"""Ctrl-C during training: the first one asks the solvers to stop, the second one is final."""

from __future__ import annotations

import signal
from typing import Any

from svmtool.solvers.base import StopFlag


class Interruptible:
    """While it lasts the first Ctrl-C only sets a flag that solvers look at; the second one is final."""

    def __enter__(self) -> StopFlag:
        self.flag = StopFlag()
        try:
            self.before = signal.signal(signal.SIGINT, self._handle)
        except ValueError:  # not the main thread: Python delivers signals elsewhere
            self.before = None
        return self.flag

    def _handle(self, *_: Any) -> None:
        if self.flag.set:
            raise KeyboardInterrupt
        self.flag.set = True

    def __exit__(self, *_: Any) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
