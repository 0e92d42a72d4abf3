"""Ctrl-C handling of the commands: one message, exit status 130 and no partly written file, at any time.

A KeyboardInterrupt can be raised at any line: during an import it turns into other errors, in a destructor it is only
printed.  So the handler removes the files that are being written and ends the process.  Code with more to clean up
calls `raise_from_now_on` to get the exception instead; training has its own handler (training/outcome.py).

Only built-in modules are imported, because this module is loaded first: `signal` would take milliseconds.
"""

import _signal
import os

EXIT_STATUS = 130  # as a shell reports Ctrl-C
LINE = b"interrupted\n"

before_end = None  # what clears the terminal before the process ends
_unfinished: list[str] = []  # files to remove at Ctrl-C
_raised = 0
_ending = False
_held = 0  # open `Uninterrupted` blocks
_waiting = False  # Ctrl-C was pressed in one of them


def install() -> None:
    """Install the Ctrl-C handler, unless the parent process has set SIGINT to be ignored.

    The installed commands start with SIGINT blocked (setup.py); a pending one is handled here.
    """
    if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _end)
    if hasattr(_signal, "pthread_sigmask"):
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGINT,))


def _end(*_: object) -> None:
    global _ending, _waiting
    if _held:
        _waiting = True
    if _held or _ending:  # a second one while the first is handled
        return
    _ending = True
    for path in _unfinished:
        try:
            os.unlink(path)
        except OSError:
            continue
    try:
        if before_end is not None:
            before_end()
        os.write(2, LINE)
    except OSError:
        pass
    os._exit(EXIT_STATUS)


class Uninterrupted:
    """A block that Ctrl-C does not interrupt: the process ends after the block instead."""

    def __enter__(self) -> None:
        global _held
        _held += 1

    def __exit__(self, *_: object) -> None:
        global _held
        _held -= 1
        if _waiting:
            _end()


def raise_from_now_on() -> None:
    """Make Ctrl-C raise KeyboardInterrupt, if `install` has changed that; see `was_raised`.

    A second Ctrl-C, during clean-up, is ignored; a third ends the process at once.
    """
    if _signal.getsignal(_signal.SIGINT) is _end:
        _signal.signal(_signal.SIGINT, _raise)


def _raise(*_: object) -> None:
    global _raised
    if _ending:
        return
    _raised += 1
    if _raised > 2:
        _end()
    if _raised == 1:
        raise KeyboardInterrupt


def was_raised() -> bool:
    """Whether Ctrl-C has raised KeyboardInterrupt; other code may have turned it into another error."""
    return _raised > 0


def ignore() -> None:
    """Ignore Ctrl-C from now on: clean-up is complete and the process is about to end."""
    global _ending
    _ending = True


def begin_file(path: str) -> None:
    """Register a file to be removed at Ctrl-C."""
    _unfinished.append(path)


def end_file(path: str) -> None:
    """Unregister a file that is complete or removed."""
    if path in _unfinished:
        _unfinished.remove(path)
