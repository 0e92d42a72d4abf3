"""Checks that a memory limit of the process leaves space for numpy, which would abort without a message.

Without that memory its linear algebra library ends the process, with a message that users cannot act on.
"""

from __future__ import annotations

import contextlib
import ctypes

from svmtool.compiled import threads

LEAST = 150e6  # bytes of address space: Python, numpy and one buffer of OpenBLAS
A_THREAD = 60e6  # more of it for each further thread: its stack and OpenBLAS's buffer, which is 32 MB
M_ARENA_MAX = -8  # of malloc.h


def require() -> None:
    """MemoryError where a limit of the process (ulimit -v) is below LEAST.

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
    if limit < LEAST:
        raise MemoryError
    threads.most = 1 + int((limit - LEAST) / A_THREAD)
    with contextlib.suppress(OSError, AttributeError):  # another system's library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)
