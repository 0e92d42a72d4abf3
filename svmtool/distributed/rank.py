"""A task of the barrier stage: holds one partition, executes the driver's requests and sums the results below it.

Each rank has a connection to the driver.  The driver sends requests to up to FANOUT ranks directly.  More ranks form a
tree (`topology`): each passes the request to its children and adds their results to its own.  Sums are made in the
order of the rows, so that they do not depend on the order of arrival.  If a rank cannot connect to its parent, the
driver sends requests to all ranks directly.  A rank that loses a connection fails, and Spark restarts all tasks.
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

FANOUT = 8  # children of the driver and of each rank, at most
PREFIX = "ERROR: --spark"  # of error messages

Address = tuple[str, int]
Place = tuple[int | None, tuple[int, ...]]  # parent (None: the driver) and children


class _EndOfRunError(Exception):
    """The driver has ended the run."""


class RemoteCalls(NamedTuple):
    """Calls for all ranks; add: return the sum of the last call's results instead of a list."""

    calls: list[Call]
    add: bool


class Answer(NamedTuple):
    """Answer of a rank and all below it.

    result: the sum, or the list, of their results; or a Fault.  slowest, total: seconds of the slowest of these ranks,
    and of all together.
    """

    result: Any
    slowest: float
    total: float


class Fault(NamedTuple):
    """The error of a rank that could not execute a request."""

    rank: int
    error: Exception


def topology(size: int, fanout: int = FANOUT) -> tuple[tuple[int, ...], list[Place]]:
    """The children of the driver, and the place of each of `size` ranks in the tree.

    A rank's subtree consists of the ranks that follow it, up to its next sibling.
    """
    places: list[Place] = [(None, ())] * size

    def grow(parent: int | None, first: int, end: int) -> tuple[int, ...]:
        count = min(fanout, end - first)
        cuts = [first + (end - first) * k // count for k in range(count)] + [end]
        for low, high in zip(cuts, cuts[1:], strict=False):
            places[low] = parent, grow(low, low + 1, high)
        return tuple(cuts[:-1])

    return grow(None, 0, size), places


def joined(parts: Sequence[Answer], add: bool) -> Answer:
    """Combine answers in the order of their rows; the first Fault, if any, is the result."""
    results = [part.result for part in parts]
    result: Any = next((one for one in results if isinstance(one, Fault)), None)
    if result is None:
        result = reduce(added, results) if add else [one for several in results for one in several]
    return Answer(result, max(part.slowest for part in parts), sum(part.total for part in parts))


class Rank:
    """Rank `rank` of `size`, connected to the driver; raises OSError, EOFError or AuthenticationError.

    attempt: increases from one attempt of the stage to the next; see stage.py.
    all_gather: sends this rank's text to all ranks and returns the texts of all, by rank.
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
        self._gathering: threading.Thread | None = None
        self._addresses: list[str] = []
        if size > FANOUT:
            text = ""
            if self._place[1]:
                host = own_host(self._driver)
                self._listener = Listener(host, key, self._accepted)
                text = f"{host} {self._listener.port}"
            # all_gather polls once a second; the rows are read in the meantime
            self._gathering = threading.Thread(target=lambda: self._addresses.extend(all_gather(text)), daemon=True)
            self._gathering.start()
        self._driver.send((rank, attempt))

    def serve(self, block: Any) -> None:
        """Execute requests on `block` until the driver ends the run; block may be the exception raised on creating it.

        Raises EOFError or OSError if a connection is lost.
        """
        self._block = block
        self._driver.send(self._reach_parent())
        tree = self._driver.recv()
        if tree:  # all ranks are connected to their parents
            self._await_children()
        else:
            self._above = self._driver
        with contextlib.suppress(_EndOfRunError):
            while tree is not None:
                self._answer(self._next())

    def _accepted(self, connection: Connection, rank: int) -> None:
        with self._changed:
            self._children[rank] = connection
            self._changed.notify_all()

    def _reach_parent(self) -> bool:
        parent = self._place[0]
        if self._gathering is not None:
            self._gathering.join()
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

    def _await_children(self) -> None:
        wanted = self._place[1]
        with self._changed:  # the last handshakes may not be finished
            if not self._changed.wait_for(lambda: all(child in self._children for child in wanted), HELLO_SECONDS):
                raise EOFError("a child of this rank is lost")
            self._below = [self._children[child] for child in wanted]

    def _next(self) -> bytes:
        """The next request, pickled."""
        if self._driver in wait({self._driver, self._above}):
            raw = self._driver.recv_bytes()
            if pickle.loads(raw) is None:
                raise _EndOfRunError
            return raw
        return self._above.recv_bytes()

    def _answer(self, raw: bytes) -> None:
        """Execute a request on this rank and all below it, and send the answer to the parent."""
        request: RemoteCalls = pickle.loads(raw)
        for child in self._below:
            child.send_bytes(raw)
        self._above.send(joined([self._own(request), *self._answers_below()], request.add))

    def _answers_below(self) -> Iterator[Answer]:
        for child in self._below:
            if child not in wait([child, self._driver]):
                self._driver.recv_bytes()  # EOFError if the driver is lost
                raise _EndOfRunError
            yield child.recv()

    def _own(self, request: RemoteCalls) -> Answer:
        began = time.perf_counter()
        result: Any
        try:
            if isinstance(self._block, Exception):
                raise self._block
            result = self._block.run(request.calls)  # type: ignore[attr-defined]
            result = result if request.add else [result]
        except Exception as e:
            self._block = portable(e)
            result = Fault(self._rank, self._block)
        seconds = time.perf_counter() - began
        return Answer(result, seconds, seconds)

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        for connection in {self._driver, self._above, *self._below, *self._children.values()}:
            with contextlib.suppress(OSError):
                connection.close()


def portable(e: Exception) -> Exception:
    """Convert an exception to one that can be pickled and says where it was raised."""
    if isinstance(e, DataError):
        return e
    if isinstance(e, SvmtoolError):
        return SvmtoolError(str(e))
    if isinstance(e, MemoryError):
        return SvmtoolError(f"{PREFIX}: an executor does not have enough memory for its partition: use more executors")
    import traceback

    return RuntimeError("in an executor: " + "".join(traceback.format_exception(e)))
