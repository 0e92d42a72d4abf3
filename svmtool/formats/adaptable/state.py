"""The state of an adaptable model, MODEL.state.npz: sums that allow adding rows without the old ones.

It is a zip of plain arrays (archive.py; zip stores checksums) and includes the text of its model.  They are not
compressed, so that they need no more memory than the size of the file.
State, log of rows (row_log.py) and model are renamed one after the other, the state first, which commits the change.
If a run ends after that, the log still has its temporary name and the model file the signature `before`; the next run
then renames the log and writes the model.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from svmtool.data.class_statistics import ClassStatistics
from svmtool.data.labels import Weighting, cost_factors, weightings
from svmtool.errors import ModelError
from svmtool.formats.adaptable import STATE
from svmtool.formats.archive import Archive, ArchiveError
from svmtool.formats.output import open_regular, replacing
from svmtool.models.linear import OVERFLOWN

FAST, PAPER = 1, 2  # versions: of sums alone, and with P and w for --method paper
ABSENT = -1  # signature of a missing file

# name -> type and number of dimensions
STATE_ARRAYS = {
    "version": ("i8", 0), "solver": ("i8", 0), "C": ("f8", 0), "bias": ("f8", 0), "own": ("i8", 1), "factor": ("f8", 1),
    "features": ("i8", 0), "labels": ("i8", 1), "count": ("i8", 1), "weight": ("f8", 1), "first": ("f8", 2),
    "gram": ("f8", 2), "past": ("f8", 1), "model": ("u1", 1), "before": ("i8", 0), "log": ("u8", 0),
    "entries": ("i8", 0),
}  # fmt: skip
KINDS = {**STATE_ARRAYS, "inverse": ("f8", 2), "w": ("f8", 2)}  # of version PAPER


class State:
    """The content of a state file.

    solver, C, bias: of the last training.  own, factor: labels with a class weight, and the weights.  sums:
    ClassStatistics.  model: the model file's bytes.  before: signature of the model file that it replaced.  log,
    entries: see RowLog.  inverses, w: of --method paper, else None, see training/adapting/paper_form.py; upper
    triangles where they are read.
    """

    inverses: dict[Weighting, np.ndarray] | None = None
    w: np.ndarray | None = None

    def __init__(
        self, solver: int, C: float, bias: float, class_weights: tuple[tuple[int, float], ...], sums: ClassStatistics,
        model: bytes = b"", before: int = ABSENT, log: int = 0, entries: int = 0,
    ):  # fmt: skip
        self.solver, self.C, self.bias, self.class_weights, self.sums = solver, C, bias, class_weights, sums
        self.model, self.before, self.log, self.entries = model, before, log, entries


def signature(content: bytes | None) -> int:
    """Length and checksum of a file's content as one number; ABSENT for None."""
    return ABSENT if content is None else (len(content) & 0x7FFFFFFF) << 32 | zlib.crc32(content)


def content_of(path: str) -> bytes | None:
    """The bytes of the model file `path`; None if it is missing, ModelError if it is no regular file."""
    try:
        with open(open_regular(path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as e:
        raise ModelError(f"can't open model file {path}: {e.strerror}") from None


def write(path: str, state: State) -> None:
    """Write the state of the model `path` atomically; ModelError if it contains a non-finite number."""
    sums = state.sums
    arrays: dict[str, Any] = {
        "version": FAST if state.inverses is None else PAPER, "solver": state.solver, "C": state.C, "bias": state.bias,
        "own": [label for label, _ in state.class_weights], "factor": [f for _, f in state.class_weights],
        "features": sums.m, "labels": sums.labels, "count": sums.count, "weight": sums.weight, "first": sums.first,
        "gram": _packed(sums.gram, sums.m), "past": sums.past, "model": np.frombuffer(state.model, np.uint8),
        "before": state.before, "log": state.log, "entries": state.entries,
    }  # fmt: skip
    if state.inverses is not None:
        arrays["inverse"] = _packed([P.T for P in state.inverses.values()], sums.m + (state.bias >= 0))
        arrays["w"] = state.w
    checked = ("C", "bias", "weight", "first", "gram", "inverse", "w")
    if not all(np.all(np.isfinite(arrays[name])) for name in checked if name in arrays):
        raise ModelError(OVERFLOWN)
    with replacing(path + STATE, "can't save the model's state to") as file:
        np.savez(file, **{name: np.asarray(value, KINDS[name][0]) for name, value in arrays.items()})


def read(path: str) -> State:
    """Read the state of the model `path`; ModelError if it is missing, damaged or of another version."""
    name = path + STATE
    try:
        raw = open(open_regular(name), "rb")
    except FileNotFoundError:
        raise ModelError(
            f"can't open the model's state {name}: only -s 71, and -s 72 with two labels, write one"
        ) from None
    except OSError as e:
        raise ModelError(f"can't open the model's state {name}: {e.strerror}") from None
    try:
        with raw:
            archive = Archive(raw, os.fstat(raw.fileno()).st_size, stored=True)
            version = _array(archive, "version").item()
            if version not in (FAST, PAPER):
                raise ModelError(
                    f"{name}: its version is {version}, and this svmtool reads versions {FAST} and {PAPER}"
                )
            kinds = STATE_ARRAYS if version == FAST else KINDS
            found = {key: _array(archive, key) for key in kinds}
    except ArchiveError as e:
        raise ModelError(f"{name} is damaged or is not a model's state: {e}") from None
    _check(name, found)
    return _made(found)


def log_number(path: str) -> int | None:
    """The log number in the state of the model `path`; None without a valid state."""
    try:
        return read(path).log
    except ModelError:
        return None


def _array(archive: Archive, key: str) -> np.ndarray:
    """The array with its type and number of dimensions in STATE_ARRAYS; ArchiveError if it has others."""
    kind, dimensions = KINDS[key]
    found = archive.array(key, kind[0])
    if found.dtype.itemsize != int(kind[1]) or found.ndim != dimensions:
        raise ArchiveError(f"its array {key!r} has a wrong type or shape")
    return found.astype(kind, order="C", copy=False)


def _check(name: str, arrays: dict) -> None:
    m, k, g = int(arrays["features"]), len(arrays["labels"]), 1 + len(set(arrays["own"].tolist()))
    shapes = {
        "count": (k,), "weight": (k,), "first": (k, m), "gram": (g, m * (m + 1) // 2), "past": (m,),
        "factor": arrays["own"].shape,
    }  # fmt: skip
    if "inverse" in arrays and arrays["factor"].shape == shapes["factor"]:  # else refused below
        problems, d = _problems(arrays), m + int(arrays["bias"] >= 0)
        shapes |= {"inverse": (len(set(problems)), d * (d + 1) // 2), "w": (d, len(problems))}
    for key, shape in shapes.items():
        if arrays[key].shape != shape:
            raise ModelError(f"{name} is damaged: its array {key!r} has a wrong shape")
    for key, array in arrays.items():
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise ModelError(f"{name} has non-finite numbers in {key!r}: train again")
    counts = arrays["features"], arrays["entries"], arrays["count"]
    if any(np.any(count < 0) for count in counts):
        raise ModelError(f"{name} is damaged: a count is negative")
    if not arrays["C"] > 0 or np.any(arrays["factor"] < 0) or np.any(arrays["past"] < 0):
        raise ModelError(f"{name} is damaged: a cost or a sum of squares is negative")
    if len(set(arrays["labels"].tolist())) < k:
        raise ModelError(f"{name} is damaged: a label occurs twice")


def _problems(arrays: dict) -> list[Weighting]:
    """The weighting of each two-class problem."""
    labels, own = arrays["labels"].tolist(), zip(arrays["own"].tolist(), arrays["factor"].tolist(), strict=True)
    return weightings(labels, cost_factors(labels, tuple(own))[0])


def _made(arrays: dict) -> State:
    own = tuple(zip(arrays["own"].tolist(), arrays["factor"].tolist(), strict=True))
    sums = ClassStatistics([label for label, _ in own], int(arrays["features"]))
    sums.labels, sums.count, sums.weight = arrays["labels"].tolist(), arrays["count"], arrays["weight"]
    sums.first, sums.past = arrays["first"], arrays["past"]
    for gram, packed in zip(sums.gram, arrays["gram"], strict=True):
        _unpack(packed, gram)
    numbers = {key: arrays[key].item() for key in ("solver", "C", "bias", "before", "log", "entries")}
    state = State(class_weights=own, sums=sums, model=arrays["model"].tobytes(), **numbers)
    if "inverse" in arrays:
        state.w, state.inverses = arrays["w"], {}
        for key, packed in zip(dict.fromkeys(_problems(arrays)), arrays["inverse"], strict=True):
            state.inverses[key] = np.zeros((len(state.w), len(state.w)))
            _unpack(packed, state.inverses[key])
    return state


def _packed(grams: Sequence[np.ndarray], m: int) -> np.ndarray:
    """The upper triangles of symmetric matrices of order m, row by row; one row of the result for each matrix."""
    upper = np.tri(m, dtype=bool).T
    return np.reshape([gram[upper] for gram in grams], (len(grams), m * (m + 1) // 2))


def _unpack(packed: np.ndarray, gram: np.ndarray) -> None:
    """Fill the upper triangle of gram from `packed`, row by row."""
    gram[np.tri(len(gram), dtype=bool).T] = packed
