"""Whether the process may take the memory that numpy wants before it can say so itself.

Its linear algebra ends the process with a text of its own where it finds none.
"""

from __future__ import annotations

LEAST = 150e6  # bytes of address space: Python, numpy and one buffer of OpenBLAS


def require() -> None:
    """MemoryError where a limit of the process (ulimit -v) is below LEAST."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # another system
        return
    limit = getrlimit(RLIMIT_AS)[0]
    if limit != RLIM_INFINITY and limit < LEAST:
        raise MemoryError
