"""The log of the rows that an adaptable model holds: rows that it does not hold cannot be removed.

u8 entries, little-endian: first the log's own number, which the state repeats, then for each row added its hash (even),
for each removed its hash + 1, in the order in which it happened; FALSVM's, which are seen and perhaps added, two kinds
(training/adapting/falsvm.py).  A run appends; the state says how many entries count,
so that what an interrupted run has left behind them is nothing.  Adding costs what the rows added cost; removing reads
the log once, 8 bytes a row.
"""

from __future__ import annotations

import contextlib
import os

import numpy as np

from svmtool import interrupts
from svmtool.compiled import threads
from svmtool.compiled.loops.rows.hash_loops import hash_rows
from svmtool.data.dataset import Dataset
from svmtool.errors import ModelError, SvmtoolError
from svmtool.formats.adaptable.names import NEXT
from svmtool.formats.regular_file import mode_of, open_regular

ENTRY = np.dtype("<u8")
REMOVED = np.uint64(1)
ENTRIES_A_PIECE = 1 << 17  # of the log in memory at a time
SIEVE = 1 << 16  # hashes that are searched for are distinguished from most others by so many of their lower bits
ROWS_A_BLOCK = 1 << 12


def hashes_of(table: Dataset, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
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
    """An open log.  number: its own; entries: how many count.  Whoever opens one holds the model's lock.

    A log that takes the place of another has a name of its own, NEXT, until the state that reports it is written
    (`settle`): a run that is killed leaves the old state with the old log, or the new one with the new.
    """

    def __init__(self, path: str, number: int, entries: int, fd: int, waits: bool):
        self.path, self.number, self.entries, self._fd, self._waits = path, number, entries, fd, waits
        self._pending: list[np.ndarray] = []

    @classmethod
    def create(cls, path: str, number: int | None = None) -> RowLog:
        """A log without rows that is to take the place of what is at `path`; its number is new unless given."""
        number = int.from_bytes(os.urandom(8), "little") if number is None else number
        try:
            mode = mode_of(path)
            with interrupts.Uninterrupted():
                fd = open_regular(path + NEXT, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
                interrupts.begin_file(path + NEXT)
        except OSError as e:
            raise _not_saved(path, e) from None
        log = cls(path, number, 0, fd, waits=True)
        try:
            if mode is not None:
                os.fchmod(fd, mode)
            os.pwrite(fd, np.array([number], ENTRY).tobytes(), 0)
            os.fsync(fd)
        except OSError as e:
            log.close()
            raise _not_saved(path, e) from None
        return log

    @classmethod
    def open(cls, path: str, number: int, entries: int) -> RowLog:
        """The log that a state reports; ModelError where it is absent or another one."""
        settle_left(path, number)
        try:
            fd = open_regular(path, os.O_RDWR)
        except OSError as e:
            raise ModelError(f"can't open the model's rows {path}: {e.strerror}") from None
        if os.fstat(fd).st_size < ENTRY.itemsize * (1 + entries) or _number_in(fd) != number:
            os.close(fd)
            raise ModelError(f"{path} does not belong to the model's state: train anew")
        return cls(path, number, entries, fd, waits=False)

    def copied(self, path: str) -> RowLog:
        """A copy of this log, which is closed, to take the place of what is at another path."""
        copy = RowLog.create(path, self.number)
        for piece in self._pieces():
            copy.append(piece)
            copy.flush()
        self.close()
        return copy

    def settle(self) -> None:
        """Take the place of the log before: the state that reports this one is written."""
        if self._waits:
            os.replace(self.path + NEXT, self.path)
            interrupts.end_file(self.path + NEXT)
        self._waits = False

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

    def history(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the log reports these hashes u8[n], each there once, in its order: which (i8), and whether removed."""
        self.flush()
        order = np.argsort(hashes)
        keys = hashes[order]
        sieve = np.zeros(SIEVE, bool)
        sieve[_lower(keys)] = True
        which, removed = [np.zeros(0, np.int64)], [np.zeros(0, bool)]
        for piece in self._pieces():
            likely = piece[sieve[_lower(piece)]]
            rows = likely & ~REMOVED
            at = np.minimum(np.searchsorted(keys, rows), len(keys) - 1)
            found = keys[at] == rows
            which.append(order[at[found]])
            removed.append((likely[found] & REMOVED) != 0)
        return np.concatenate(which), np.concatenate(removed)

    def balance(self) -> int:
        """Entries of rows added less those of rows removed."""
        self.flush()
        return sum(len(piece) - 2 * int(np.count_nonzero(piece & REMOVED)) for piece in self._pieces())

    def first_missing(self, hashes: np.ndarray) -> int | None:
        """The place of the first of these rows that the model does not hold (or not so often), None for none."""
        unique, inverse = np.unique(hashes, return_inverse=True)
        which, removed = self.history(unique)
        held = np.bincount(which, np.where(removed, -1.0, 1.0), len(unique))
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
            if self._waits:
                with contextlib.suppress(OSError):
                    os.unlink(self.path + NEXT)
                interrupts.end_file(self.path + NEXT)
        self._fd = -1


def settle_left(path: str, number: int | None) -> None:
    """What a killed run has left under NEXT: the log of this number goes to its place, any other away."""
    try:
        fd = open_regular(path + NEXT, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return
    except OSError as e:
        raise _not_saved(path + NEXT, e) from None
    found = _number_in(fd)
    os.close(fd)
    if found is not None and found == number:
        os.replace(path + NEXT, path)
    else:
        os.unlink(path + NEXT)


def _not_saved(path: str, e: OSError) -> SvmtoolError:
    return SvmtoolError(f"can't save the model's rows to {path}: {e.strerror}")


def _number_in(fd: int) -> int | None:
    """The number that a log begins with; None for a file too short for one."""
    first = os.pread(fd, ENTRY.itemsize, 0)
    return int.from_bytes(first, "little") if len(first) == ENTRY.itemsize else None


def _lower(hashes: np.ndarray) -> np.ndarray:
    return ((hashes >> REMOVED) & np.uint64(SIEVE - 1)).astype(np.int64)
