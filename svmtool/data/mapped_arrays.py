"""Arrays in files, mapped into memory; only a limited part of them is resident.

The system keeps pages of such arrays as long as it has memory to spare; what counts against the run is what its own
process holds.  Passes over blocks of rows give those pages back on the way when they come near the limit, and so does
a watcher for all other loops: one that touches such a page again finds it in the system's cache, or on the disk.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import tempfile
import threading
import time
import weakref

import numpy as np

from svmtool.errors import SvmtoolError

WATCH_INTERVAL = 0.004  # seconds between two checks of the watcher of the resident memory
RESERVE, LARGEST_RESERVE = 0.5, 300e6  # share of the limit, and bytes at most, for what may come until the next look
KEPT_IN_MEMORY = 1 << 22  # bytes up to which a new array is an ordinary one
M_MMAP_THRESHOLD = -3  # of malloc.h: arrays of OWN_MAPPING bytes or more are mapped each for itself
OWN_MAPPING = 1 << 20
PAGE = mmap.PAGESIZE
MEGABYTE = 1e6


def resident() -> int:
    """Bytes of this process that are in memory, mapped files included.  OSError where the system does not tell."""
    with open("/proc/self/statm", "rb") as f:
        return int(f.read().split()[1]) * PAGE


def peak() -> int:
    """The most bytes that were ever in memory; getrusage would count what the parent had when it forked."""
    with open("/proc/self/status", "rb") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(b"VmHWM:"))


class MappedArrays:
    """limit: bytes that the process may hold; folder: where arrays of this run go (their files have no name)."""

    def __init__(self, limit: int, folder: str):
        try:
            resident()
        except OSError:
            raise SvmtoolError("ERROR: --memory: this system does not tell how much memory a process holds") from None
        self.limit, self.folder = limit, folder
        _give_freed_arrays_back()
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._changing = threading.Lock()  # a set that another thread adds to cannot be gone through
        self._enough = limit - min(RESERVE * limit, LARGEST_RESERVE)
        threading.Thread(target=_watch, args=(weakref.ref(self),), daemon=True).start()

    def open(self, fd: int, dtype: str, count: int) -> np.ndarray:
        """The array in an open file, read-only."""
        if not count:
            return np.empty(0, dtype)
        mapped = mmap.mmap(fd, count * np.dtype(dtype).itemsize, access=mmap.ACCESS_READ)
        self._keep(mapped)
        return np.frombuffer(mapped, dtype, count)

    def zeros(self, shape: int | tuple[int, ...], dtype: str = "f8") -> np.ndarray:
        """A new array of zeros, in a file of its own where it is large; the file goes when the array does."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size <= KEPT_IN_MEMORY:
            return np.zeros(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                os.posix_fallocate(file.fileno(), 0, size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as e:
            raise SvmtoolError(
                f"can't keep {size / MEGABYTE:.0f} MB of rows in {self.folder}: {e.strerror} (--scratch DIR names "
                "another folder)"
            ) from e
        self._keep(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)

    def check(self) -> None:
        """Give mapped pages back if there are too many; loops over much data call it between their pieces."""
        if resident() > self._enough:
            with self._changing:
                maps = list(self._maps)
            for mapped in maps:
                mapped.madvise(mmap.MADV_DONTNEED)

    def _keep(self, mapped: mmap.mmap) -> None:
        with self._changing:
            self._maps.add(mapped)

    def complaints(self) -> list[str]:
        """A sentence where the process held more than the limit at any time, else none."""
        held = peak()
        if held <= self.limit:
            return []
        more = "what it needs beside the rows does not fit, or other work kept the watcher waiting"
        return [f"WARNING: the run held {held / MEGABYTE:.0f} MB, --memory {self.limit / MEGABYTE:.0f}M: {more}"]


def _give_freed_arrays_back() -> None:
    """glibc keeps freed arrays of up to 32 MB for later ones, which need not fit there: have it return them."""
    with contextlib.suppress(OSError, AttributeError):  # another system's library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, OWN_MAPPING)


def _watch(mapped: weakref.ref[MappedArrays]) -> None:
    """Check a room as long as there is one."""
    while (still := mapped()) is not None:
        still.check()
        del still
        time.sleep(WATCH_INTERVAL)
