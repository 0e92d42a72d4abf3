"""Output of the commands: LIBLINEAR's output goes to stdout, everything else to stderr."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable

from svmtool.errors import SvmtoolError, UsageError, visible

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from svmtool.cli.status_line import StatusLine


class Console:
    """Output of one command.  `quiet` (-q) silences only the solver's output and the line of progress.

    `began`: when the command started (time.perf_counter()), as well as it is known.
    `failure` says why stdout could not be written, or is empty.  The command continues, writes its model, and
    reports the failure at its end.
    """

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self.began = time.perf_counter()
        self.failure = ""
        self._line: StatusLine | None = None
        self._row_output = self._incomplete = False

    def solver(self, text: str) -> None:
        """Print a solver's text as given (no line end is added), unless quiet."""
        if not self.quiet:
            self.out(text)

    def out(self, text: str) -> None:
        """Print text on stdout as given."""
        self.close()
        if sys.stdout is None:  # closed by the caller (>&-)
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
            if self._line is not None and text:
                self._incomplete = not text.endswith("\n") and sys.stdout.isatty()
        except BrokenPipeError:  # the reader has closed the pipe (`| head`), which is no error
            discard_stdout()
        except OSError as e:
            discard_stdout()
            self.failure = unwritable(e)

    def still(self, text: str, error: bool = False) -> None:
        """Print that a long step goes on, on stdout or stderr, unless quiet or the line of progress says so."""
        if error and not self.quiet and self._line is None:
            self.warn(text.rstrip("\n"))
        elif not error and not (self._line is not None and sys.stdout is not None and sys.stdout.isatty()):
            self.solver(text)

    def warn(self, *lines: str) -> None:
        """Print lines on stderr, also when quiet."""
        self.close()
        for line in lines:
            stderr_line(line)

    def run(self, work: Callable[[], int], usage: Callable[[], str], brief: str) -> int:
        """Call `work` and print its errors on stderr; returns the exit status.

        A UsageError also prints a text on stdout, before its message: brief, or usage() for an empty message.
        """
        if on_terminal():
            from svmtool.cli.status_line import StatusLine

            self._line = StatusLine(sys.stderr, self.is_silent)
            self._line.start_later()
        try:
            status = work()
        except SvmtoolError as e:
            text, status = str(e), e.exit_code
            if isinstance(e, UsageError):
                self.out(brief if text else usage())
            self.warn(*filter(None, [text]))
        finally:
            if self._line is not None:
                self._line.end()
        if self.failure:
            self.warn(self.failure)
        return status or (1 if self.failure else 0)

    def fills_stdout(self) -> None:
        """Show no line of progress if stdout is a terminal: rows are written there."""
        self._row_output = sys.stdout is not None and sys.stdout.isatty()

    def is_silent(self) -> bool:
        """Whether no line of progress may be shown now; also while a line on stdout is incomplete."""
        return self.quiet or self._row_output or self._incomplete

    def close(self) -> None:
        """Remove the line of progress from the terminal; it reappears within a second."""
        if self._line is not None:
            self._line.erase()


def on_terminal() -> bool:
    """Whether stderr is a terminal that can erase a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def stderr_line(text: str) -> None:
    """Print a message on stderr, whatever characters are in its lines; a closed stderr is ignored."""
    if sys.stderr is None:  # print would use stdout
        return
    with contextlib.suppress(OSError, ValueError):
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
