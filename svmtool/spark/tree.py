"""Many tasks add up among themselves: the tree that they form, what goes along it, and a task's place in it.

The driver has connections to all tasks, for what keeps a run together.  Questions go to the first few tasks alone,
which pass them on to others and add the answers of those to their own.  Who is below whom follows from the number of
tasks, and sums are made in the order of the rows: when what answer comes changes not a bit.

When a task is lost all others stay, with what they hold.  The driver gives every task its place anew and asks again;
a block that had answered says again what it said.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from collections.abc import Sequence
from functools import reduce
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from svmtool.errors import DataError, SvmtoolError
from svmtool.spark.crew import Call, added
from svmtool.spark.door import Door, knock, own_host

FAN = 8  # tasks below the driver, and below another task, at most
LOOK_SECONDS = 0.5  # between two looks at the driver while those below are on their way
WHAT = "ERROR: --spark"

Address = tuple[str, int]


class Place(NamedTuple):
    """Driver to task: where it stands in the tree of this generation.  parent: None for the driver."""

    generation: int
    parent: Address | None
    children: tuple[int, ...]
    missed: list[Call]  # by a new block


class Taken(NamedTuple):
    """Task to driver: it has taken its place."""

    generation: int


class Torn(NamedTuple):
    """Task to driver: who is above or below it has gone, or cannot be reached."""

    generation: int
    why: str


class Question(NamedTuple):
    """serial: the number of this question in the run; add: the sum is wanted, not each block's answer."""

    serial: int
    calls: list[Call]
    add: bool


class Answer(NamedTuple):
    """what: the sum over the task and all below it, or the list of their answers; or a Fault.

    slowest, together: seconds of the slowest block among them, and of all."""

    generation: int
    what: Any
    slowest: float
    together: float


class Fault(NamedTuple):
    """What a block has refused to do; index: which one."""

    index: int
    error: Exception


def shape(size: int, fan: int = FAN) -> tuple[tuple[int, ...], list[tuple[int | None, tuple[int, ...]]]]:
    """The tasks below the driver, and parent (None: the driver) and children of each of `size` tasks.

    A task and all below it are neighbours: those behind it, up to the next one of its own level.
    """
    places: list[tuple[int | None, tuple[int, ...]]] = [(None, ())] * size

    def grow(parent: int | None, first: int, end: int) -> tuple[int, ...]:
        count = min(fan, end - first)
        cuts = [first + (end - first) * k // count for k in range(count)] + [end]
        for low, high in zip(cuts, cuts[1:], strict=False):
            places[low] = parent, grow(low, low + 1, high)
        return tuple(cuts[:-1])

    return grow(None, 0, size), places


def joined(parts: Sequence[Answer], add: bool) -> Answer:
    """The answer of several, in the order of their rows; of faults the first."""
    found = [part.what for part in parts]
    what: Any = next((one for one in found if isinstance(one, Fault)), None)
    if what is None:
        what = reduce(added, found) if add else [answer for several in found for answer in several]
    slowest = max(part.slowest for part in parts)
    return Answer(parts[0].generation, what, slowest, sum(part.together for part in parts))


class Member:
    """A task of the run with its block: comes to the driver, takes its place, answers until it is told to end.

    place: numbers of the job and of the partition, one of `size`; block: what runs calls, or what kept it from being
    made.  Raises OSError, EOFError or AuthenticationError where the driver is not to be reached.
    """

    def __init__(self, place: tuple[int, int], size: int, block: Any, driver: Address, key: bytes):
        self._index, self._block, self._key = place[1], block, key
        self._driver = knock(driver, key)
        self._changed = threading.Condition()
        self._callers: dict[tuple[int, int], Connection] = {}  # by generation and index
        self._door, address = None, None
        if shape(size)[1][self._index][1]:  # others will come
            host = own_host(self._driver)
            self._door = Door(host, key, self._welcome)
            address = host, self._door.port
        self._place = Place(-1, None, (), [])
        self._above: Any = self._driver  # Connection, or None
        self._below: list[Connection] = []
        self._said: tuple[int, Any, float] = -1, None, 0.0  # serial, answer and seconds of the last question
        self._driver.send((place, address))

    def serve(self) -> None:
        """Until the driver says that it is over, or has gone."""
        with contextlib.suppress(EOFError, OSError):
            while self._turn():
                continue

    def close(self) -> None:
        self._leave()
        if self._door is not None:
            self._door.close()
        with self._changed:
            for connection in self._callers.values():
                connection.close()
        self._driver.close()

    def _turn(self) -> bool:
        """Do what comes next; False: it is over."""
        ready = wait([self._driver] if self._above in (None, self._driver) else [self._driver, self._above])
        source = self._driver if self._driver in ready else self._above
        try:
            raw = source.recv_bytes()
        except (EOFError, OSError) as e:
            if source is self._driver:
                raise
            self._tear(e)
            return True
        message = pickle.loads(raw)
        if isinstance(message, Place):
            self._take(message)
        elif isinstance(message, Question):
            self._pass_on(message, raw)
        return message is not None

    def _welcome(self, connection: Connection, who: tuple[int, int]) -> None:
        with self._changed:
            self._callers[who] = connection
            self._changed.notify_all()

    def _take(self, place: Place) -> None:
        self._leave()
        self._place = place
        if place.missed:
            self._run(place.missed)
        try:
            if place.parent is None:
                self._above = self._driver
            else:
                self._above = knock(place.parent, self._key)
                self._above.send((place.generation, self._index))
        except (OSError, EOFError, AuthenticationError) as e:
            self._tear(e)
            return
        wanted = [(place.generation, child) for child in place.children]
        with self._changed:
            while not all(who in self._callers for who in wanted):
                if self._driver.poll():
                    return  # the driver has heard that one of them will not come
                self._changed.wait(LOOK_SECONDS)
            self._below = [self._callers.pop(who) for who in wanted]
            for who in [who for who in self._callers if who[0] < place.generation]:
                self._callers.pop(who).close()
        self._driver.send(Taken(place.generation))

    def _leave(self) -> None:
        for connection in self._below:
            connection.close()
        if self._above is not None and self._above is not self._driver:
            self._above.close()
        self._above, self._below = None, []

    def _tear(self, why: Exception) -> None:
        self._leave()
        self._driver.send(Torn(self._place.generation, str(why) or type(why).__name__))

    def _pass_on(self, question: Question, raw: bytes) -> None:
        """Answer a question for this task and all below it; not, if the driver has something else to say meanwhile."""
        try:
            for child in self._below:
                child.send_bytes(raw)
            parts = [self._own(question)]
            for child in self._below:
                if child not in wait([child, self._driver]):
                    return
                parts.append(child.recv())
            self._above.send(joined(parts, question.add))
        except (EOFError, OSError) as e:
            self._tear(e)

    def _own(self, question: Question) -> Answer:
        if question.serial != self._said[0]:
            began = time.perf_counter()
            answer = self._run(question.calls)
            self._said = question.serial, answer, time.perf_counter() - began
        _, answer, seconds = self._said
        if isinstance(answer, Exception):
            answer = Fault(self._index, answer)
        elif not question.add:
            answer = [answer]
        return Answer(self._place.generation, answer, seconds, seconds)

    def _run(self, calls: list[Call]) -> Any:
        """What the block answers; why not, once it has failed."""
        if isinstance(self._block, Exception):
            return self._block
        try:
            return self._block.run(calls)
        except Exception as e:
            self._block = told_far(e)
            return self._block


def told_far(e: Exception) -> Exception:
    """An exception that can travel and says where it comes from."""
    if isinstance(e, DataError):
        return e
    if isinstance(e, SvmtoolError):
        return SvmtoolError(str(e))
    if isinstance(e, MemoryError):
        return SvmtoolError(f"{WHAT}: an executor has not enough memory for its part of the rows: use more executors")
    import traceback

    return RuntimeError("in an executor: " + "".join(traceback.format_exception(e)))
