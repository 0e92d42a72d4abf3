"""The barrier stage that holds the rows during a run, and the driver's connections to its tasks.

Spark reads the rows, starts all tasks at once or none, and restarts all of them if one is lost (for stages of a
shuffle; a result stage would fail).  Requests are messages to these tasks, because a Spark job for each would take some
50 ms.  After a loss the run is resumed from the best weights, which the driver holds; see reductions.py.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import threading
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from svmtool.distributed.collective import Call, Collective, LostError
from svmtool.distributed.listener import Listener
from svmtool.distributed.rank import (
    FANOUT,
    PREFIX,
    Address,
    Answer,
    Fault,
    Rank,
    RemoteCalls,
    joined,
    portable,
    topology,
)
from svmtool.distributed.reading import Text
from svmtool.distributed.session import Session, error_text, spark_errors
from svmtool.errors import DataError, SvmtoolError
from svmtool.progress import doing

POLL_SECONDS = 0.5  # between two checks of the job while the driver waits for tasks
END_SECONDS = 5.0  # time limit for tasks to end after the driver's last message
GROUP = "svmtool"


class Ranks(Collective):
    """The driver's side of `size` ranks that connect to `listener`; independent of Spark.

    host: the interface on which the driver listens.
    """

    def __init__(self, host: str, size: int):
        super().__init__()
        self.size, self.key = size, os.urandom(32)
        self._links: dict[int, tuple[int, Connection]] = {}  # rank -> attempt and connection
        self._changed = threading.Condition()  # guards _links, _stale and _over
        self._over = False
        self._stale: list[Connection] = []  # connections of a lost attempt, to be closed
        self._current: list[Connection] = []  # of all ranks, by rank
        self._children: list[Connection] = []  # of the ranks that the driver sends requests to
        self._selector = selectors.DefaultSelector()
        self.listener = Listener(host, self.key, self._accepted, max(128, size))

    def _check(self) -> None:  # noqa: B027  optional
        """Called while waiting for ranks; raises SvmtoolError if they have failed."""

    def _error_of(self, rank: int, error: Exception) -> Exception:
        """The exception to raise for the error of a rank."""
        return error

    def _accepted(self, connection: Connection, hello: tuple[int, int]) -> None:
        """Keep the ranks of the newest attempt; the numbers of one attempt's tasks are consecutive."""
        rank, attempt = hello
        with self._changed:
            newest = max([attempt, *(known for known, _ in self._links.values())])
            if self._over or attempt <= newest - self.size:
                connection.close()
                return
            stale = [k for k, (known, _) in self._links.items() if known <= newest - self.size or k == rank]
            self._stale += [self._links.pop(k)[1] for k in stale]
            self._links[rank] = attempt, connection
            self._changed.notify_all()

    def await_all(self) -> None:
        """Wait until all ranks have read their rows, and find out whether they are connected as a tree."""
        while True:
            with contextlib.suppress(LostError):
                with self._changed:
                    while len(self._links) < self.size:
                        self._changed.wait(POLL_SECONDS)
                        self._check()
                    self._current = [self._links[rank][1] for rank in range(self.size)]
                self._selector.close()
                self._selector = selectors.DefaultSelector()
                for link in self._current:
                    self._selector.register(link, selectors.EVENT_READ)
                tree = all(self._receive(self._current))
                for link in self._current:
                    self._send(link, pickle.dumps(tree))
                self.costs.star |= not tree
                first, _ = topology(self.size, FANOUT if tree else self.size)
                self._children = [self._current[rank] for rank in first]
                return

    def _exchange(self, calls: list[Call], add: bool) -> list[Any]:
        raw = pickle.dumps(RemoteCalls(calls, add), pickle.HIGHEST_PROTOCOL)
        for link in self._children:
            self._send(link, raw)
        answer: Answer = joined(self._receive(self._children), add)
        if isinstance(answer.result, Fault):
            raise self._error_of(*answer.result)
        self.costs.slowest += answer.slowest
        self.costs.ranks += answer.total
        return [answer.result] if add else answer.result

    def _receive(self, links: list[Connection]) -> list[Any]:
        """Receive one message from each of these connections."""
        found: dict[Any, Any] = {}
        while len(found) < len(links):
            ready = [key.fileobj for key, _ in self._selector.select(POLL_SECONDS)]
            if self._stale:  # Spark has restarted the tasks
                self._lose()
            for link in ready:
                try:
                    found[link] = link.recv()
                except (EOFError, OSError):
                    self._lose()
            if not ready:
                self._check()
        return [found[link] for link in links]

    def _send(self, link: Connection, raw: bytes) -> None:
        try:
            link.send_bytes(raw)
        except (OSError, ValueError):
            self._lose()

    def _lose(self) -> None:
        """Close all connections, which ends the remaining ranks, and raise LostError."""
        with self._changed:
            for rank in [rank for rank, (_, link) in self._links.items() if link in self._current]:
                self._stale.append(self._links.pop(rank)[1])
            stale, self._stale = self._stale, []
        for link in stale:
            link.close()
        raise LostError

    def restart(self) -> None:
        super().restart()
        began = time.perf_counter()
        self.costs.restarts += 1
        self.await_all()
        self.costs.restarting += time.perf_counter() - began

    def _end_run(self) -> int:
        """End the run on all ranks; returns their number."""
        with self._changed:
            self._over = True
            links, self._links = [link for _, link in self._links.values()], {}
            stale, self._stale = self._stale, []
        for link in links:
            with contextlib.suppress(OSError, ValueError):
                link.send_bytes(pickle.dumps(None))
        for link in [*links, *stale]:
            link.close()
        return len(links)

    def close(self) -> None:
        self.costs.end()
        self._end_run()
        self.listener.close()
        self._selector.close()


class BarrierStage(Ranks):
    """The tasks of one barrier stage over the partitions of `text`."""

    def __init__(self, session: Session, text: Text):
        self.session, self.text = session, text
        super().__init__(session.listens_on, text.partitions)
        self._failure: BaseException | None = None
        try:
            self._start()
            with doing("reading"):
                self.await_all()
        except BaseException:
            self.close()
            raise
        self.costs.reading = time.perf_counter() - self.costs.started

    def _start(self) -> None:
        size, key, threads_each = self.size, self.key, self.session.threads_each(self.size)
        address, context = (self.session.host, self.listener.port), self.session.context
        rows, ordered = self.text.rows(), not self.text.is_shuffled

        def work() -> None:
            failure: BaseException = SvmtoolError(f"{PREFIX}: the tasks ended unexpectedly")
            try:
                context.setJobGroup(GROUP, "svmtool: rows")
                held = rows.barrier().mapPartitionsWithIndex(
                    lambda rank, part: serve(rank, size, part, ordered, address, key, threads_each)
                )
                held.repartition(1).count()  # a shuffle, because Spark restarts such a stage after a loss
            except BaseException as e:  # _check raises it
                failure = e
            self._failure = failure

        self._job = threading.Thread(target=work, daemon=True)
        self._job.start()

    def _check(self) -> None:
        if self._failure is not None:
            raise SvmtoolError(error_text(self._failure, PREFIX)) from self._failure

    def _error_of(self, rank: int, error: Exception) -> Exception:
        if isinstance(error, DataError):
            self.close()  # frees the cores for the job that finds the line
            with spark_errors(PREFIX):
                return self.text.fault(rank, error)
        return error

    def close(self) -> None:
        self.costs.end()
        if self._end_run() < self.size:
            with contextlib.suppress(Exception):  # the session may have ended already
                self.session.context.cancelJobGroup(GROUP)
        self._job.join(END_SECONDS)  # ending the session before its job would print errors
        super().close()


def serve(
    rank: int, size: int, part: Iterable[Any], ordered: bool, driver: Address, key: bytes, threads_each: int
) -> Iterator[None]:
    """Run a task: read the partition, then execute requests until the driver ends the run.

    ordered: see table_of.
    """
    from pyspark import BarrierTaskContext

    from svmtool.compiled import threads
    from svmtool.distributed.block import Block
    from svmtool.distributed.reading import table_of
    from svmtool.tolerances import DENSE_BELOW

    threads.set_count(threads_each)
    context = BarrierTaskContext.get()
    member = Rank(rank, size, context.taskAttemptId(), driver, key, context.allGather)
    block: Block | Exception
    with contextlib.closing(member):
        try:
            block = Block(table_of(part, ordered), DENSE_BELOW, rank)
        except Exception as e:  # the driver raises it
            block = portable(e)
        member.serve(block)
    return iter(())
