"""What the functions print: lines of solvers and results on sys.stdout, warnings on sys.stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable

from svmtool.cli.console import Console


class Output(Console):
    """The console of a command, for use inside a program: errors of sys.stdout reach the caller.

    Parameters
    ----------
    print_func : callable or None
        Receives the solver's text as bytes instead of sys.stdout; None: sys.stdout.
    """

    def __init__(self, print_func: Callable[[bytes], object] | None = None):
        super().__init__(print_func is print_null)
        self.print_func = print_func

    def solver(self, text: str) -> None:
        if self.print_func is None:
            self.out(text)
        elif not self.quiet:
            self.print_func(text.encode())

    def out(self, text: str) -> None:
        if sys.stdout is not None:
            sys.stdout.write(text)


def print_null(text: bytes) -> None:
    """Print nothing; as `print_func` it silences a solver."""
