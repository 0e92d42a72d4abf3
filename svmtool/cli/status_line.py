"""The line on a terminal that shows what a long run is doing: elapsed time, gap, and an estimate of the time left."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import time
from collections.abc import Callable
from math import isfinite, log
from typing import TextIO

from svmtool import activity
from svmtool.tolerances import MB

FIRST_SECONDS = 0.5  # shorter runs show nothing and start no thread
MIN_DONE_SHARE = 0.02  # of a part that must be done before the rest is estimated
DEFAULT_WIDTH = 80  # where the terminal does not say it
ERASE = "\r\x1b[K"


class StatusLine:
    """Draws the line on `stream` each second until `end`, except while hidden() is true."""

    def __init__(self, stream: TextIO, hidden: Callable[[], bool]):
        self.stream, self.hidden = stream, hidden
        self.began = time.perf_counter()
        self._lock = _thread.allocate_lock()
        self._running = self._shown = self._ended = False
        self._largest_gap = 0.0
        self._gap_began = self.began

    def start_later(self) -> None:
        """Start after FIRST_SECONDS, by a timer signal that costs nothing before."""
        with contextlib.suppress(AttributeError, ValueError):  # not the main thread, or no such signal
            if signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
                signal.signal(signal.SIGALRM, self.start)
                signal.setitimer(signal.ITIMER_REAL, FIRST_SECONDS)

    def start(self, *_: object) -> None:
        """Start the thread that draws; no effect if it runs.  Also the handler of the timer's signal."""
        if not self._running and not self._ended:
            self._running = True
            _thread.start_new_thread(self._tick, ())  # threading's locks may be held where a signal arrives

    def _tick(self) -> None:
        while not self._ended:
            self.draw()
            time.sleep(1.0 - (time.perf_counter() - self.began) % 1.0)

    def draw(self) -> None:
        """Draw the line, unless another process group has the terminal."""
        with self._lock:
            if self._ended or self.hidden():
                return
            try:
                fd = self.stream.fileno()
                if os.tcgetpgrp(fd) != os.getpgrp():  # a background job
                    return
                width = os.get_terminal_size(fd).columns or DEFAULT_WIDTH
                self.stream.write(ERASE + self.text()[: width - 1])
                self.stream.flush()
            except (OSError, ValueError):
                return
            self._shown = True

    def erase(self) -> None:
        """Remove the line; it reappears within a second."""
        if not self._running:
            return
        with self._lock:
            if self._shown:
                self._shown = False
                with contextlib.suppress(OSError, ValueError):
                    self.stream.write(ERASE)
                    self.stream.flush()

    def end(self) -> None:
        """Remove the line for good."""
        self.erase()
        self._ended = True
        with contextlib.suppress(AttributeError, ValueError):
            if signal.getsignal(signal.SIGALRM) == self.start:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def text(self) -> str:
        """The line: parts, clock, gap, rest."""
        state, at = activity.now, time.perf_counter()
        parts = list(state.parts)
        words = [_part(part) for part in parts if part.total != 1] or ["working"]
        line = f"{', '.join(words)}  {clock(at - self.began)}"
        gap, target = state.gap, state.target
        if gap is None or not isfinite(gap):
            self._largest_gap = 0.0
        else:
            line += f"  gap {gap:.1e}" + ("" if target is None else f", asked {target:.1e}")
        left = self._left(parts, at)
        return line if left is None or left < 1.0 else f"{line}  about {clock(left)} left"

    def _left(self, parts: list[activity.doing], at: float) -> float | None:
        """Estimated seconds until the end, by the outermost part that counts its steps, else by the gap."""
        for part in parts:
            share = part.share()
            if share is not None:
                return (at - part.began) * (1.0 - share) / share if share >= MIN_DONE_SHARE else None
        gap, target = activity.now.gap, activity.now.target
        if gap is None or target is None or not 0.0 < target < gap < 1e300:
            return None
        if gap > self._largest_gap:  # the first gap of a run
            self._largest_gap, self._gap_began = gap, at
        share = log(self._largest_gap / gap) / log(self._largest_gap / target)
        return (at - self._gap_began) * (1.0 - share) / share if share >= MIN_DONE_SHARE else None


def _part(part: activity.doing) -> str:
    """A part as text: `fold 2 of 5`, `reading 34 %`, `training`."""
    if part.source is not None:
        share = part.share()
        return f"{part.what} {part.source.taken / MB:.0f} MB" if share is None else f"{part.what} {100 * share:.0f} %"
    if part.total is None:
        return part.what
    return f"{part.what} {min(part.done + 1, part.total)} of {part.total}"


def clock(seconds: float) -> str:
    """Seconds as 0:07 or 1:02:03."""
    minutes, s = divmod(int(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02d}:{s:02d}" if hours else f"{m}:{s:02d}"
