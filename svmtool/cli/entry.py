"""Start of all commands: process settings before numpy is imported, and messages for errors of the environment.

Users see no traceback for errors of input, memory or disk.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings
from collections.abc import Callable

from svmtool import interrupts
from svmtool.cli import checks
from svmtool.cli.console import discard_stdout, stderr_line, unwritable
from svmtool.errors import SvmtoolError

UNMAPPED = "failed to map segment"  # the C library's message if there is no memory to load a compiled module
BROKEN_PIPE = 141  # as a shell reports SIGPIPE


def leave(status: int) -> None:
    """End the process without the interpreter's clean-up, which takes milliseconds; all files are closed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue  # closed or absent
    os._exit(status)


def start(command: str, argv: list[str]) -> int:
    """Run one command in this process; returns its exit status.

    command: train, predict, scale, libsvm-train, libsvm-predict or umbrella.

    BLAS gets one thread: it starts faster, its sums do not depend on the machine, and this package's loops have
    their own threads (--threads, OMP_NUM_THREADS).
    """
    gc.disable()  # garbage collection during imports costs milliseconds; `train` enables it again
    _occupy_streams()
    warnings.simplefilter("ignore", RuntimeWarning)  # of overflow in numpy; solvers report it
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    return guarded(lambda: _main_of(command)(argv))


def _main_of(command: str) -> Callable[[list[str]], int]:
    if command != "umbrella" and "_SVMTOOL_COMPLETE" in os.environ:
        from svmtool.cli.umbrella.group import complete

        return lambda argv: complete(command.removeprefix("libsvm-"))
    if not command.endswith("predict"):  # which often needs no numpy
        checks.require_memory()
    if command.endswith("predict"):
        from svmtool.cli.predict.command import main
    elif command.endswith("train"):
        from svmtool.cli.train import main
    elif command == "umbrella":
        from svmtool.cli.umbrella.group import main
    else:
        from svmtool.cli.scale import main
    if not command.endswith("train"):  # train has more to import
        gc.freeze()
        gc.enable()
    if command.startswith("libsvm-"):
        return lambda argv: main(argv, libsvm=True)
    return main


def _occupy_streams() -> None:
    """Open the null device for each closed standard stream, so that no other file gets its descriptor.

    sys.stdin and sys.stdout stay None if they were closed; output to a closed stderr is discarded.
    """
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)


def guarded(work: Callable[[], int]) -> int:
    """Call `work`; returns its status, or prints a message for an exception and returns the exit status for it."""
    try:
        status = work()
        if sys.stdout is not None:
            _flush_stdout(report=status == 0)
        return status
    except BaseException as e:
        # during an import, for example, Ctrl-C turns into another error
        status = _report(KeyboardInterrupt() if interrupts.was_raised() else e)
        if status is None:
            raise
        return status


def _flush_stdout(report: bool) -> None:
    """Flush stdout; SvmtoolError if that fails and `report` is set (no other error has been reported yet)."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as e:
        discard_stdout()
        if report:
            raise SvmtoolError(unwritable(e)) from None


def _report(e: BaseException) -> int | None:
    """Print the message for an exception; returns the exit status, or None for a bug, which has no message."""
    if isinstance(e, SvmtoolError):
        stderr_line(str(e))
        return e.exit_code
    if isinstance(e, KeyboardInterrupt):
        interrupts.ignore()
        stderr_line(interrupts.message())
        return interrupts.exit_status()
    if isinstance(e, BrokenPipeError):
        discard_stdout()
        return BROKEN_PIPE
    full = isinstance(e, MemoryError) or (isinstance(e, OSError) and e.errno == errno.ENOMEM)
    if full or (isinstance(e, (ImportError, OSError)) and UNMAPPED in str(e)):
        stderr_line("ERROR: not enough memory for this data: use fewer rows or features, or a machine with more memory")
        return 1
    if isinstance(e, RuntimeError) and str(e) == "can't start new thread":
        stderr_line("ERROR: the system lets this user start no more threads: choose fewer by --threads")
        return 1
    if isinstance(e, OSError):
        discard_stdout()
        where = f"{e.filename}: " if e.filename else ""
        reason = "the current directory has been removed" if _is_directory_removed() else f"{where}{e.strerror or e}"
        stderr_line(f"ERROR: {reason}")
        return 1
    return None


def _is_directory_removed() -> bool:
    try:
        os.getcwd()
        return False
    except OSError:
        return True
