"""Time limits and interruptions, and how long computations learn of them.

A command has one StopFlag: Ctrl-C sets it, and it knows when the time of --max-seconds is over.  Solvers ask between
their steps.  What takes long within a step (a matrix, its factor) calls `check` between its parts, wherever it is:
`until` says what ends the run that the thread is in, and `check` raises EndedError, which that run catches.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LEAST = 0.02  # seconds with which it is worth while to go on

_here = threading.local()  # .ended: what ends the run that the thread is in


class EndedError(Exception):
    """A limit or an interruption ends the run in the middle of a computation; what was computed is to be dropped."""


@contextmanager
def until(ended: Callable[[], bool] | None) -> Iterator[None]:
    """While it lasts `check` on this thread, and in blocks that it hands to others, asks `ended`."""
    before, _here.ended = current(), ended
    try:
        yield
    finally:
        _here.ended = before


def current() -> Callable[[], bool] | None:
    """What `check` asks on this thread, None where nothing ends a run."""
    return getattr(_here, "ended", None)


def is_ended() -> bool:
    """Whether the run that the thread is in has come to its end."""
    ended = getattr(_here, "ended", None)
    return ended is not None and ended()


def check() -> None:
    """EndedError where the run that the thread is in has come to its end."""
    if is_ended():
        raise EndedError


class StopFlag:
    """What ends a command: `set` by a signal handler; and `ends`, by time.perf_counter(), when its time is over.

    seconds: the time that there is from now on, None: no limit.
    """

    def __init__(self, seconds: float | None = None):
        self.set = False
        self.ends = math.inf if seconds is None else time.perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; none or less when the time is over."""
        return self.ends - time.perf_counter()

    def ended(self) -> bool:
        """Whether the command is to end now."""
        return self.set or self.left <= 0.0

    def goes_on(self, share: StopFlag) -> bool:
        """Whether what `share`, a part of this, has cut short may go on."""
        return share.ends < self.ends and not self.set and self.left > LEAST

    def part(self, share: float) -> StopFlag:
        """The same for a part of the command, which gets that share of the time that is left."""
        return self if self.ends == math.inf or share >= 1.0 else _Part(self, share)


class _Part(StopFlag):
    """See StopFlag.part."""

    def __init__(self, whole: StopFlag, share: float):
        self.whole = whole
        self.ends = whole.ends - (1.0 - share) * max(whole.left, 0.0)

    @property
    def set(self) -> bool:
        return self.whole.set


class Turns:
    """Fair shares of the time that is left, for parts of a command that are solved `beside` each other on threads."""

    def __init__(self, stop: StopFlag, count: int, beside: int):
        self._stop, self._coming, self._beside = stop, count, beside
        self._lock = threading.Lock()

    def next(self) -> StopFlag:
        """What ends the part that begins now: as much of the time as each of those to come can have."""
        with self._lock:
            coming, self._coming = self._coming, self._coming - 1
        return self._stop.part(self._beside / coming)


def in_turns(
    work: Callable[[int, StopFlag], bool], count: int, stop: StopFlag, beside: int,
    run: Callable[[Callable[[int], None], int], None],
) -> None:  # fmt: skip
    """Call work(k, its share) for each k < count by `run`, which takes `beside` of them at once.

    It is called again for those that go on (True): their share alone has cut them short, and time is left.
    """
    todo = list(range(count))
    while todo:
        turns, cut = Turns(stop, len(todo), min(beside, len(todo))), [False] * len(todo)

        def one(i: int, todo: list[int] = todo, cut: list[bool] = cut, turns: Turns = turns) -> None:
            cut[i] = work(todo[i], turns.next())

        run(one, len(todo))
        todo = [k for k, short in zip(todo, cut, strict=True) if short]
