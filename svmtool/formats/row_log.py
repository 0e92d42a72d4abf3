"""The rows that an adaptable model holds, as a file beside its state: who knows them can refuse to remove others.

u8 entries, little-endian: first the log's own number, which the state repeats, then for each row added its hash (even),
for each removed its hash + 1, in the order in which it happened.  A run appends; the state says how many entries count,
so that what an interrupted run has left behind them is nothing.  Adding costs what the rows added cost; removing reads
the log once, 8 bytes a row.
"""

from __future__ import annotations

import os
import shutil

import numpy as np

from svmtool.compiled import threads
from svmtool.compiled.hash_loops import hash_rows
from svmtool.errors import ModelError, SvmtoolError
from svmtool.formats.output import replacing
from svmtool.formats.svmlight import Table

SUFFIX = ".state.rows"
ENTRY = np.dtype("<u8")
REMOVED = np.uint64(1)
ENTRIES_A_PIECE = 1 << 17  # of the log in memory at a time
SIEVE = 1 << 16  # hashes that are looked for are told from most others by so many of their lower bits
ROWS_A_BLOCK = 1 << 12


def hashes_of(table: Table, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Hash of each row u8[n], from its whole label (i8), its weight (f8) and its features that are not 0.

    Two different rows have the same one with probability 2^-63: a row that was never added passes for one that was
    in one of 10^13 tries with a million rows.
    """
    hashes, n = np.empty(len(table), np.uint64), len(table)
    call = hash_rows.bind(
        table.indptr, table.indices, table.values.view(np.uint64), labels.astype(np.int64).view(np.uint64),
        np.ascontiguousarray(weights).view(np.uint64), hashes,
    )  # fmt: skip
    threads.run_blocks(lambda b: call(b * ROWS_A_BLOCK, min(n, (b + 1) * ROWS_A_BLOCK)), -(-n // ROWS_A_BLOCK))
    return hashes


class RowLog:
    """An open log.  number: its own; entries: how many count.  Locked against other runs that would change it."""

    def __init__(self, path: str, number: int, entries: int):
        self.path, self.number, self.entries = path, number, entries
        self._fd = -1
        self._pending: list[np.ndarray] = []

    @classmethod
    def create(cls, path: str, hashes: np.ndarray) -> RowLog:
        """A new log of rows added, in the place of an old one."""
        number = int.from_bytes(os.urandom(8), "little")
        with replacing(path, "can't save the model's rows to") as file:
            file.write(np.array([number], ENTRY).tobytes())
            file.write(hashes.astype(ENTRY, copy=False).tobytes())
        return cls(path, number, len(hashes))

    def lock(self) -> RowLog:
        """Open for changes; ModelError where it is absent or another run is at it."""
        import fcntl

        try:
            self._fd = os.open(self.path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ModelError(f"{self.path}: another run is changing this model") from None
        except OSError as e:
            raise ModelError(f"can't open the model's rows {self.path}: {e.strerror}") from None
        return self

    def check(self) -> None:
        """ModelError where the file is not the one that the state tells of."""
        first = os.pread(self._fd, ENTRY.itemsize, 0)
        whole = os.fstat(self._fd).st_size >= ENTRY.itemsize * (1 + self.entries)
        if not whole or int.from_bytes(first, "little") != self.number:
            raise ModelError(f"{self.path} does not belong to the model's state: train anew")

    def moved_to_copy(self, path: str) -> RowLog:
        """A copy of this log under another path, locked, in the place of an old file; this one is closed."""
        with replacing(path, "can't save the model's rows to") as file, open(self.path, "rb") as source:
            shutil.copyfileobj(source, file, 1 << 20)
        self.close()
        return RowLog(path, self.number, self.entries).lock()

    def append(self, hashes: np.ndarray, removed: bool = False) -> None:
        """Note rows; `flush` writes them."""
        self._pending.append(hashes | REMOVED if removed else hashes)

    def flush(self) -> None:
        """Write what has been noted; it counts from the next state on that is written."""
        if not self._pending:
            return
        noted = np.concatenate(self._pending)
        self._pending.clear()
        data = memoryview(noted.astype(ENTRY, copy=False)).cast("B")
        at = ENTRY.itemsize * (1 + self.entries)
        try:
            os.ftruncate(self._fd, at)
            while data:
                done = os.pwrite(self._fd, data, at)
                data, at = data[done:], at + done
            os.fsync(self._fd)
        except OSError as e:
            raise SvmtoolError(f"can't write {self.path}: {e.strerror}") from e
        self.entries += len(noted)

    def first_missing(self, hashes: np.ndarray) -> int | None:
        """The place of the first of these rows that the model does not hold (or not so often), None for none."""
        self.flush()
        unique, inverse = np.unique(hashes, return_inverse=True)
        sieve = np.zeros(SIEVE, bool)
        sieve[_lower(unique)] = True
        held = np.zeros(len(unique))
        for piece in self._pieces():
            likely = piece[sieve[_lower(piece)]]
            keys = likely & ~REMOVED
            at = np.minimum(np.searchsorted(unique, keys), len(unique) - 1)
            found = unique[at] == keys
            signs = 1.0 - 2.0 * (likely[found] & REMOVED).astype(float)
            held += np.bincount(at[found], signs, len(unique))
        order = np.argsort(inverse, kind="stable")
        begins = np.searchsorted(inverse[order], np.arange(len(unique)))
        before = np.empty(len(hashes), np.int64)  # equal rows that are to be removed before this one
        before[order] = np.arange(len(hashes)) - begins[inverse[order]]
        missing = np.flatnonzero(before >= held[inverse])
        return int(missing[0]) if len(missing) else None

    def _pieces(self):
        at, end = ENTRY.itemsize, ENTRY.itemsize * (1 + self.entries)
        while at < end:
            data = os.pread(self._fd, min(ENTRY.itemsize * ENTRIES_A_PIECE, end - at), at)
            if not data or len(data) % ENTRY.itemsize:
                raise ModelError(f"{self.path} became shorter while it was read")
            yield np.frombuffer(data, ENTRY)
            at += len(data)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def _lower(hashes: np.ndarray) -> np.ndarray:
    return ((hashes >> REMOVED) & np.uint64(SIEVE - 1)).astype(np.int64)
