"""Many cases in one test or grid: the message of a failure names the case; a commit runs a sample of a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def case_of(*words: object) -> Iterator[None]:
    """Name the case in the message of any error within."""
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        raise AssertionError(f"{', '.join(map(str, words))}: {error}") from error


def in_turn(many: Sequence[Any], few: Sequence[Any], most: int = 1) -> list[Any]:
    """All pairs of the two; in a commit each of many has `most` of the few, in turn, so that all of both occur."""
    grid = [((j - i) % len(few) < most, a, b) for i, a in enumerate(many) for j, b in enumerate(few)]
    mark = pytest.mark.exhaustive
    return [pytest.param(a, b, id=f"{getattr(a, 'name', a)}-{b}", marks=() if now else mark) for now, a, b in grid]
