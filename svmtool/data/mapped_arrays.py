"""Arrays in files, mapped into memory with a limit on resident memory.

The limit applies to the pages that the process holds.  Passes over blocks of rows release mapped pages when they come
near the limit; a watcher thread does so during other loops.  Released pages are read again from the system's cache or
from disk when they are used.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
import weakref

import numpy as np

from svmtool.compiled.buffers import return_freed
from svmtool.errors import SvmtoolError
from svmtool.tolerances import MB, MIB

WATCH_SECONDS = 0.004  # seconds between two checks of the watcher
RESERVE_SHARE, MAX_RESERVE_BYTES = 0.5, 300e6  # share of the limit, and bytes at most, kept free until the next check
MAX_ORDINARY_BYTES = 1 << 22  # new arrays of up to this many bytes are ordinary ones
MIN_MAPPING_BYTES = MIB  # bytes from which freed arrays are returned to the system
PAGE_BYTES = mmap.PAGESIZE


def resident() -> int:
    """Resident bytes of this process, including mapped files; OSError if the system does not report them."""
    with open("/proc/self/statm", "rb") as f:
        return int(f.read().split()[1]) * PAGE_BYTES


def peak() -> int:
    """Peak of the resident bytes; getrusage would include those of the parent at the fork."""
    with open("/proc/self/status", "rb") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith(b"VmHWM:"))


class MappedArrays:
    """Mapped arrays of a run.  limit: resident bytes of the process; folder: of the unnamed files of new arrays."""

    def __init__(self, limit: int, folder: str):
        try:
            resident()
        except OSError:
            raise SvmtoolError("ERROR: --memory: this system does not report the memory of a process") from None
        self.limit, self.folder = limit, folder
        return_freed(MIN_MAPPING_BYTES)
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._changing = threading.Lock()  # guards the set of mapped arrays
        self._enough = limit - min(RESERVE_SHARE * limit, MAX_RESERVE_BYTES)
        threading.Thread(target=_watch, args=(weakref.ref(self),), daemon=True).start()

    def open(self, fd: int, dtype: str, count: int) -> np.ndarray:
        """Map the array in an open file, read-only."""
        if not count:
            return np.empty(0, dtype)
        mapped = mmap.mmap(fd, count * np.dtype(dtype).itemsize, access=mmap.ACCESS_READ)
        self._keep(mapped)
        return np.frombuffer(mapped, dtype, count)

    def zeros(self, shape: int | tuple[int, ...], dtype: str = "f8") -> np.ndarray:
        """A new array of zeros; a large one is mapped to a file that is removed with the array."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if size <= MAX_ORDINARY_BYTES:
            return np.zeros(shape, dtype)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                os.posix_fallocate(file.fileno(), 0, size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError as e:
            raise SvmtoolError(
                f"can't keep {size / MB:.0f} MB of rows in {self.folder}: {e.strerror} (--scratch DIR names "
                "another folder)"
            ) from e
        self._keep(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)

    def check(self) -> None:
        """Release mapped pages if there are too many; loops over large data call it between pieces."""
        if resident() > self._enough:
            with self._changing:
                maps = list(self._maps)
            for mapped in maps:
                mapped.madvise(mmap.MADV_DONTNEED)

    def _keep(self, mapped: mmap.mmap) -> None:
        with self._changing:
            self._maps.add(mapped)

    def warnings(self) -> list[str]:
        """A list with a warning if the process exceeded the limit at any time, else empty."""
        held = peak()
        if held <= self.limit:
            return []
        more = "the memory needed beside the rows does not fit, or the watcher was delayed"
        return [f"WARNING: the run held {held / MB:.0f} MB, --memory {self.limit / MB:.0f}M: {more}"]


def _watch(mapped: weakref.ref[MappedArrays]) -> None:
    """Check the memory at intervals as long as the object exists."""
    while (still := mapped()) is not None:
        still.check()
        del still
        time.sleep(WATCH_SECONDS)
