"""What a solver decides before its first step."""

from __future__ import annotations

from typing import NamedTuple


class Plan(NamedTuple):
    """The method that a solver chooses for a problem.

    method  a key of the solver's METHODS
    why     the facts that decided, in words, for --explain and the solver log
    """

    method: str
    why: str = ""
