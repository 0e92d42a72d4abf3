"""Trials of `--fuzz`: mutated files, folders of rows and Python arguments, kills, Ctrl-C, full disks, random lines.

Kinds are tried one after the other, each with its share of the time.  Kind, seed and number identify a try.  What all
kinds share is in fuzz_shared.py.
"""

from __future__ import annotations

import importlib
import math
import random
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from stress import pool
from stress.fuzz_shared import Breached, emptied
from stress.pool import Done
from stress.report import Breach, Report, Tally

HERE = Path(__file__).resolve().parent


class Kind(NamedTuple):
    """help; module and function of a try (Random, folder) -> (what was tried, how it ended); tries of a job; limit."""

    help: str
    place: str
    batch: int = 1
    seconds: float = 300.0


KINDS = {
    "rows": Kind("damaged folders of rows (--memory)", "fuzz_rows.damaged"),
    "lines": Kind("random command lines", "fuzz_commands.line", 20, 60.0),
    "disks": Kind("commands on a disk that is full", "fuzz_commands.full"),
    "kills": Kind("commands killed", "fuzz_commands.kill"),
    "interrupts": Kind("commands interrupted by Ctrl-C", "fuzz_commands.interrupt"),
    "convert": Kind("tables, whole and damaged, through svmtool convert and back", "fuzz_convert.table", 50, 60.0),
    "models-out": Kind("models, trained and mutated, through predict, inspect, export and report",
                       "fuzz_models.model", 50, 60.0),
    "inputs": Kind("mutated files through the readers", "fuzz_files.read", 500, 60.0),
    "python": Kind("hostile arguments to the Python interface", "fuzz_python.call", 50, 30.0),
}  # fmt: skip
Job = tuple[str, int, int, int]  # kind, seed, number of the first try, and tries in it


def attempt(announce: Callable[..., None], folder: str, kind: str, seed: int, first: int, tries: int) -> Tally:
    """Run some tries of one kind in a worker's folder."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # commands would inherit an ignored signal
    module, name = KINDS[kind].place.split(".")
    work = getattr(importlib.import_module(f"stress.{module}"), name)
    tally = Tally()
    for number in range(first, first + tries):
        announce(KINDS[kind].seconds, kind=kind, number=number)
        try:
            what, ending = work(random.Random(f"{seed} {kind} {number}"), Path(folder))
        except Breached as e:
            what, ending = e.what, "breach"
            for law, words in e.found:
                again = _repeat(kind, seed, number)
                tally.breaches.append(Breach(law, what, kind, words, again, emptied(Path(folder))))
        tally.count("kind", f"{kind}: {what}", ending)
    return tally


def _repeat(kind: str, seed: int, number: int) -> str:
    options = ["--fuzz", f"--{kind}", "1", "--seed", str(seed), "--first", str(number)]
    return shlex.join([sys.executable, str(HERE), *options])


def of_loss(done: Done) -> Tally:
    """The breach of a try that was killed or ended its worker, with the files that it left."""
    tally, (kind, seed, first, _) = Tally(), done.job
    law, words = ("no hang", "no end") if done.lost == "hang" else ("no crash", f"the process ended: {done.lost}")
    tally.count("kind", kind, "breach")
    again = _repeat(kind, seed, done.doing.get("number", first))
    tally.breaches.append(Breach(law, "?", kind, words, again, done.files))
    return tally


def run(
    wanted: dict[str, float], seed: int, first: int, workers: int, report: Report, until: float = math.inf,
    say: Callable[[Done, list[str]], None] = lambda done, lines: None,
) -> None:  # fmt: skip
    """Run the given number of tries of each kind (inf: unlimited) until a time.monotonic(); say: see trial.run."""
    kinds = [kind for kind in wanted if wanted[kind]]
    for place, kind in enumerate(kinds):
        now = time.monotonic()
        share = now + (until - now) / (len(kinds) - place)
        for done in pool.run(attempt, _jobs(kind, seed, first, wanted[kind]), workers, share):
            if done.fault:
                raise RuntimeError(f"{kind}, try {done.doing}: the stress test itself failed:\n{done.fault}")
            say(done, report.add(done.result if done.lost is None else of_loss(done)))


def _jobs(kind: str, seed: int, first: int, wanted: float) -> Iterator[Job]:
    while wanted > 0:
        size = int(min(KINDS[kind].batch, wanted))
        yield kind, seed, first, size
        first, wanted = first + size, wanted - size
