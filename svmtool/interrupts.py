"""Ctrl-C in a command: one message, exit status 130, and no half-written file, at any moment.

A KeyboardInterrupt comes out of any line: in the middle of an import it leaves other errors behind, in a destructor
only a text.  So Ctrl-C ends the process then and there, after the files are removed that are being written.  Work that
has more to put in order asks for the exception (`raise_from_now_on`); training has a handler of its own
(training/interrupt.py).

Needs nothing but what is built into Python, for it stands before all else: the module signal would take milliseconds.
"""

import _signal
import os

STATUS = 130  # as a shell reports Ctrl-C
LINE = b"interrupted\n"

_unfinished: list[str] = []  # files that are to go where the process ends now
_raised = 0
_ending = False
_held = 0  # blocks of `Together` that have begun
_waiting = False  # a Ctrl-C in one of them


def install() -> None:
    """Install the handler of Ctrl-C, unless the parent process has set SIGINT to be ignored.

    The installed commands hold it back until here (setup.py): one that came while Python started is answered now.
    """
    if _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN:
        _signal.signal(_signal.SIGINT, _end)
    if hasattr(_signal, "pthread_sigmask"):
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGINT,))


def _end(*_: object) -> None:
    global _ending, _waiting
    if _held:
        _waiting = True
    if _held or _ending:  # another one while the first is being answered
        return
    _ending = True
    for path in _unfinished:
        try:
            os.unlink(path)
        except OSError:
            continue
    try:
        os.write(2, LINE)
    except OSError:
        pass
    os._exit(STATUS)


class Together:
    """A block that is done as a whole: a Ctrl-C that would end the process ends it behind the block."""

    def __enter__(self) -> None:
        global _held
        _held += 1

    def __exit__(self, *_: object) -> None:
        global _held
        _held -= 1
        if _waiting:
            _end()


def raise_from_now_on() -> None:
    """Ctrl-C raises KeyboardInterrupt again, where `install` has changed that; `was_raised` reports it.

    A second one while the work is put in order changes nothing; a third ends the process then and there.
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
    """Whether there was a Ctrl-C that raised: whatever came out of it may be another error than KeyboardInterrupt."""
    return _raised > 0


def answered() -> None:
    """The work is in order, and the process about to say so and to end: a Ctrl-C changes nothing any more."""
    global _ending
    _ending = True


def begin_file(path: str) -> None:
    """From now on the file is to go at Ctrl-C."""
    _unfinished.append(path)


def end_file(path: str) -> None:
    """The file is whole, or gone."""
    if path in _unfinished:
        _unfinished.remove(path)
