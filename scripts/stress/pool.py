"""A pool of worker processes that runs jobs with a time limit each; hangs and crashes are reported, workers replaced.

A job is a function of this package with its arguments, called as work(announce, folder, *arguments) in a worker.
announce(seconds, **what) announces the next step and its limit of processor time, which unlike the clock does not
depend on other programs.  A worker that dies or exceeds the limit is killed with all its children; its last
announcement identifies the step.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import shutil
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
_HIDDEN = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # as the commands set it


class Done(NamedTuple):
    """A finished job.

    result: what the job returned.  lost: None, or how its worker was lost (`hang` or the signal).  fault: the traceback
    of a job that raised an exception, or empty.  doing: the last announcement.  files: of the worker's folder if it was
    lost, name to bytes.  seconds: time of the job.
    """

    job: tuple
    result: Any
    lost: str | None
    fault: str
    doing: dict[str, Any]
    files: dict[str, bytes]
    seconds: float


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, work: Callable, folder: Path):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.process = context.Process(target=_serve, args=(theirs, work, str(folder)), daemon=True)
        self.process.start()
        theirs.close()
        self.job: tuple = ()
        self.doing: dict[str, Any] = {}
        self.deadline = self.last = self.busy = self.began = 0.0

    def give(self, job: tuple) -> None:
        self.job, self.doing, self.began = job, {}, time.monotonic()
        self._allow(START_SECONDS)
        self.pipe.send(job)

    def _allow(self, seconds: float) -> None:
        """Limit the worker to this processor time from now on, and PATIENCE times as much clock time."""
        now = time.monotonic()
        self.deadline, self.last = now + seconds, now + PATIENCE * seconds
        self.busy = self._processor() + seconds

    def _processor(self) -> float:
        """Processor time used by the worker; infinite if the system does not report it."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return math.inf
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def late(self) -> bool:
        """Whether the worker has exceeded its limit; past the deadline but below the limit it gets another second."""
        now = time.monotonic()
        if now <= self.deadline:
            return False
        if now > self.last or self._processor() >= self.busy:
            return True
        self.deadline = now + 1.0
        return False

    def receive(self) -> Done | None:
        """Receive a finished job, or None for an announcement."""
        try:
            kind, *rest = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode or 0
            return self._lost(signal.strsignal(-code) or "" if code < 0 else f"exit status {code}")
        if kind == "doing":
            self._allow(rest[0])
            self.doing = rest[1]
            return None
        return Done(self.job, rest[0], None, rest[1], self.doing, {}, time.monotonic() - self.began)

    def _lost(self, how: str) -> Done:
        files = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        return Done(self.job, None, how, "", self.doing, files, time.monotonic() - self.began)

    def expired(self) -> Done:
        done = self._lost("hang")
        self.kill()
        return done

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

    def announce(seconds: float, **what: Any) -> None:
        pipe.send(("doing", seconds, what))

    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(("done", work(announce, folder, *job), ""))
        except Exception:  # the parent reports the traceback
            pipe.send(("done", None, traceback.format_exc()))


def run(work: Callable, jobs: Iterator[tuple], workers: int, until: float = math.inf) -> Iterator[Done]:
    """Yield the results of work(announce, folder, *job) as jobs end; `jobs` may be infinite.

    All jobs end at `until`, by time.monotonic().  Leaving the loop over this ends all workers.
    """
    os.environ.update(_HIDDEN)
    folders = Path(tempfile.mkdtemp(prefix="stress-"))
    running: list[_Worker] = []
    try:
        for k in range(workers):
            job = next(jobs, None)
            if job is not None:
                running.append(_Worker(work, folders / str(k)))
                running[-1].give(job)
        while running and time.monotonic() < until:
            first = min(until, *(worker.deadline for worker in running))
            ready = wait([worker.pipe for worker in running], min(max(0.0, first - time.monotonic()), 3600.0))
            for worker in list(running):
                done = None
                if worker.pipe in ready:
                    done = worker.receive()
                elif worker.late:
                    done = worker.expired()
                if done is None:
                    continue
                yield done
                job = next(jobs, None)
                place = running.index(worker)
                if done.lost is not None or job is None:
                    worker.kill()
                    running.remove(worker)
                    if job is not None:
                        shutil.rmtree(worker.folder)
                        running.insert(place, _Worker(work, worker.folder))
                if job is not None:
                    running[place].give(job)
    finally:
        for worker in running:
            worker.kill()
        shutil.rmtree(folders, ignore_errors=True)
