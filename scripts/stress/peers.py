"""Runs LIBLINEAR's and LIBSVM's programs, if installed: models at a tight tolerance, and times."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from bench import peers as programs
from stress.cases import DATA, Run

TIGHT = "1e-6"
LINEAR_TAKES = {"-s", "-c", "-p", "-n", "-B", "-R", "-q"}
KERNEL_TAKES = {"-s", "-t", "-c", "-p", "-n", "-g", "-d", "-r", "-q"}
FLAGS = {"-R", "-q"}  # options without a value
FREE = (0, 2, 5, 6, 11)  # solvers of LIBLINEAR that take -R


class Peers(NamedTuple):
    """Paths of programs, None if absent; numbers: solvers of LIBLINEAR's -s; free: whether it has -R."""

    liblinear: str | None
    libsvm: str | None
    numbers: frozenset[int] = frozenset()
    free: bool = False


def find() -> Peers:
    """Find the programs in LIBLINEAR_DIR and LIBSVM_DIR, else on PATH."""
    linear, kernel = (next(iter(programs.named(name).words()), None) for name in ("LIBLINEAR", "LIBSVM"))
    if linear is None:
        return Peers(None, kernel)
    usage = subprocess.run([linear], capture_output=True, text=True, timeout=10).stdout
    numbers = frozenset(int(number) for number in re.findall(r"^\s+(\d+) -- ", usage, re.MULTILINE))
    return Peers(linear, kernel, numbers, "-R :" in usage)


def counterpart(run: Run, peers: Peers) -> list[str] | None:
    """The arguments of the peer's solver with the run's number, without a tolerance; None if there is none."""
    problem, number = run.problem, run.row.number
    path, takes = (peers.libsvm, KERNEL_TAKES) if run.row.kernel else (peers.liblinear, LINEAR_TAKES)
    known = number < 5 if run.row.kernel else number in peers.numbers and problem.weights is None
    free = problem.free and not run.row.kernel  # the bias
    if path is None or not known or (free and (not peers.free or number not in FREE or "-R" not in run.argv)):
        return None
    argv, at = [path], 0
    while at < len(run.argv):
        option = run.argv[at]
        width = 1 if option in FLAGS else 2
        if option in takes or option.startswith("-w"):
            argv += run.argv[at : at + width]
        at += width
    return argv


def run(argv: list[str], limit: float, tolerance: str | None) -> tuple[float, str | None]:
    """Run a peer in this folder: its time in seconds, and its model's text, None if it failed or took over `limit`."""
    rule = [] if tolerance is None else ["-e", tolerance]
    path = Path("peer")
    path.unlink(missing_ok=True)
    began = time.perf_counter()
    try:
        done = subprocess.run([*argv, *rule, DATA, str(path)], capture_output=True, timeout=limit)
        good = done.returncode == 0
    except subprocess.TimeoutExpired:
        good = False
    seconds = time.perf_counter() - began
    return seconds, path.read_text() if good and path.exists() else None
