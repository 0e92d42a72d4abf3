"""Output of the commands: LIBLINEAR's output goes to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys

from svmtool.errors import SvmtoolError, UsageError

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BAR_AFTER_SECONDS = 1.0  # shorter runs show no bar
REDRAW_SECONDS = 0.1
_INFINITY = float("inf")


class Console:
    """Output of one command.  `quiet` (-q) silences only the solver's output and the progress bar.

    `failure` says why stdout could not be written, or is empty.  The command goes on, writes its model, and reports
    the failure at its end.
    """

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self.failure = ""
        self._bar: Any = None
        self._first_gap = 0.0
        self._drawn = 0.0  # time of the last redraw, in seconds

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
        except BrokenPipeError:  # the reader has closed the pipe (`| head`), which is no error
            discard_stdout()
        except OSError as e:
            discard_stdout()
            self.failure = unwritable(e)

    def warn(self, text: str) -> None:
        """Print one line on stderr, also when quiet."""
        self.close()
        error_line(text)

    def run(self, work: Callable[[], int], usage: Callable[[], str], brief: str) -> int:
        """Call `work` and print its errors on stderr; returns the exit status.

        A UsageError also prints a text on stdout, before its message: brief, or usage() for an empty message.
        """
        try:
            status = work()
        except UsageError as e:
            self.out(brief if str(e) else usage())
            if str(e):
                self.warn(str(e))
            status = e.exit_code
        except SvmtoolError as e:
            self.warn(str(e))
            status = e.exit_code
        finally:
            self.close()
        if self.failure:
            self.warn(self.failure)
        return status or (1 if self.failure else 0)

    def progress(self, seconds: float, gap: float, target: float | None = None, **fields: Any) -> None:
        """Show the certified gap in a progress bar on a terminal, once the run has taken a second.

        seconds: since the start.  target: the gap at which the run ends, if known; the bar then follows the logarithm
        of the gap.  Other fields of a solver's record are ignored.
        """
        if self._bar is None:
            self._first_gap = self._first_gap or (gap if gap < _INFINITY else 0.0)
            if self.quiet or seconds < BAR_AFTER_SECONDS or sys.stderr is None or not sys.stderr.isatty():
                return
            from tqdm import tqdm

            known = target is not None
            shape = "{l_bar}{bar}| {elapsed}{postfix}" if known else "{desc}: {n_fmt} rounds, {elapsed}{postfix}"
            self._bar = tqdm(
                total=100 if known else None, desc="training", bar_format=shape, leave=False, file=sys.stderr
            )
        self._bar.n = self._bar.n + 1 if target is None else round(100 * _share(self._first_gap, gap, target))
        if seconds - self._drawn >= REDRAW_SECONDS:
            self._drawn = seconds
            self._bar.set_postfix_str(f"gap {gap:.2e}", refresh=True)

    def reading(self, seconds: float) -> None:
        """Show on a terminal that other processes are still reading rows; seconds: since the start."""
        if self._bar is None:
            if self.quiet or seconds < BAR_AFTER_SECONDS or sys.stderr is None or not sys.stderr.isatty():
                return
            from tqdm import tqdm

            self._bar = tqdm(desc="reading", bar_format="{desc}: {elapsed}", leave=False, file=sys.stderr)
        self._bar.refresh()

    def close(self) -> None:
        """Remove the progress bar from the terminal."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _share(first: float, now: float, target: float) -> float:
    """Progress of the gap from its first value to the target on a logarithmic scale, 0 to 1."""
    from math import log

    if now <= target:
        return 1.0
    return log(first / now) / log(first / target) if target < now < first else 0.0


def error_line(text: str) -> None:
    """Print one line on stderr; a closed stderr is ignored."""
    if sys.stderr is None:  # print would use stdout
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return


def unwritable(e: OSError) -> str:
    """The error message for a standard output that cannot be written."""
    return f"can't write to standard output: {e.strerror or e}"


def discard_stdout() -> None:
    """Redirect stdout to the null device, so that flushing its buffer at exit cannot fail again."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):  # stdout is closed, or not a file (captured by tests)
        return
