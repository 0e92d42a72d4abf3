"""Common start of all commands: process settings before numpy is imported, and the handler of unexpected errors.

No traceback reaches a user for a fault of input, memory or disk.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings
from collections.abc import Callable

from svmtool import interrupts
from svmtool.cli import memory_limit
from svmtool.cli.console import error_line, forget_stdout, unwritable
from svmtool.errors import SvmtoolError

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = interrupts.STATUS
UNMAPPED = "failed to map segment"  # of a compiled module that finds no space, in the words of the C library
BROKEN_PIPE = 141  # as a shell reports a reader that went away


def leave(status: int) -> NoReturn:
    """End the process at once: files are closed by now, and taking the interpreter apart would cost milliseconds."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue  # closed, gone, or never there
    os._exit(status)


def start(command: str, argv: list[str]) -> int:
    """Run one command (train, predict or scale) as this process; returns its exit status.

    BLAS gets one thread: it starts faster, its sums do not depend on the machine, and the loops of
    this package bring threads of their own (--threads, OMP_NUM_THREADS).
    """
    gc.disable()  # looking for garbage among modules that are being imported costs milliseconds; `train` enables it
    _occupy_streams()
    warnings.simplefilter("ignore", RuntimeWarning)  # numpy's, of overflows: what comes of them is reported in messages
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    return guarded(lambda: _main_of(command)(argv))


def _main_of(command: str) -> Callable[[list[str]], int]:
    if command == "predict":  # which often does without numpy
        from svmtool.cli.predict.command import main
    elif command == "train":
        memory_limit.require()
        from svmtool.cli.train import main
    else:
        memory_limit.require()
        from svmtool.cli.scale import main
    if command != "train":  # that has more to import
        gc.freeze()
        gc.enable()
    return main


def _occupy_streams() -> None:
    """Where the caller has closed a standard stream the next file opened would get its number, and texts meant for it.

    Standard input and output that were closed stay known as such; what is meant for standard error is lost.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)


def guarded(work: Callable[[], int]) -> int:
    """Call `work`; whatever it raises for reasons outside the program becomes one sentence and a status."""
    try:
        status = work()
        if sys.stdout is not None:
            _flush_stdout(told=status != 0)
        return status
    except BaseException as e:
        # In an import, say, Ctrl-C becomes another error.
        status = _told(KeyboardInterrupt() if interrupts.was_raised() else e)
        if status is None:
            raise
        return status


def _flush_stdout(told: bool) -> None:
    """Write what is still buffered; told: a fault has been told already, and one is enough."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as e:
        forget_stdout()
        if not told:
            raise SvmtoolError(unwritable(e)) from None


def _told(e: BaseException) -> int | None:
    """Print the message for what was raised; the exit status, None for a fault of the program."""
    if isinstance(e, SvmtoolError):
        error_line(str(e))
        return e.exit_code
    if isinstance(e, KeyboardInterrupt):
        interrupts.answered()
        error_line("interrupted")
        return INTERRUPTED
    if isinstance(e, BrokenPipeError):
        forget_stdout()
        return BROKEN_PIPE
    full = isinstance(e, MemoryError) or (isinstance(e, OSError) and e.errno == errno.ENOMEM)
    if full or (isinstance(e, (ImportError, OSError)) and UNMAPPED in str(e)):
        error_line("ERROR: not enough memory for this data: use fewer rows or features, or a machine with more memory")
        return 1
    if isinstance(e, RuntimeError) and str(e) == "can't start new thread":
        error_line("ERROR: the system lets this user start no more threads: choose fewer by --threads")
        return 1
    if isinstance(e, OSError):
        forget_stdout()
        where = f"{e.filename}: " if e.filename else ""
        error_line("ERROR: " + ("the current directory has been removed" if _astray() else f"{where}{e.strerror or e}"))
        return 1
    return None


def _astray() -> bool:
    """Whether relative names lead nowhere: the current directory is gone."""
    try:
        os.getcwd()
        return False
    except OSError:
        return True
