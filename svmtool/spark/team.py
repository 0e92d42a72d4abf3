"""A crew whose blocks are reached over connections, in a tree of tasks; see tree.py.  Knows nothing of Spark."""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import threading
from abc import abstractmethod
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

from svmtool.spark.crew import Call, Crew
from svmtool.spark.door import Door
from svmtool.spark.tree import FAN, LOOK_SECONDS, Address, Answer, Fault, Place, Question, Taken, Torn, joined, shape

TREES = 3  # that tasks may fail to form, all of them there, before the driver asks every task itself


class Link:
    """A connection to the task of one partition.  address: where those below it call; fresh: it knows nothing yet."""

    def __init__(self, connection: Connection, address: Address | None):
        self.connection, self.address, self.fresh = connection, address, True


class _Again(Exception):
    """A question has to be asked once more."""


class Team(Crew):
    """The driver's side.  A kind says `_await`, `size`, `_check`, `_refused`, and lets Members come to `door`.

    host: address on which the driver listens.
    """

    def __init__(self, host: str, size: int):
        super().__init__()
        self.size = size
        self.key = os.urandom(32)
        self._links: dict[int, Link] = {}
        self._gone: list[Link] = []  # to be closed
        self._changed = threading.Condition()  # guards all that `_welcome` changes
        self._over = False
        self._epoch = 0  # tasks of an earlier job come too late
        self._whole = False  # the tree stands, and no task has come since
        self._generation = self._serial = 0
        self._torn = 0  # trees that no question has gone through, since a task has come or gone
        self._first: tuple[int, ...] = ()  # tasks below the driver
        self._selector = selectors.DefaultSelector()
        self.door = Door(host, self.key, self._welcome, max(128, size))

    @abstractmethod
    def _await(self) -> None:
        """Until the tasks of all partitions are there; SvmtoolError if they will not come."""

    def _check(self) -> None:  # noqa: B027  a kind may have nothing to look at
        """Called, with the lock, while the tasks keep silent; SvmtoolError if they will do so for ever."""

    def _refused(self, index: int, error: Exception) -> Exception:
        """What a block has refused, for the user."""
        return error

    def _welcome(self, connection: Connection, hello: tuple[tuple[int, int], Address | None]) -> None:
        """Take the tasks as they come; one that comes for the second time takes the place of the first."""
        (epoch, index), address = hello
        with self._changed:
            if self._over or epoch != self._epoch:
                connection.close()
                return
            if index in self._links:
                self.costs.lost += 1
                self._gone.append(self._links[index])
            self._links[index] = Link(connection, address)
            self._whole, self._torn = False, 0
            self._changed.notify_all()

    def _exchange(self, calls: list[Call], add: bool) -> list[Any]:
        self._serial += 1
        raw = pickle.dumps(Question(self._serial, calls, add), pickle.HIGHEST_PROTOCOL)
        while True:
            self._await()
            with contextlib.suppress(_Again):
                if not self._whole:
                    self._plant()
                answer = joined(self._answers(raw), add)
                break
        self._torn = 0
        if isinstance(answer.what, Fault):
            raise self._refused(*answer.what)
        self.costs.slowest += answer.slowest
        self.costs.blocks += answer.together
        return [answer.what] if add else answer.what

    def _plant(self) -> None:
        """Give every task its place in the tree, and a new one all that it has missed."""
        with self._changed:
            links = dict(self._links)
            self._whole = len(links) == self.size
            gone, self._gone = self._gone, []
        for link in gone:
            link.connection.close()
        if not self._whole:
            raise _Again
        self._generation += 1
        self._torn += 1
        self.costs.direct |= self._torn > TREES
        self._first, places = shape(self.size, self.size if self.costs.direct else FAN)
        self._selector.close()
        self._selector = selectors.DefaultSelector()
        for index, link in links.items():
            self._selector.register(link.connection, selectors.EVENT_READ, (index, link))
        for index, link in links.items():
            parent, children = places[index]
            address = None if parent is None else links[parent].address
            place = Place(self._generation, address, children, self.log if link.fresh else [])
            self._send(index, link, pickle.dumps(place, pickle.HIGHEST_PROTOCOL))
            link.fresh = False
        taken = 0
        while taken < self.size:
            taken += sum(isinstance(message, Taken) for _, message in self._heard())

    def _answers(self, raw: bytes) -> list[Answer]:
        """What the tasks below the driver answer, in order."""
        for index in self._first:
            self._send(index, self._links.get(index), raw)
        answers: dict[int, Answer] = {}
        while len(answers) < len(self._first):
            answers.update(self._heard())
        return [answers[index] for index in self._first]

    def _send(self, index: int, link: Link | None, raw: bytes) -> None:
        if link is None:
            raise _Again
        try:
            link.connection.send_bytes(raw)
        except (OSError, ValueError):
            self._lose(index, link)

    def _heard(self) -> Iterator[tuple[int, Any]]:
        """What tasks have said by now, in this generation of the tree."""
        ready = self._selector.select(LOOK_SECONDS)
        for key, _ in ready:
            index, link = key.data
            try:
                message = link.connection.recv()
            except (EOFError, OSError):
                self._lose(index, link)
            if message.generation != self._generation:
                continue
            if isinstance(message, Torn):
                self._whole = False
                raise _Again
            yield index, message
        with self._changed:
            if not self._whole:
                raise _Again
            if not ready:
                self._check()

    def _lose(self, index: int, link: Link) -> None:
        with self._changed:
            if self._links.get(index) is link:
                del self._links[index]
                self.costs.lost += 1
                self._gone.append(link)
            self._whole, self._torn = False, 0
        raise _Again

    def _dismiss(self) -> int:
        """Tell all tasks that it is over; returns how many there were."""
        with self._changed:
            links, self._links, self._whole = list(self._links.values()), {}, False
            gone, self._gone = self._gone, []
        for link in links:
            with contextlib.suppress(OSError, ValueError):
                link.connection.send_bytes(pickle.dumps(None))
        for link in [*links, *gone]:
            link.connection.close()
        return len(links)

    def close(self) -> None:
        with self._changed:
            self._over = True
        self.costs.end()
        self._dismiss()
        self.door.close()
        self._selector.close()
