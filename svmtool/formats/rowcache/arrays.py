"""The files of a row folder: a data set's arrays as they are in memory, and a header that describes them.

Compiled loops use these arrays as indices without checks.  So everything in a folder is verified first: owner and
permissions, kinds and sizes of files, all fields of the header, a checksum of each array, and the range of indices.
Files are opened relative to the verified folder, never by its name again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from svmtool import systems
from svmtool.compiled import threads
from svmtool.compiled.loops.rows.array_loops import sum_words
from svmtool.data.dataset import Dataset
from svmtool.data.mapped_arrays import MappedArrays
from svmtool.formats.source import Source
from svmtool.formats.svmlight.table import raw_tables

FORMAT = f"svmtool rows 2, {sys.byteorder}-endian"
HEADER = "header.json"
CHECK = "check"  # key of the digest of the other fields
ARRAYS = {"labels": "f8", "indptr": "i8", "indices": "i4", "values": "f8"}
COUNTS = {"rows": 1 << 48, "pairs": 1 << 48, "features": (1 << 31) - 1}  # fields with counts, and their limits
HEADER_BYTES = 1 << 14  # longer than any header: reading stops here
OPEN_FLAGS = systems.PRIVATE | systems.NO_LINKS | systems.NO_WAITING  # does not follow links or wait at pipes
PIECE_NUMBERS = 1 << 18  # about this many numbers are verified between two checks of the memory
CHECKSUM_MODULUS = 1 << 64


class UnfitError(Exception):
    """Why a folder is not used; the text follows the folder's name in a message."""


def write(source: Source, folder: Path, mark: dict[str, Any], longest: int) -> dict[str, Any]:
    """Parse the rows into a folder piece by piece and write the header last; returns the header.

    longest: limit of the length of a line in bytes.
    """
    counts = dict.fromkeys(COUNTS, 0)
    with contextlib.ExitStack() as held:
        files = {name: held.enter_context(_created(folder / name)) for name in ARRAYS}
        sums, places = dict.fromkeys(ARRAYS, 0), dict.fromkeys(ARRAYS, 0)

        def put(name: str, entries: np.ndarray) -> None:
            files[name].write(entries)
            sums[name] = (sums[name] + _checksum(entries, places[name])) % CHECKSUM_MODULUS
            places[name] += len(entries)

        put("indptr", np.zeros(1, "i8"))
        for raw in raw_tables(source, longest=longest):
            part = raw.table()
            put("labels", part.labels)
            put("indptr", part.indptr[1:] + counts["pairs"])
            put("indices", part.indices)
            put("values", part.values)
            counts["rows"], counts["pairs"] = counts["rows"] + len(part), counts["pairs"] + len(part.values)
            counts["features"] = max(counts["features"], part.n_features)
    header = {"format": FORMAT, **mark, **counts, "sums": sums}
    with _created(folder / HEADER) as file:
        file.write((json.dumps({**header, CHECK: _digest(header)}) + "\n").encode())
    return header


def _created(path: Path):
    """Create a file that is private to its owner."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, 0o600), "wb")


def _checksum(entries: np.ndarray, first: int) -> int:
    return int(sum_words(entries.view(f"u{entries.itemsize}"), first))


def sync(folder: Path) -> None:
    """Flush the folder to disk, so that a power failure cannot leave a valid header with zeros in the arrays."""
    for path in (*(folder / name for name in (*ARRAYS, HEADER)), folder):
        fd = os.open(path, os.O_RDONLY | OPEN_FLAGS)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def written(folder: Path, header: dict[str, Any], mapped: MappedArrays) -> Dataset:
    """The rows of a folder that this run has written; labels and indptr are read, the other arrays mapped."""
    with contextlib.ExitStack() as held:
        files = {name: held.enter_context(open(folder / name, "rb")).fileno() for name in ARRAYS}
        return _mapped(files, header, mapped)


def kept(folder: Path, mark: dict[str, Any], mapped: MappedArrays) -> Dataset | None:
    """The rows that an earlier run wrote for this `mark` of the data file; None if there are none or the mark differs.

    Raises UnfitError if the folder fails verification.
    """
    with contextlib.ExitStack() as held:
        try:
            fd = held.enter_context(opened(folder))
        except FileNotFoundError:
            return None
        except OSError as e:
            raise UnfitError(f"the folder cannot be opened ({e.strerror})") from None
        try:
            _refuse_shared(fd, "the folder")
            header = _header(held.enter_context(_file(fd, HEADER)))
            if header != {**header, "format": FORMAT, **mark}:
                return None
            _check_fields(header, mark)
            files = {name: held.enter_context(_file(fd, name)) for name in ARRAYS}
        except FileNotFoundError as e:
            if not has_name(fd, folder):  # another run is removing it
                return None
            raise UnfitError(f"{e.filename} is missing") from None
        rows, pairs = header["rows"], header["pairs"]
        lengths = {"labels": rows, "indptr": rows + 1, "indices": pairs, "values": pairs}
        for name, length in lengths.items():
            if os.fstat(files[name]).st_size != length * np.dtype(ARRAYS[name]).itemsize:
                raise UnfitError(f"{name} is not as long as {HEADER} says")
        table = _mapped(files, header, mapped)
    _check_arrays(table, header["sums"], mapped)
    return table


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[int]:
    """Open a folder that is no link; NotADirectoryError for anything else."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | OPEN_FLAGS)
    try:
        yield fd
    finally:
        os.close(fd)


def has_name(fd: int, folder: Path) -> bool:
    """Whether an open folder still has this name."""
    try:
        return os.path.samestat(os.stat(folder, follow_symlinks=False), os.fstat(fd))
    except FileNotFoundError:
        return False


def is_mine(facts: os.stat_result) -> bool:
    return facts.st_uid == systems.user()


def _refuse_shared(fd: int, name: str) -> None:
    """Raise UnfitError for a file or folder that another user owns or may write to."""
    facts = os.fstat(fd)
    if not is_mine(facts):
        raise UnfitError(f"{name} belongs to another user")
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnfitError(f"others may write to {name}")


@contextlib.contextmanager
def _file(folder: int, name: str) -> Iterator[int]:
    """Open a regular file of ours in an open folder."""
    try:
        fd = os.open(name, os.O_RDONLY | OPEN_FLAGS, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as e:  # a link, or not readable
        raise UnfitError(f"{name} cannot be opened ({e.strerror})") from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise UnfitError(f"{name} is not a regular file")
        _refuse_shared(fd, name)
        yield fd
    finally:
        os.close(fd)


def _header(fd: int) -> dict[str, Any]:
    """Read the header from an open file and verify its digest."""
    try:
        header = json.loads(systems.pread(fd, HEADER_BYTES, 0))
        whole = header.pop(CHECK) == _digest(header)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise UnfitError(f"{HEADER} is damaged")
    return header


def _digest(header: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header).encode()).hexdigest()


def _check_fields(header: dict[str, Any], mark: dict[str, Any]) -> None:
    """Raise UnfitError unless the header has exactly the fields of this format with valid values."""
    sums: Any = header.get("sums")
    fine = header.keys() == {"format", *mark, *COUNTS, "sums"} and isinstance(sums, dict) and sums.keys() == {*ARRAYS}
    fine = fine and all(_is_count(header[name], limit) for name, limit in COUNTS.items())
    if not fine or not all(_is_count(sums[name], CHECKSUM_MODULUS - 1) for name in ARRAYS):
        raise UnfitError(f"{HEADER} has invalid fields")


def _is_count(value: Any, limit: int) -> bool:
    return type(value) is int and 0 <= value <= limit


def _mapped(files: dict[str, int], header: dict[str, Any], mapped: MappedArrays) -> Dataset:
    counts = {"labels": header["rows"], "indptr": header["rows"] + 1}
    labels, indptr = (_read(files[name], ARRAYS[name], count) for name, count in counts.items())
    indices, values = (mapped.open(files[name], ARRAYS[name], header["pairs"]) for name in ("indices", "values"))
    return Dataset(labels, indptr, indices, values, header["features"], mapped)


def _read(fd: int, dtype: str, count: int) -> np.ndarray:
    with open(os.dup(fd), "rb") as file:
        return np.fromfile(file, dtype, count)


def _check_arrays(table: Dataset, sums: dict[str, int], mapped: MappedArrays) -> None:
    """Raise UnfitError unless the arrays have their checksums and indices are in range."""
    indptr, n = table.indptr, len(table)
    if _checksum(table.labels, 0) != sums["labels"] or not np.all(np.isfinite(table.labels)):
        raise UnfitError("labels is damaged")
    fine = len(indptr) == n + 1 and _checksum(indptr, 0) == sums["indptr"]
    fine = fine and indptr[0] == 0 and indptr[n] == len(table.indices) and bool(np.all(indptr[1:] >= indptr[:-1]))
    if not fine:
        raise UnfitError("indptr is damaged")
    pieces = _pieces(indptr)
    found, largest = np.zeros((len(pieces), 4), np.uint64), np.zeros(len(pieces))

    def verify(b: int) -> None:
        lo, hi = pieces[b]
        start, stop = int(indptr[lo]), int(indptr[hi])
        indices, values = table.indices[start:stop].view(np.uint32), table.values[start:stop]
        falls = indices[1:] <= indices[:-1]
        begins = indptr[lo + 1 : hi] - start  # of other rows, where indices may fall
        falls[begins[(begins > 0) & (begins < len(indices))] - 1] = False
        features = int(indices.max()) + 1 if len(indices) else 0
        found[b] = _checksum(indices, start), _checksum(values, start), np.count_nonzero(falls), features
        largest[b] = np.abs(values).max(initial=0.0)
        mapped.check()

    threads.run_blocks(verify, len(pieces))
    index_sum, value_sum, falls, _ = found.sum(axis=0).tolist()
    table.largest, features = float(largest.max(initial=0.0)), int(found[:, 3].max(initial=0))
    if index_sum != sums["indices"] or falls or features != table.n_features:
        raise UnfitError("indices is damaged")
    if value_sum != sums["values"] or not math.isfinite(table.largest):
        raise UnfitError("values is damaged")


def _pieces(indptr: np.ndarray) -> list[tuple[int, int]]:
    """Cut the rows into pieces of about PIECE_NUMBERS numbers."""
    n = len(indptr) - 1
    marks = np.arange(0, int(indptr[n]), PIECE_NUMBERS)
    cuts = np.unique(np.concatenate(([0], np.searchsorted(indptr[:n], marks[1:]), [n]))).tolist()
    return list(zip(cuts, cuts[1:], strict=False))
