"""Ctrl-C and SIGTERM in long computations: an answer at once, and a second one that ends the run.

Python calls signal handlers between two statements of the main thread, which may be in a compiled loop for seconds.
In a command a thread waits for the signals in their place; now and then it also lets the printer of lines and the
solver's log (lines.py, history.py) say that a long step is still going on.
"""

from __future__ import annotations

import _signal  # the enumerations of `signal` take a share of a small fit
import _thread
import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from svmtool import interrupts
from svmtool.limits import StopFlag

PATIENCE_SECONDS = 2.0  # a second signal within this time is an impatient repetition of the first
BEAT_SECONDS = 0.25
KEEPS_MODEL = "stopping: the model so far is written; Ctrl-C again ends without it"

Beat = Callable[[], object]


class _Answer:
    """What signals do: the first sets the flag, or ends the block where nothing is kept; a later one ends it."""

    def __init__(self, flag: StopFlag, console: Any, loss: str | None):
        self.flag, self.console, self.loss = flag, console, loss
        self.ends = False  # whether the handlers from before the block are called
        self.watched = False  # whether the thread receives the signals
        self._first: float | None = None

    def signal(self, number: int, now: float) -> None:
        interrupts.received(number)
        if self.loss is not None:
            self.ends = True
        elif self._first is None:
            self._first, self.flag.set = now, True
            if self.console is not None:
                self.console.warn(KEEPS_MODEL)
        else:
            self.ends = self.ends or now - self._first >= PATIENCE_SECONDS


@contextlib.contextmanager
def interruptible(
    flag: StopFlag | None = None, console: Any = None, loss: str | None = None, beats: Sequence[Beat] = ()
) -> Iterator[StopFlag]:
    """Within this block the first Ctrl-C sets a flag that solvers check; one that comes later ends the run.

    console: of a command, which answers; SIGTERM does the same then, and `beats` are called each BEAT_SECONDS.
    loss: what is lost, where nothing is kept: the first signal ends the run.
    """
    flag = StopFlag() if flag is None else flag
    answer = _Answer(flag, console, loss)
    handled = interrupts.SIGNALS if console is not None else (_signal.SIGINT,)
    before = {number: _signal.getsignal(number) for number in handled}
    before = {number: handler for number, handler in before.items() if handler is not _signal.SIG_IGN}
    watch = console is not None and hasattr(select, "poll")  # not on Windows

    def handle(number: int, frame: Any) -> None:
        if not answer.watched:
            answer.signal(number, time.monotonic())
        elif loss is None:
            flag.set = True  # the thread, which answers, may be later
        handler = before[number]
        if answer.ends and callable(handler):
            handler(number, frame)

    try:
        for number in before:
            _signal.signal(number, handle)
    except ValueError:  # not the main thread: Python delivers signals elsewhere
        yield flag
        return
    outer_loss = interrupts.loss
    if loss is not None:
        interrupts.loss = loss
    try:
        with _watched(answer, before, beats) if watch else contextlib.nullcontext():
            yield flag
        if loss is not None:
            interrupts.loss = outer_loss  # after an exception the message still needs that of the block
    finally:
        for number, handler in before.items():
            _signal.signal(number, _signal.SIG_DFL if handler is None else handler)


@contextlib.contextmanager
def _watched(answer: _Answer, before: dict[Any, Any], beats: Sequence[Beat]) -> Iterator[None]:
    """Run the thread that receives the signals as bytes of a pipe."""
    woken, wake = os.pipe()
    over = _thread.allocate_lock()
    over.acquire()
    os.set_blocking(wake, False)
    outer = _signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def watch() -> None:
        waiting = select.poll()
        waiting.register(woken, select.POLLIN)
        while True:
            if not waiting.poll(round(1000 * BEAT_SECONDS)):
                for beat in beats:
                    beat()
                continue
            for number in os.read(woken, 64):
                if number == 0:
                    over.release()
                    return
                if number in before and not answer.ends:
                    answer.signal(number, time.monotonic())
                    if answer.ends and before[number] is interrupts.end:
                        interrupts.end(number)  # also while the main thread is in a compiled loop
                    if answer.ends:
                        _thread.interrupt_main(number)

    _thread.start_new_thread(watch, ())
    answer.watched = True
    try:
        yield
    finally:
        answer.watched = False  # first: what comes while the thread ends is answered here, if need be twice
        _signal.set_wakeup_fd(outer)
        os.write(wake, b"\0")
        if over.acquire(timeout=PATIENCE_SECONDS):  # else what it prints waits for a reader
            os.close(woken)
            os.close(wake)
