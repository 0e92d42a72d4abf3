"""Shared by the kinds of `--fuzz`: changes of files and numbers, and commands that run in this process."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

TOKENS = [
    b"nan", b"inf", b"-inf", b"1e400", b"-1e-400", b"0x", b"0x1p99999", b"1" * 5000, b"9" * 20, b"2147483647",
    b"2147483648", b"-2147483648", b"4294967297", b"++1", b"1_0", b":", b"::", b" ", b"\t", b"\n", b"\r\n", b"\0",
    b"\xff", b"#", b"0", b"-0", b"1:", b" :1", b"1:1 1:1", b"label", b"nr_class", b"total_sv", b"rho", b"SV", b"w",
    b"nr_sv", b"bias", b"x", b"y", b"PK\x01\x02", b"\x93NUMPY", b"'shape': (9,), }", b"1" * 300, b"\n" * 50,
]  # fmt: skip
NUMBER, WORD = re.compile(rb"[0-9]+"), re.compile(rb"[^ ]+")
NASTY = (-1, 0, 1, 2, 3, -(10**6), 10**5, 10**9, 2**31 - 1, 2**31, 2**32 + 1, 2**62, 2**63 - 1, -(2**31), -(2**63))


class Breached(Exception):
    """Ends a try: what was tried, and pairs of a law and what breaks it."""

    def __init__(self, what: str, *found: tuple[str, str]):
        self.what, self.found = what, found


class Said(NamedTuple):
    """A command that ran in this process: its status (None: an exception, in `fault`), and what it printed."""

    status: int | None
    out: str
    err: str
    fault: str = ""

    @property
    def sentence(self) -> bool:
        """Whether it ended well, or with an error message."""
        return not self.fault and "Traceback" not in self.err and (self.status == 0 or bool(self.err.strip()))


def where(e: BaseException) -> str:
    """The error and the last line of the package that it passed."""
    passed = [at for at in traceback.extract_tb(e.__traceback__) if "svmtool" in at.filename]
    place = "".join(f"{os.path.basename(at.filename)}:{at.lineno}" for at in passed[-1:])
    return f"{type(e).__name__} at {place}: {str(e)[:200]}"


def said(work: Callable[[], object]) -> Said:
    """Call a command, as the installed scripts do."""
    from svmtool.cli.entry import guarded

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", newline="") for _ in range(2))
    status, fault = None, ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = guarded(lambda: work() or 0)
        except BaseException as e:  # guarded prints what is no bug
            fault = where(e)
    for stream in (out, err):
        stream.flush()
    return Said(status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode(), fault)


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """A folder as the current one, without warnings; standard input is empty."""
    before, stdin = os.getcwd(), sys.stdin
    os.chdir(folder)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), open(os.devnull) as sys.stdin:
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdin = stdin
        os.chdir(before)


def fresh(folder: Path, name: str) -> Path:
    """An empty folder of that name."""
    shutil.rmtree(folder / name, ignore_errors=True)
    (folder / name).mkdir()
    return folder / name


def emptied(folder: Path) -> dict[str, bytes]:
    """The files that a try has left in the folder `try`."""
    place = folder / "try"
    return {p.name: p.read_bytes() for p in place.iterdir() if p.is_file()} if place.is_dir() else {}


def mutated(rng: random.Random, text: bytes) -> bytes:
    """Make one to six changes: bytes, slices, lines, numbers, words of the formats."""
    out = bytearray(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        at, what = rng.randrange(len(out) + 1), rng.randrange(7)
        length = min(rng.choice((1, 2, 5, 20, 100)), len(out) - at)
        if what == 0 and out:
            out[at % len(out)] = rng.randrange(256)
        elif what == 1:
            out[at:at] = rng.choice(TOKENS)
        elif what == 2:
            del out[at : at + length]
        elif what == 3:
            out[at:at] = out[at : at + length] * rng.choice((1, 2, 30))
        elif what == 4:
            del out[at:]
        elif what == 5:
            lines = out.split(b"\n")
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            out = bytearray(b"\n".join(lines))
        elif words := list(rng.choice((NUMBER, WORD)).finditer(out)):
            start, stop = rng.choice(words).span()
            out[start:stop] = rng.choice(TOKENS)
    return bytes(out)


KINDS = ("f4", "f2", "g", "i1", "i8", "u8", "?", "c16", "O", "U", "S4", ">f8", ">i2", "M8[s]", "m8[s]")  # of arrays


def changed(rng: random.Random, array: np.ndarray) -> Any:
    """An array with another number, type, shape, size or order, or what is none."""
    what = rng.randrange(10)
    with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError, OverflowError, LookupError):
        if what < 4:
            array = array.copy()
            array.flat[rng.randrange(array.size)] = rng.choice((*NASTY, np.nan, np.inf, 1e300, "a", None, 10**400))
        elif what == 4:
            return array.astype(rng.choice(KINDS))
        elif what == 5:
            return array.reshape(rng.choice(((-1, 1), (1, -1), (-1,), ())))
        elif what == 6:
            return np.resize(array, rng.choice((0, 1, array.size - 1, array.size + 1)))
        elif what == 7:
            return array[::-1].copy()
        elif what == 8:
            return array[: rng.randrange(len(array) + 1)]
        else:
            word = np.array(rng.choice(("csr", "lil", "c" * 50)))
            return rng.choice((None, [], [0], np.zeros(0), np.array(3), "a", word))
    return array


def damaged_arrays(rng: random.Random, path: Path) -> None:
    """Change an archive of arrays: whole as a file, of arrays that are not."""
    with np.load(path) as archive:
        arrays = dict(archive)
    for name in rng.sample(sorted(arrays), min(len(arrays), rng.choice((1, 1, 2)))):
        arrays[name] = changed(rng, arrays[name])
        if rng.random() < 0.1:
            del arrays[name]
    np.savez(path, allow_pickle=True, **arrays)
    if rng.random() < 0.1 and arrays:  # a header that claims more than there is
        content = path.read_bytes().replace(b"'shape': (", b"'shape': (9" + rng.choice((b"9" * 10, b"", b", ")), 1)
        path.write_bytes(content)
