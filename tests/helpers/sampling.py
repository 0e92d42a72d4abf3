"""Samples of grids: a commit's tests check a share of each test's combinations, `make test-all` checks all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

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
