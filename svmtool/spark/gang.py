"""One Spark job that holds the rows as long as a run lasts: each task parses its partition and serves the driver.

A pass over the rows is a message to the tasks and their answers, for a job of its own would take Spark some 50 ms.
Spark does what it is for: it reads, places tasks near the data, and starts one elsewhere if its executor is lost.  That
one parses its partition again, connects, and is told all that its predecessor was told (block.py).  Where the cluster
has no room for as many tasks any more, the job begins anew in fewer partitions, and all are told all.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from svmtool.errors import DataError, SvmtoolError
from svmtool.spark.reading import Text, parse
from svmtool.spark.session import Session, sentence, told
from svmtool.spark.team import Team
from svmtool.spark.tree import LOOK_SECONDS, WHAT, Address, Member, told_far

END_SECONDS = 5.0  # for the tasks to end once they have been told
ROOM_SECONDS = 30.0  # for the cluster to find room for all tasks
GROUP = "svmtool"


class Gang(Team):
    """The tasks of one job as a crew; see Crew.  on_wait: called every now and then while the rows are being read."""

    def __init__(self, session: Session, text: Text, on_wait: Callable[[float], None] | None = None):
        self.session, self.text = session, text
        self._local = session.master.startswith("local[") or session.master == "local"
        host = "127.0.0.1" if self._local else session.context.getConf().get("spark.driver.host")
        super().__init__("127.0.0.1" if host == "127.0.0.1" else "0.0.0.0", text.partitions)
        self._address, self._on_wait = (host, self.door.port), on_wait
        self._failure: BaseException | None = None
        try:
            self._start()
            self._await()
        except BaseException:
            self.close()
            raise
        self._on_wait = None
        self.costs.reading = time.perf_counter() - self.costs.started

    def _start(self) -> None:
        address, key, context = self._address, self.key, self.session.context
        epoch, size = self._epoch, self.size
        threads_each = max(1, self.session.slots // self.size) if self._local else 1
        lines = self.text.lines(self.size)

        def work() -> None:
            failure: BaseException = SvmtoolError(f"{WHAT}: the tasks have ended before their time")
            try:
                context.setJobGroup(f"{GROUP} {epoch}", "svmtool: rows")
                lines.mapPartitionsWithIndex(
                    lambda index, part: serve((epoch, index), size, part, address, key, threads_each)
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

    def _await(self) -> None:
        """Until the tasks of all partitions are there, which may be fewer then."""
        crowded = time.perf_counter()  # since when some task has had no room
        while True:
            with self._changed:
                if len(self._links) == self.size:
                    return
                self._check()
                self._changed.wait(LOOK_SECONDS)
            now = time.perf_counter()
            if self._on_wait is not None:
                self._on_wait(now - self.costs.started)
            running = self._running()
            if running >= self.size:
                crowded = now
            elif running and now - crowded > ROOM_SECONDS:
                self._begin_anew(running)
                crowded = now

    def _check(self) -> None:
        if self._failure is not None:
            raise SvmtoolError(sentence(self._failure, WHAT)) from self._failure

    def _refused(self, index: int, error: Exception) -> Exception:
        if isinstance(error, DataError):
            self.close()  # the tasks would keep every core from the job that looks for the line
            with told(WHAT):
                return self.text.fault(self.size, index, error)
        return error

    def _end_job(self, epoch: int) -> None:
        if self._dismiss() < self.size:
            with contextlib.suppress(Exception):  # the session may have ended already
                self.session.context.cancelJobGroup(f"{GROUP} {epoch}")
        self._job.join(END_SECONDS)  # a session that ends before its job writes of it

    def close(self) -> None:
        self.costs.end()
        self._end_job(self._epoch)
        super().close()


def _stages(tracker: Any, job: int) -> list[Any]:
    """What Spark knows of the stages of a job."""
    info = tracker.getJobInfo(job)
    found = [tracker.getStageInfo(stage) for stage in info.stageIds] if info is not None else []
    return [stage for stage in found if stage is not None]


def serve(
    place: tuple[int, int], size: int, lines: Iterable[bytes], driver: Address, key: bytes, threads_each: int
) -> Iterable[None]:
    """What a task does: parse the partition, then make the calls that come until there are no more.

    place: number of the job and of its partition, one of `size`.
    """
    from svmtool.compiled import threads
    from svmtool.spark.block import Block
    from svmtool.training.problem_set import DENSE_BELOW

    threads.set_count(threads_each)
    block: Block | Exception
    try:
        block = Block(parse(lines), DENSE_BELOW)
    except Exception as e:  # the driver tells the user
        block = told_far(e)
    with contextlib.closing(Member(place, size, block, driver, key)) as member:
        member.serve()
    return iter(())
