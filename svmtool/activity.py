"""What this process is doing, for the line that a command shows on a terminal.

Long computations name their parts with `doing` and count what is done; solvers leave their last
gap.  Writing here costs well below a microsecond; nothing is printed.
"""

from __future__ import annotations

import threading
import time

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any


class Activity:
    """The state of the process.

    Attributes
    ----------
    parts : what is being done, from the outermost part to the innermost
    gap, target : the last gap of a solver and the requested gap; None: not known
    """

    def __init__(self) -> None:
        self.parts: list[doing] = []
        self.gap: float | None = None
        self.target: float | None = None


now = Activity()


class doing:  # noqa: N801  used as a statement
    """A block that is one part of the work; only the main thread's parts are shown.

    what : a word or two
    total : number of steps, None if it is not known; any thread counts them by `step`
    source : an input whose bytes are the steps, with the attributes `taken` and `size` (None: not known)
    """

    __slots__ = ("what", "total", "source", "done", "began", "_shown")

    def __init__(self, what: str, total: int | None = None, source: Any = None):
        self.what, self.total, self.source, self.done = what, total, source, 0
        self.began = time.perf_counter()

    def step(self) -> None:
        """Count one step."""
        self.done += 1

    def share(self) -> float | None:
        """The share of the part that is done, None if it is not known."""
        source = self.source
        done, total = (self.done, self.total) if source is None else (source.taken, source.size)
        return min(done / total, 1.0) if total and (source is not None or total > 1) else None

    def __enter__(self) -> doing:
        self._shown = threading.current_thread() is threading.main_thread()
        if self._shown:
            now.parts.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        if self._shown and self in now.parts:
            del now.parts[now.parts.index(self) :]
            now.gap = now.target = None
