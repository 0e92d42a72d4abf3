"""Many cases in one test: the message of a failure names the case."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def case_of(*words: object) -> Iterator[None]:
    """Name the case in the message of any error within."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        raise AssertionError(f"{', '.join(map(str, words))}: {error}") from error
