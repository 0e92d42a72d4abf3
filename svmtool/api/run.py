"""The environment of every run from Python: threads, BLAS, floating-point warnings, Ctrl-C and errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from svmtool.api import blas
from svmtool.api.values import flag, real, whole
from svmtool.api.wording import in_keywords
from svmtool.compiled import threads as pool
from svmtool.errors import DataError, ModelError, SvmtoolError
from svmtool.limits import StopFlag
from svmtool.progress import shown
from svmtool.training import interruption


def usable() -> int:
    """The cores that a run may use, no more than OMP_NUM_THREADS and than threadpoolctl's limit of BLAS.

    In a worker of joblib without such a number it is 1.
    """
    n, limited = pool.available(), blas.limit()
    if limited is not None:
        n = min(n, limited)
    return 1 if n > 1 and _inside_joblib() and "OMP_NUM_THREADS" not in pool.os.environ else n


def thread_count(threads: int | None) -> int | Callable[[], int]:
    """The number of threads of a run; None: the `usable` cores, counted where there are several blocks of work."""
    if threads is None:
        return usable
    count = whole("threads", threads)
    if count == -1:
        return pool.available()
    if count < 1:
        raise ValueError(f"threads == {count}, must be >= 1, or -1 for all cores.")
    return count


def _inside_joblib() -> bool:
    """Whether this is a task of joblib.Parallel."""
    joblib = sys.modules.get("joblib.parallel")
    if joblib is None:
        return False
    backend = joblib.get_active_backend()[0]
    return bool(getattr(backend, "nesting_level", 0))


def _quiet() -> None:
    """Silence numpy's warnings in this thread: certificates detect values that are not finite."""
    np.seterr(all="ignore")


pool.before_work = _quiet


class RunContext:
    """Context of one run.

    `stop` ends it: after max_seconds, or at Ctrl-C in the main thread where it is `interruptible`.  progress: whether
    to show bars.  At the end of the block Ctrl-C raises KeyboardInterrupt, and an SvmtoolError that does not concern a
    file becomes a ValueError that names keywords.
    """

    __slots__ = ("stop", "_threads", "_interruptible", "_errors", "_shown")

    def __init__(
        self, threads: int | None, max_seconds: float | None = None, interruptible: bool = True, progress: Any = False
    ):  # fmt: skip
        self._threads = pool.limited(thread_count(threads))
        self.stop = StopFlag(None if max_seconds is None else real("max_seconds", max_seconds))
        self._interruptible = interruption.interruptible(self.stop) if interruptible else nullcontext()
        self._shown = shown(auto=True) if flag("progress", progress) else nullcontext()

    def __enter__(self) -> RunContext:
        self._errors = np.errstate(all="ignore")  # certificates detect values that are not finite
        self._threads.__enter__()
        self._errors.__enter__()
        blas.begin()
        self._interruptible.__enter__()
        self._shown.__enter__()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._shown.__exit__(kind, error, trace)
        self._interruptible.__exit__(kind, error, trace)
        blas.end()
        self._errors.__exit__(kind, error, trace)
        self._threads.__exit__(kind, error, trace)
        if self.stop.set and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        if isinstance(error, SvmtoolError) and not isinstance(error, (DataError, ModelError)):
            raise ValueError(in_keywords(str(error))) from None
