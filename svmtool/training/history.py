"""Files with the iterations of a run: --solver-log (a JSON line for each) and --plot."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any, TextIO

from svmtool.errors import SvmtoolError
from svmtool.training import pictures
from svmtool.training.pictures import Picture, Record


class History:
    """Writes the records of a run; a context manager.

    log: file for JSON lines, flushed after each record ("-" is stdout).  plot: picture drawn at the end, also after an
    interrupted run.  Both may be None.  target: the gap to reach, for the picture.  Raises SvmtoolError at once if a
    file cannot be written or matplotlib is missing.
    """

    def __init__(self, log: str | None = None, plot: str | None = None, target: float | None = None):
        self.log_path, self.target = log, target
        self.picture = Picture(plot)
        self.runs: dict[Any, list[Record]] = {}  # of each problem by its label, for the picture
        self._lock = threading.Lock()  # problems of several classes run in parallel
        self._log: TextIO | None = _open_log(log) if log is not None else None

    def record(self, *, seconds: float, objective: float, bound: float, gap: float, iteration: int, **fields: Any):
        """Record one iteration: seconds since the start, primal objective, dual lower bound, relative gap."""
        with self._lock:
            if self._log is not None:
                line = {"iteration": iteration, "seconds": seconds, "objective": objective, "bound": bound, "gap": gap}
                self._write({**line, **fields})
            if self.picture.path is not None:
                record = Record(iteration, seconds, float(objective), float(gap))
                self.runs.setdefault(fields.get("label"), []).append(record)

    def _write(self, record: dict[str, Any]) -> None:
        import json

        assert self._log is not None
        try:
            self._log.write(json.dumps({key: _plain(value) for key, value in record.items()}) + "\n")
            self._log.flush()
        except OSError as e:
            with contextlib.suppress(OSError):  # closing reports the same error again
                self.close_log()
            if isinstance(e, BrokenPipeError):  # the reader has closed the pipe: training continues
                return
            raise SvmtoolError(f"can't write to {self.log_path}: {e.strerror}") from None

    def close(self) -> None:
        """End the log and draw the picture; further records are dropped."""
        self.close_log()
        self.picture.draw(lambda figure: pictures.training(figure, self.runs, self.target))
        self.picture.path = None

    def close_log(self) -> None:
        """End the log file; stdout stays open."""
        log, self._log = self._log, None
        if log is not None and log is not sys.stdout:
            log.close()

    def __enter__(self) -> History:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            self.picture.path = None  # no picture after an error
        self.close()


def _open_log(path: str) -> TextIO:
    if path == "-":
        return sys.stdout
    try:
        return open(path, "w", encoding="utf-8")
    except OSError as e:
        raise SvmtoolError(f"can't open output file {path}: {e.strerror}") from None


def _plain(value: Any) -> Any:
    """The value as JSON can express it: numpy scalars as Python's, nan and infinity as null."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value - value != 0:
        return None
    return value
