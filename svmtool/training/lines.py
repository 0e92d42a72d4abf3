"""What LIBLINEAR's and LIBSVM's solvers print, line by line: each when its record is made."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.models.weights import values_of
from svmtool.progress import described
from svmtool.registry.row import Solver
from svmtool.solvers.shared.base import NOTE_FACTOR, Result

# Where LIBLINEAR prints dots: a line after FIRST_SECONDS, then each time that the run has become NOTE_FACTOR times as
# long; where a step takes longer, one that says so after STILL_FACTOR times.
FIRST_SECONDS, STILL_FACTOR = 1.0, 1.9


class Still:
    """Prints by `still`, at least once while the time of a run doubles, that a long step is still going on."""

    def __init__(self, still: Callable[[str], object]):
        self.still, self._lock = still, threading.Lock()
        self._began, self._last = time.perf_counter(), 0.0  # _last: seconds until something was printed

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._began

    def due(self, factor: float) -> bool:
        """Whether the time since the beginning is `factor` times that of the last line."""
        return self.seconds >= factor * max(self._last, FIRST_SECONDS / NOTE_FACTOR)

    def printed(self) -> None:
        """Note that something has been printed."""
        self._last = self.seconds

    def beat(self) -> None:
        """Say that a long step is still going on, if nothing has been printed for as long as before."""
        if self._lock.acquire(blocking=False):  # else a line is being printed
            try:
                if self.due(STILL_FACTOR):
                    self.working(described() or "training", self.seconds)
                    self.printed()
            finally:
                self._lock.release()

    def working(self, what: str, seconds: float) -> None:
        """Print what a run has been doing for so many seconds."""
        self.still(f"working: {what}, {seconds:.0f} s\n")


class SolverLines(Still):
    """Prints the lines of a training's problems in the order of the problems on `console`.

    The first problem whose turn has not ended is printed live; lines of others, solved at the same time, wait.
    """

    def __init__(self, row: Solver, console: Any):
        super().__init__(console.still)
        self.row, self.console = row, console
        self._turns: list[int] = []  # problems in the order of printing
        self._ended: set[int] = set()  # of these, whose turn has ended
        self._held: dict[int, str] = {}  # lines that wait
        self._said: dict[int, str] = {}  # what the last line of each problem says

    def begin(self, count: int) -> None:
        """Expect this many problems."""
        self._turns = list(range(count))

    def record(self, k: int, label: Any, /, **record: Any) -> None:
        """Take a record of problem k; label: its name among several."""
        with self._lock:
            text = self._fresh(k, record)
            if text:
                self._put(k, text)
            elif not has_lines(self.row) and self.due(NOTE_FACTOR):
                name = "" if label is None else f"{'classes' if isinstance(label, str) else 'class'} {label}: "
                self._say(name + progress_line(record))

    def end_turn(self, k: int, result: Result | None) -> None:
        """Print the end of problem k; without a result its turn has ended, and another one will follow."""
        with self._lock:
            if result is not None:
                self._put(k, self._fresh(k, result.history[-1]) + closing(self.row, result))
            elif k in self._turns:
                self._turns.append(k)
            self._ended.add(k)
            while self._turns and self._turns[0] in self._ended:
                self._ended.discard(self._turns.pop(0))
                if self._turns and (held := self._held.pop(self._turns[0], "")):
                    self._say(held)

    def _fresh(self, k: int, record: dict[str, Any]) -> str:
        """The line of a record; empty if it says no more than the last one of the problem."""
        text = line_of(self.row, record, k not in self._said)
        last, self._said[k] = self._said.get(k), _numbers(text)
        return "" if _numbers(text) == last else text

    def _say(self, text: str) -> None:
        self.console.solver(text)
        self.printed()

    def _put(self, k: int, text: str) -> None:
        if text and self._turns and self._turns[0] != k:
            self._held[k] = self._held.get(k, "") + text
        elif text:
            self._say(text)


Sink = Callable[..., None] | None  # what receives the records of a solver as keywords


def sink_of(report: Sink, lines: SolverLines | None, k: int, label: Any) -> Sink:
    """What receives the records of problem k: both of these; label: its name among several."""

    def sink(**record: Any) -> None:
        if report is not None:
            report(**record if label is None else {**record, "label": label})
        if lines is not None:
            lines.record(k, label, **record)

    return None if report is None and lines is None else sink


def has_lines(row: Solver) -> bool:
    """Whether LIBLINEAR's solver of this number prints a line for each iteration, or ours that it lacks."""
    own_lines = row.space != "dual" and (row.regulariser != "|w|_1" or row.loss == "logistic")
    return row.printed or own_lines


def line_of(row: Solver, record: dict[str, Any], first: bool) -> str:
    """The line of a record, the first one of its problem or not; empty where LIBLINEAR prints none.

    A norm of the gradient is printed only where it is that of f at the weights whose f stands beside it.
    """
    if not has_lines(row):
        return ""
    if row.printed:
        return progress_line(record)
    k, f = record["iteration"], record["objective"]
    if not row.optimal:
        return f"pass {k:2d} f {f:5.3e} rows added {record['active']}\n" if k else ""
    if row.regulariser == "|w|_1":
        return f"iter {k:3d}  #CD cycles {record['cg']}\n" if k and "cg" in record else ""
    if "gradient" not in record:
        return progress_line(record)
    g = record["gradient"]
    if k == 0 and (first or "epochs" not in record):
        return f"init f {f:5.3e} |g| {g:5.3e}\n"
    if "epochs" in record:
        return f"epoch {record['epochs']} f {f:5.3e} |g| {g:5.3e}\n"
    return f"iter {k:2d} f {f:5.3e} |g| {g:5.3e} CG {record['cg']:3d} step_size {record['step']:4.2e} \n"


def progress_line(record: dict[str, Any]) -> str:
    """The line of a record of any solver."""
    what = f"epoch {record['epochs']}" if "epochs" in record else f"iter {record['iteration']:2d}"
    gap = record["gap"]
    return f"{what} f {record['objective']:5.3e}" + (f" gap {gap:.2e}\n" if gap < math.inf else "\n")


def _numbers(line: str) -> str:
    """What a line says, without the number of the iteration."""
    return line.partition(" f ")[2] or line


def closing(row: Solver, result: Result) -> str:
    """The text that LIBLINEAR's solver of this number prints at its end."""
    last, l1 = result.history[-1], row.regulariser == "|w|_1"
    if row.printed:
        return f"{last['iteration']} iterations: {result.status.advice}\n"
    if not row.optimal or (row.space != "dual" and not l1):
        return ""
    if l1:
        head = "=========================" if row.loss == "logistic" else ""
        return (
            f"{head}\noptimization finished, #iter = {result.iterations - 1}\nObjective value = {last['objective']:f}\n"
            f"#nonzeros/#features = {np.count_nonzero(values_of(result.w))}/{len(result.w)}\n"
        )
    value = 0.0 - last["bound"]
    lines = f"\noptimization finished, #iter = {result.iterations}\nObjective value = {value:.6f}\n"
    if row.loss == "logistic":  # every row is a support vector
        return lines
    support = last["active"] if result.alpha is None else np.count_nonzero(result.alpha)
    lines += f"nSV = {support}\n"
    if row.word == "ONECLASS_SVM":
        rho = result.w[-1]
        lines += f"rho = {'-' if np.isnan(rho) else ''}{rho:.6f}\n"  # without rows it is C's -nan
    return lines


def liblinear_log(row: Solver, result: Result) -> str:
    """All lines of a finished result, without those that say no more than the one before."""
    lines = [line_of(row, record, place == 0) for place, record in enumerate(result.history)]
    return "".join(next(same) for _, same in itertools.groupby(lines, _numbers)) + closing(row, result)
