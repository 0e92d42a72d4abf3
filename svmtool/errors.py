"""Errors that a user can act on; the command line prints their text and exits with `exit_code`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


def clipped(text: str) -> str:
    """Shorten a text to at most 60 characters for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


SPACES_AND_JOINERS = "\xa0\u202f\u3000\u200c\u200d"  # harmless parts of words in some scripts


def visible(text: str) -> str:
    """Text of a file for a reader's eyes: control characters and marks of the order of letters as \\xNN or \\uNNNN.

    A terminal would obey them, and XML forbids some.
    """
    if text.isprintable():
        return text
    kept = SPACES_AND_JOINERS
    return "".join(c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text)


class SvmtoolError(ValueError):
    """A problem with input, options or the environment, described in one sentence.

    `exit_code` is the exit status of the command.
    """

    exit_code = 1


class UsageError(SvmtoolError):
    """An invalid command line.  The command also prints its usage; with an empty text nothing else."""


class DataError(SvmtoolError):
    """A malformed data file.

    The message starts as LIBLINEAR's: `Wrong input format at line 3: d.txt: token '0:1': indices start at 1`.
    `line` is 1-based; `token` is the offending text, shortened.
    """

    def __init__(self, line: int, file: str, token: str, reason: str):
        self.line, self.file, self.token, self.reason = line, file, token, reason
        where = f"token {clipped(token)!r}: " if token else ""
        super().__init__(f"Wrong input format at line {line}: {file}: {where}{reason}")

    def __reduce__(self):
        return type(self), (self.line, self.file, self.token, self.reason)


class RowsError(SvmtoolError):
    """Rows that define no training problem.  `named` adds the file name."""


@contextlib.contextmanager
def named(path: str) -> Iterator[None]:
    """Turn a RowsError in this block into an SvmtoolError that names the data file `path`."""
    try:
        yield
    except RowsError as e:
        raise SvmtoolError(f"{path}: {e}") from None


class ModelError(SvmtoolError):
    """A model file that cannot be read or does not support the requested operation."""
