"""Mutated files through every reader, in this process: SvmtoolError or success, nothing else, and no hang.

    python scripts/stress/fuzz_files.py [--inputs N] [--seconds S] [--seed N] [--jobs J] [--keep FOLDER]

`attempt` is one batch for a runner; run as a program, batches go through processes of their own, so that a crash of one
is told with the input that made it.  A batch is repeated by its seed and index.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import gzip
import io
import lzma
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent.parent)

import numpy as np

from svmtool.errors import SvmtoolError
from svmtool.formats import adaptable_state, kernel_model, linear_model, range_file, svmlight, weight_file
from svmtool.formats.model_text import is_kernel_model, load
from svmtool.formats.row_log import RowLog
from svmtool.formats.source import open_source
from svmtool.scaling import LineReader

BATCH = 5000  # inputs of an attempt
HANG = 60  # seconds that no input may take
SHM = "/dev/shm"

TRAIN = b"1 1:0.5 3:-1e-3 7:2\n-1 2:1 3:0x1p3\n+1 1:1\n-1\n2.5 1:1 2:2 3:3 4:4 5:5\n"
RANGE = b"y\n-1 1\n0 10\nx\n-1 1\n1 0 2\n2 -1 1\n+7 0.25 1e3\n"
TOKENS = [
    b"nan", b"inf", b"-inf", b"1e400", b"-1e-400", b"0x", b"0x1p99999", b"1" * 5000, b"9" * 20, b"2147483647",
    b"2147483648", b"-2147483648", b"4294967297", b"++1", b"1_0", b":", b"::", b" ", b"\t", b"\n", b"\r\n", b"\0",
    b"\xff", b"#", b"0", b"-0", b"1:", b" :1", b"1:1 1:1", b"label", b"nr_class", b"total_sv", b"rho", b"SV", b"w",
    b"nr_sv", b"bias", b"x", b"y", b"PK\x01\x02", b"\x93NUMPY", b"'shape': (9,), }", b"1" * 300, b"\n" * 50,
]  # fmt: skip
NUMBER = re.compile(rb"[0-9]+")


class Found(NamedTuple):
    """A breach: law, kind of file, in words, and the input."""

    law: str
    kind: str
    words: str
    content: bytes


class _Hang(BaseException):
    """An input took too long; no SvmtoolError may hide it."""


def _read_data(path: str) -> None:
    for table in (svmlight.read(path), *svmlight.blocks(path, 64)):
        ends = table.indptr
        sound = ends[0] == 0 and np.all(np.diff(ends) >= 0) and ends[-1] == len(table.indices) == len(table.values)
        inside = np.ones(len(table.indices), bool)
        inside[ends[:-1][np.diff(ends) > 0]] = False  # the first of each row follows no other
        sound = sound and np.all(np.diff(table.indices, prepend=-1)[inside] > 0) and np.all(table.indices >= 0)
        sound = sound and np.all(np.isfinite(table.values)) and np.all(np.isfinite(table.labels))
        if not sound or table.indices.max(initial=-1) >= table.n_features:
            raise AssertionError("the table that was read is none")


def _read_precomputed(path: str) -> None:
    svmlight.read(path, least=0)


def _read_to_scale(path: str) -> None:
    reader = LineReader(lambda text: None)
    with open_source(path) as source:
        for _ in svmlight.tables(source, odd_line=reader.read):
            pass
    reader.report()


def _read_model(path: str) -> None:
    text, length = load(path)
    if is_kernel_model(text, length):
        model = kernel_model.read(path)
    else:
        model = linear_model.read(path)
        linear_model.sigmoids_of(model)
    if getattr(model, "n_features", 0) > 10_000 or model.nr_class > 1000:  # decisions of such take long, no more
        return
    labels = np.zeros(2)
    table = svmlight.Table(labels, np.array([0, 1, 3]), np.array([0, 0, 2], np.int32), np.array([1.0, 0.5, -2.0]), 3)
    with np.errstate(all="ignore"):
        model.predict(table)


def _read_range(path: str) -> None:
    ranges = range_file.read(path)
    assert np.all(np.diff(ranges.index, prepend=0) > 0)


def _read_weights(path: str) -> None:
    assert np.all(np.isfinite(weight_file.read(path, 6)))


def _read_state(path: str) -> None:
    state = adaptable_state.read(path.removesuffix(".state.npz"))
    assert np.all(np.isfinite(state.sums.gram)) and np.all(np.isfinite(state.sums.first))


def _read_log(path: str) -> None:
    with contextlib.closing(RowLog.open(path, 7, 3)) as log:
        log.first_missing(np.array([2, 4], np.uint64))
        log.balance()


def _trained(folder: Path, *options: str) -> bytes:
    """The model of TRAIN as classes, and its state where it has one."""
    from svmtool.cli.train import main

    data, model = folder / "data", folder / "model"
    data.write_bytes(TRAIN.replace(b"2.5", b"2"))
    assert main(["-q", *options, str(data), str(model)]) == 0
    return model.read_bytes()


class Kind(NamedTuple):
    """A kind of file: the end of its name, what is mutated, what reads it; pack: makes the file of a mutation."""

    suffix: str
    seeds: list[bytes]
    read: Callable[[str], None]
    pack: Callable[[bytes], bytes] | None = None


def kinds(folder: Path) -> dict[str, Kind]:
    """All kinds, with fresh seeds made in a folder."""
    log = np.array([7, 2, 4, 6, 3], "<u8").tobytes()
    linear = [_trained(folder, "-s", s) for s in ("0", "1", "4", "43")] + [_trained(folder, "-s", "1", "-b", "1")]
    linear += [_trained(folder, "-s", s) for s in ("11", "21")]
    kernel = [_trained(folder, "-t", t) for t in ("0", "1", "2", "3")]
    kernel += [_trained(folder, "-t", "2", "-s", s) for s in ("1", "2", "3", "4")]
    _trained(folder, "-s", "71")
    state = (folder / "model.state.npz").read_bytes()
    packed = {".gz": lambda b: gzip.compress(b, 1), ".bz2": lambda b: bz2.compress(b, 1), ".xz": lzma.compress}
    table = {
        "data": Kind("", [TRAIN], _read_data),
        "data to scale": Kind("", [TRAIN], _read_to_scale),
        "precomputed rows": Kind("", [b"1 0:1 1:2 2:3\n-1 0:2 1:3 2:4\n"], _read_precomputed),
        "linear model": Kind("", linear, _read_model),
        "kernel model": Kind("", kernel, _read_model),
        "range": Kind("", [RANGE, RANGE[12:]], _read_range),
        "weights": Kind("", [b"1 2\n3 0.5 0 1e3\n"], _read_weights),
        "state": Kind(".state.npz", [state], _read_state),
        "state, repaired": Kind(".state.npz", [state], _read_state, _with_checksums),
        "log of rows": Kind("", [log], _read_log),
    }
    for suffix, pack in packed.items():
        table["data" + suffix] = Kind(suffix, [pack(TRAIN * 3)], _read_data)
    return table


def _with_checksums(text: bytes) -> bytes:
    """A mutated state with each member packed anew, so that the mutation gets past zip's checksums."""
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for piece in text.split(b"PK\x03\x04")[1:]:
            at = piece.find(b"\x93NUMPY")
            name = piece[26 : 26 + int.from_bytes(piece[22:24], "little")].decode("latin-1")
            if at >= 0 and name:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the same name twice is part of the game
                    archive.writestr(zipfile.ZipInfo(name), piece[at:].split(b"PK\x01\x02")[0])
    return out.getvalue()


def mutated(rng: random.Random, text: bytes) -> bytes:
    """One to six changes: bytes, slices, lines, numbers, words of the formats."""
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
            numbers = list(NUMBER.finditer(out))
            if numbers:
                start, stop = rng.choice(numbers).span()
                out[start:stop] = rng.choice(TOKENS)
        else:  # a whole word by another
            words = out.split(b" ")
            words[rng.randrange(len(words))] = rng.choice(TOKENS)
            out = bytearray(b" ".join(words))
    return bytes(out)


def attempt(seed: int, index: int, folder: str, inputs: int = BATCH) -> tuple[Counter, list[Found]]:
    """So many mutated inputs, written to files in `folder` in turn; counts by kind and ending, and breaches.

    The input of a crash or a hang that ends the process is the file `input*` that is left there.
    """
    place = Path(folder)
    table = kinds(place)
    rng, counts, found = random.Random(f"{seed} {index}"), Counter(), []
    names = list(table)
    signal.signal(signal.SIGALRM, _too_long)
    for _ in range(inputs):
        name = rng.choice(names)
        kind = table[name]
        content = mutated(rng, rng.choice(kind.seeds))
        if kind.pack is not None:
            content = kind.pack(content)
        path = place / ("input" + kind.suffix)
        path.write_bytes(content)
        signal.alarm(HANG)
        try:
            kind.read(str(path))
            ending = "read"
        except SvmtoolError as e:
            ending = "refused"
            if not str(e) or len(str(e)) > 2000:
                found.append(Found("one sentence", name, f"a message of {len(str(e))} characters", content))
        except _Hang:
            ending = "breach"
            found.append(Found("no hang", name, f"no end within {HANG} s", content))
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                raise
            ending = "breach"
            found.append(Found("SvmtoolError or success", name, f"{type(e).__name__}: {e}"[:300], content))
        finally:
            signal.alarm(0)
        counts[name, ending] += 1
        path.unlink(missing_ok=True)
    return counts, found


def _too_long(*_: object) -> None:
    raise _Hang


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A folder that goes at the end, in memory where there is such a place."""
    folder = tempfile.mkdtemp(prefix="svmtool-fuzz-", dir=SHM if os.access(SHM, os.W_OK) else None)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _work(job: tuple[int, int, str], answers: multiprocessing.SimpleQueue) -> None:
    answers.put(attempt(*job))


def run(seed: int, inputs: int, seconds: float, jobs: int, keep: Path) -> int:
    """Batches side by side until there are enough inputs or the time is over; prints, returns the exit status."""
    context = multiprocessing.get_context("fork")
    end, index, counts, found, busy = time.monotonic() + seconds, 0, Counter(), [], []
    batches = -(-inputs // BATCH)
    began = time.monotonic()
    while busy or (index < batches and time.monotonic() < end):
        while len(busy) < jobs and index < batches and time.monotonic() < end:
            folder = tempfile.mkdtemp(prefix="svmtool-fuzz-", dir=SHM if os.access(SHM, os.W_OK) else None)
            answers = context.SimpleQueue()
            process = context.Process(target=_work, args=((seed, index, folder), answers))
            process.start()
            busy.append((process, answers, folder, index))
            index += 1
        for job in list(busy):
            process, answers, folder, number = job
            if not answers.empty():
                more, breaches = answers.get()
                counts.update(more)
                found += breaches
                process.join()
            elif process.is_alive():
                continue
            else:
                content = b"".join(p.read_bytes() for p in Path(folder).glob("input*"))
                found.append(Found("no crash", "?", f"batch {number}: status {process.exitcode}", content))
            shutil.rmtree(folder, ignore_errors=True)
            busy.remove(job)
        time.sleep(0.01)
    for name in dict.fromkeys(kind for kind, _ in counts):
        told = ", ".join(f"{counts[name, e]} {e}" for e in ("read", "refused", "breach") if counts[name, e])
        print(f"{name:20} {told}")
    for k, breach in enumerate(found[:100]):
        keep.mkdir(parents=True, exist_ok=True)
        (keep / str(k)).write_bytes(breach.content)
        print(f"BREACH {breach.law}: {breach.kind}: {breach.words}: {keep / str(k)}")
    print(f"{counts.total()} inputs in {time.monotonic() - began:.0f} s, {len(found)} breaches")
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", type=Path, default=Path("results/fuzz"), help="folder of inputs that broke a law")
    chosen = parser.parse_args()
    return run(chosen.seed, chosen.inputs, chosen.seconds, chosen.jobs, chosen.keep)


if __name__ == "__main__":
    sys.exit(main())
