"""Programs that train, and runs of them as whole commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

from svmtool.errors import SvmtoolError

LIBLINEAR, LIBSVM_COMMANDS = ("liblinear-train",), ("svm-train", "libsvm-train")  # the names of Debian's packages


class Program(NamedTuple):
    """A program: its name in tables, and the words that start it."""

    name: str
    words: tuple[str, ...]


class TimedRun(NamedTuple):
    """One run: seconds from start to end, and the end of what it printed."""

    seconds: float
    status: int
    message: str


def ours() -> Program:
    """This package's svm-train: the installed script, else `python -m svmtool train`."""
    script = shutil.which("svm-train", path=os.path.dirname(sys.executable))
    words = (script,) if script and _is_ours(script) else (sys.executable, "-m", "svmtool", "train")
    return Program("svmtool train", words)


def others(kernel: bool, named: tuple[str, ...]) -> list[Program]:
    """LIBLINEAR's or (kernel) LIBSVM's programs on PATH, and those that the user has named."""
    found: list[Program] = []
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in LIBSVM_COMMANDS if kernel else LIBLINEAR:
            path = shutil.which(name, path=folder) if folder else None
            if (
                path
                and not _is_ours(path)
                and all(os.path.realpath(path) != os.path.realpath(p.words[0]) for p in found)
            ):
                found.append(Program(path, (path,)))
    for name in named:
        path = shutil.which(name)
        if path is None:
            raise SvmtoolError(f"--program {name}: there is no such program")
        found.append(Program(name, (path,)))
    return found


def _is_ours(path: str) -> bool:
    """Whether a program is a script of this package."""
    try:
        with open(path, "rb") as file:
            return b"svmtool" in file.read(1 << 12)
    except OSError:
        return False


def run(program: Program, options: list[str], data: str, model: str) -> TimedRun:
    """Train once; the model is written to the file `model`."""
    started = time.perf_counter()
    try:
        done = subprocess.run([*program.words, *options, data, model], capture_output=True, stdin=subprocess.DEVNULL)
    except OSError as e:
        raise SvmtoolError(f"can't run {program.name}: {e.strerror}") from None
    seconds = time.perf_counter() - started
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return TimedRun(seconds, done.returncode, lines[-1] if lines else "no message")
