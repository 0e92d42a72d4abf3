"""A task of the barrier stage: it holds one partition, answers the driver's requests and adds up the results below it.

Each rank has a connection to the driver.  Up to FAN of them the driver asks itself.  More form a tree (`topology`):
the driver asks the first few, each passes the question on to those below it and adds their answers to its own.  Sums
are made in the order of the rows, so that the order in which answers arrive changes not a bit.  Where a rank cannot
reach the one above it the driver asks every rank itself.  A rank that loses a connection fails: Spark then starts all
tasks of the stage again.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from svmtool.distributed.collective import Call, added
from svmtool.distributed.listener import HELLO_SECONDS, Listener, connect, own_host
from svmtool.errors import DataError, SvmtoolError

FAN = 8  # ranks that the driver, or another rank, asks
WHAT = "ERROR: --spark"

Address = tuple[str, int]
Place = tuple[int | None, tuple[int, ...]]  # the rank above (None: the driver) and those below


class _OverError(Exception):
    """The driver ends the run."""


class Question(NamedTuple):
    """add: the sum of the answers to the last call is wanted, not each rank's."""

    calls: list[Call]
    add: bool


class Answer(NamedTuple):
    """what: the sum over a rank and all below it, or the list of their answers; or a Fault.

    slowest, together: seconds of the slowest rank among them, and of all.
    """

    what: Any
    slowest: float
    together: float


class Fault(NamedTuple):
    """Why a rank could not answer."""

    rank: int
    error: Exception


def topology(size: int, fan: int = FAN) -> tuple[tuple[int, ...], list[Place]]:
    """The ranks below the driver, and the place of each of `size` ranks.

    A rank and all below it are neighbours: those that follow it, up to the next of its own level.
    """
    places: list[Place] = [(None, ())] * size

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
    return Answer(what, max(part.slowest for part in parts), sum(part.together for part in parts))


class Rank:
    """Rank `rank` of `size`, connected to the driver; OSError, EOFError or AuthenticationError where that fails.

    attempt: a number that grows from one attempt of the stage to the next; see stage.py.
    all_gather: sends this rank's text to all and returns those of all, by rank.
    """

    def __init__(
        self, rank: int, size: int, attempt: int, driver: Address, key: bytes, all_gather: Callable[[str], list[str]]
    ):
        self._rank, self._key, self._block = rank, key, None
        self._place = topology(size)[1][rank]
        self._driver = self._above = connect(driver, key)
        self._below: list[Connection] = []
        self._changed = threading.Condition()
        self._children: dict[int, Connection] = {}
        self._listener: Listener | None = None
        self._meeting: threading.Thread | None = None
        self._addresses: list[str] = []
        if size > FAN:
            text = ""
            if self._place[1]:
                host = own_host(self._driver)
                self._listener = Listener(host, key, self._accepted)
                text = f"{host} {self._listener.port}"
            # it polls, each second: meanwhile the rows are read
            self._meeting = threading.Thread(target=lambda: self._addresses.extend(all_gather(text)), daemon=True)
            self._meeting.start()
        self._driver.send((rank, attempt))

    def serve(self, block: Any) -> None:
        """Answer with `block`, or with the exception that it could not be made for, until the driver ends the run.

        EOFError or OSError where a connection is lost.
        """
        self._block = block
        reached = self._reach_parent()
        self._driver.send(reached)
        tree = self._driver.recv()
        if tree:  # all have reached the rank above them
            self._take_children()
        else:
            self._above = self._driver
        with contextlib.suppress(_OverError):
            while tree is not None:
                self._answer(self._next())

    def _accepted(self, connection: Connection, rank: int) -> None:
        with self._changed:
            self._children[rank] = connection
            self._changed.notify_all()

    def _reach_parent(self) -> bool:
        parent = self._place[0]
        if self._meeting is not None:
            self._meeting.join()
        if parent is None:
            return True
        try:
            host, port = self._addresses[parent].split()
            self._above = connect((host, int(port)), self._key)
            self._above.send(self._rank)
        except (OSError, EOFError, AuthenticationError, IndexError, ValueError):
            self._above = self._driver
            return False
        return True

    def _take_children(self) -> None:
        wanted = self._place[1]
        with self._changed:  # the last may still be in their handshake's thread
            if not self._changed.wait_for(lambda: all(child in self._children for child in wanted), HELLO_SECONDS):
                raise EOFError("a rank below this one has gone")
            self._below = [self._children[child] for child in wanted]

    def _next(self) -> bytes:
        """The next question as it came."""
        if self._driver in wait({self._driver, self._above}):
            raw = self._driver.recv_bytes()
            if pickle.loads(raw) is None:
                raise _OverError
            return raw
        return self._above.recv_bytes()

    def _answer(self, raw: bytes) -> None:
        """Answer for this rank and all below it."""
        question: Question = pickle.loads(raw)
        for child in self._below:
            child.send_bytes(raw)
        parts = [self._own(question), *self._answers_below()]
        self._above.send(joined(parts, question.add))

    def _answers_below(self) -> Iterator[Answer]:
        for child in self._below:
            if child not in wait([child, self._driver]):
                self._driver.recv_bytes()  # EOFError: it has gone
                raise _OverError
            yield child.recv()

    def _own(self, question: Question) -> Answer:
        began = time.perf_counter()
        what: Any
        try:
            if isinstance(self._block, Exception):
                raise self._block
            what = self._block.run(question.calls)  # type: ignore[attr-defined]
            what = what if question.add else [what]
        except Exception as e:
            self._block = portable(e)
            what = Fault(self._rank, self._block)
        seconds = time.perf_counter() - began
        return Answer(what, seconds, seconds)

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for connection in {self._driver, self._above, *self._below, *self._children.values()}:
            with contextlib.suppress(OSError):
                connection.close()


def portable(e: Exception) -> Exception:
    """An exception that can be sent and names where it comes from."""
    if isinstance(e, DataError):
        return e
    if isinstance(e, SvmtoolError):
        return SvmtoolError(str(e))
    if isinstance(e, MemoryError):
        return SvmtoolError(f"{WHAT}: an executor has not enough memory for its part of the rows: use more executors")
    import traceback

    return RuntimeError("in an executor: " + "".join(traceback.format_exception(e)))
