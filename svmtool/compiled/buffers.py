"""Typed memory for loops without numpy, whose import takes longer than a small prediction."""

from __future__ import annotations

import ctypes
import mmap

from svmtool.systems import POSIX

TYPE_CHECKING = False  # svm-predict starts without `typing`, see ARCHITECTURE.md
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

SIZES = {"u1": 1, "i4": 4, "i8": 8, "f4": 4, "f8": 8}
STRUCT_CODES: dict[str, Any] = {"u1": "B", "i4": "i", "i8": "q", "f4": "f", "f8": "d"}
# From this many bytes on memory is an anonymous mapping; its pages are zero and allocated on first use.  Blocks of text
# (formats/svmlight/table.py) are smaller: once they are freed, glibc keeps memory of their size, so that training needs
# fewer new pages.
MAPPED_FROM = 1 << 21
HUGE_FROM = 1 << 22  # from this many bytes on huge pages are requested, as by numpy
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h


class Buffer:
    """An array of n zeros of one type, with the attributes of numpy arrays that a Loop uses.

    memory: the underlying bytearray or anonymous mmap (both have `find` and `rfind`).  items: the numbers as a
    memoryview.  Raises MemoryError.
    """

    __slots__ = ("dtype", "size", "memory", "items", "flags", "__array_interface__")

    c_contiguous = True  # the only flag that loops check

    def __init__(self, dtype: str, n: int):
        self.dtype, self.size = dtype, n
        self.memory = _zeros(max(1, n) * SIZES[dtype])
        self.items = memoryview(self.memory).cast(STRUCT_CODES[dtype])
        self.flags = Buffer
        pinned = ctypes.c_char.from_buffer(self.memory)  # prevents the bytearray from being resized
        self.__array_interface__ = {"data": (ctypes.addressof(pinned), False), "keep": pinned}

    def array(self) -> np.ndarray:
        """The same memory as a writable numpy array, which keeps it alive."""
        import numpy as np

        return np.frombuffer(self.memory, self.dtype, self.size)


def _zeros(n: int) -> bytearray | mmap.mmap:
    """n zero bytes."""
    if n < MAPPED_FROM:
        return bytearray(n)
    try:
        own = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if POSIX else {}
        memory = mmap.mmap(-1, n, **own)
    except OSError:
        raise MemoryError from None
    if n >= HUGE_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            pass  # not supported by this kernel
    return memory


def return_freed(n: int) -> None:
    """Let glibc return freed arrays of n bytes or more to the system, and keep the memory of smaller ones for the next.

    Pages that are returned are faults when they are needed again.  n is at most 32 MB.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another system's library
        return
    mallopt(M_MMAP_THRESHOLD, n)
    mallopt(M_TRIM_THRESHOLD, 2 * n)
