"""Damages folders of rows (--memory): a damaged folder must be written again, and the model must be the same.

`draw(rng)` draws damages, `run(case, folder)` tries them in separate processes, because damaged indices could crash
compiled loops; it returns what went wrong, or "".
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stress.cases import method_of
from svmtool import registry
from svmtool.cli.train import main
from svmtool.formats.rowcache import arrays
from svmtool.formats.rowcache import folder as row_folder
from svmtool.training import pipeline  # noqa: F401  imported once, not in each child

DATA, MODEL, CLEAN, ROWS = "d", "m", "clean", "d.rows"
SECONDS = 60.0
NUMBERS = (1, 2, 3, 11, 40)
NASTY = (
    -1, 0, 1, 2, 7, 255, 2**15, 2**31 - 1, 2**31, 2**32, 2**40, 2**63 - 1, -(2**31), -(2**63), 10**30, 0.5, 1e300, -0.0,
    float("nan"), float("inf"), True, None, "", "7", [], [1], {}, {"a": 1},
)  # fmt: skip
NAMES = (*arrays.ARRAYS, arrays.HEADER)


class Case(NamedTuple):
    """seed: of the data and the random choices of damages; number: of -s; damages: names of functions below."""

    seed: int
    number: int
    damages: tuple[str, ...]


class Damage(NamedTuple):
    """A damage to a folder; forged: the checksums are valid, so that a run may use the changed numbers."""

    work: Callable[[np.random.Generator, Path], None]
    forged: bool = False


def draw(rng: np.random.Generator) -> Case:
    damages = rng.choice(list(DAMAGES), 1 + int(rng.random() < 0.3))
    return Case(int(rng.integers(2**31)), int(rng.choice(NUMBERS)), tuple(map(str, damages)))


def run(case: Case, folder: Path) -> str:
    """Create data and a folder of rows, damage it, and train on it; `folder` is empty before and after."""
    rng = np.random.default_rng(case.seed)
    try:
        (folder / DATA).write_text(_text(rng))
        status, said = _trained(folder, case.number, CLEAN)
        if status or not (folder / ROWS / arrays.HEADER).exists():
            return f"without any damage: status {status}: {said}"
        clean = (folder / CLEAN).read_bytes()  # damages may follow a link to it
        for name in case.damages:  # one may be impossible after another
            with contextlib.suppress(OSError, ValueError, LookupError, OverflowError, TypeError, RecursionError):
                DAMAGES[name].work(rng, folder / ROWS)
        status, said = _trained(folder, case.number, MODEL)
        refused = status == 1 and "it exists and is no folder of rows" in said and not (folder / MODEL).exists()
        forged = any(DAMAGES[name].forged for name in case.damages)
        if status < 0 or "Traceback" in said or (status and not refused and not forged):
            return f"status {status}: {said}"
        if not (refused or forged):
            if (folder / MODEL).read_bytes() != clean:
                return f"another model: {said}"
        if not refused:
            status, said = _trained(folder, case.number, MODEL)
            if status < 0 or "Traceback" in said or ((status or said) and not forged):
                return f"a later run, status {status}: {said}"
        return f"files left: {left}" if (left := list(folder.glob(".*.tmp"))) else ""
    finally:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _text(rng: np.random.Generator) -> str:
    rows, features = int(rng.integers(2, 40)), int(rng.choice((1, 3, 20, 300)))
    lines = []
    for k in range(rows):
        some = np.flatnonzero(rng.random(features) < rng.random()) + 1
        lines.append(" ".join([str(2 * (k % 2) - 1), *(f"{j}:{rng.standard_normal():.3g}" for j in some)]))
    return "\n".join(lines) + "\n"


def _trained(folder: Path, number: int, model: str) -> tuple[int, str]:
    """Run svm-train --memory in a child; returns its exit status (minus a signal, -99 for a hang) and its output."""
    said = folder / "said"
    child = os.fork()
    if child == 0:
        status = 70
        try:
            out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
            os.chdir(folder)
            row_folder.ROW_BYTES_PER_TEXT_BYTE = 1e9  # puts the rows of any file on disk
            chosen = ("-s", str(number), *method_of(registry.find(number)))
            status = main(["-q", *chosen, "--threads", "1", "--memory", "1G", DATA, model])
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)
    end = time.monotonic() + SECONDS
    while True:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(code), said.read_text(errors="replace").strip()
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -99, f"no end within {SECONDS:g} s"
        time.sleep(0.002)


# Damages; each takes a generator and the folder of rows.


def _array(rng: np.random.Generator) -> str:
    return str(rng.choice(list(arrays.ARRAYS)))


def flip(rng: np.random.Generator, rows: Path) -> None:
    """Flip some bits in a file."""
    path = rows / str(rng.choice(NAMES))
    data = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def entry(rng: np.random.Generator, rows: Path, forge: bool = False) -> None:
    """Change a number in an array; forge: also its checksum in the header."""
    name = _array(rng)
    array = np.fromfile(rows / name, arrays.ARRAYS[name])
    value = NASTY[int(rng.integers(19))]
    with np.errstate(all="ignore"):
        array[int(rng.integers(len(array)))] = np.array(value).astype(array.dtype)
    array.tofile(rows / name)
    if forge:
        header = json.loads((rows / arrays.HEADER).read_text())
        _sign(rows, {**header, "sums": {**header["sums"], name: arrays._checksum(array, 0)}})


def forged_entry(rng: np.random.Generator, rows: Path) -> None:
    entry(rng, rows, forge=True)


def _sign(rows: Path, header: dict) -> None:
    header.pop(arrays.CHECK, None)
    whole = {**header, arrays.CHECK: arrays._digest(header)}
    (rows / arrays.HEADER).write_text(json.dumps(whole))


def field(rng: np.random.Generator, rows: Path) -> None:
    """Change or remove a field of the header; the digest is valid."""
    header = json.loads((rows / arrays.HEADER).read_text())
    name = str(rng.choice(list(header)))
    header[name] = NASTY[int(rng.integers(len(NASTY)))]
    if rng.random() < 0.2:
        del header[name]
    _sign(rows, header)


def text(rng: np.random.Generator, rows: Path) -> None:
    """Replace the header by invalid text."""
    made = ("", "[" * 10_000, '{"a":' * 3000, "null", "{}", " " * 100_000, '{"rows": ' + "9" * 6000 + "}", "\x00" * 50)
    (rows / arrays.HEADER).write_text(made[int(rng.integers(len(made)))])


def length(rng: np.random.Generator, rows: Path) -> None:
    """Truncate or extend a file."""
    path = rows / str(rng.choice(NAMES))
    os.truncate(path, int(rng.choice((0, 1, path.stat().st_size - 1, path.stat().st_size + 8, 10**9))))


def exchange(rng: np.random.Generator, rows: Path) -> None:
    """Exchange two files."""
    a, b = (rows / str(name) for name in rng.choice(NAMES, 2, replace=False))
    a.rename(rows / "x")
    b.rename(a)
    (rows / "x").rename(b)


def kind(rng: np.random.Generator, rows: Path) -> None:
    """Replace a file by a pipe, a folder, a link or nothing."""
    path = rows / str(rng.choice(NAMES))
    path.unlink()
    made = ("pipe", "folder", "link", "loop", "device", "nothing")[int(rng.integers(6))]
    if made == "pipe":
        os.mkfifo(path, 0o600)
    elif made == "folder":
        path.mkdir()
    elif made != "nothing":
        path.symlink_to({"link": "../clean", "loop": path.name, "device": "/dev/zero"}[made])


def rights(rng: np.random.Generator, rows: Path) -> None:
    """Make a file writable by others, or unreadable."""
    path = (rows, *(rows / name for name in NAMES))[int(rng.integers(len(NAMES) + 1))]
    path.chmod(int(rng.choice((0o000, 0o666, 0o777))) | (0o700 if path == rows else 0))


def stranger(rng: np.random.Generator, rows: Path) -> None:
    """Add a file that does not belong to the folder."""
    (rows / "thesis.txt").write_text("mine")


DAMAGES = {
    "flip": Damage(flip), "entry": Damage(entry), "forged entry": Damage(forged_entry, forged=True),
    "field": Damage(field), "text": Damage(text), "length": Damage(length), "exchange": Damage(exchange),
    "kind": Damage(kind), "rights": Damage(rights), "stranger": Damage(stranger),
}  # fmt: skip
