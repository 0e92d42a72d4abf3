"""Output of the commands: LIBLINEAR's output goes to stdout, everything else to stderr."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable

from svmtool import progress
from svmtool.errors import SvmtoolError, UsageError, visible


class Console:
    """Output of one command.  `quiet` (-q) silences only the solver's output and the progress.

    `began`: when the command started (time.perf_counter()), as well as it is known.
    `failure` says why stdout could not be written, or is empty.  The command continues, writes its model, and
    reports the failure at its end.
    """

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self.began = time.perf_counter()
        self.failure = ""
        self._row_output = self._incomplete = False

    def solver(self, text: str) -> None:
        """Print a solver's text as given (no line end is added), unless quiet."""
        if not self.quiet:
            self.out(text)

    def out(self, text: str) -> None:
        """Print text on stdout as given."""
        if sys.stdout is None:  # closed by the caller (>&-)
            return
        try:
            with progress.cleared(sys.stdout):
                sys.stdout.write(text)
                sys.stdout.flush()
                if text:
                    self._incomplete = not text.endswith("\n") and sys.stdout.isatty()
        except BrokenPipeError:  # the reader has closed the pipe (`| head`), which is no error
            discard_stdout()
        except OSError as e:
            discard_stdout()
            self.failure = unwritable(e)

    def still(self, text: str, error: bool = False) -> None:
        """Print that a long step goes on, on stdout or stderr, unless quiet or bars on that terminal say so."""
        stream = sys.stderr if error else sys.stdout
        if self.quiet or (progress.is_drawn() and stream is not None and stream.isatty()):
            return
        if error:
            self.warn(text.rstrip("\n"))
        else:
            self.out(text)

    def warn(self, *lines: str) -> None:
        """Print lines on stderr, also when quiet."""
        for line in lines:
            stderr_line(line)

    def run(self, work: Callable[[], int], usage: Callable[[], str], brief: str = "") -> int:
        """Call `work` and print its errors on stderr; returns the exit status.

        A UsageError also prints a text on stdout, before its message: usage(), or brief if both have text.
        """
        with progress.shown(self.is_silent):
            try:
                status = work()
            except SvmtoolError as e:
                text, status = str(e), e.exit_code
                if isinstance(e, UsageError):
                    self.out(brief if text and brief else usage())
                self.warn(*filter(None, [text]))
        if self.failure:
            self.warn(self.failure)
        return status or (1 if self.failure else 0)

    def fills_stdout(self) -> None:
        """Show no progress if stdout is a terminal: rows are written there."""
        self._row_output = sys.stdout is not None and sys.stdout.isatty()

    def is_silent(self) -> bool:
        """Whether no progress may be shown now; also while a line on stdout is incomplete."""
        return self.quiet or self._row_output or self._incomplete


def stderr_line(text: str) -> None:
    """Print a message on stderr, whatever characters are in its lines; a closed stderr is ignored."""
    if sys.stderr is None:  # print would use stdout
        return
    with contextlib.suppress(OSError, ValueError), progress.cleared(sys.stderr):
        print("\n".join(map(visible, text.split("\n"))), file=sys.stderr, flush=True)


def unwritable(e: OSError) -> str:
    """The error message for a standard output that cannot be written."""
    return f"can't write to standard output: {e.strerror or e}"


def discard_stdout() -> None:
    """Redirect stdout to the null device, so that flushing its buffer at exit cannot fail again."""
    with contextlib.suppress(OSError, ValueError):  # stdout is closed, or not a file (captured by tests)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
