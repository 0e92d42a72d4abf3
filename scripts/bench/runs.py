"""Runs commands in turn and measures wall time and peak memory of whole processes."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent.parent
LAUNCHER = Path(__file__).with_name("launch.py")
KB_IN_MB = 1024


class Run(NamedTuple):
    """Medians of a peer's runs on a pair, and what its model is worth.

    ended: yes, over (the time limit), or failed, with the end of its message; gap: certified, of ours.
    """

    seconds: float | None = None
    peak_mb: float | None = None
    objective: float | None = None
    gap: float | None = None
    ended: str = "yes"
    message: str = ""


def environment() -> dict[str, str]:
    """The environment of children: this repository's package and scripts, with bytecode on disk as if installed."""
    env = dict(os.environ)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    folders = (str(REPOSITORY), str(REPOSITORY / "scripts"), env.get("PYTHONPATH"))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    return env


def once(argv: Sequence[object], limit: float = 0.0) -> Run:
    """Run a command once, for `limit` seconds at most (0: no limit)."""
    words = list(map(str, argv))
    reading, pipe = os.pipe()
    with open(reading) as answer:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(pipe), repr(limit), *words], pass_fds=(pipe,),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(),
        )  # fmt: skip
        os.close(pipe)
        try:
            _, errors = child.communicate()
        except BaseException:  # the launcher ends the command
            child.terminate()
            child.wait()
            raise
        found = answer.read().split()
    message = errors.decode(errors="replace").strip()[-500:]
    if not found:
        return Run(ended="failed", message=f"{words[0]} was not measured: {message}")
    ended = "over" if found[3] == "1" else "failed" if found[1] != "0" else "yes"
    return Run(float(found[0]), int(found[2]) / KB_IN_MB, None, None, ended, message if ended == "failed" else "")


def in_turn(jobs: Sequence[Callable[[], Run]], most: int, enough: float) -> list[Run]:
    """Run jobs alternately, A B A B, at most `most` times and for about `enough` seconds, each at least once.

    Seconds and memory are medians.  A job that fails or is ended by its limit is not run again.
    """
    found: list[list[Run]] = [[] for _ in jobs]
    spent = 0.0
    for _ in range(most):
        before = spent
        for job, runs in zip(jobs, found, strict=True):
            if not runs or runs[-1].ended == "yes":
                runs.append(job())
                spent += runs[-1].seconds or 0.0
        if spent + (spent - before) > enough:
            break
    return [runs[-1] if runs[-1].ended != "yes" else median(runs) for runs in found]


def median(runs: Sequence[Run]) -> Run:
    """The last run with the medians of seconds and memory."""
    seconds, peaks = (statistics.median(column) for column in list(zip(*runs, strict=True))[:2])
    return runs[-1]._replace(seconds=seconds, peak_mb=peaks)


def warm(path: str) -> None:
    """Read a file, so that it is in the page cache."""
    with open(path, "rb") as file, open(os.devnull, "wb") as sink:
        shutil.copyfileobj(file, sink)
