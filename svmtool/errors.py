"""Errors that a user can act on.  The command line prints their text and exits with `exit_code`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


def clipped(text: str) -> str:
    """Text of the user in a length that fits into a message."""
    return text if len(text) <= 60 else text[:57] + "..."


class SvmtoolError(ValueError):
    """A fault of input, options or surroundings, described in one sentence.

    `exit_code` is the status the command ends with; `stdout_usage` asks the
    command to print its usage as well, as LIBLINEAR does for faulty options.
    """

    exit_code = 1


class UsageError(SvmtoolError):
    """A command line that cannot be understood.  The text may be empty: then only usage is shown."""


class DataError(SvmtoolError):
    """A malformed data file.

    Keeps LIBLINEAR's sentence first: `Wrong input format at line 3: d.txt: token '0:1': indices start at 1`.
    `line` is 1-based; `token` is the offending text, cut to a readable length.
    """

    def __init__(self, line: int, file: str, token: str, reason: str):
        self.line, self.file, self.token, self.reason = line, file, token, reason
        where = f"token {clipped(token)!r}: " if token else ""
        super().__init__(f"Wrong input format at line {line}: {file}: {where}{reason}")

    def __reduce__(self):
        return type(self), (self.line, self.file, self.token, self.reason)


class RowsError(SvmtoolError):
    """Rows that make no problem, whichever file they come from: `named` puts its name in front."""


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """Within this block a RowsError is about the data file `path`."""
    try:
        yield
    except RowsError as e:
        raise SvmtoolError(f"{path}: {e}") from None


class ModelError(SvmtoolError):
    """A model file that cannot be read or does not fit what is asked of it."""
