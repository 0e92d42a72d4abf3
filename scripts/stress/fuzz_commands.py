"""Commands that are killed, interrupted, run out of disk space or get random arguments.

No file may be lost, and an error is one message.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from stress.fuzz_shared import Breached, fresh, inside, said
from svmtool import registry
from svmtool.options.commands import TABLES

REPOSITORY = Path(__file__).resolve().parent.parent.parent
ENDS = 60  # seconds within which every command must end
STATUSES = (0, 1, 2, 130, 255)
# As the installed scripts; the first byte signals that Python has started.
SCRIPT = "from svmtool import start\nimport os, sys\nos.write(2, b'!')\ngetattr(start, sys.argv.pop(1))()"
JOBS = {  # command lines, and the files that they create or replace
    "train -q d out": ("out",),
    "train -q -s 3 --solver-log log d out": ("out",),
    "train -q -t 2 small out": ("out",),
    "train -q -s 71 d kept": ("kept", "kept.state.npz", "kept.state.rows"),
    "train -q -s 71 --add small -i kept": ("kept", "kept.state.npz", "kept.state.rows"),
    "train -q --memory 1G wide out": ("out",),
    "predict --scores scores d model out": ("out", "scores"),
    "predict d model out": ("out",),
    "scale -s range d": ("range",),
}
Found = list[tuple[str, str]]


class Stage(NamedTuple):
    """A folder with data, a model and old outputs, which is copied for each try of a job.

    whole: the outputs of the undisturbed job; seconds: its time from the first byte.
    """

    fixed: Path
    folder: Path
    job: str
    whole: dict[str, bytes]
    seconds: float

    def files(self, finished: bool) -> Found:
        """Each output is the old file or the new one, and inputs are unchanged."""
        found = []
        for name, new in self.whole.items():
            if name.endswith((".npz", ".rows")):
                continue  # varies; the next run checks that state, log and model match
            content, old = (p.read_bytes() if (p := f / name).exists() else None for f in (self.folder, self.fixed))
            if finished and content != new:
                found.append(("a finished run's files", f"{name} differs from an undisturbed run's"))
            elif content not in (old, new):
                found.append(("the old file or the new one", f"{name} is neither"))
        for name in ("d", "small", "wide", "model"):
            if (self.folder / name).read_bytes() != (self.fixed / name).read_bytes():
                found.append(("inputs stay", f"{name} has changed"))
        return found

    def again(self) -> Found:
        """The same command works afterwards, and no other files are left."""
        status, err = finish(begin(self.job, self.folder))
        return ([("the next run works", f"{status}: {err[-300:]}")] if status != 0 else []) + left(self.folder)


@lru_cache
def _fixed(folder: Path) -> Path:
    rng, fixed = random.Random(1), fresh(folder, "fixed")
    for name, rows, features in (("d", 3000, 12), ("small", 150, 4), ("wide", 1000, 60)):
        lines = [[rng.choice(("1", "-1")), *(f"{j}:{rng.gauss(0, 1):.6g}" for j in range(1, features + 1))]
                 for _ in range(rows)]  # fmt: skip
        (fixed / name).write_text("".join(" ".join(line) + "\n" for line in lines))
    for job in ("train -q -s 2 d model", "train -q -s 71 d kept"):
        assert finish(begin(job, fixed))[0] == 0
    for name in ("out", "scores", "range"):
        (fixed / name).write_text("the old file\n")
    return fixed


@lru_cache
def _undisturbed(folder: Path, job: str) -> tuple[dict[str, bytes], float]:
    shutil.copytree(_fixed(folder), folder / "whole", dirs_exist_ok=True)
    process, began = begin(job, folder / "whole"), time.monotonic()
    finish(process)
    seconds = time.monotonic() - began
    whole = {name: (folder / "whole" / name).read_bytes() for name in JOBS[job]}
    shutil.rmtree(folder / "whole")
    return whole, seconds


def stage(rng: random.Random, folder: Path) -> Stage:
    job = rng.choice(list(JOBS))
    found = Stage(_fixed(folder), folder / "try", job, *_undisturbed(folder, job))
    shutil.copytree(found.fixed, fresh(folder, "try"), dirs_exist_ok=True)
    return found


def begin(job: str, folder: Path, limit: int | None = None) -> subprocess.Popen:
    """Start a command and wait for its first byte; limit: of the size of files, in bytes."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *job.split()], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": ""},
        preexec_fn=None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.read(1)
    return process


def finish(process: subprocess.Popen) -> tuple[int | None, str]:
    """Wait for the end: exit status, None for a hang, and standard error."""
    try:
        err = process.communicate(timeout=ENDS)[1]
        return process.returncode, err.decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[1].decode(errors="replace")


def left(folder: Path) -> Found:
    """An ended run leaves only its files."""
    names = [p.name for p in folder.iterdir() if p.name.endswith((".tmp", ".lock", ".new"))]
    return [("nothing is left", f"{names}")] if names else []


def spoken(err: str, status: int | None) -> Found:
    """The command ended, without a traceback or other output."""
    if status is None:
        return [("no hang", f"no end within {ENDS} s")]
    if "Traceback" in err or '.py"' in err or "Fatal" in err or status not in STATUSES:
        return [("one sentence", f"status {status}: {err[-400:]}")]
    return []


def disturbed(rng: random.Random, folder: Path, how: str) -> tuple[str, str]:
    """A job that is killed or interrupted at a random moment, sometimes twice, or may write only small files."""
    at, twice = stage(rng, folder), how == "interrupted" and rng.random() < 0.2
    limit, delay = int(2 ** rng.uniform(0.0, 17.0)) if how == "refused" else None, rng.random() * at.seconds
    process = begin(at.job, at.folder, limit)
    if limit is None:
        time.sleep(delay)
        process.send_signal(signal.SIGKILL if how == "killed" else signal.SIGINT)
    if twice:
        time.sleep(rng.uniform(0.0, 0.01))
        process.send_signal(signal.SIGINT)
    status, err = finish(process)
    found, best = [] if how == "killed" else spoken(err, status), False
    if how == "interrupted":
        lines = [text for text in err.splitlines() if text.startswith(("interrupted", "stopping"))]
        best = any(text.startswith("stopping") for text in lines)  # the model is the best so far
        if not found and status not in (0, 130):
            found.append(("0 or 130", f"status {status}: {err[-300:]}"))
        if not found and status == 130 and not 1 <= len(lines) <= 1 + best:
            found.append(("one line, in training two", err[-300:]))
        found += left(at.folder)
    elif how == "refused" and (not found and status not in (0, 1) or status == 1 and not err.strip()):
        found.append(("0, or 1 and a sentence", f"status {status}: {err[-300:]}"))
    found += ([] if best else at.files(status == 0)) + at.again()
    if found:
        when = f"files of {limit} bytes at most" if limit else f"after {delay:.3f} s{', twice' * twice}"
        raise Breached(f"svm-{at.job}", *((law, f"{when}: {words}") for law, words in found))
    return f"svm-{at.job}", "ended before" if status == 0 else how


kill = partial(disturbed, how="killed")
interrupt = partial(disturbed, how="interrupted")
full = partial(disturbed, how="refused")

MORE = ("-w1", "-w-1", "-w", "-W", "-i", "--zzz", "-x", "--", "-")
VALUES = [
    *(str(row.number) for row in (*registry.SOLVERS, *registry.KERNEL_SOLVERS)),
    *"paper fast merit h1,h3 none huber hinge rho C=0.1,1 auto -1 0.5 1e-3 1e6 1e300 -1e300 nan inf -inf x 1_0".split(),
    *"0x10 1.5 d tiny model kept out no/no range /dev/null /dev/full . - 1G 1K \udcff -99999999999".split(),
    "", " ", "1" * 5000,
]  # fmt: skip
ROWS = "1 1:1 2:0.5\n-1 1:-1\n1 2:3\n-1 1:0.5 2:-1\n"


def line(rng: random.Random, folder: Path) -> tuple[str, str]:
    """Run a random command line in this process; without --spark, which may start a cluster."""
    from svmtool.cli import scale, train
    from svmtool.cli.predict import command as predict

    command = rng.choice(("train", "train", "train", "predict", "scale"))
    flags = [*MORE, *(option.flag for option in TABLES[f"svm-{command}"] if option.flag != "--spark")]
    argv: list[str] = []
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        argv.append(rng.choice(flags))
        if rng.random() < 0.8:
            argv.append(rng.choice(VALUES))
    if command == "train":
        argv = ["--max-seconds", "1", *argv] if rng.random() < 0.95 else argv
    argv += [rng.choice(("tiny", "tiny", "tiny", "model", "no", "", ".", "out")) for _ in range(rng.choice((1, 2, 3)))]
    shutil.copytree(_fixed(folder), fresh(folder, "try"), dirs_exist_ok=True)
    (folder / "try" / "tiny").write_text(ROWS + rng.choice(("", "2 1:1\n")))
    with inside(folder / "try"):
        done = said(lambda: {"train": train, "predict": predict, "scale": scale}[command].main(argv))
    found = [("one sentence", done.fault)] if done.fault else spoken(done.err, done.status)
    if found:
        raise Breached(f"svm-{command}", *((law, f"{' '.join(argv)[:500]}: {words}") for law, words in found))
    return f"svm-{command}", f"status {done.status}"
