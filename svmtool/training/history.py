"""The records of a training: the lines of --solver-log, and the picture of --plot."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, TextIO

from svmtool.drawing import Plot
from svmtool.errors import SvmtoolError
from svmtool.training import plots
from svmtool.training.lines import Still
from svmtool.training.plots import Iteration


class History(Still):
    """Writes the records of a run; a context manager.

    log: file for JSON lines, flushed after each record ("-" is stdout).  plot: picture drawn at the end, also after an
    interrupted run.  Both may be None.  target: the gap to reach, for the picture.  Raises SvmtoolError at once if a
    file cannot be written or matplotlib is missing.
    """

    def __init__(self, log: str | None = None, plot: str | None = None, target: float | None = None):
        self.log_path, self.target = log, target
        self.plot = Plot(plot)
        self.runs: dict[Any, list[Iteration]] = {}  # of each problem by its label, for the picture
        super().__init__(lambda text: None)
        self._record: dict[str, Any] = {"iteration": 0, "objective": None, "bound": None, "gap": None}
        self._log: TextIO | None = sys.stdout if log == "-" else None
        if log not in (None, "-"):
            try:
                self._log = open(log, "w", encoding="utf-8", newline="\n")
            except OSError as e:
                raise SvmtoolError(f"can't open output file {log}: {e.strerror}") from None

    def record(
        self, *, seconds: float, objective: float, bound: float, gap: float, iteration: int, weights: Any = None,
        **fields: Any,
    ) -> None:  # fmt: skip
        """Record one iteration: seconds since the start, primal objective, dual lower bound, relative gap."""
        with self._lock:
            if self._log is not None:
                line = {"iteration": iteration, "seconds": seconds, "objective": objective, "bound": bound, "gap": gap}
                self._write({**line, **fields})
                self._record = {**line, **({"label": fields["label"]} if "label" in fields else {})}
            if self.plot.path is not None:
                record = Iteration(iteration, seconds, float(objective), float(gap))
                self.runs.setdefault(fields.get("label"), []).append(record)

    def working(self, what: str, seconds: float) -> None:
        """Repeat the last record in place of a line."""
        if self._log is not None:
            with contextlib.suppress(SvmtoolError):  # the next record reports it
                self._write({**self._record, "seconds": seconds, "working": what})

    def _write(self, record: dict[str, Any]) -> None:
        import json

        assert self._log is not None
        try:
            self._log.write(json.dumps({key: _plain(value) for key, value in record.items()}) + "\n")
            self._log.flush()
            self.printed()
        except OSError as e:
            with contextlib.suppress(OSError):  # closing reports the same error again
                self.close_log()
            if isinstance(e, BrokenPipeError):  # the reader has closed the pipe: training continues
                return
            raise SvmtoolError(f"can't write to {self.log_path}: {e.strerror}") from None

    def close(self) -> None:
        """End the log and draw the picture; further records are dropped."""
        self.close_log()
        self.plot.draw(lambda figure: plots.training(figure, self.runs, self.target))
        self.plot.path = None

    def close_log(self) -> None:
        """End the log file; stdout stays open."""
        log, self._log = self._log, None
        if log is not None and log is not sys.stdout:
            log.close()

    def __enter__(self) -> History:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            self.plot.path = None  # no picture after an error
        self.close()


def _plain(value: Any) -> Any:
    """The value as JSON can express it: numpy scalars as Python's, nan and infinity as null."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and value - value != 0 else value
