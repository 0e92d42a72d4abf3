"""Where the commands start: settings of the process before numpy is imported, and the last net for faults.

No traceback reaches a user for a fault of input, memory or disk.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable

from svmtool.cli.console import error_line, forget_stdout
from svmtool.errors import SvmtoolError

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130  # as a shell reports Ctrl-C
BROKEN_PIPE = 141  # as a shell reports a reader that went away


def train() -> NoReturn:
    """svm-train, liblinear-train."""
    leave(start("train", sys.argv[1:]))


def predict() -> NoReturn:
    """svm-predict, liblinear-predict."""
    leave(start("predict", sys.argv[1:]))


def scale() -> NoReturn:
    """svm-scale."""
    leave(start("scale", sys.argv[1:]))


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
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    return guarded(lambda: _main_of(command)(argv))


def _main_of(command: str) -> Callable[[list[str]], int]:
    if command == "train":
        from svmtool.cli.train import main
    elif command == "predict":
        from svmtool.cli.predict import main
    else:
        from svmtool.cli.scale import main
    if command != "train":  # that has more to import
        gc.freeze()
        gc.enable()
    return main


def guarded(work: Callable[[], int]) -> int:
    """Call `work`; whatever it raises for reasons outside the program becomes one sentence and a status."""
    try:
        status = work()
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except SvmtoolError as e:
        error_line(str(e))
        return e.exit_code
    except KeyboardInterrupt:
        error_line("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        forget_stdout()
        return BROKEN_PIPE
    except MemoryError:
        error_line("ERROR: not enough memory for this data: use fewer rows or features, or a machine with more memory")
        return 1
    except OSError as e:
        forget_stdout()
        where = f"{e.filename}: " if e.filename else ""
        error_line(f"ERROR: {where}{e.strerror or e}")
        return 1
