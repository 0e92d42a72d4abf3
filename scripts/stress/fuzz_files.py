"""Reads mutated files with every reader, in this process: only success or SvmtoolError is allowed, and no hang.

`attempt` runs one batch, identified by seed and index; `again` reads one saved file.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import random
import re
import signal
import warnings
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from svmtool.data.dataset import Dataset
from svmtool.errors import SvmtoolError
from svmtool.formats.adaptable import state as adaptable_state
from svmtool.formats.adaptable.row_log import RowLog
from svmtool.formats.models import kernel as kernel_model
from svmtool.formats.models import linear as linear_model
from svmtool.formats.models.text import is_kernel_model, load
from svmtool.formats.source import open_source
from svmtool.formats.svmlight import table as svmlight
from svmtool.formats.svmlight.inputs import read_weights
from svmtool.models.linear import sigmoids_of
from svmtool.scaling import ranges
from svmtool.scaling.rescale import SlowLines

BATCH = 500  # inputs of an attempt
HANG = 60  # time limit of an input in seconds
INPUT = "input of "  # prefix of the name of the file being read

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
    """A breach: the law, the kind of file, what was found, and the input."""

    law: str
    kind: str
    words: str
    content: bytes


class _Hang(BaseException):
    """An input took too long; a BaseException, so that no handler hides it."""


def _read_data(path: str) -> None:
    with open_source(path) as source:
        parts = list(svmlight.tables(source, 64))
    for table in (svmlight.read(path), *parts):
        ends = table.indptr
        sound = ends[0] == 0 and np.all(np.diff(ends) >= 0) and ends[-1] == len(table.indices) == len(table.values)
        inside = np.ones(len(table.indices), bool)
        inside[ends[:-1][np.diff(ends) > 0]] = False  # the first of a row has no predecessor
        sound = sound and np.all(np.diff(table.indices, prepend=-1)[inside] > 0) and np.all(table.indices >= 0)
        sound = sound and np.all(np.isfinite(table.values)) and np.all(np.isfinite(table.labels))
        if not sound or table.indices.max(initial=-1) >= table.n_features:
            raise AssertionError("the table is invalid")


def _read_precomputed(path: str) -> None:
    svmlight.read(path, first_index=0)


def _read_to_scale(path: str) -> None:
    reader = SlowLines(lambda text: None)
    with open_source(path) as source:
        for _ in svmlight.tables(source, slow_line=reader.read):
            pass
    reader.report()


def _read_model(path: str) -> None:
    with load(path) as text:
        kernel = is_kernel_model(text)
    if kernel:
        model = kernel_model.read(path)
    else:
        model = linear_model.read(path)
        sigmoids_of(model)
    if getattr(model, "n_features", 0) > 10_000 or model.nr_class > 1000:  # predictions would only take long
        return
    labels = np.zeros(2)
    table = Dataset(labels, np.array([0, 1, 3]), np.array([0, 0, 2], np.int32), np.array([1.0, 0.5, -2.0]), 3)
    with np.errstate(all="ignore"):
        model.predict(table)


def _read_range(path: str) -> None:
    found = ranges.read(path)
    assert np.all(np.diff(found.index, prepend=0) > 0)


def _read_weights(path: str) -> None:
    assert np.all(np.isfinite(read_weights(path, 6)))


def _read_state(path: str) -> None:
    state = adaptable_state.read(path.removesuffix(".state.npz"))
    assert np.all(np.isfinite(state.sums.gram)) and np.all(np.isfinite(state.sums.first))


def _read_log(path: str) -> None:
    with contextlib.closing(RowLog.open(path, 7, 3)) as log:
        log.first_missing(np.array([2, 4], np.uint64))
        log.balance()


def _trained(folder: Path, *options: str) -> bytes:
    """The model trained on TRAIN, followed by its state if it has one."""
    from svmtool.cli.train import main

    data, model = folder / "data", folder / "model"
    data.write_bytes(TRAIN.replace(b"2.5", b"2"))
    assert main(["-q", *options, str(data), str(model)]) == 0
    return model.read_bytes()


class Kind(NamedTuple):
    """A kind of file: the suffix of its name and its reader; pack: converts a mutated text to the file."""

    suffix: str
    read: Callable[[str], None]
    pack: Callable[[bytes], bytes] | None = None


@lru_cache
def seeds(folder: Path) -> dict[str, list[bytes]]:
    """The files to mutate for each of KINDS, created in a folder."""
    linear = [_trained(folder, "-s", s) for s in ("0", "1", "4", "43")] + [_trained(folder, "-s", "1", "-b", "1")]
    linear += [_trained(folder, "-s", s) for s in ("11", "21")]
    kernel = [_trained(folder, "-t", t) for t in ("0", "1", "2", "3")]
    kernel += [_trained(folder, "-t", "2", "-s", s) for s in ("1", "2", "3", "4")]
    _trained(folder, "-s", "71")
    state = (folder / "model.state.npz").read_bytes()
    return {
        "data": [TRAIN],
        "data to scale": [TRAIN],
        "precomputed rows": [b"1 0:1 1:2 2:3\n-1 0:2 1:3 2:4\n"],
        "linear model": linear,
        "kernel model": kernel,
        "range": [RANGE, RANGE[12:]],
        "weights": [b"1 2\n3 0.5 0 1e3\n"],
        "state": [state],
        "state, repaired": [state],
        "log of rows": [np.array([7, 2, 4, 6, 3], "<u8").tobytes()],
        "data.gz": [gzip.compress(TRAIN * 3, 1, mtime=0)],
        "data.bz2": [bz2.compress(TRAIN * 3, 1)],
        "data.xz": [lzma.compress(TRAIN * 3)],
    }


def _with_checksums(text: bytes) -> bytes:
    """A mutated state with each member packed again, so that zip's checksums are valid."""
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for piece in text.split(b"PK\x03\x04")[1:]:
            at = piece.find(b"\x93NUMPY")
            name = piece[26 : 26 + int.from_bytes(piece[22:24], "little")].decode("latin-1")
            if at >= 0 and name:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # mutations may repeat a name
                    archive.writestr(zipfile.ZipInfo(name), piece[at:].split(b"PK\x01\x02")[0])
    return out.getvalue()


KINDS = {
    "data": Kind("", _read_data),
    "data to scale": Kind("", _read_to_scale),
    "precomputed rows": Kind("", _read_precomputed),
    "linear model": Kind("", _read_model),
    "kernel model": Kind("", _read_model),
    "range": Kind("", _read_range),
    "weights": Kind("", _read_weights),
    "state": Kind(".state.npz", _read_state),
    "state, repaired": Kind(".state.npz", _read_state, _with_checksums),
    "log of rows": Kind("", _read_log),
    "data.gz": Kind(".gz", _read_data),
    "data.bz2": Kind(".bz2", _read_data),
    "data.xz": Kind(".xz", _read_data),
}


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
    """Read `inputs` mutated files, written to `folder`; returns counts by kind and ending, and breaches.

    After a crash or a hang the input is the remaining file `INPUT*`.
    """
    place = Path(folder)
    texts = seeds(place)
    rng, counts, found = random.Random(f"{seed} {index}"), Counter(), []
    for _ in range(inputs):
        name = rng.choice(list(KINDS))
        kind = KINDS[name]
        content = mutated(rng, rng.choice(texts[name]))
        if kind.pack is not None:
            content = kind.pack(content)
        path = place / (INPUT + name + kind.suffix)
        path.write_bytes(content)
        ending, breach = again(name, str(path))
        counts[name, ending] += 1
        if breach is not None:
            found.append(breach)
        path.unlink(missing_ok=True)
    return counts, found


def again(name: str, path: str) -> tuple[str, Found | None]:
    """Read a file of that kind; returns `read`, `refused` or `breach`, and the breach if there is one."""
    law, words = "", ""
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(HANG)
    try:
        KINDS[name].read(path)
        return "read", None
    except SvmtoolError as e:
        if 0 < len(str(e)) <= 2000:
            return "refused", None
        law, words = "one sentence", f"a message of {len(str(e))} characters"
    except _Hang:
        law, words = "no hang", f"no end within {HANG} s"
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        law, words = "SvmtoolError or success", f"{type(e).__name__}: {e}"[:300]
    finally:
        signal.alarm(0)
    return "breach", Found(law, name, words, Path(path).read_bytes())


def _too_long(*_: object) -> None:
    raise _Hang
