"""The driver's view of partitioned rows: calls are sent to all ranks, results are summed or gathered.

A rank is the task of one partition and holds a Block.  Its results depend on its rows and on all calls so far.
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
    """A rank was lost; Spark restarts all tasks of the stage, without their state.  See Collective.restart."""


class Costs:
    """Time taken by a run, in seconds.

    passes: number of requests.  whole: from request to result; slowest: in the slowest partition of each; ranks: in all
    partitions together.  reading: until the rows were read.  restarts: number of restarts of the stage; restarting:
    until its rows were read again.  star: whether ranks could not connect to each other and the driver addressed each.
    """

    def __init__(self) -> None:
        self.passes = self.restarts = 0
        self.star = False
        self.whole = self.slowest = self.ranks = self.reading = self.restarting = 0.0
        self.started, self.ended = time.perf_counter(), 0.0

    def end(self) -> None:
        """Stop the clock."""
        self.ended = self.ended or time.perf_counter()

    def line(self, size: int) -> str:
        """The summary line for the user."""
        whole = (self.ended or time.perf_counter()) - self.started
        driver = max(whole - self.reading - self.restarting - self.whole, 0.0)
        between = max(self.whole - self.slowest, 0.0)
        times = "once" if self.restarts == 1 else f"{self.restarts} times"
        restarts = f"; restarted {times} after a loss, {self.restarting:.2f} s" if self.restarts else ""
        star = "; tasks can't reach each other: the driver summed all results" if self.star else ""
        return (
            f"Spark: {size} partitions, {self.passes} passes, {whole:.2f} s in all: {self.reading:.2f} s reading, "
            f"{self.slowest:.2f} s in the slowest partition of each pass ({self.ranks:.2f} s in all partitions), "
            f"{between:.2f} s sending and adding up, {driver:.2f} s driver{restarts}{star}\n"
        )


class Collective(ABC):
    """Interface of the ranks; subclasses define `size`, `_exchange`, `restart` and `close`."""

    size = 0

    def __init__(self) -> None:
        self.costs = Costs()
        self._deferred: list[Call] = []
        self._kept: dict[str, Call] = {}  # calls that are repeated after a restart
        self.weights: np.ndarray | None = None  # of all rows, f8[n]; rows of weight 0 are left out

    @abstractmethod
    def _exchange(self, calls: list[Call], add: bool) -> list[Any]:
        """Execute calls on all ranks; returns the results of the last one in the order of the rows.

        add: the list holds their sum only.  Raises LostError if ranks are lost.
        """

    def restart(self) -> None:
        """After a LostError: wait for the restarted tasks, which read their rows again, and repeat the kept calls."""
        self._deferred = list(self._kept.values())

    def surviving(self, request: Callable[[], Any], restart: Callable[[], None] | None = None) -> Any:
        """Return request(); after each loss of ranks, restart and call it again."""
        while True:
            try:
                return request()
            except LostError:
                (restart or self.restart)()

    def close(self) -> None:  # noqa: B027  optional
        """Release the ranks."""

    def defer(self, name: str, *arguments: Any) -> None:
        """Queue a call without a result; it is sent with the next request."""
        self._deferred.append((name, arguments))

    def keep(self, name: str, *arguments: Any) -> None:
        """As `defer`, and repeat the call after each restart; the last call of a name is kept."""
        self._kept[name] = (name, arguments)
        self.defer(name, *arguments)

    def gather(self, name: str, *arguments: Any) -> list[Any]:
        """The results of all ranks, in the order of the rows."""
        return self._request(name, arguments, False)

    def sum(self, name: str, *arguments: Any) -> Any:
        """The sum of all ranks' results, added in the order of the rows: a number, an array, or a tuple of them."""
        return reduce(added, self._request(name, arguments, True))

    def _request(self, name: str, arguments: tuple, add: bool) -> list[Any]:
        calls, self._deferred = [*self._deferred, (name, arguments)], []
        began = time.perf_counter()
        results = self._exchange(calls, add)
        self.costs.whole += time.perf_counter() - began
        self.costs.passes += 1
        return results


def added(a: Any, b: Any) -> Any:
    """The sum of two results."""
    return tuple(map(added, a, b)) if isinstance(a, tuple) else a + b
