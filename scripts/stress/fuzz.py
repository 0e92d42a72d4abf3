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

from stress.fuzz_shared import Breached, emptied
from stress.pool import Done
from stress.report import Breach, Report, Tally

HERE = Path(__file__).resolve().parent


class Kind(NamedTuple):
    """Module and function of a try (Random, folder) -> (what was tried, how it ended); tries of a job; limit."""

    place: str
    batch: int = 1
    seconds: float = 300.0


KINDS = {
    "rows": Kind("fuzz_rows.damaged"),
    "lines": Kind("fuzz_commands.line", 20, 60.0),
    "disks": Kind("fuzz_commands.full"),
    "kills": Kind("fuzz_commands.kill"),
    "interrupts": Kind("fuzz_commands.interrupt"),
    "convert": Kind("fuzz_convert.table", 50, 60.0),
    "models-out": Kind("fuzz_models.model", 50, 60.0),
    "inputs": Kind("fuzz_files.read", 500, 60.0),
    "python": Kind("fuzz_python.call", 50, 30.0),
}
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
        tally.counts[kind, f"{what}, {ending}"] += 1
    return tally


def _repeat(kind: str, seed: int, number: int) -> str:
    options = ["--fuzz", "--only", kind, "--trials", "1", "--seed", str(seed), "--first", str(number)]
    return shlex.join([sys.executable, str(HERE), *options])


def of_loss(done: Done) -> Tally:
    """The breach of a try that was killed or ended its worker, with the files that it left."""
    tally, (kind, seed, first, _) = Tally(), done.job
    law, words = ("no hang", "no end") if done.lost == "hang" else ("no crash", f"the process ended: {done.lost}")
    tally.counts[kind, "lost"] += 1
    again = _repeat(kind, seed, done.doing.get("number", first))
    tally.breaches.append(Breach(law, "?", kind, words, again, done.files))
    return tally


def run(
    kinds: list[str], tries: float, seed: int, first: int, workers: int, report: Report, until: float = math.inf
) -> None:
    """Run this number of tries of each kind (inf: unlimited) until a time.monotonic()."""
    for place, kind in enumerate(kinds):
        now = time.monotonic()
        share = now + (until - now) / (len(kinds) - place)
        report.collect(attempt, _jobs(kind, seed, first, tries), workers, share, of_loss)


def _jobs(kind: str, seed: int, first: int, wanted: float) -> Iterator[Job]:
    while wanted > 0:
        size = int(min(KINDS[kind].batch, wanted))
        yield kind, seed, first, size
        first, wanted = first + size, wanted - size
