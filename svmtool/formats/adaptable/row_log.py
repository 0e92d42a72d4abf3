"""The log of the rows of an adaptable model, which ensures that only rows in the model are removed; the model's lock.

Entries are u8, little-endian.  The first is the log's number, which the state repeats.  Then follow, in order of time,
the (even) hash of each row added and the hash + 1 of each row removed; for FALSVM see training/adapting/falsvm.py.
Runs append to the log; the state holds the number of valid entries, so that those of an interrupted run are ignored.
Adding takes time for the new rows only; removing reads the log once, 8 bytes a row.
"""

from __future__ import annotations

import contextlib
import os

import numpy as np

from svmtool import interrupts, systems
from svmtool.compiled import threads
from svmtool.compiled.loops.rows.array_loops import hash_rows
from svmtool.data.dataset import Dataset
from svmtool.data.labels import whole_labels
from svmtool.errors import ModelError, SvmtoolError
from svmtool.formats.adaptable import LOCK, NEW_LOG
from svmtool.formats.output import mode_of, open_regular

ENTRY = np.dtype("<u8")
REMOVED = np.uint64(1)
PIECE_ENTRIES = 1 << 17  # entries in memory at a time
SIEVE_SIZE = 1 << 16  # size of the table of low bits that excludes most hashes from a search
HASHED_ROWS = 1 << 12


def hashes_of(table: Dataset) -> np.ndarray:
    """Hash u8[n] of each row's label, weight and non-zero features; SvmtoolError for labels that are not whole.

    Two different rows collide with probability 2^-63: with a million rows a row that was never added is mistaken for
    one of them once in 10^13 tries.
    """
    hashes, n = np.empty(len(table), np.uint64), len(table)
    call = hash_rows.bind(
        table.indptr, table.indices, table.values.view(np.uint64), whole_labels(table.labels).view(np.uint64),
        np.ascontiguousarray(table.factors).view(np.uint64), hashes,
    )  # fmt: skip
    threads.run_blocks(lambda b: call(b * HASHED_ROWS, min(n, (b + 1) * HASHED_ROWS)), -(-n // HASHED_ROWS))
    return hashes


class RowLog:
    """An open log with its number and its count of valid entries.  The caller holds the model's lock.

    A new log has the temporary name NEW_LOG until the state that refers to it is written (`commit`): a killed run
    leaves the old state with the old log or the new state with the new log.
    """

    def __init__(self, path: str, number: int, entries: int, fd: int, waits: bool):
        self.path, self.number, self.entries, self._fd, self._waits = path, number, entries, fd, waits
        self._pending: list[np.ndarray] = []

    @classmethod
    def create(cls, path: str, number: int | None = None) -> RowLog:
        """Create an empty log that will replace `path`; its number is new unless given."""
        number = int.from_bytes(os.urandom(8), "little") if number is None else number
        try:
            mode = mode_of(path)
            with interrupts.Uninterrupted():
                fd = open_regular(path + NEW_LOG, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
                interrupts.begin_file(path + NEW_LOG)
        except OSError as e:
            raise _not_saved(path, e) from None
        log = cls(path, number, 0, fd, waits=True)
        try:
            if mode is not None:
                systems.set_mode(fd, mode)
            systems.pwrite(fd, np.array([number], ENTRY).tobytes(), 0)
            os.fsync(fd)
        except OSError as e:
            log.close()
            raise _not_saved(path, e) from None
        return log

    @classmethod
    def open(cls, path: str, number: int, entries: int) -> RowLog:
        """Open the log that a state refers to; ModelError if it is missing or has another number."""
        recover_log(path, number)
        try:
            fd = open_regular(path, os.O_RDWR)
        except OSError as e:
            raise ModelError(f"can't open the model's rows {path}: {e.strerror}") from None
        if os.fstat(fd).st_size < ENTRY.itemsize * (1 + entries) or _number_in(fd) != number:
            os.close(fd)
            raise ModelError(f"{path} does not belong to the model's state: train again")
        return cls(path, number, entries, fd, waits=False)

    def copied(self, path: str) -> RowLog:
        """Close this log and return a copy that will replace another path."""
        copy = RowLog.create(path, self.number)
        for piece in self._pieces():
            copy.append(piece)
            copy.flush()
        self.close()
        return copy

    def commit(self) -> None:
        """Replace the previous log, once the state that refers to this one is written."""
        if self._waits:
            if not systems.POSIX:  # Windows renames no open file
                os.close(self._fd)
            os.replace(self.path + NEW_LOG, self.path)
            if not systems.POSIX:
                self._fd = open_regular(self.path, os.O_RDWR)
            interrupts.end_file(self.path + NEW_LOG)
        self._waits = False

    def append(self, hashes: np.ndarray, removed: bool = False) -> None:
        """Add rows to the buffer that `flush` writes."""
        self._pending.append(hashes | REMOVED if removed else hashes)

    def flush(self) -> None:
        """Write buffered entries; they are valid once a state with their count is written."""
        if not self._pending:
            return
        noted = np.concatenate(self._pending)
        self._pending.clear()
        data = memoryview(noted.astype(ENTRY, copy=False)).cast("B")
        at = ENTRY.itemsize * (1 + self.entries)
        try:
            os.ftruncate(self._fd, at)
            while data:
                done = systems.pwrite(self._fd, data, at)
                data, at = data[done:], at + done
            os.fsync(self._fd)
        except OSError as e:
            raise SvmtoolError(f"can't write {self.path}: {e.strerror}") from e
        self.entries += len(noted)

    def history(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All entries for the hashes u8[n] (distinct), in log order: index of the hash (i8), and whether removed."""
        self.flush()
        order = np.argsort(hashes)
        keys = hashes[order]
        sieve = np.zeros(SIEVE_SIZE, bool)
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
        """Number of rows added less number of rows removed."""
        self.flush()
        return sum(len(piece) - 2 * int(np.count_nonzero(piece & REMOVED)) for piece in self._pieces())

    def first_missing(self, hashes: np.ndarray) -> int | None:
        """Index of the first of these rows that the model does not contain that many times; None if it contains all."""
        unique, inverse = np.unique(hashes, return_inverse=True)
        which, removed = self.history(unique)
        held = np.bincount(which, np.where(removed, -1.0, 1.0), len(unique))
        order = np.argsort(inverse, kind="stable")
        begins = np.searchsorted(inverse[order], np.arange(len(unique)))
        before = np.empty(len(hashes), np.int64)  # number of equal rows before this one
        before[order] = np.arange(len(hashes)) - begins[inverse[order]]
        missing = np.flatnonzero(before >= held[inverse])
        return int(missing[0]) if len(missing) else None

    def _pieces(self):
        at, end = ENTRY.itemsize, ENTRY.itemsize * (1 + self.entries)
        while at < end:
            data = systems.pread(self._fd, min(ENTRY.itemsize * PIECE_ENTRIES, end - at), at)
            if not data or len(data) % ENTRY.itemsize:
                raise ModelError(f"{self.path} became shorter while it was read")
            yield np.frombuffer(data, ENTRY)
            at += len(data)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            if self._waits:
                with contextlib.suppress(OSError):
                    os.unlink(self.path + NEW_LOG)
                interrupts.end_file(self.path + NEW_LOG)
        self._fd = -1


def recover_log(path: str, number: int | None) -> None:
    """Handle the NEW_LOG file of a killed run: rename a log with this number into place, remove any other."""
    try:
        fd = open_regular(path + NEW_LOG, os.O_RDONLY | systems.NO_LINKS)
    except FileNotFoundError:
        return
    except OSError as e:
        raise _not_saved(path + NEW_LOG, e) from None
    found = _number_in(fd)
    os.close(fd)
    if found is not None and found == number:
        os.replace(path + NEW_LOG, path)
    else:
        os.unlink(path + NEW_LOG)


def _not_saved(path: str, e: OSError) -> SvmtoolError:
    return SvmtoolError(f"can't save the model's rows to {path}: {e.strerror}")


def _number_in(fd: int) -> int | None:
    """The number at the start of a log; None if the file is too short."""
    first = systems.pread(fd, ENTRY.itemsize, 0)
    return int.from_bytes(first, "little") if len(first) == ENTRY.itemsize else None


def _lower(hashes: np.ndarray) -> np.ndarray:
    return ((hashes >> REMOVED) & np.uint64(SIEVE_SIZE - 1)).astype(np.int64)


class ModelLock:
    """Locks the model `path` until `close`; ModelError if another run holds the lock.

    The lock ends with the process.  The file left by a killed process is reused by the next run.
    """

    def __init__(self, path: str):
        self._name, self._fd = path + LOCK, -1
        try:
            with interrupts.Uninterrupted():
                while not self._is_mine():
                    self.close_file()  # its last holder has removed the name since it was opened
                    self._fd = open_regular(self._name, os.O_RDWR | os.O_CREAT | systems.NO_LINKS)
                    systems.lock(self._fd)
                interrupts.begin_file(self._name)
        except BlockingIOError:
            self.close_file()
            raise ModelError(f"{path}: another run is changing this model") from None
        except OSError as e:
            self.close_file()
            raise ModelError(f"can't save the model's state beside {path}: {self._name}: {e.strerror}") from None

    def _is_mine(self) -> bool:
        """Whether the open file still has its name."""
        try:
            return self._fd >= 0 and os.path.samestat(os.fstat(self._fd), os.lstat(self._name))
        except FileNotFoundError:
            return False

    def close_file(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def close(self) -> None:
        """Release the lock and remove its file."""
        if self._fd >= 0:
            if not systems.POSIX:  # Windows removes no open file
                self.close_file()
            with contextlib.suppress(OSError):
                os.unlink(self._name)
            interrupts.end_file(self._name)
        self.close_file()
