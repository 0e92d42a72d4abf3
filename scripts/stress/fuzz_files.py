"""Reads mutated files with every reader, in this process: only success or SvmtoolError is allowed, and no hang."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from stress.fuzz_shared import Breached, damaged_arrays, fresh, mutated, where
from svmtool.errors import SvmtoolError
from svmtool.formats.adaptable import state as adaptable_state
from svmtool.formats.adaptable.row_log import RowLog
from svmtool.formats.source import open_source
from svmtool.formats.svmlight import table as svmlight
from svmtool.formats.svmlight.inputs import read_weights
from svmtool.scaling import ranges
from svmtool.scaling.rescale import SlowLines

TRAIN = b"1 1:0.5 3:-1e-3 7:2\n-1 2:1 3:0x1p3\n+1 1:1\n-1\n2.5 1:1 2:2 3:3 4:4 5:5\n"
RANGE = b"y\n-1 1\n0 10\nx\n-1 1\n1 0 2\n2 -1 1\n+7 0.25 1e3\n"


def _data(path: str) -> None:
    with open_source(path) as source:
        parts = [part.table() for part in svmlight.raw_tables(source, 64)]
    for table in (svmlight.read(path), *parts):
        ends = table.indptr
        sound = ends[0] == 0 and np.all(np.diff(ends) >= 0) and ends[-1] == len(table.indices) == len(table.values)
        inside = np.ones(len(table.indices), bool)
        inside[ends[:-1][np.diff(ends) > 0]] = False  # the first of a row has no predecessor
        sound = sound and np.all(np.diff(table.indices, prepend=-1)[inside] > 0) and np.all(table.indices >= 0)
        sound = sound and np.all(np.isfinite(table.values)) and np.all(np.isfinite(table.labels))
        if not sound or table.indices.max(initial=-1) >= table.n_features:
            raise AssertionError("the table is invalid")


def _to_scale(path: str) -> None:
    reader = SlowLines(lambda text: None)
    with open_source(path) as source:
        for _ in svmlight.raw_tables(source, slow_line=reader.read):
            pass
    reader.report()


def _range(path: str) -> None:
    assert np.all(np.diff(ranges.read(path).index, prepend=0) > 0)


def _weights(path: str) -> None:
    assert np.all(np.isfinite(read_weights(path, 6)))


def _state(path: str) -> None:
    state = adaptable_state.read(path.removesuffix(".state.npz"))
    assert np.all(np.isfinite(state.sums.gram)) and np.all(np.isfinite(state.sums.first))


def _log(path: str) -> None:
    with contextlib.closing(RowLog.open(path, 7, 3)) as log:
        log.first_missing(np.array([2, 4], np.uint64))
        log.balance()


STATE, REPAIRED = ".state.npz", "state, repaired"
# kind: files to mutate (none: a state), suffix of the name, reader
KINDS: dict[str, tuple[list[bytes], str, Callable[[str], None]]] = {
    "data": ([TRAIN], "", _data),
    "data to scale": ([TRAIN], "", _to_scale),
    "precomputed rows": ([b"1 0:1 1:2 2:3\n-1 0:2 1:3 2:4\n"], "", lambda path: svmlight.read(path, 0) and None),
    "range": ([RANGE, RANGE[12:]], "", _range),
    "weights": ([b"1 2\n3 0.5 0 1e3\n"], "", _weights),
    "state": ([], STATE, _state),
    REPAIRED: ([], STATE, _state),  # zip's checksums are valid
    "log of rows": ([np.array([7, 2, 4, 6, 3], "<u8").tobytes()], "", _log),
    "data.gz": ([gzip.compress(TRAIN * 3, 1, mtime=0)], ".gz", _data),
    "data.bz2": ([bz2.compress(TRAIN * 3, 1)], ".bz2", _data),
    "data.xz": ([lzma.compress(TRAIN * 3)], ".xz", _data),
}


@lru_cache
def _kept(folder: Path) -> bytes:
    """The state of a model of -s 71 trained on TRAIN."""
    from svmtool.cli.train import main

    place = fresh(folder, "made")
    (place / "data").write_bytes(TRAIN.replace(b"2.5", b"2"))
    assert main(["-q", "-s", "71", str(place / "data"), str(place / "model")]) == 0
    return (place / f"model{STATE}").read_bytes()


def read(rng: random.Random, folder: Path) -> tuple[str, str]:
    """Read one mutated file."""
    name = rng.choice(list(KINDS))
    seeds, suffix, reader = KINDS[name]
    content = rng.choice(seeds or [_kept(folder)])
    path = fresh(folder, "try") / f"input{suffix}"
    path.write_bytes(content if name == REPAIRED else mutated(rng, content))
    if name == REPAIRED:
        damaged_arrays(rng, path)
    try:
        reader(str(path))
        return name, "read"
    except SvmtoolError as e:
        if 0 < len(str(e)) <= 2000:
            return name, "refused"
        raise Breached(name, ("one sentence", f"a message of {len(str(e))} characters")) from e
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        raise Breached(name, ("SvmtoolError or success", where(e))) from e
