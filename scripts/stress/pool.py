"""A pool of worker processes that runs jobs with a time limit each; hangs and crashes are reported, workers replaced.

A job is a function of this package with its arguments, called as work(announce, folder, *arguments) in a worker.
announce(seconds, **what) announces the next step and its limit of processor time, which unlike the clock does not
depend on other programs.  A timer of the system ends a worker that exceeds it, even inside a compiled loop; its last
announcement identifies the step.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

START_SECONDS = 60.0  # for a worker's imports and its data
PATIENCE = 5.0  # limit of the clock time, as a multiple of the limit of the processor time
HANGS = (signal.SIGPROF, signal.SIGALRM)  # the signals of both timers


class Done(NamedTuple):
    """A finished job.

    result: what the job returned.  lost: None, or how its worker was lost (`hang` or the signal).  fault: the traceback
    of a job that raised an exception, or empty.  doing: the last announcement.  files: of the worker's folder if it was
    lost, name to bytes.
    """

    job: tuple
    result: Any
    lost: str | None = None
    fault: str = ""
    doing: dict[str, Any] = {}
    files: dict[str, bytes] = {}


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, work: Callable, folder: Path):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.folder, self.job, self.doing = folder, (), {}
        folder.mkdir()
        self.process = context.Process(target=_serve, args=(theirs, work, str(folder)))
        self.process.start()
        theirs.close()

    def give(self, job: tuple) -> None:
        self.job, self.doing = job, {}
        self.pipe.send(job)

    def receive(self) -> Done | None:
        """Receive a finished job, or None for an announcement."""
        try:
            kind, found, fault = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = -(self.process.exitcode or 0)
            lost = "hang" if code in HANGS else signal.strsignal(code) if code > 0 else f"exit status {-code}"
            files = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
            return Done(self.job, None, lost, "", self.doing, files)
        if kind == "doing":
            self.doing = found
            return None
        return Done(self.job, found, None, fault, self.doing)

    def kill(self) -> None:
        """Kill the worker and all its children."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, work: Callable, folder: str) -> None:
    """Run jobs in a worker until the pipe is closed."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the workers

    def limit(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)

    def announce(seconds: float, **what: Any) -> None:
        pipe.send(("doing", what, ""))
        limit(seconds)

    with contextlib.suppress(EOFError):
        while True:
            job = pipe.recv()
            limit(START_SECONDS)
            try:
                done = work(announce, folder, *job), ""
            except Exception:  # the parent reports the traceback
                done = None, traceback.format_exc()
            limit(0.0)
            pipe.send(("done", *done))


def run(work: Callable, jobs: Iterator[tuple], workers: int, until: float = math.inf) -> Iterator[Done]:
    """Yield the results of work(announce, folder, *job) as jobs end; `jobs` may be infinite.

    All jobs end at `until`, by time.monotonic().  Leaving the loop over this ends all workers.
    """
    os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # as the commands set it
    running: dict[Connection, _Worker] = {}
    with tempfile.TemporaryDirectory(prefix="stress-", ignore_cleanup_errors=True) as folders:

        def begin(worker: _Worker | None = None) -> None:
            """Give the next job to a worker, or to a new one."""
            if (job := next(jobs, None)) is not None:
                worker = worker or _Worker(work, Path(tempfile.mkdtemp(dir=folders), "work"))
                running[worker.pipe] = worker
                worker.give(job)

        try:
            for _ in range(workers):
                begin()
            while running and (left := until - time.monotonic()) > 0.0:
                for pipe in wait(list(running), min(left, 3600.0)):
                    if (done := running[pipe].receive()) is None:
                        continue
                    worker = running.pop(pipe)
                    if done.lost is not None:
                        worker.kill()
                    begin(None if done.lost is not None else worker)
                    if worker.pipe not in running and done.lost is None:
                        worker.kill()
                    yield done
        finally:
            for worker in running.values():
                worker.kill()
