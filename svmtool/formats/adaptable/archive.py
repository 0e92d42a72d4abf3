"""Reads numpy's .npz files safely: every size is checked before memory is allocated.

np.load trusts the file: it can unpack a few bytes to gigabytes and reads other formats too.  Here arrays must have
known names, types and dimensions and be uncompressed, so that they need no more memory than the size of the file.
"""

from __future__ import annotations

import re
import struct
import zipfile
from typing import BinaryIO

import numpy as np

from svmtool.integers import parse_integer

MAGIC = b"\x93NUMPY\x01\x00"
LONGEST_HEADER = 4096
ENCRYPTED = 1  # bit in a member's flags
_HEADER = re.compile(
    rb"\{'descr': '([<>|][iuf][18])', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n"
)

# exceptions of zipfile for damaged files
_SPOILT = (ValueError, KeyError, IndexError, EOFError, RuntimeError, OverflowError, OSError, struct.error)
_SPOILT += (zipfile.BadZipFile,)


class ArchiveError(Exception):
    """A damaged or invalid archive; the text says why."""


class Archive:
    """An open archive of `size` bytes; ArchiveError if it is not valid."""

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
    start = member.read(len(MAGIC) + 2)
    length = int.from_bytes(start[len(MAGIC) :], "little")
    found = _HEADER.fullmatch(member.read(length)) if start.startswith(MAGIC) and length <= LONGEST_HEADER else None
    if found is None or found[1][1:].decode() != kind:
        raise ArchiveError(f"its array {name!r} has a wrong type, shape or size")
    shape = tuple(parse_integer(word) for word in found[3].replace(b" ", b"").split(b",") if word)
    dtype, entries = np.dtype(found[1].decode()), 1
    for extent in shape:
        entries *= extent
    if len(shape) != dimensions or size != len(start) + length + entries * dtype.itemsize:
        raise ArchiveError(f"its array {name!r} has a wrong type, shape or size")
    data = bytearray(entries * dtype.itemsize)
    view, done = memoryview(data), 0
    while n := member.readinto(view[done : done + (1 << 20)]):
        done += n
    if done != len(data):
        raise ArchiveError(f"its array {name!r} ends early")
    array = np.frombuffer(data, dtype).reshape(shape, order="F" if found[2] == b"True" else "C")
    return array.astype(kind, order="C", copy=False)


def _reason(e: BaseException) -> str:
    return (str(e) or type(e).__name__)[:100]
