"""Checks before a command begins: no output is an input, and a memory limit leaves space for numpy."""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from collections.abc import Sequence

from svmtool.compiled import threads
from svmtool.errors import SvmtoolError

MIN_ADDRESS_BYTES = 150e6  # bytes of address space: Python, numpy and one buffer of OpenBLAS
THREAD_BYTES = 60e6  # more of it for each further thread: its stack and OpenBLAS's buffer, which is 32 MB
M_ARENA_MAX = -8  # of malloc.h

Named = tuple[str, str | None]  # what a file is for, and its path; None: not requested


def refuse_overwriting(inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """SvmtoolError where an output is the same file as an input or another output, links of both kinds included.

    Compares files, not names.  Devices and pipes are accepted everywhere; `-` is the file behind standard input or
    output.
    """
    read = [(what, path, _identity(path, 0)) for what, path in inputs if path and (path == "-" or os.path.exists(path))]
    written: list[tuple[str, str, object]] = []
    for what, path in outputs:
        identity = _identity(path, 1) if path else None
        if identity is None:
            continue
        for source, name, other in read:
            if identity == other:
                raise SvmtoolError(f"ERROR: {what} {path} would overwrite {source} {name}: give it another name")
        for sibling, name, other in written:
            if identity == other:
                both = name if name == path else f"{name} ({path})"
                raise SvmtoolError(f"ERROR: {sibling} and {what} are both {both}")
        written.append((what, path, identity))


def _identity(path: str, stream: int) -> object:
    """The identity of a regular file, also of one that does not exist yet; None for anything else.

    stream: the descriptor of `-`.
    """
    try:
        facts = os.fstat(stream) if path == "-" else os.stat(path)
    except FileNotFoundError:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a name that cannot be opened either
        return None
    return (facts.st_dev, facts.st_ino) if stat.S_ISREG(facts.st_mode) else None


def require_memory() -> None:
    """MemoryError where a limit of the process (ulimit -v) is below MIN_ADDRESS_BYTES: OpenBLAS would end the process.

    Where there is a limit, no more threads run than it has space for (their number changes no bit of a result), and
    glibc is kept from reserving 64 MB for the small arrays of each.
    """
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # another system
        return
    limit = getrlimit(RLIMIT_AS)[0]
    if limit == RLIM_INFINITY:
        return
    if limit < MIN_ADDRESS_BYTES:
        raise MemoryError
    threads.max_count = 1 + int((limit - MIN_ADDRESS_BYTES) / THREAD_BYTES)
    with contextlib.suppress(OSError, AttributeError):  # another system's library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)
