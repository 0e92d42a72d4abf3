"""Files with the iterations of a run: --solver-log (a JSON line for each) and --plot."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any, TextIO

from svmtool.errors import SvmtoolError

PICTURE_KINDS = ("png", "svg", "pdf")


class History:
    """Writes the records of a run; a context manager.

    log: file for JSON lines, flushed after each record ("-" is stdout).  plot: picture drawn at the end, also after an
    interrupted run.  Both may be None.  Raises SvmtoolError at once if a file cannot be written or matplotlib is
    missing.
    """

    def __init__(self, log: str | None = None, plot: str | None = None):
        self.log_path, self.plot_path = log, plot
        self.kind = _picture_kind(plot) if plot is not None else ""
        self.points: list[tuple[float, float, float]] = []  # seconds, objective, gap; for the picture
        self._lock = threading.Lock()  # problems of several classes run in parallel
        self._log: TextIO | None = _open_log(log) if log is not None else None

    def record(self, *, seconds: float, objective: float, bound: float, gap: float, iteration: int, **fields: Any):
        """Record one iteration: seconds since the start, primal objective, dual lower bound, relative gap."""
        with self._lock:
            if self._log is not None:
                line = {"iteration": iteration, "seconds": seconds, "objective": objective, "bound": bound, "gap": gap}
                self._write({**line, **fields})
            if self.plot_path is not None:
                self.points.append((seconds, objective, gap))

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
        if self.plot_path is not None:
            _draw(self.plot_path, self.kind, self.points)
            self.plot_path = None

    def close_log(self) -> None:
        """End the log file; stdout stays open."""
        log, self._log = self._log, None
        if log is not None and log is not sys.stdout:
            log.close()

    def __enter__(self) -> History:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            self.plot_path = None  # no picture after an error
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


def _picture_kind(path: str) -> str:
    import importlib.util

    kind = path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else "png"
    if kind not in PICTURE_KINDS:
        raise SvmtoolError(f"ERROR: --plot {path}: the name must end in .{', .'.join(PICTURE_KINDS)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise SvmtoolError("ERROR: --plot needs matplotlib: pip install 'svmtool[plot]'")
    return kind


def _draw(path: str, kind: str, points: list[tuple[float, float, float]]) -> None:
    """Certified gap (logarithmic) and objective against time; the file appears whole or not at all."""
    from matplotlib.figure import Figure  # the canvas is chosen by the kind of file: no display is needed

    from svmtool.formats import output

    figure = Figure(figsize=(7, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    seconds = [p[0] for p in points]
    upper.plot(seconds, [p[2] if p[2] > 0 else float("nan") for p in points], marker=".")
    if any(p[2] > 0 for p in points):
        upper.set_yscale("log")
    upper.set_ylabel("relative gap (P - D)/P")
    lower.plot(seconds, [p[1] for p in points], marker=".")
    lower.set_ylabel("objective P")
    lower.set_xlabel("seconds")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    with output.replacing(path) as file:
        figure.savefig(file, format=kind)
