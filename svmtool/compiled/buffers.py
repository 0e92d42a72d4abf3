"""Typed memory for loops in place of numpy arrays: importing numpy would cost more than a small prediction."""

from __future__ import annotations

import ctypes
import mmap

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

SIZES = {"u1": 1, "i4": 4, "i8": 8, "f8": 8}
FORMATS: dict[str, Any] = {"u1": "B", "i4": "i", "i8": "q", "f8": "d"}
# Bytes from which memory comes as pages of the system's: zero already, taken when touched.  A block of text (see
# formats/svmlight/table.py) is smaller: freed, it teaches glibc to keep memory of its size: training meets fewer new
# pages.
MAPPED_FROM = 1 << 21
HUGE_FROM = 1 << 22  # bytes from which huge pages are asked for, as numpy does


class Buffer:
    """n zeros of one type, with as much of an array's face as a Loop examines.

    `memory` is what lies underneath, a bytearray or an anonymous mmap (both have `find` and `rfind`),
    `items` the numbers as a memoryview.  Raises MemoryError.
    """

    __slots__ = ("dtype", "size", "memory", "items", "flags", "__array_interface__")

    c_contiguous = True  # the only flag that loops ask for

    def __init__(self, dtype: str, n: int):
        self.dtype, self.size = dtype, n
        self.memory = _zeros(max(1, n) * SIZES[dtype])
        self.items = memoryview(self.memory).cast(FORMATS[dtype])
        self.flags = Buffer
        pinned = ctypes.c_char.from_buffer(self.memory)  # bytearrays in use cannot move
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
        memory = mmap.mmap(-1, n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError from None
    if n >= HUGE_FROM and hasattr(mmap, "MADV_HUGEPAGE"):
        try:
            memory.madvise(mmap.MADV_HUGEPAGE)
        except OSError:
            pass  # a kernel without them
    return memory
