"""The blocks of a run as seen from the driver: told what to do, asked for sums.

`post` says what blocks shall do before the next question; `ask` sends both and waits.  All calls that change a block
are kept, so that a block in place of a lost one can be told them all; see block.py.  That takes the driver a vector of
the feature space for each step of the problem at hand.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from functools import reduce
from typing import Any

Call = tuple[str, tuple]

# calls that leave a block as it is; `gram` does not, for a Gram matrix is kept up to date
QUESTIONS = frozenset(
    {
        "facts", "classes", "label_sums", "ends", "draw", "gradient_at_zero", "along", "kinks", "slopes_product",
        "curvature_product", "diagonal", "sides", "balanced_sums", "tell",
    }
)  # fmt: skip


class Costs:
    """What a run cost, in seconds: `passes` questions; `whole` from question to answer; `slowest` of the blocks in
    them, `blocks` all of them together; `reading` until the rows were there; `lost`: blocks made anew;
    `direct`: whether tasks could not reach each other, so that the driver asked all of them itself."""

    def __init__(self) -> None:
        self.passes = self.lost = 0
        self.direct = False
        self.whole = self.slowest = self.blocks = self.reading = 0.0
        self.started, self.ended = time.perf_counter(), 0.0

    def end(self) -> None:
        """What comes from now on does not count."""
        self.ended = self.ended or time.perf_counter()

    def line(self, blocks: int) -> str:
        """One line for the user."""
        whole = (self.ended or time.perf_counter()) - self.started
        driver = max(whole - self.reading - self.whole, 0.0)
        between = max(self.whole - self.slowest, 0.0)
        lost = f"; {self.lost} lost and made anew" if self.lost else ""
        direct = "; tasks can't reach each other: the driver added up all answers" if self.direct else ""
        return (
            f"Spark: {blocks} partitions, {self.passes} passes, {whole:.2f} s in all: {self.reading:.2f} s reading, "
            f"{self.slowest:.2f} s in the slowest partition of each pass ({self.blocks:.2f} s in all partitions), "
            f"{between:.2f} s sending and adding up, {driver:.2f} s driver{lost}{direct}\n"
        )


class Crew(ABC):
    """The blocks of a run.  A kind says `_exchange`, `size`, `close`."""

    size = 0

    def __init__(self) -> None:
        self.log: list[Call] = []
        self.costs = Costs()
        self._posted: list[Call] = []

    @abstractmethod
    def _exchange(self, calls: list[Call], add: bool) -> list[Any]:
        """Have all blocks make these calls, those of the log before them where a block is new; answers in order.

        add: the answers of neighbours may have been added up.
        """

    def close(self) -> None:  # noqa: B027  a kind may have nothing to give back
        """Give the blocks up."""

    def post(self, name: str, *arguments: Any) -> None:
        """What blocks shall do before the next question."""
        self._posted.append((name, arguments))

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """The blocks' answers, in the order of the rows."""
        return self._asked(name, arguments, False)

    def total(self, name: str, *arguments: Any) -> Any:
        """The sum of the blocks' answers (numbers, arrays, or tuples of them), always in the same order."""
        return reduce(added, self._asked(name, arguments, True))

    def _asked(self, name: str, arguments: tuple, add: bool) -> list[Any]:
        calls, self._posted = [*self._posted, (name, arguments)], []
        began = time.perf_counter()
        answers = self._exchange(calls, add)
        self.costs.whole += time.perf_counter() - began
        self.costs.passes += 1
        self.log += [call for call in calls if call[0] not in QUESTIONS]
        return answers

    def mark(self) -> int:
        """What `forget` may go back to."""
        return len(self.log)

    def forget(self, mark: int) -> None:
        """Calls since then no longer matter: the next one makes blocks begin anew."""
        del self.log[mark:]
        self._posted.clear()


def added(a: Any, b: Any) -> Any:
    """The sum of two answers."""
    return tuple(map(added, a, b)) if isinstance(a, tuple) else a + b
