"""The state of an adaptable model, MODEL.state.npz: sums that allow adding rows without the old ones.

It is a zip of plain arrays (numpy's .npz without pickles; zip stores checksums) and includes the text of its model.
State, log of rows (row_log.py) and model are renamed one after the other, the state first, which commits the change.
If a run ends after that, the log still has its temporary name and the model file the signature `before`; the next run
then renames the log and writes the model.
"""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
import zlib
from typing import BinaryIO

import numpy as np

from svmtool.data.class_statistics import ClassStatistics
from svmtool.errors import ModelError
from svmtool.formats.adaptable import STATE
from svmtool.formats.output import open_regular, replacing
from svmtool.integers import parse_integer
from svmtool.models.linear import OVERFLOWN
from svmtool.tolerances import MIB

STATE_VERSION = 1
ABSENT = -1  # signature of a missing file

# name -> type and number of dimensions
STATE_ARRAYS = {
    "version": ("i8", 0), "solver": ("i8", 0), "C": ("f8", 0), "bias": ("f8", 0), "own": ("i8", 1), "factor": ("f8", 1),
    "features": ("i8", 0), "labels": ("i8", 1), "count": ("i8", 1), "weight": ("f8", 1), "first": ("f8", 2),
    "gram": ("f8", 2), "past": ("f8", 1), "model": ("u1", 1), "before": ("i8", 0), "log": ("u8", 0),
    "entries": ("i8", 0),
}  # fmt: skip

NPY_MAGIC = b"\x93NUMPY\x01\x00"  # of an .npy array in the archive
MAX_HEADER_BYTES = 4096
ENCRYPTED = 1  # bit in a member's flags
_HEADER = re.compile(rb"\{'descr': '([<>|][iuf][18])', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n")

# exceptions of zipfile for damaged files
_SPOILT = (ValueError, KeyError, IndexError, EOFError, RuntimeError, OverflowError, OSError, struct.error)
_SPOILT += (zipfile.BadZipFile,)


class State:
    """The content of a state file.

    solver, C, bias: of the last training.  own, factor: labels with a class weight, and the weights.  sums:
    ClassStatistics.  model: the model file's bytes.  before: signature of the model file that it replaced.  log,
    entries: see RowLog.
    """

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
    arrays = {
        "version": STATE_VERSION, "solver": state.solver, "C": state.C, "bias": state.bias,
        "own": [label for label, _ in state.class_weights], "factor": [f for _, f in state.class_weights],
        "features": sums.m, "labels": sums.labels, "count": sums.count, "weight": sums.weight, "first": sums.first,
        "gram": _packed(sums.gram), "past": sums.past, "model": np.frombuffer(state.model, np.uint8),
        "before": state.before, "log": state.log, "entries": state.entries,
    }  # fmt: skip
    if not all(np.all(np.isfinite(x)) for x in (state.C, state.bias, sums.weight, sums.first, arrays["gram"])):
        raise ModelError(OVERFLOWN)
    with replacing(path + STATE, "can't save the model's state to") as file:
        np.savez(file, **{name: np.asarray(value, STATE_ARRAYS[name][0]) for name, value in arrays.items()})


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
            archive = Archive(raw, os.fstat(raw.fileno()).st_size)
            version = archive.array("version", *STATE_ARRAYS["version"]).item()
            if version != STATE_VERSION:
                raise ModelError(f"{name}: its version is {version}, and this svmtool reads version {STATE_VERSION}")
            found = {key: archive.array(key, *kind) for key, kind in STATE_ARRAYS.items()}
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


def _check(name: str, arrays: dict) -> None:
    m, k, g = int(arrays["features"]), len(arrays["labels"]), 1 + len(set(arrays["own"].tolist()))
    shapes = {
        "count": (k,), "weight": (k,), "first": (k, m), "gram": (g, m * (m + 1) // 2), "past": (m,),
        "factor": arrays["own"].shape,
    }  # fmt: skip
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


def _made(arrays: dict) -> State:
    own = tuple(zip(arrays["own"].tolist(), arrays["factor"].tolist(), strict=True))
    sums = ClassStatistics([label for label, _ in own], int(arrays["features"]))
    sums.labels, sums.count, sums.weight = arrays["labels"].tolist(), arrays["count"], arrays["weight"]
    sums.first, sums.past = arrays["first"], arrays["past"]
    for gram, packed in zip(sums.gram, arrays["gram"], strict=True):
        _unpack(packed, gram)
    numbers = {key: arrays[key].item() for key in ("solver", "C", "bias", "before", "log", "entries")}
    return State(class_weights=own, sums=sums, model=arrays["model"].tobytes(), **numbers)


def _packed(grams: np.ndarray) -> np.ndarray:
    """The upper triangles of symmetric matrices, row by row; one row of the result for each matrix."""
    count, m, _ = grams.shape
    packed = np.empty((count, m * (m + 1) // 2))
    for gram, row in zip(grams, packed, strict=True):
        at = 0
        for i in range(m):
            row[at : at + m - i] = gram[i, i:]
            at += m - i
    return packed


def _unpack(packed: np.ndarray, gram: np.ndarray) -> None:
    """Fill the upper triangle of gram from `packed`, row by row."""
    m, at = len(gram), 0
    for i in range(m):
        gram[i, i:] = packed[at : at + m - i]
        at += m - i


class ArchiveError(Exception):
    """A damaged or invalid archive; the text says why."""


class Archive:
    """An open .npz archive of `size` bytes; ArchiveError if it is not valid.

    np.load trusts the file: it can unpack a few bytes to gigabytes and reads other formats too.  Here every size is
    checked before memory is allocated.  Arrays must have known names, types and dimensions and be uncompressed, so that
    they need no more memory than the size of the file.
    """

    def __init__(self, file: BinaryIO, size: int):
        try:
            self._zip = zipfile.ZipFile(file)
            self._members = {info.filename: info for info in self._zip.infolist()}
        except _SPOILT as e:
            raise ArchiveError(_reason(e)) from None
        if sum(info.file_size for info in self._members.values()) > size:
            raise ArchiveError("the sizes of its arrays exceed the size of the file")

    def array(self, name: str, kind: str, dimensions: int) -> np.ndarray:
        """Read the array with this name, type (such as f8) and number of dimensions; ArchiveError if there is none."""
        try:
            info = self._members.get(name + ".npy")
            if info is None:
                raise ArchiveError(f"it has no array {name!r}")
            if info.flag_bits & ENCRYPTED:
                raise ArchiveError(f"its array {name!r} is encrypted")
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise ArchiveError(f"its array {name!r} is compressed")
            with self._zip.open(info) as member:
                return _array(member, info.file_size, name, kind, dimensions)
        except _SPOILT as e:
            raise ArchiveError(_reason(e)) from None


def _array(member, size: int, name: str, kind: str, dimensions: int) -> np.ndarray:
    """Read one .npy array of `size` bytes with its header."""
    start = member.read(len(NPY_MAGIC) + 2)
    length = int.from_bytes(start[len(NPY_MAGIC) :], "little")
    readable = start.startswith(NPY_MAGIC) and length <= MAX_HEADER_BYTES
    found = _HEADER.fullmatch(member.read(length)) if readable else None
    if found is None or found[1][1:].decode() != kind:
        raise ArchiveError(f"its array {name!r} has a wrong type, shape or size")
    shape = tuple(parse_integer(word) for word in found[3].replace(b" ", b"").split(b",") if word)
    dtype, entries = np.dtype(found[1].decode()), math.prod(shape)
    if len(shape) != dimensions or size != len(start) + length + entries * dtype.itemsize:
        raise ArchiveError(f"its array {name!r} has a wrong type, shape or size")
    data = bytearray(entries * dtype.itemsize)
    view, done = memoryview(data), 0
    while n := member.readinto(view[done : done + MIB]):
        done += n
    if done != len(data):
        raise ArchiveError(f"its array {name!r} ends early")
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if found[2] == b"True" else "C")
    return array.astype(kind, order="C", copy=False)


def _reason(e: BaseException) -> str:
    return (str(e) or type(e).__name__)[:100]
