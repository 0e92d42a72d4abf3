"""Time limits and interruption of long computations, and the size of the memory.

A command has one StopFlag: Ctrl-C sets it, and it holds the deadline of --max-seconds.  Solvers test it between steps.
Long computations within a step (a matrix, its factor) call `check` between their parts: it raises EndedError once the
condition given to `until` on this thread holds.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MIN_SECONDS = 0.02  # with less time left an interrupted part is not resumed

_here = threading.local()  # .ended: the condition that ends this thread's run


class EndedError(Exception):
    """The run was ended in the middle of a computation, whose partial results are invalid."""


@contextmanager
def until(ended: Callable[[], bool] | None) -> Iterator[None]:
    """Within this block, `check` tests `ended`, also on the threads that work for this one."""
    before, _here.ended = current(), ended
    try:
        yield
    finally:
        _here.ended = before


def current() -> Callable[[], bool] | None:
    """The condition that `check` tests on this thread; None if there is none."""
    return getattr(_here, "ended", None)


def is_ended() -> bool:
    """Whether this thread's run has to end."""
    ended = current()
    return ended is not None and ended()


def check() -> None:
    """Raise EndedError if this thread's run has to end."""
    if is_ended():
        raise EndedError


def memory() -> int:
    """Bytes of memory of this machine."""
    if sys.platform != "win32":
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    import ctypes

    status = (ctypes.c_uint64 * 8)(64)  # MEMORYSTATUSEX begins with its size; the second number is the whole memory
    ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(status)
    return status[1]


class StopFlag:
    """Signals a command to end: `set` by a signal handler, or past the deadline `ends` (time.perf_counter()).

    seconds: time limit from `began` (time.perf_counter(); None: now); None: no limit.
    """

    def __init__(self, seconds: float | None = None, began: float | None = None):
        self.set = False
        self.ends = math.inf if seconds is None else (time.perf_counter() if began is None else began) + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline; <= 0 after it."""
        return self.ends - time.perf_counter()

    def over(self) -> bool:
        """Whether the time is over."""
        return self.seconds_left <= 0.0

    def ended(self) -> bool:
        """Whether the command has to end now."""
        return self.set or self.over()

    def may_resume(self, part: StopFlag) -> bool:
        """Whether work that the earlier deadline of `part` has ended may be resumed."""
        return part.ends < self.ends and not self.set and self.seconds_left > MIN_SECONDS

    def part(self, share: float) -> StopFlag:
        """A flag for a part of the command, which gets this share of the time left."""
        return self if self.ends == math.inf or share >= 1.0 else _PartFlag(self, share)


class _PartFlag(StopFlag):
    """See StopFlag.part."""

    def __init__(self, whole: StopFlag, share: float):
        self.whole = whole
        self.ends = whole.ends - (1.0 - share) * max(whole.seconds_left, 0.0)

    @property
    def set(self) -> bool:  # type: ignore[override]
        return self.whole.set


class TimeShares:
    """Equal shares of the time left for the `count` parts of a command, of which `parallel` run at the same time."""

    def __init__(self, stop: StopFlag, count: int, parallel: int):
        self._stop, self._coming, self._parallel = stop, count, parallel
        self._lock = threading.Lock()

    def next(self) -> StopFlag:
        """The flag of the next part: an equal share of the time left among the remaining parts."""
        with self._lock:
            coming, self._coming = self._coming, self._coming - 1
        return self._stop.part(self._parallel / coming)


def with_time_shares(
    work: Callable[[int, StopFlag], bool], count: int, stop: StopFlag, parallel: int,
    run: Callable[[Callable[[int], None], int], None],
) -> None:  # fmt: skip
    """Call work(k, stop flag of part k) for each k < count through `run`, `parallel` of them at the same time.

    Parts that return True were ended by their own share only; they are called again while time is left.
    """
    todo = list(range(count))
    while todo:
        shares, cut = TimeShares(stop, len(todo), min(parallel, len(todo))), [False] * len(todo)

        def one(i: int, todo: list[int] = todo, cut: list[bool] = cut, shares: TimeShares = shares) -> None:
            cut[i] = work(todo[i], shares.next())

        run(one, len(todo))
        todo = [k for k, short in zip(todo, cut, strict=True) if short]


def in_turn(work: Callable[[int], None], count: int) -> None:
    """Call work(k) for each k < count, one after another: in parallel they would take too much memory, say."""
    for k in range(count):
        work(k)
