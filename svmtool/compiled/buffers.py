"""Memory that loops take in place of numpy arrays: importing numpy would cost more than a small prediction."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False  # typing would cost milliseconds at every start
if TYPE_CHECKING:
    from typing import Any

SIZES = {"u1": 1, "i4": 4, "i8": 8, "f8": 8}
FORMATS: dict[str, Any] = {"u1": "B", "i4": "i", "i8": "q", "f8": "d"}


class Buffer:
    """n zeros of one type, with as much of an array's face as a Loop looks at.

    `memory` is the bytearray underneath (numpy.frombuffer takes it), `items` the numbers as a memoryview.
    """

    __slots__ = ("dtype", "size", "memory", "items", "flags", "__array_interface__")

    c_contiguous = True  # the only flag that loops ask for

    def __init__(self, dtype: str, n: int):
        self.dtype, self.size = dtype, n
        self.memory = bytearray(max(1, n) * SIZES[dtype])
        self.items = memoryview(self.memory).cast(FORMATS[dtype])
        self.flags = Buffer
        pinned = (ctypes.c_char * len(self.memory)).from_buffer(self.memory)  # bytearrays in use cannot move
        self.__array_interface__ = {"data": (ctypes.addressof(pinned), False), "keep": pinned}
