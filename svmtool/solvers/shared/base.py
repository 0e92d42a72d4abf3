"""Types that all solvers share: statuses, results, monitors and stopping rules."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool.limits import StopFlag as StopFlag
from svmtool.objectives.duality import relative_gap
from svmtool.solvers.shared.progress import Progress
from svmtool.tolerances import RULE_MIN_GAP

SAFETY = 0.3  # share of LIBLINEAR's tolerance that passes go to: our order of rows may end at a worse objective
LATE = 0.1  # share of -s 2's tolerance to which LIBLINEAR goes on with -s 1 after its cap on passes
SIZE_SHARE = 0.05  # of LIBLINEAR's tolerance of the sum of projected gradients: from there on a gap ends regressions
KEPT = 4096  # records of a run, of 0.5 kB each: longer runs drop records in the middle, neither the first nor the last


class Status:
    """Why a run ended.  `converged` says whether the answer can be relied on; `advice` is for the user.

    early: a looser rule would have ended the run before; which options say so depends on the solver.
    """

    def __init__(self, name: str, converged: bool, advice: str, early: bool = False):
        self.name, self.converged, self.advice, self.early = name, converged, advice, early

    def __repr__(self) -> str:
        return f"Status({self.name})"


OPTIMAL = Status("optimal", True, "the exact minimiser, as far as rounding lets it be told")
RULE = Status("rule", True, "the stopping rule of -e holds")
GAP = Status("gap", True, "the certified relative gap is as small as asked for")
PRECISION = Status("precision", False, "rounding stops further progress: scale the features (svm-scale) or lower -c")
ITERATIONS = Status("iterations", False, "iteration limit reached: raise --max-iter", early=True)
STEPS = Status("steps", False, "the work of LIBSVM's limit of steps is done: scale the features", early=True)
TIME = Status("time", False, "time limit reached: raise --max-seconds", early=True)
CONFIRMED = 1e-6  # certified gap that confirms an exact minimiser, and to which a method that takes over goes
TAKEN_OVER = Status("taken over", True, f"another method took over, to a certified relative gap of {CONFIRMED:g}")
INTERRUPTED = Status("interrupted", False, "interrupted: the best model so far is kept")


class Result:
    """w (length d), status, number of iterations, history (one dict an iteration, see Monitor) and, from dual methods,
    alpha (length n): the dual point that belongs to w.  taken (i8[n]): how often each row was added, of FALSVM.
    certified_gap: the neutral certifier's, once it has spoken.
    visits: to each row, on average; None: as in the history.
    untouched: whether w is where the problem stood before any solver saw it."""

    taken: np.ndarray | None = None
    certified_gap = 0.0
    untouched = False
    visits: float | None = None

    def __init__(self, w: np.ndarray, status: Status, iterations: int, history: list, alpha: np.ndarray | None = None):
        self.w, self.status, self.iterations, self.history, self.alpha = w, status, iterations, history, alpha


class Monitor:
    """Watches a run: limits, interruption, history and progress.

    A solver calls `step` once an iteration and stops with the Status it may
    return.  `gap` is the relative gap to stop at (None: the solver's own rule).
    `sink` receives each record as keywords; `stop` is shared by the runs of a
    command, so that one Ctrl-C and one limit of time end them all.  `max_seconds`
    from `started` on are a limit of this run alone.  `progress` detects a run that no longer gets closer.
    `history` has the records in order, of which a long run keeps KEPT: the sink has seen them all.
    The sink also gets what `uses` was last told.
    """

    def __init__(
        self,
        gap: float | None = None,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        sink: Callable[..., None] | None = None,
        stop: StopFlag | None = None,
        started: float | None = None,
        progress: Progress | None = None,
    ):
        self.progress = progress
        self.gap, self.max_iter, self.max_seconds = gap, max_iter, max_seconds
        self.sink, self.stop = sink, stop
        self.started = time.perf_counter() if started is None else started
        self.history: list[dict[str, Any]] = []
        self.iterations = 0
        self._method: dict[str, str] = {}

    def uses(self, method: str, why: str = "") -> None:
        """Name the method of the next steps; the first record from where it changes has why it does."""
        if self.sink and method != self._method.get("method"):
            self._method = {**self._method, "method": method, **({"why": why} if why else {})}

    def step(self, objective: float, bound: float, gap: float | None = None, **fields: Any) -> Status | None:
        """Record one iteration: primal objective, dual lower bound, and whatever else the solver reports.

        gap: where it is not (objective - bound) / objective.
        """
        if gap is None:
            gap = relative_gap(objective, bound)
        record = {"iteration": self.iterations, "objective": objective, "bound": bound, "gap": gap, **fields}
        self.history.append(record)
        if len(self.history) > KEPT:
            del self.history[KEPT // 2 : KEPT // 2 + KEPT // 4]
        if self.sink:
            self.sink(seconds=time.perf_counter() - self.started, **record, **self._method)
            self._method.pop("why", None)
        self.iterations += 1
        if self.gap is not None and gap <= self.gap:
            return GAP
        stalls = self.progress is not None and self.progress.stalls(objective - bound, bound)
        return self.limit() or (PRECISION if stalls else None)

    def limit(self, iterations: int | None = None) -> Status | None:
        """The limit or interruption that ends the run now, if any; `iterations` where not each has its record."""
        if self.stop is not None and self.stop.set:
            return INTERRUPTED
        done = self.iterations - 1 if iterations is None else iterations
        if self.max_iter is not None and done >= self.max_iter:
            return ITERATIONS
        now = time.perf_counter()
        if self.stop is not None and now > self.stop.ends:
            return TIME
        if self.max_seconds is not None and now - self.started > self.max_seconds:
            return TIME
        return None

    def ended(self) -> bool:
        """Whether a limit or interruption ends the run now: what inner loops ask."""
        return self.limit() is not None

    def end(self) -> Status:
        """Why a computation within the run was ended (limits.EndedError)."""
        return self.limit() or TIME

    def child(self, gap: float | None, max_iter: int | None = None) -> Monitor:
        """The Monitor of a run within this one, to its own gap and steps: what else ends this one ends it as well."""
        progress = None if self.progress is None else Progress(self.progress.first)
        return Monitor(gap, max_iter, self.max_seconds, None, self.stop, self.started, progress)


class Rule:
    """When -e decides: LIBLINEAR's rule, as numbers a solver compares with.

    gradient: stop when |grad f(w)| <= gradient * |grad f(0)| (numbers 0, 2, 11; 5 and 6: subgradients, and 1-norms);
    projected: stop when the dual's projected gradients lie within this of each other and of zero (numbers 1, 3), or
    only of each other where the dual variables have a fixed sum (number 21);
    gap: stop at this certified gap, beyond LIBLINEAR's rule (numbers 12, 13; 5 and 6, which have both);
    size: where coordinate passes solve a wide problem, stop when the projected gradients of a pass add up, in size, to
    SIZE_SHARE of this share of what they did in the first, if the certified gap is at most `loose` (numbers 12, 13); or
    when they have gone on for long enough after these were at most this share, LIBLINEAR's rule
    (DualCoordinateDescent.beyond). late: as `gradient`, but only where LATE_EPOCHS passes have not ended the run, or
    steps are ahead of them (number 1: LIBLINEAR goes on by number 2 then).
    At most one is given else; with none the solver goes to its exact end.
    at_start: certified gap at which the rule may end a run with factorised features where it starts; as anywhere, but
    for a search for C, which goes from answer to answer and asks LIBLINEAR's rule alone.
    sure: certified gap that passes and steps without such features need besides; set where it is cheap.
    """

    at_start = RULE_MIN_GAP
    sure = np.inf

    def __init__(
        self, gradient: float | None = None, projected: float | None = None, gap: float = -1.0, size: float = -1.0,
        loose: float = -1.0, late: float | None = None,
    ):  # fmt: skip
        self.gradient, self.projected, self.gap, self.size, self.loose = gradient, projected, gap, size, loose
        self.late = late
