"""BLAS on one thread while a run lasts, as in the commands.

Dense rows, Gram matrices and factors use numpy's and scipy's BLAS, whose sums may depend on its number of threads.
OpenBLAS, which numpy's and scipy's wheels contain, has one number of threads for the process: it is set to 1 while any
run lasts, and restored after the last one.  The number of another BLAS is not changed; then the last bits of results
for dense rows may depend on it.

threadpoolctl finds more kinds of BLAS, but it comes with scikit-learn and is no package of the core: without it dense
rows would lose the promise of equal bits.  Nor does it count runs: where two overlap in threads, the one that ends
first gives the other its threads back.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import _flapack

from svmtool import systems


class _Library(NamedTuple):
    get: Callable[[], int]
    set: Callable[[int], None]


def _openblas(file: str) -> _Library | None:
    """The OpenBLAS that an extension module is linked with, None where it is another library."""
    try:
        handle = ctypes.CDLL(file)
    except OSError:
        return None
    for before in ("scipy_openblas_", "openblas_"):
        for behind in ("64_", "", "_64"):
            try:
                get, set_ = handle[f"{before}get_num_threads{behind}"], handle[f"{before}set_num_threads{behind}"]
            except AttributeError:
                continue
            get.restype, set_.restype, set_.argtypes = ctypes.c_int, None, [ctypes.c_int]
            return _Library(get, set_)
    return None


def _find() -> list[_Library]:
    core = getattr(np, "_core", None) or np.core
    files = core._multiarray_umath.__file__, _flapack.__file__
    return [library for library in map(_openblas, files) if library is not None]


_libraries = _find()
_lock = threading.Lock()
_runs = 0
_before: list[int] = []
_first = min((library.get() for library in _libraries), default=0)


def begin() -> None:
    """Begin a run: set one thread."""
    global _runs, _before
    with _lock:
        _runs += 1
        if _runs == 1:
            _before = [library.get() for library in _libraries]
            for library, n in zip(_libraries, _before, strict=True):
                if n != 1:
                    library.set(1)


def end() -> None:
    """End a run: restore the number of threads, if it is the last run."""
    global _runs
    with _lock:
        _runs -= 1
        if _runs == 0:
            for library, n in zip(_libraries, _before, strict=True):
                if n != 1:
                    library.set(n)


def limit() -> int | None:
    """The number of BLAS threads if other code (threadpoolctl) has lowered it since this module was imported."""
    if not _libraries:
        return None
    now = min(_before) if _runs else min(library.get() for library in _libraries)
    return now if now < _first else None


def _after_fork() -> None:
    """Reset the state in a forked child, where no run is active."""
    global _lock, _runs
    _lock = threading.Lock()
    if _runs:
        _runs = 1
        end()


systems.after_fork(after_in_child=_after_fork)
