"""Ctrl-C and SIGTERM in the commands: one message, exit status 130 or 143, no partly written file, at any time.

A KeyboardInterrupt can be raised at any line: during an import it turns into other errors, in a destructor it is only
printed.  So the handler removes the files that are being written and ends the process.  Code with more to clean up
calls `raise_from_now_on` to get the exception instead; training has its own handler (training/interruption.py).

Only built-in modules are imported, because this module is loaded first: `signal` would take milliseconds.
"""

import _signal
import os
import time

SIGNALS = (_signal.SIGINT, _signal.SIGTERM)

before_end = None  # what clears the terminal before the process ends
loss = ""  # what an end at this moment loses, for the message
_unfinished: list[str] = []  # files to remove at the end
_raised = 0
_ending = False  # a signal ends the process
_ignored = False  # signals have no effect any more
_held = 0  # open `Uninterrupted` blocks
_waiting = False  # a signal came in one of them
_status = 130  # exit status after the last signal, as a shell reports it


def install() -> None:
    """Install the handler, except for a signal that the parent process has set to be ignored.

    The installed commands start with SIGINT blocked (setup.py); a pending one is handled here.
    """
    for number in SIGNALS:
        if _signal.getsignal(number) is not _signal.SIG_IGN:
            _signal.signal(number, end)
    if hasattr(_signal, "pthread_sigmask"):
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGINT,))


def received(number: int) -> None:
    """Note which signal ends the process, for its exit status."""
    global _status
    _status = 128 + number


def exit_status() -> int:
    """The exit status of an interrupted command, as a shell reports it: 130 after Ctrl-C, 143 after SIGTERM."""
    return _status


def message() -> str:
    """The message of an interrupted command."""
    return f"interrupted: {loss}" if loss else "interrupted"


def end(number: int = _signal.SIGINT, *_: object) -> None:
    """End the process, as the handler of a signal; from any thread."""
    global _ending, _waiting
    received(number)
    if _ending or _ignored:  # a second one while the first is handled
        return
    _ending = True  # before the test: no block begins on the main thread from now on
    if _held:
        _ending, _waiting = False, True
        return
    for path in _unfinished:
        try:
            os.unlink(path)
        except OSError:
            continue
    try:
        if before_end is not None:
            before_end()
        os.write(2, message().encode(errors="backslashreplace") + b"\n")
    except OSError:
        pass
    os._exit(_status)


class Uninterrupted:
    """A block that no signal interrupts: the process ends after the block instead."""

    def __enter__(self) -> None:
        global _held
        _held += 1
        while _ending:  # another thread ends the process, or finds this block and waits for its end
            time.sleep(0.001)

    def __exit__(self, *_: object) -> None:
        global _held
        _held -= 1
        if _waiting:
            end(_status - 128)


def raise_from_now_on() -> None:
    """Make the signals raise KeyboardInterrupt, if `install` has changed them; see `was_raised`.

    A second one, during clean-up, is ignored; a third ends the process at once.
    """
    for number in SIGNALS:
        if _signal.getsignal(number) is end:
            _signal.signal(number, _raise)


def _raise(number: int, *_: object) -> None:
    global _raised
    if _ending or _ignored:
        return
    received(number)
    _raised += 1
    if _raised > 2:
        end(number)
    if _raised == 1:
        raise KeyboardInterrupt


def was_raised() -> bool:
    """Whether a signal has raised KeyboardInterrupt; other code may have turned it into another error."""
    return _raised > 0


def ignore() -> None:
    """Ignore signals from now on: clean-up is complete and the process is about to end."""
    global _ignored
    _ignored = True


def begin_file(path: str) -> None:
    """Register a file to be removed at an interrupted end."""
    _unfinished.append(path)


def end_file(path: str) -> None:
    """Unregister a file that is complete or removed."""
    if path in _unfinished:
        _unfinished.remove(path)
