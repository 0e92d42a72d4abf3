"""Partitioned rows as the driver sees them: calls go to all ranks, results come back summed or gathered.

A rank is one partition's task, with a Block.  Its answer depends on its rows and on all calls since they were read.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

Call = tuple[str, tuple]  # a method of Block, and its arguments


class LostError(Exception):
    """Ranks were lost, and with them the state of all: Spark starts the stage's tasks anew.  See Collective.restart."""


class Costs:
    """What a run cost, in seconds: `passes` questions; `whole` from question to answer; `slowest` of the partitions in
    them, `ranks` all of them together; `reading` until the rows were there; `restarts` of the stage and `restarting`
    till its rows were there again; `star`: whether tasks could not reach each other, so that the driver asked each."""

    def __init__(self) -> None:
        self.passes = self.restarts = 0
        self.star = False
        self.whole = self.slowest = self.ranks = self.reading = self.restarting = 0.0
        self.started, self.ended = time.perf_counter(), 0.0

    def end(self) -> None:
        """What comes from now on does not count."""
        self.ended = self.ended or time.perf_counter()

    def line(self, size: int) -> str:
        """One line for the user."""
        whole = (self.ended or time.perf_counter()) - self.started
        driver = max(whole - self.reading - self.restarting - self.whole, 0.0)
        between = max(self.whole - self.slowest, 0.0)
        times = "once" if self.restarts == 1 else f"{self.restarts} times"
        restarts = f"; restarted {times} after a loss, {self.restarting:.2f} s" if self.restarts else ""
        star = "; tasks can't reach each other: the driver added up all answers" if self.star else ""
        return (
            f"Spark: {size} partitions, {self.passes} passes, {whole:.2f} s in all: {self.reading:.2f} s reading, "
            f"{self.slowest:.2f} s in the slowest partition of each pass ({self.ranks:.2f} s in all partitions), "
            f"{between:.2f} s sending and adding up, {driver:.2f} s driver{restarts}{star}\n"
        )


class Collective(ABC):
    """The driver's side; a kind says `size`, `_exchange`, `restart` and `close`."""

    size = 0

    def __init__(self) -> None:
        self.costs = Costs()
        self._deferred: list[Call] = []
        self._kept: dict[str, Call] = {}  # calls that are repeated after a restart
        self.weights: np.ndarray | None = None  # of all rows, f8[n]; see take_weights

    @abstractmethod
    def _exchange(self, calls: list[Call], add: bool) -> list[Any]:
        """Have all ranks make these calls; the answers to the last in the order of the rows, or the list of their sum.

        LostError where ranks are lost meanwhile.
        """

    def restart(self) -> None:
        """After a LostError: wait for the tasks that Spark starts anew.  They know their rows and what is kept."""
        self._deferred = list(self._kept.values())

    def surviving(self, ask: Callable[[], Any], restart: Callable[[], None] | None = None) -> Any:
        """What `ask` returns; after each loss of ranks and the restart it is called again."""
        while True:
            try:
                return ask()
            except LostError:
                (restart or self.restart)()

    def close(self) -> None:  # noqa: B027  a kind may have nothing to give back
        """Give the ranks up."""

    def defer(self, name: str, *arguments: Any) -> None:
        """A call that ranks make before the next question."""
        self._deferred.append((name, arguments))

    def keep(self, name: str, *arguments: Any) -> None:
        """As `defer`, and again first thing after a restart; the last call of a name is kept."""
        self._kept[name] = (name, arguments)
        self.defer(name, *arguments)

    def take_weights(self, weights: np.ndarray, counts: list[int]) -> None:
        """From now on rows cost as much as their weights (f8[n]) say, and those of none take no part.

        counts: how many rows each rank has.
        """
        self.weights = weights
        self.keep("take_weights", weights, np.cumsum([0, *counts]))

    def gather(self, name: str, *arguments: Any) -> list[Any]:
        """The ranks' answers, in the order of the rows."""
        return self._ask(name, arguments, False)

    def sum(self, name: str, *arguments: Any) -> Any:
        """The sum of the ranks' answers: numbers, arrays, or tuples of them.  It is made in the order of the rows."""
        return reduce(added, self._ask(name, arguments, True))

    def _ask(self, name: str, arguments: tuple, add: bool) -> list[Any]:
        calls, self._deferred = [*self._deferred, (name, arguments)], []
        began = time.perf_counter()
        answers = self._exchange(calls, add)
        self.costs.whole += time.perf_counter() - began
        self.costs.passes += 1
        return answers


def added(a: Any, b: Any) -> Any:
    """The sum of two answers."""
    return tuple(map(added, a, b)) if isinstance(a, tuple) else a + b
