"""Trials of commands that are killed, interrupted, run out of disk space or get random arguments.

No file may be lost, and an error is one message.  `kill`, `interrupt`, `full` and `line` run one trial each: they take
a Stage and a random.Random, and return how it ended and the breaches.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent.parent

ENDS = 60  # seconds within which every command must end
HUNG = f"no end within {ENDS} s"
STATUSES = (0, 1, 2, 130, 255)
# As the installed scripts; the first byte signals that Python has started.
SCRIPT = "from svmtool import start\nimport os, sys\nos.write(2, b'!')\ngetattr(start, sys.argv.pop(1))()"


class Found(NamedTuple):
    """A breach: the law, what was done and found, and the command line."""

    law: str
    what: str
    words: str
    command: str


class Tried(NamedTuple):
    """How a trial ended, and its breaches."""

    ending: str
    found: list[Found]


class Job(NamedTuple):
    """A command and the files that it creates or replaces."""

    command: str
    argv: tuple[str, ...]
    outputs: tuple[str, ...]


JOBS = (
    Job("train", ("-q", "d", "out"), ("out",)),
    Job("train", ("-q", "-s", "3", "--solver-log", "log", "d", "out"), ("out",)),
    Job("train", ("-q", "-t", "2", "small", "out"), ("out",)),
    Job("train", ("-q", "-s", "71", "d", "kept"), ("kept", "kept.state.npz", "kept.state.rows")),
    Job("train", ("-q", "-s", "71", "--add", "small", "-i", "kept"), ("kept", "kept.state.npz", "kept.state.rows")),
    Job("train", ("-q", "--memory", "1G", "wide", "out"), ("out",)),
    Job("predict", ("--scores", "scores", "d", "model", "out"), ("out", "scores")),
    Job("predict", ("d", "model", "out"), ("out",)),
    Job("scale", ("-s", "range", "d"), ("range",)),
)


class Stage:
    """A folder with data, a model and old outputs, restored for each trial.

    whole: the outputs of each undisturbed job; seconds: its time from the first byte.
    """

    def __init__(self, folder: str, seed: int = 1):
        self.folder, rng = Path(folder), random.Random(seed)
        self.fixed, self.fresh = self.folder / "fixed", self.folder / "work"
        self.fixed.mkdir()
        for name, rows, features in (("d", 3000, 12), ("small", 150, 4), ("wide", 1000, 60)):
            lines = (
                f"{rng.choice((1, -1))} " + " ".join(f"{j}:{rng.gauss(0, 1):.6g}" for j in range(1, features + 1))
                for _ in range(rows)
            )
            (self.fixed / name).write_text("\n".join(lines) + "\n")
        self._prepare(["-q", "-s", "2", "d", "model"])
        self._prepare(["-q", "-s", "71", "d", "kept"])
        for name in ("out", "scores", "range"):
            (self.fixed / name).write_text("the old file\n")
        self.whole: dict[int, dict[str, bytes]] = {}
        self.seconds: dict[int, float] = {}

    def _prepare(self, argv: list[str]) -> None:
        subprocess.run([sys.executable, "-c", SCRIPT, "train", *argv], cwd=self.fixed, check=True, env=environment(),
                       stderr=subprocess.DEVNULL)  # fmt: skip

    def reset(self) -> Path:
        """Restore the initial folder of a trial."""
        shutil.rmtree(self.fresh, ignore_errors=True)
        shutil.copytree(self.fixed, self.fresh)
        return self.fresh

    def prepare(self, k: int) -> Path:
        """The folder for a trial of job k, after one undisturbed run.

        Outputs are always the same, except for the log's number in a state and the times in a log.
        """
        if k not in self.whole:
            folder = self.reset()
            process, began = self.begin(JOBS[k], folder), time.monotonic()
            finish(process)
            self.seconds[k] = time.monotonic() - began
            self.whole[k] = {name: (folder / name).read_bytes() for name in JOBS[k].outputs}
        return self.reset()

    def begin(self, job: Job, folder: Path, limit: int | None = None) -> subprocess.Popen:
        """Start the command and wait for its first byte; limit: of the size of files, in bytes."""

        def confine() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, job.command, *job.argv], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(),
            preexec_fn=None if limit is None else confine,
        )  # fmt: skip
        assert process.stderr is not None
        process.stderr.read(1)
        return process

    def check_files(self, k: int, folder: Path, what: str, finished: bool) -> list[Found]:
        """Check that each output is the old file or the new one, and that inputs are unchanged."""
        found, line = [], shown(JOBS[k])
        for name, new in self.whole[k].items():
            if name == "log" or name.endswith((".npz", ".rows")):
                continue  # varies; the next run checks that state, log and model match
            content, old = (path.read_bytes() if (path := f / name).exists() else None for f in (folder, self.fixed))
            if finished and content != new:
                found.append(Found("a finished run's files", what, f"{name} differs from an undisturbed run's", line))
            elif content not in (old, new):
                found.append(Found("the old file or the new one", what, f"{name} is neither", line))
        for name in ("d", "small", "wide", "model"):
            if (folder / name).read_bytes() != (self.fixed / name).read_bytes():
                found.append(Found("inputs stay", what, f"{name} has changed", line))
        return found

    def again(self, k: int, folder: Path, what: str) -> list[Found]:
        """Check that the same command works afterwards and leaves no other files."""
        status, err = finish(self.begin(JOBS[k], folder))
        found = []
        if status != 0:
            words = HUNG if status is None else f"{status}: {err[-300:]}"
            found.append(Found("the next run works", what, words, shown(JOBS[k])))
        return found + left(folder, what, shown(JOBS[k]))


def finish(process: subprocess.Popen) -> tuple[int | None, str]:
    """Wait for the end: exit status, None for a hang, and standard error."""
    try:
        err = process.communicate(timeout=ENDS)[1]
        return process.returncode, err.decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[1].decode(errors="replace")


def left(folder: Path, what: str, line: str) -> list[Found]:
    """Check that an ended run leaves only its files."""
    names = [p.name for p in folder.iterdir() if p.name.endswith((".tmp", ".lock", ".new"))]
    return [Found("nothing is left", what, f"{names}", line)] if names else []


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": ""}


def shown(job: Job) -> str:
    return " ".join(("svm-" + job.command, *job.argv))


def spoken(err: str, status: int | None, what: str, line: str) -> list[Found]:
    """Check that the command ended, without a traceback or other output."""
    if status is None:
        return [Found("no hang", what, HUNG, line)]
    if "Traceback" in err or '.py"' in err or "Fatal" in err or status not in STATUSES:
        return [Found("one sentence", what, f"status {status}: {err[-400:]}", line)]
    return []


def kill(stage: Stage, rng: random.Random) -> Tried:
    """SIGKILL at a random moment."""
    k = rng.randrange(len(JOBS))
    folder = stage.prepare(k)
    delay = rng.random() * stage.seconds[k]
    process = stage.begin(JOBS[k], folder)
    time.sleep(delay)
    process.kill()
    status, _ = finish(process)
    what = f"kill after {1000 * delay:.0f} ms"
    found = stage.check_files(k, folder, what, status == 0) + stage.again(k, folder, what)
    return Tried("over before" if status == 0 else "killed", found)


def interrupt(stage: Stage, rng: random.Random) -> Tried:
    """Ctrl-C at a random moment, and sometimes a second."""
    k = rng.randrange(len(JOBS))
    folder = stage.prepare(k)
    delay, twice = rng.random() * stage.seconds[k], rng.random() < 0.2
    process = stage.begin(JOBS[k], folder)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    if twice:
        time.sleep(rng.uniform(0.0, 0.01))
        process.send_signal(signal.SIGINT)
    what, line = f"Ctrl-C after {1000 * delay:.0f} ms{', twice' if twice else ''}", shown(JOBS[k])
    status, err = finish(process)
    found = spoken(err, status, what, line)
    said = [text for text in err.splitlines() if text.startswith(("interrupted", "stopping"))]
    best = any(text.startswith("stopping") for text in said)  # the model is the best so far
    if not found and status not in (0, 130):
        found.append(Found("0 or 130", what, f"status {status}: {err[-300:]}", line))
    if not found and status == 130 and not 1 <= len(said) <= 1 + best:
        found.append(Found("one line, in training two", what, err[-300:], line))
    if not best:
        found += stage.check_files(k, folder, what, status == 0)
    found += left(folder, what, line) + stage.again(k, folder, what)
    return Tried("over before" if status == 0 else "interrupted", found)


def full(stage: Stage, rng: random.Random) -> Tried:
    """Limit the size of files, as on a full disk."""
    k = rng.randrange(len(JOBS))
    folder, limit = stage.prepare(k), int(2 ** rng.uniform(0.0, 17.0))
    status, err = finish(stage.begin(JOBS[k], folder, limit))
    what, line = f"files of {limit} bytes at most", shown(JOBS[k])
    found = spoken(err, status, what, line)
    if not found and status not in (0, 1):
        found.append(Found("0 or 1", what, f"status {status}: {err[-300:]}", line))
    if status == 1 and not [text for text in err.splitlines() if text.strip()]:
        found.append(Found("one sentence", what, "no message", line))
    found += stage.check_files(k, folder, what, status == 0) + stage.again(k, folder, what)
    return Tried("enough space" if status == 0 else "refused", found)


OPTIONS = {
    "train": ["-s", "-t", "-c", "-p", "-n", "-e", "-B", "-R", "-C", "-v", "-q", "-w1", "-w-1", "-w", "-d", "-g", "-r",
              "-m", "-h", "-b", "-i", "-W", "--gap", "--seed", "--strict", "--loo", "--weights", "--loss-power", "--mu",
              "--passes", "--sample", "--pairs", "--paper-form", "--theta", "--memory", "--stratified",
              "--solver-log", "--explain", "--version", "--threads", "--probability", "--no-homotopy", "--zzz", "--",
              "-", "--method", "--mu-end", "--objective-change", "--one-vs-one", "--heuristics", "--loss", "--sgd-rows",
              "--delta-alpha", "--min-alpha-opt", "--max-alpha-opt", "--min-alpha-check", "--boundary", "--grid"],
    "predict": ["-b", "-q", "--scores", "--metrics", "--threads", "--version", "--zzz", "-x", "--", "-"],
    "scale": ["-l", "-u", "-y", "-s", "-r", "--threads", "--version", "--zzz", "-x", "--", "-"],
}  # fmt: skip
VALUES = [
    "paper", "fast", "merit", "h1,h3", "none", "huber", "hinge", "rho", "C=0.1,1",
    "0", "1", "2", "3", "4", "5", "6", "7", "11", "12", "13", "21", "30", "31", "40", "41", "42", "43", "50", "51",
    "52", "60", "70", "71", "72", "73", "80", "81", "auto", "-1", "0.5", "1e-3", "1e6", "1e300", "-1e300", "nan", "inf",
    "-inf", "x", "", " ", "1" * 5000, "-" + "9" * 30, "1_0", "0x10", "1.5", "d", "tiny", "model", "kept", "out",
    "no/no", "range", "/dev/null", "/dev/full", ".", "-", "\udcff", "1G", "1K",
]  # fmt: skip


def line(stage: Stage, rng: random.Random) -> Tried:
    """Run a random command line in this process."""
    command = rng.choice(("train", "train", "train", "predict", "scale"))
    argv: list[str] = []
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        argv.append(rng.choice(OPTIONS[command]))
        if rng.random() < 0.8:
            argv.append(rng.choice(VALUES))
    if command == "train":
        argv = ["--max-seconds", "1", *argv] if rng.random() < 0.95 else argv
    argv += [rng.choice(("tiny", "tiny", "tiny", "model", "no", "", ".", "out")) for _ in range(rng.choice((1, 2, 3)))]
    folder = stage.reset()
    (folder / "tiny").write_text("1 1:1 2:0.5\n-1 1:-1\n1 2:3\n-1 1:0.5 2:-1\n2 1:1\n" if rng.random() < 0.5 else
                                 "1 1:1 2:0.5\n-1 1:-1\n1 2:3\n-1 1:0.5 2:-1\n")  # fmt: skip
    return _in_process(command, argv, folder)


def _in_process(command: str, argv: list[str], folder: Path) -> Tried:
    from svmtool.cli import scale, train
    from svmtool.cli.entry import guarded
    from svmtool.cli.predict import command as predict

    main: Callable[[list[str]], int] = {"train": train.main, "predict": predict.main, "scale": scale.main}[command]
    shown_line, before = " ".join(("svm-" + command, *argv))[:500], os.getcwd()
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    status = 1
    os.chdir(folder)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(ENDS)
    stdin = sys.stdin
    try:
        sys.stdin = open(os.devnull)  # noqa: SIM115  closed below
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = guarded(lambda: main(argv))
    except BaseException as e:
        return Tried("breach", [Found("one sentence", "line", f"{type(e).__name__}: {e}"[:300], shown_line)])
    finally:
        signal.alarm(0)
        sys.stdin.close()
        sys.stdin = stdin
        os.chdir(before)
    return Tried(f"status {status}", spoken(err.getvalue(), None if status == 130 else status, "line", shown_line))


TRIALS = {"kills": kill, "interrupts": interrupt, "disks": full, "lines": line}
