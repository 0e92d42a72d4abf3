"""One Spark job that holds the rows as long as a run lasts: each task parses its partition and serves the driver.

A pass over the rows is a message to the tasks and their answers, for a job of its own would take Spark some 50 ms.
Spark does what it is for: it reads, places tasks near the data, and starts one elsewhere if its executor is lost.  That
one parses its partition again, connects, and is told all that its predecessor was told (block.py).  Where the cluster
has no room for as many tasks any more, the job begins anew in fewer partitions, and all are told all.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, wait
from typing import Any

from svmtool.errors import DataError, SvmtoolError
from svmtool.spark.crew import Call, Crew
from svmtool.spark.reading import Text, parse
from svmtool.spark.session import Session, sentence, told

LOOK_SECONDS = 0.5  # between two looks at the job while nothing comes
END_SECONDS = 5.0  # for the tasks to end once they have been told
ROOM_SECONDS = 30.0  # for the cluster to find room for all tasks
WHAT, GROUP = "ERROR: --spark", "svmtool"


class _Link:
    """A connection to the task of one partition; fresh: it has been told nothing."""

    def __init__(self, connection: Connection):
        self.connection, self.fresh = connection, True


class Gang(Crew):
    """The tasks of one job as a crew; see Crew.  on_wait: called every now and then while the rows are being read."""

    def __init__(self, session: Session, text: Text, on_wait: Callable[[float], None] | None = None):
        super().__init__()
        self.session, self.text = session, text
        self.size = text.partitions
        self._key = os.urandom(32)
        local = session.master.startswith("local[") or session.master == "local"
        self._local = local
        host = "127.0.0.1" if local else session.context.getConf().get("spark.driver.host")
        own = "127.0.0.1" if host == "127.0.0.1" else "0.0.0.0"
        self._listener = Listener((own, 0), backlog=max(16, self.size), authkey=self._key)
        self._address = host, self._listener.address[1]
        self._links: dict[int, _Link] = {}
        self._changed = threading.Condition()
        self._failure: BaseException | None = None
        self._over = False
        self._epoch = 0  # tasks of an earlier job come too late
        threading.Thread(target=self._accept, daemon=True).start()
        try:
            self._start()
            self._await(on_wait)
        except BaseException:
            self.close()
            raise
        self.costs.reading = time.perf_counter() - self.costs.started

    def _start(self) -> None:
        address, key, context = self._address, self._key, self.session.context
        epoch = self._epoch
        threads_each = max(1, self.session.slots // self.size) if self._local else 1
        lines = self.text.lines(self.size)

        def work() -> None:
            failure: BaseException = SvmtoolError(f"{WHAT}: the tasks have ended before their time")
            try:
                context.setJobGroup(f"{GROUP} {epoch}", "svmtool: rows")
                lines.mapPartitionsWithIndex(
                    lambda index, part: serve((epoch, index), part, address, key, threads_each)
                ).count()
            except BaseException as e:  # told by whoever waits for an answer
                failure = e
            with self._changed:
                if epoch == self._epoch:
                    self._failure = failure
                    self._changed.notify_all()

        self._job = threading.Thread(target=work, daemon=True)
        self._job.start()

    def _running(self) -> int:
        """How many tasks of the job Spark runs now."""
        tracker = self.session.context.statusTracker()
        stages = [s for job in tracker.getJobIdsForGroup(f"{GROUP} {self._epoch}") for s in _stages(tracker, job)]
        return sum(stage.numActiveTasks for stage in stages)

    def _begin_anew(self, partitions: int) -> None:
        """The same rows in so many partitions."""
        with self._changed:
            self._epoch += 1  # from now on nothing of the job counts that ends
        self._end_job(self._epoch - 1)
        self.size = partitions
        self.costs.lost += partitions
        self._start()

    def _accept(self) -> None:
        """Take the tasks as they come; one that comes for the second time takes the place of the first."""
        while not self._over:
            try:
                connection = self._listener.accept()
                prompt(connection)
                epoch, index = connection.recv()
            except (AuthenticationError, EOFError, OSError):
                continue
            with self._changed:
                if epoch != self._epoch:
                    connection.close()
                    continue
                self.costs.lost += index in self._links
                self._links[index] = _Link(connection)
                self._changed.notify_all()

    def _await(self, on_wait: Callable[[float], None] | None = None) -> bool:
        """Until the tasks of all partitions are there.  False: the job has begun anew, in fewer."""
        crowded, anew = time.perf_counter(), False  # since when some task has had no room
        while True:
            with self._changed:
                if len(self._links) == self.size:
                    return not anew
                if self._failure is not None:
                    raise SvmtoolError(sentence(self._failure, WHAT)) from self._failure
                self._changed.wait(LOOK_SECONDS)
            now = time.perf_counter()
            if on_wait is not None:
                on_wait(now - self.costs.started)
            running = self._running()
            if running >= self.size:
                crowded = now
            elif running and now - crowded > ROOM_SECONDS:
                self._begin_anew(running)
                crowded, anew = now, True

    def _exchange(self, calls: list[Call]) -> list[Any]:
        answers: dict[int, Any] = {}
        slowest = 0.0
        while len(answers) < self.size:
            if not self._await():
                answers.clear()
            missing = set(range(self.size)) - answers.keys()
            asked = {self._links[index].connection: index for index in missing if self._send(index, calls)}
            while asked:
                for connection in wait(list(asked), LOOK_SECONDS):
                    index = asked.pop(connection)
                    with self._changed:
                        link = self._links.get(index)
                    if link is None or link.connection is not connection:
                        continue  # another task has come for it
                    try:
                        answer, seconds = connection.recv()
                    except (EOFError, OSError):
                        self._lose(index, connection)
                        continue
                    answers[index] = answer
                    slowest = max(slowest, seconds)
                    self.costs.blocks += seconds
                with self._changed:
                    for connection, index in list(asked.items()):
                        if index not in self._links or self._links[index].connection is not connection:
                            del asked[connection]
                            connection.close()
                    if self._failure is not None and asked:
                        raise SvmtoolError(sentence(self._failure, WHAT)) from self._failure
        self.costs.slowest += slowest
        for index in range(self.size):  # of several faults the first in the order of the rows is told
            if isinstance(answers[index], BaseException):
                raise self._told(index, answers[index])
        return [answers[index] for index in range(self.size)]

    def _send(self, index: int, calls: list[Call]) -> bool:
        """Whether the task of a partition has been told its calls; one that is gone is lost."""
        link = self._links[index]
        try:
            link.connection.send([*self.log, *calls] if link.fresh else calls)
        except (OSError, ValueError):  # ValueError: closed because another has come
            self._lose(index, link.connection)
            return False
        link.fresh = False
        return True

    def _lose(self, index: int, connection: Connection) -> None:
        with self._changed:
            link = self._links.get(index)
            if link is not None and link.connection is connection:
                del self._links[index]
                self.costs.lost += 1
        connection.close()

    def _told(self, index: int, error: BaseException) -> BaseException:
        """What a task has refused, for the user."""
        if isinstance(error, DataError):
            self.close()  # the tasks would keep every core from the job that looks for the line
            with told(WHAT):
                return self.text.fault(self.size, index, error)
        return error

    def _end_job(self, epoch: int) -> None:
        with self._changed:
            links, self._links = list(self._links.values()), {}
        for link in links:
            with contextlib.suppress(OSError, ValueError):
                link.connection.send(None)
                link.connection.close()
        if len(links) < self.size:
            with contextlib.suppress(Exception):  # the session may have ended already
                self.session.context.cancelJobGroup(f"{GROUP} {epoch}")
        self._job.join(END_SECONDS)  # a session that ends before its job writes of it

    def close(self) -> None:
        self._over = True
        self.costs.end()
        self._end_job(self._epoch)
        self._listener.close()


def _stages(tracker: Any, job: int) -> list[Any]:
    """What Spark knows of the stages of a job."""
    info = tracker.getJobInfo(job)
    found = [tracker.getStageInfo(stage) for stage in info.stageIds] if info is not None else []
    return [stage for stage in found if stage is not None]


def prompt(connection: Connection) -> None:
    """Send at once what is to be sent, and notice when the other side has gone without a word."""
    with socket.socket(fileno=os.dup(connection.fileno())) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def serve(
    place: tuple[int, int], lines: Iterable[bytes], address: tuple[str, int], key: bytes, threads_each: int
) -> Iterable[None]:
    """What a task does: parse the partition, then make the calls that come until there are no more.

    place: number of the job and of its partition.
    """
    from svmtool.compiled import threads
    from svmtool.spark.block import Block
    from svmtool.training.problem_set import DENSE_BELOW

    threads.set_count(threads_each)
    block: Block | None = None
    fault: Exception | None = None
    try:
        block = Block(parse(lines), DENSE_BELOW)
    except Exception as e:  # the driver tells the user
        fault = told_far(e)
    with Client(address, authkey=key) as connection:
        prompt(connection)
        connection.send(place)
        while True:
            try:
                calls = connection.recv()
                if calls is None:
                    return iter(())
                began = time.perf_counter()
                answer: Any
                try:
                    answer = block.run(calls) if block is not None else fault
                except Exception as e:
                    answer = told_far(e)
                connection.send((answer, time.perf_counter() - began))
            except (EOFError, OSError):  # the driver has gone
                return iter(())


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
