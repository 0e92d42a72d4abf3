"""Shared by the kinds of `--fuzz`: changes of files and numbers, and commands that run in this process."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

TOKENS = [
    b"nan", b"inf", b"-inf", b"1e400", b"-1e-400", b"0x", b"0x1p99999", b"1" * 5000, b"9" * 20, b"2147483647",
    b"2147483648", b"-2147483648", b"4294967297", b"++1", b"1_0", b":", b"::", b" ", b"\t", b"\n", b"\r\n", b"\0",
    b"\xff", b"#", b"0", b"-0", b"1:", b" :1", b"1:1 1:1", b"label", b"nr_class", b"total_sv", b"rho", b"SV", b"w",
    b"nr_sv", b"bias", b"x", b"y", b"PK\x01\x02", b"\x93NUMPY", b"'shape': (9,), }", b"1" * 300, b"\n" * 50,
]  # fmt: skip
NUMBER = re.compile(rb"[0-9]+")
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


def said(work: Callable[[], object]) -> Said:
    """Call a command, as the installed scripts do."""
    from svmtool.cli.entry import guarded
    from svmtool.errors import SvmtoolError

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", newline="") for _ in range(2))
    status, fault = None, ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = guarded(lambda: work() or 0)
        except (SvmtoolError, click.ClickException) as e:
            status, fault = 1, "" if str(e).strip() else f"{type(e).__name__} without a word"
            print(e, file=err)
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            fault = f"{type(e).__name__}: {e}"[:300]
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
        at, what = rng.randrange(len(out) + 1), rng.randrange(9)
        length = min(rng.choice((1, 2, 5, 20, 100)), len(out) - at)
        if what == 0 and out:
            out[at % len(out)] ^= 1 << rng.randrange(8)
        elif what == 1 and out:
            out[at % len(out)] = rng.randrange(256)
        elif what == 2:
            out[at:at] = rng.choice(TOKENS)
        elif what == 3:
            del out[at : at + length]
        elif what == 4:
            out[at:at] = out[at : at + length] * rng.choice((1, 2, 30))
        elif what == 5:
            del out[at:]
        elif what == 6:
            lines = out.split(b"\n")
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            out = bytearray(b"\n".join(lines))
        elif what == 7:  # a number by another
            if numbers := list(NUMBER.finditer(out)):
                start, stop = rng.choice(numbers).span()
                out[start:stop] = rng.choice(TOKENS)
        else:  # a whole word by another
            words = out.split(b" ")
            words[rng.randrange(len(words))] = rng.choice(TOKENS)
            out = bytearray(b" ".join(words))
    return bytes(out)


def damaged_arrays(rng: random.Random, path: Path) -> None:
    """Change an archive of arrays: whole as a file, of arrays that are not."""
    with np.load(path) as archive:
        arrays = dict(archive)
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(arrays))
        array, what = arrays[name], rng.randrange(9)
        with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError, OverflowError, LookupError):
            if what < 4 and array.dtype.kind in "iuf":
                array = array.astype("f8" if array.dtype.kind == "f" else "i8")
                array.reshape(-1)[rng.randrange(array.size)] = rng.choice(
                    (*NASTY, *((np.nan, np.inf) if array.dtype.kind == "f" else ()))
                )
            elif what == 4:
                array = array.astype(rng.choice(("c16", "O", "S4", "?", ">i2", "f2", "u8", "M8[s]", "i1", ">f4")))
            elif what == 5:
                array = array.reshape(rng.choice(((-1, 1), (1, -1), (-1,), ())))
            elif what == 6:
                array = np.resize(array, rng.choice((0, 1, array.size - 1, array.size + 1)))
            elif what == 7 and array.size == 1:
                array = np.array(rng.choice(("csr", "bsr", "coo", "lil", "", "c" * 50)))
            else:
                del arrays[name]
                continue
        arrays[name] = array
    np.savez(path, allow_pickle=True, **arrays)
    if rng.random() < 0.1 and arrays:  # a header that claims more than there is
        content = path.read_bytes().replace(b"'shape': (", b"'shape': (9" + rng.choice((b"9" * 10, b"", b", ")), 1)
        path.write_bytes(content)
