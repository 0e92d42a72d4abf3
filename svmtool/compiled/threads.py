"""Runs fixed blocks of work on threads; compiled loops release the GIL, so blocks run in parallel.

Blocks do not depend on the number of threads and results are combined in block order, so that any number of threads
gives the same bits.
"""

from __future__ import annotations

import collections
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from svmtool import limits, systems
from svmtool.integers import parse_count

TYPE_CHECKING = False  # typing is not imported at start
if TYPE_CHECKING:
    from typing import Any

before_work: Callable[[], object] | None = None  # what a worker calls before its blocks of a run
max_count: int | None = None  # limit of the number of threads under a limit of memory
_count: int | None = None
_tasks: Any = None  # the queue of the workers
_started = 0  # workers that wait on it
_wanted = 0  # workers in use by all calls of run_blocks
_changing = threading.Lock()  # guards these
# .inside: this thread runs blocks, so that nested calls use one thread; .count: threads set by `limited`
_here = threading.local()


def available() -> int:
    """Cores that this process may use: its affinity mask, at most OMP_NUM_THREADS."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        cores = os.cpu_count() or 1
    limit = parse_count(os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip())
    return min(cores, limit) if limit else cores


def set_count(n: int | None) -> None:
    """Use n threads from now on (None: `available()`), except within `limited`."""
    global _count
    _count = n


def count() -> int:
    """Number of threads that the calling thread may use."""
    global _count
    n = getattr(_here, "count", None)
    if callable(n):
        n = _here.count = n()
    if n is None:
        if _count is None:
            _count = available()
        n = _count
    return n if max_count is None else min(n, max_count)


@contextmanager
def limited(n: int | Callable[[], int]) -> Iterator[None]:
    """Within this block, calls of this thread and of its workers use n threads; a function counts them once needed."""
    before, _here.count = getattr(_here, "count", None), n
    try:
        yield
    finally:
        _here.count = before


def alone() -> bool:
    """Whether blocks would run one after the other on the calling thread."""
    return count() == 1 or getattr(_here, "inside", False)


def beside(n_blocks: int) -> int:
    """How many of n_blocks blocks would run at the same time."""
    return 1 if n_blocks == 1 or alone() else min(count(), n_blocks)


def _work(tasks) -> None:
    """Run tasks from the queue, until the process ends."""
    while True:
        tasks.get()()


def _add_workers(workers: int):
    """The task queue, with this many workers more than other runs need; `run_blocks` takes them off again."""
    global _tasks, _started, _wanted
    with _changing:
        if _tasks is None:
            import queue

            _tasks = queue.SimpleQueue()
        _wanted += workers
        try:
            while _started < _wanted:
                threading.Thread(target=_work, args=(_tasks,), daemon=True).start()
                _started += 1
        except BaseException:
            _wanted -= workers
            raise
        return _tasks


def _after_fork() -> None:
    """The child of a fork has none of the workers."""
    global _tasks, _changing, _started, _wanted
    _tasks, _changing, _started, _wanted = None, threading.Lock(), 0, 0


systems.after_fork(after_in_child=_after_fork)


def run_blocks(work: Callable[[int], None], n_blocks: int, short: bool = False) -> None:
    """Call work(0) ... work(n_blocks - 1) on up to count() threads; raises the first exception.

    A nested call uses the calling thread only.  short: blocks may take less time than threads need to share them: the
    first runs before the others, and shows whether they are worth threads.
    """
    global _wanted
    if n_blocks == 1:
        work(0)
        return
    left = collections.deque(range(n_blocks))  # popleft is atomic, without the GIL too
    workers = beside(n_blocks) - 1
    if short and workers > 0:
        began = time.perf_counter()
        work(left.popleft())
        # a thread may wait for the interpreter as long as this: SVCs with probabilities take .7 of the time on iris and
        # .75 on wine, as long on digits
        if (n_blocks - 1) * (time.perf_counter() - began) < sys.getswitchinterval():
            workers = 0
    if workers <= 0:
        for b in left:
            work(b)
        return
    tasks, threads_of_run = _add_workers(workers), count()
    failures: list[BaseException] = []
    ended = limits.current()
    finished, joining, begun, over = threading.Semaphore(0), threading.Lock(), 0, False

    def blocks() -> Iterator[int]:
        with suppress(IndexError):
            while not failures:
                yield left.popleft()

    def drain() -> None:
        _here.inside = True
        try:
            for b in blocks():
                work(b)
        except BaseException as e:  # raised below
            failures.append(e)
        finally:
            _here.inside = False

    def worker() -> None:
        nonlocal begun
        with joining:
            if over:  # on a busy machine this thread may start when all work is done
                return
            begun += 1
        if before_work is not None:
            before_work()
        with limits.until(ended), limited(threads_of_run):
            drain()
        finished.release()

    try:
        for _ in range(workers):
            tasks.put(worker)
        drain()
        with joining:
            over = True
        for _ in range(begun):
            finished.acquire()
    finally:
        with _changing:
            _wanted -= workers
    if failures:
        raise failures[0]
