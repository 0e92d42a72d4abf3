"""Arrays in a zip file, as numpy writes them (.npz); nothing in the file is trusted.

np.load trusts it: a few bytes can unpack to gigabytes, and other formats are read too.  Here every size is checked
before memory is allocated, and an array must have the length that its header states.
"""

from __future__ import annotations

import math
import re
import zipfile
from typing import BinaryIO

import numpy as np

from svmtool.integers import parse_integer
from svmtool.tolerances import MB, MIB

MAGIC = re.compile(rb"\x93NUMPY[\x01\x02]\x00")  # of an .npy array
MAX_HEADER_BYTES = 4096
ENCRYPTED = 1  # bit in a member's flags
_HEADER = re.compile(
    rb"\{ *'descr': *'([<>|=]?)([a-zA-Z])([0-9]*)(?:\[[^']*\])?', *'fortran_order': *(True|False), "
    rb"*'shape': *\(([0-9, ]*)\),? *\} *\n?"
)


class ArchiveError(Exception):
    """A damaged or invalid archive; the text says why."""


class Archive:
    """An open .npz archive; ArchiveError if it is not valid.

    most: bytes that its arrays may take.  stored: compressed arrays are refused.  names: of the arrays.
    """

    def __init__(self, file: BinaryIO, most: int, stored: bool = False):
        try:
            self._zip = zipfile.ZipFile(file)
            self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}
        except Exception as e:  # zipfile raises many types for a damaged file
            raise ArchiveError(_reason(e)) from None
        self._stored, self.names = stored, list(self._members)
        if (total := sum(info.file_size for info in self._members.values())) > most:
            limit = "file's size" if stored else "machine's memory"
            raise ArchiveError(f"the sizes of its arrays exceed the {limit} ({total / MB:.0f} of {most / MB:.0f} MB)")

    def array(self, name: str, kinds: str) -> np.ndarray:
        """Read an array whose dtype.kind is one of `kinds`, in the byte order and layout of the file."""
        info = self._members.get(name)
        if info is None:
            raise ArchiveError(f"it has no array {name!r}")
        if info.flag_bits & ENCRYPTED:
            raise ArchiveError(f"its array {name!r} is encrypted")
        if self._stored and (info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size):
            raise ArchiveError(f"its array {name!r} is compressed")
        try:
            with self._zip.open(info) as member:
                return _array(member, info.file_size, name, kinds)
        except (ArchiveError, MemoryError):
            raise
        except Exception as e:  # of zipfile and of each decoder
            raise ArchiveError(f"its array {name!r}: {_reason(e)}") from None


def _array(member, size: int, name: str, kinds: str) -> np.ndarray:
    start = member.read(8)
    count = 2 if start[6:7] == b"\1" else 4  # bytes of the header's length
    start += member.read(count)
    length = int.from_bytes(start[8:], "little")
    readable = MAGIC.match(start) and length <= MAX_HEADER_BYTES
    found = _HEADER.fullmatch(member.read(length)) if readable else None
    if found is None:
        raise ArchiveError(f"its array {name!r} has a header that cannot be read")
    kind = found[2].decode()
    if kind not in kinds:
        held = {"O": "Python objects", "c": "complex numbers"}.get(kind, f"type {kind}")
        raise ArchiveError(f"its array {name!r} holds {held}")
    dtype = np.dtype((found[1] + found[2] + found[3]).decode())
    shape = tuple(parse_integer(word) for word in found[5].replace(b" ", b"").split(b",") if word)
    count = math.prod(shape) * dtype.itemsize
    if size != len(start) + length + count:
        raise ArchiveError(f"its array {name!r} has not the size that its header states")
    data = bytearray(count)
    view, done = memoryview(data), 0
    while n := member.readinto(view[done : done + MIB]):
        done += n
    if done != count:
        raise ArchiveError(f"its array {name!r} ends early")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if found[4] == b"True" else "C")


def _reason(e: BaseException) -> str:
    return " ".join((str(e) or type(e).__name__).split())[:100]
