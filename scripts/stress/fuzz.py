"""Trials of `--fuzz`: mutated files, folders of rows and Python arguments, kills, Ctrl-C, full disks, random lines.

Kinds are tried one after the other, each with its share of the time.  Kind, seed and number identify a trial.
"""

from __future__ import annotations

import math
import random
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from stress import fuzz_commands, fuzz_convert, fuzz_files, fuzz_models, fuzz_python, fuzz_rows, pool
from stress.pool import Done
from stress.report import Breach, Report, Tally

HERE = Path(__file__).resolve().parent
KINDS = {
    "rows": "damaged folders of rows (--memory)",
    "lines": "random command lines",
    "disks": "commands on a disk that is full",
    "kills": "commands killed",
    "interrupts": "commands interrupted by Ctrl-C",
    "convert": "tables, whole and damaged, through svmtool convert and back",
    "models-out": "models, trained and mutated, through predict, inspect, export and report",
    "inputs": "mutated files through the readers",
    "python": "hostile arguments to the Python interface",
}
# inputs or tries of a job; other kinds have one
BATCHES = {
    "inputs": fuzz_files.BATCH, "convert": fuzz_convert.BATCH, "models-out": fuzz_models.BATCH, "python": 50,
}  # fmt: skip
SECONDS = 5.0 * fuzz_commands.ENDS  # limit of a trial, more than its commands take

Job = tuple[str, int, int, int]  # kind, seed, number, and inputs in it


def attempt(announce: Callable[..., None], folder: str, kind: str, seed: int, number: int, inputs: int) -> Tally:
    """Run one trial, or a batch of inputs, in a worker's folder."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # commands would inherit an ignored signal
    announce(fuzz_files.HANG + 30.0 if kind == "inputs" else SECONDS, kind=kind)  # of a batch of tables, too
    tally = Tally()
    if kind == "inputs":
        counts, found = fuzz_files.attempt(seed, number, folder, inputs)
        for (name, ending), count in counts.items():
            tally.endings[f"{kind}: {name}", ending] += count
        tally.breaches += [_of_file(breach) for breach in found]
    elif kind == "convert":
        counts, found = fuzz_convert.attempt(seed, number, folder, inputs)
        for (name, ending), count in counts.items():
            tally.endings[f"{kind}: {name}", ending] += count
        again = _repeat(kind, seed, number, inputs)
        tally.breaches += [Breach(e.law, e.command, kind, f"{e.words} ({e.command})", again, {}) for e in found]
    elif kind == "python":
        for own in range(number, number + inputs):
            announce(fuzz_python.SECONDS, kind=kind, number=own)
            face, ending, law, words = fuzz_python.attempt(seed, own, folder)
            tally.endings[f"{kind}: {face}", ending] += 1
            if ending == "breach":
                tally.breaches.append(Breach(law, face, kind, words, _repeat(kind, seed, own), {}))
    elif kind == "models-out":
        counts, broken = fuzz_models.attempt(seed, number, folder, inputs)
        for (name, ending), count in counts.items():
            tally.endings[f"{kind}: {name}", ending] += count
        again = _repeat(kind, seed, number, inputs)
        tally.breaches += [Breach(b.law, b.command, kind, b.words, again, {"model": b.model}) for b in broken]
    elif kind == "rows":
        words = fuzz_rows.run(fuzz_rows.draw(np.random.default_rng([seed, number])), _empty(folder))
        tally.endings[kind, "breach" if words else "held"] += 1
        if words:
            law = "the same model, or an error message"
            tally.breaches.append(Breach(law, "svm-train --memory", kind, words, _repeat(kind, seed, number), {}))
    else:
        stage, rng = _stage(folder), random.Random(f"{seed} {kind} {number}")
        ending, breaches = fuzz_commands.TRIALS[kind](stage, rng)
        tally.endings[kind, ending] += 1
        for law, what, words, command in breaches:
            words = f"{what}: {words} ({command})"
            name = command.split(maxsplit=1)[0] if kind == "lines" else command
            tally.breaches.append(Breach(law, name, kind, words, _repeat(kind, seed, number), {}))
    return tally


def _of_file(found: fuzz_files.Found) -> Breach:
    name = fuzz_files.INPUT + found.kind + fuzz_files.KINDS[found.kind].suffix
    command = shlex.join([sys.executable, str(HERE), "--fuzz", "--again", found.kind, name])
    return Breach(found.law, found.kind, "inputs", found.words, command, {name: found.content})


def _repeat(kind: str, seed: int, number: int, trials: int = 1) -> str:
    options = ["--fuzz", f"--{kind}", str(trials), "--seed", str(seed), "--first", str(number)]
    return shlex.join([sys.executable, str(HERE), *options])


def _empty(folder: str) -> Path:
    place = Path(folder, "damaged")
    place.mkdir(exist_ok=True)
    return place


@lru_cache
def _stage(folder: str) -> fuzz_commands.Stage:
    """The worker's stage, created at the first call."""
    return fuzz_commands.Stage(folder)


def of_loss(done: Done) -> Tally:
    """The breach of a trial that was killed or ended its worker, with its input if there is one."""
    tally = Tally()
    kind, seed, number, trials = done.job
    law, words = ("no hang", "no end") if done.lost == "hang" else ("no crash", f"the process ended: {done.lost}")
    tally.endings[kind, "breach"] += 1
    for name, content in done.files.items():
        for of, known in fuzz_files.KINDS.items():
            if kind == "inputs" and name == fuzz_files.INPUT + of + known.suffix:
                tally.breaches.append(_of_file(fuzz_files.Found(law, of, words, content)))
    if not tally.breaches:
        own = done.doing.get("number")  # the try that was lost, if it was announced
        again = _repeat(kind, seed, number, trials) if own is None else _repeat(kind, seed, own)
        tally.breaches.append(Breach(law, "?", kind, words, again, {}))
    return tally


def run(
    wanted: dict[str, float], seed: int, first: int, workers: int, report: Report, until: float = math.inf,
    say: Callable[[Done, list[str]], None] | None = None,
) -> None:  # fmt: skip
    """Run the given number of trials of each kind (inf: unlimited) until a time.monotonic(); say: see session.run."""
    kinds = [kind for kind in wanted if wanted[kind]]
    for place, kind in enumerate(kinds):
        now = time.monotonic()
        share = now + (until - now) / (len(kinds) - place)
        for done in pool.run(attempt, _jobs(kind, seed, first, wanted[kind]), workers, share):
            if done.fault:
                raise RuntimeError(f"{kind}, trial {done.job[2]}: the stress test itself failed:\n{done.fault}")
            lines = report.add(done.result if done.lost is None else of_loss(done))
            if say is not None:
                say(done, lines)


def _jobs(kind: str, seed: int, first: int, wanted: float) -> Iterator[Job]:
    number, batch = first, BATCHES.get(kind, 1)
    while wanted > 0:
        size = batch if wanted > batch else int(wanted)
        yield kind, seed, number, size
        number, wanted = number + (size if kind == "python" else 1), wanted - size  # a try has a number of its own


def again(kind: str, path: str) -> int:
    """Read a saved file; prints the result and returns the exit status."""
    ending, found = fuzz_files.again(kind, path)
    print(ending if found is None else f"{found.law}: {found.words}")
    return 0 if found is None else 1
