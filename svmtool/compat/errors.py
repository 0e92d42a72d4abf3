"""Errors of svmtool as the exceptions that Python callers expect."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from svmtool.errors import DataError, SvmtoolError, UsageError

WRONG_OPTIONS = "Wrong options"  # the originals' sentence, which begins every message about an option


@contextlib.contextmanager
def as_value_errors() -> Iterator[None]:
    """Within this block a fault of options, data or models is a ValueError with the same sentence."""
    try:
        yield
    except SvmtoolError as e:
        text = str(e)
        if isinstance(e, UsageError) and text.lower().startswith("unknown option"):
            text = f"{WRONG_OPTIONS}: {text}"
        raise ValueError(text.replace("ERROR: ", "Error: ", 1)) from None


@contextlib.contextmanager
def as_os_errors() -> Iterator[None]:
    """The same where files are opened: an OSError, but a ValueError for malformed data."""
    try:
        yield
    except DataError as e:
        raise ValueError(str(e)) from None
    except SvmtoolError as e:
        raise OSError(str(e)) from None
