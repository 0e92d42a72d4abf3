"""Plain threads over fixed blocks of work.  Compiled loops release the GIL, so blocks run in parallel.

What a block is never depends on the number of threads, and results are
combined in block order: one thread or many give the same bits.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

from svmtool import limits
from svmtool.integers import parse_count

most: int | None = None  # threads at most, whatever is asked for: what a limit of memory has space for
_count: int | None = None
_pool: _Pool | None = None
_inside = threading.local()  # .yes is set in threads that already run blocks: what they call runs in turn


def available() -> int:
    """Cores this process may use: its affinity mask, and no more than OMP_NUM_THREADS."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        cores = os.cpu_count() or 1
    limit = parse_count(os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip())
    return min(cores, limit) if limit else cores


def set_count(n: int | None) -> None:
    """Use n threads from now on (None: `available()`)."""
    global _count
    _count = n


def count() -> int:
    global _count
    if _count is None:
        _count = available()
    return _count if most is None else min(_count, most)


def alone() -> bool:
    """Whether blocks would run in turn on the thread that asks."""
    return count() == 1 or getattr(_inside, "yes", False)


def beside(n_blocks: int) -> int:
    """How many of so many blocks would run at the same time."""
    return 1 if alone() else min(count(), n_blocks)


class _Pool:
    """Workers that wait on a queue; started once, they end with the process."""

    def __init__(self, size: int):
        import queue

        self.size = size
        self.tasks: queue.SimpleQueue = queue.SimpleQueue()
        for _ in range(size):
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            self.tasks.get()()


def run_blocks(work: Callable[[int], None], n_blocks: int) -> None:
    """Call work(0) ... work(n_blocks - 1), on up to count() threads; the first exception is raised here.

    Called from within such work it uses the one thread it is on.
    """
    global _pool
    order = iter(range(n_blocks))  # next() on it is atomic under the GIL
    workers = beside(n_blocks) - 1
    if workers <= 0:
        for b in order:
            work(b)
        return
    if _pool is None or _pool.size < workers:
        _pool = _Pool(workers)
    failures: list[BaseException] = []
    ended = limits.current()
    finished, joining, begun, over = threading.Semaphore(0), threading.Lock(), 0, False

    def drain() -> None:
        _inside.yes = True
        try:
            for b in order:
                if failures:
                    break
                work(b)
        except BaseException as e:  # handed to the caller below
            failures.append(e)
        finally:
            _inside.yes = False

    def worker() -> None:
        nonlocal begun
        with joining:
            if over:  # on a busy machine this thread's turn comes when there is nothing left to do
                return
            begun += 1
        with limits.until(ended):
            drain()
        finished.release()

    for _ in range(workers):
        _pool.tasks.put(worker)
    drain()
    with joining:
        over = True
    for _ in range(begun):
        finished.acquire()
    if failures:
        raise failures[0]


def run_in_turns(first: Callable[[int], None], then: Callable[[int], None], n_blocks: int) -> None:
    """Call first(k) and after it then(k) for each k < n_blocks, as `run_blocks` does.

    No then(k) begins while some first(k) could: they are for threads that would have to wait for the last of those.
    """
    done: deque[int] = deque()  # first(k) is over, then(k) has not begun
    begun: list[int] = []

    def work(k: int) -> None:
        begun.append(k)
        first(k)
        done.append(k)
        while len(begun) == n_blocks:
            try:
                at = done.popleft()
            except IndexError:
                return
            then(at)

    run_blocks(work, n_blocks)
