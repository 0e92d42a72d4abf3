"""Samples of grids: a commit's tests check a share of each test's combinations, `make test-all` checks all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

Item = TypeVar("Item")
# Turn 0 runs with every commit, turn 1 has the rest.
every_turn = pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.exhaustive)])


def in_turn(items: Sequence[Item], position: int, turn: int, shares: int | None = None) -> list[Item]:
    """The share of the items at a position, by turn 0; by turn 1 all others.

    shares: by default one for each item; positions that are that far apart have the same share.
    """
    shares = shares or len(items)
    return [item for k, item in enumerate(items) if (k % shares == position % shares) == (turn == 0)]


def pairs_in_turn(many: Sequence[Any], few: Sequence[Any], most: int = 1) -> list[Any]:
    """All pairs of the two; in a commit each of many has `most` of the few, in turn, so that all of both occur."""
    grid = [((j - i) % len(few) < most, a, b) for i, a in enumerate(many) for j, b in enumerate(few)]
    mark = pytest.mark.exhaustive
    return [pytest.param(a, b, id=f"{getattr(a, 'name', a)}-{b}", marks=() if now else mark) for now, a, b in grid]
