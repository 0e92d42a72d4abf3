"""Runs LIBLINEAR's and LIBSVM's programs, if installed: models at a tight tolerance, and times."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from bench import peers as programs
from stress.cases import DATA, Run
from svmtool import registry

TIGHT = "1e-6"
LINEAR_TAKES = {"-s", "-c", "-p", "-n", "-e", "-B", "-R", "-q"}
KERNEL_TAKES = {"-s", "-t", "-c", "-p", "-n", "-e", "-g", "-d", "-r", "-q"}
FLAGS = {"-R", "-q", "-C", "--strict"}  # options without a value


class Peers(NamedTuple):
    """Paths of programs, None if absent; numbers: solvers of LIBLINEAR's -s; free: whether it has -R."""

    liblinear: str | None
    libsvm: str | None
    numbers: frozenset[int] = frozenset()
    free: bool = False


class PeerResult(NamedTuple):
    """A peer's time in seconds and its model text (None: it failed or took too long)."""

    seconds: float
    model: str | None


def find() -> Peers:
    """Find the programs in LIBLINEAR_DIR and LIBSVM_DIR, else on PATH."""
    linear, kernel = (next(iter(programs.named(name).words()), None) for name in ("LIBLINEAR", "LIBSVM"))
    if linear is None:
        return Peers(None, kernel)
    usage = subprocess.run([linear], capture_output=True, text=True, timeout=10).stdout
    numbers = frozenset(int(number) for number in re.findall(r"^\s+(\d+) -- ", usage, re.MULTILINE))
    return Peers(linear, kernel, numbers, "-R :" in usage)


def counterpart(run: Run, peers: Peers) -> list[str] | None:
    """A peer's arguments for the run's problem, without a tolerance; None if it cannot solve it."""
    if run.row.kernel:
        rows = [r for r in registry.KERNEL_SOLVERS if r.number < 5 and _same(r, run)]
        path, takes = peers.libsvm, KERNEL_TAKES
    else:
        rows = [r for r in registry.SOLVERS if r.number in peers.numbers and _same(r, run)]
        path, takes = peers.liblinear, LINEAR_TAKES
        if run.problem.weights is not None or (run.problem.free and not peers.free):
            return None
    if path is None or not rows:
        return None
    row = next((r for r in rows if r.number == run.row.number), rows[0])
    if not run.row.kernel and run.problem.free and row.number not in (0, 2, 5, 6, 11):
        return None
    argv, at = [path, "-s", str(row.number)], 0
    while at < len(run.argv):
        option = run.argv[at]
        width = 1 if option in FLAGS else 2
        if option != "-s" and option != "-e" and (option in takes or option.startswith("-w")):
            argv += run.argv[at : at + width]
        at += width
    return argv


def _same(row: registry.Solver, run: Run) -> bool:
    mine = run.row
    if mine.kernel:
        return row.word == mine.word and registry.same_problem(row, mine)
    powers = {("Lp hinge", 1.0): "hinge", ("Lp hinge", 2.0): "squared hinge"}
    loss = powers.get((mine.loss, run.problem.power), mine.loss)
    free_by_itself = mine.free_bias and run.problem.free and "-R" not in run.argv  # the peer needs the option
    return (row.kind, row.loss, row.regulariser) == (mine.kind, loss, mine.regulariser) and not free_by_itself


def run(argv: list[str], limit: float, tolerance: str | None = TIGHT, model: str = "peer") -> PeerResult:
    """Run a peer in this folder, for `limit` seconds at most."""
    rule = [] if tolerance is None else ["-e", tolerance]
    Path(model).unlink(missing_ok=True)
    began = time.perf_counter()
    try:
        done = subprocess.run([*argv, *rule, DATA, model], capture_output=True, timeout=limit)
        good = done.returncode == 0
    except subprocess.TimeoutExpired:
        good = False
    seconds = time.perf_counter() - began
    path = Path(model)
    return PeerResult(seconds, path.read_text() if good and path.exists() else None)
