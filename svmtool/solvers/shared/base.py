"""Types that all solvers share: statuses, results, plans, monitors and stopping rules."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from svmtool.data.dataset import of_all_rows
from svmtool.limits import StopFlag as StopFlag
from svmtool.objectives.duality import relative_gap
from svmtool.objectives.task import SolverResult
from svmtool.progress import reached
from svmtool.solvers.shared.stalling import Progress
from svmtool.tolerances import CONFIRMED_GAP, LATE_EPOCHS, ROUNDOFF_GAP

MAX_RECORDS = 4096  # of a run, of 0.5 kB each: longer runs drop records in the middle, neither the first nor the last
# Seconds before the first record between iterations, and the factor of the time from one record to the next: well below
# 2, since single epochs take time, too
NOTE_SECONDS, NOTE_FACTOR = 0.5, 1.4
STALL_ROUNDS = 5  # rounds without a smaller exact measure after which only round-off is left


class Status:
    """Why a run ended.  `converged` says whether the result is reliable; `advice` is a message for the user.

    early: a looser stopping rule would have ended the run sooner; the options for that depend on the solver.
    own: a rule of the solver's own ended the run, which says nothing of the gap.
    """

    def __init__(self, name: str, converged: bool, advice: str, early: bool = False, own: bool = False):
        self.name, self.converged, self.advice, self.early, self.own = name, converged, advice, early, own

    def __repr__(self) -> str:
        return f"Status({self.name})"


OPTIMAL = Status("optimal", True, "the exact minimiser, to within round-off")
RULE = Status("rule", True, "the stopping rule of -e holds", own=True)
POOR = Status("poor", False, "the stopping rule of -e ended the run too early: lower -e or use --gap")
GAP = Status("gap", True, "the relative gap is at most the requested one")
PRECISION = Status("precision", False, "rounding stops further progress: scale the features (svm-scale) or lower -c")
ITERATIONS = Status("iterations", False, "iteration limit reached: raise --max-iter", early=True)
STEPS = Status("steps", False, "LIBSVM's limit on the work is reached: scale the features", early=True)
LATE = Status(
    "late",
    False,
    "as many epochs as LIBLINEAR's limit have not met -e: scale the features (svm-scale), lower -c, or use --gap",
)
TIME = Status("time", False, "time limit reached: raise --max-seconds", early=True)
INDEFINITE = Status(
    "indefinite",
    False,
    "the kernel matrix of these rows is not positive definite, perhaps by rounding: scale the features (svm-scale), "
    "lower -c, or choose another kernel, -g or -r",
)
TAKEN_OVER = Status("taken over", True, f"another method took over, to a relative gap of {CONFIRMED_GAP:g}")
PRUNED = Status("pruned", True, "weights were left out (--prune), which the certified gap includes")
INTERRUPTED = Status("interrupted", False, "interrupted: the best model so far is kept")


class Result(SolverResult):
    """Result of a solver of a linear model.

    w: weights, length d.
    alpha: dual point that belongs to w, length n; dual methods only.
    taken: how often FALSVM added each row, i8[n].
    inverse: of adaptable models of the paper, (I + 2 sum_i C_i x_i x_i')^-1 over the rows added, f8[d, d].
    untouched: whether w is the starting point, before any solver ran.
    """

    taken: np.ndarray | None = None
    inverse: np.ndarray | None = None
    untouched = False

    def __init__(self, w: np.ndarray, status: Status, iterations: int, history: list, alpha: np.ndarray | None = None):
        super().__init__(alpha, status, iterations, history)
        self.w = w

    def place_rows(self, used: np.ndarray, n: int) -> None:
        """Make the values of the rows `used` (i8) those of n rows, 0 for the others."""
        for name in ("alpha", "taken"):
            values = getattr(self, name)
            if values is not None:
                setattr(self, name, of_all_rows(values, used, n))


class Plan(NamedTuple):
    """The method that a solver chooses for a problem before its first step.

    method: a key of the solver's METHODS.  why: the facts that decided, for --explain and the solver log.
    """

    method: str
    why: str = ""


# Texts of the method that `bias_only` is
BIAS = "the bias alone, which brings every row to its target"
BIAS_WHY = "a free bias, and targets that one value of it meets"


def rounded(f: float, bound: float) -> Status:
    """Return the status of a run at which round-off stopped progress."""
    return OPTIMAL if f - bound <= ROUNDOFF_GAP * f else PRECISION


def empty(status: Status | None, norm: float, w: np.ndarray) -> bool:
    """Whether a run would end with zero weights though the gradient, of this norm, is not zero.

    Their gap may be small, but they tell no rows apart: the run takes a step.
    """
    return status is not None and status.converged and norm > 0.0 and not w.any()


class Monitor:
    """Monitors a run: limits, interruption, history and progress.

    A solver calls `step` once per iteration and stops if it returns a Status.

    gap: relative gap to stop at; None: the solver's own rule.
    sink: receives every record as keywords, and the method last named by `uses`.
    stop: shared by all runs of a command, so that one Ctrl-C or one time limit ends them all.
    max_seconds: limit of this run alone, counted from `started`.
    progress: detects a run that no longer makes progress.
    call_rounds: most rounds of one compiled call, where the solver's own number is not smaller.
    budget: once LIBLINEAR's own rule holds, the run may go on for this share of its work so far; None: without end.
    work: so far, in nanoseconds of one core of 2024, at first that of reading the data and of the program's start.
    history: the records in order; a long run keeps at most MAX_RECORDS of them.
    """

    _outer: Monitor | None = None  # of the run that this one is a part of
    unit = 1.0  # factor of values in records, where the solver minimises a multiple of the problem's objective

    def __init__(
        self,
        gap: float | None = None,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        sink: Callable[..., None] | None = None,
        stop: StopFlag | None = None,
        started: float | None = None,
        progress: Progress | None = None,
        call_rounds: int = sys.maxsize,
        budget: float | None = None,
        work: float = 0.0,
    ):
        self.budget, self.work, self._end, self._ends = budget, work, RULE, math.inf
        self.progress, self.call_rounds = progress, call_rounds
        self.gap, self.max_iter, self.max_seconds = gap, max_iter, max_seconds
        self.sink, self.stop = sink, stop
        self.started = time.perf_counter() if started is None else started
        self.history: list[dict[str, Any]] = []
        self.iterations, self._due = 0, NOTE_SECONDS
        self._method: dict[str, str] = {}

    def begin(self, methods: Mapping[str, str], plan: Plan, method: str | None) -> str:
        """Return the method to begin with, `method` if given, else the plan's; it and the reason are recorded.

        methods: the solver's METHODS; ValueError if it has no method of that name.
        """
        if method is not None and method not in methods:
            raise ValueError(f"no method {method!r} in this solver: it has {', '.join(methods)}")
        chosen, why = (plan.method, plan.why) if method is None else (method, "chosen by the caller")
        self.uses(methods[chosen], why)
        return chosen

    def uses(self, method: str, why: str = "") -> None:
        """Name the method of the next steps; the first record after a change includes the reason `why`."""
        if self.sink and method != self._method.get("method"):
            self._method = {**self._method, "method": method, **({"why": why} if why else {})}

    def step(
        self, objective: float, bound: float, gap: float | None = None, weights: np.ndarray | None = None, **fields: Any
    ) -> Status | None:  # fmt: skip
        """Record one iteration; return a Status if the run must end.

        objective: primal value; bound: lower bound from the dual.  gap: given where it is not (objective - bound) /
        objective.  weights: the best so far, for the sink alone, which copies what it keeps.  fields: what else the
        solver reports: `active` (rows or weights in use), `epochs` so far of coordinate descent.  Printed lines
        (training/lines.py) also need the norm `gradient` of the objective at the weights whose value it is, with `cg`
        (products with the Hessian) and `step` (its length) of the step there; the norm of another function's gradient,
        or at other weights, is `inner_gradient`.
        """
        if gap is None:
            gap = relative_gap(objective, bound)
        reached(gap, self.gap)
        record = self._record(objective, bound, gap, fields)
        self.history.append(record)
        if len(self.history) > MAX_RECORDS:
            del self.history[MAX_RECORDS // 2 : 3 * MAX_RECORDS // 4]
        if self.sink:
            self._report(record if weights is None else {**record, "weights": weights})
        self.iterations += 1
        if self.gap is not None and gap <= self.gap:
            return GAP
        stalls = self.progress is not None and self.progress.stalls(objective - bound, bound)
        return self.limit() or (PRECISION if stalls else None)

    def due(self) -> bool:
        """Whether a record between iterations is due: none has been made for almost as long as the run before it."""
        return self.sink is not None and time.perf_counter() - self.started >= self._due

    def note(self, objective: float, bound: float, **fields: Any) -> None:
        """Report a point between iterations, which is no part of the history; see `step`."""
        gap = relative_gap(objective, bound)
        reached(gap, self.gap)
        self._report(self._record(objective, bound, gap, fields))

    def _record(self, objective: float, bound: float, gap: float, fields: dict[str, Any]) -> dict[str, Any]:
        values = {"objective": self.unit * objective, "bound": self.unit * bound}
        return {"iteration": self.iterations, **values, "gap": gap, **fields}

    def _report(self, record: dict[str, Any]) -> None:
        if self.sink:
            seconds = time.perf_counter() - self.started
            self._due = max(NOTE_SECONDS, NOTE_FACTOR * seconds)
            self.sink(seconds=seconds, **record, **self._method)
            self._method.pop("why", None)

    def limit(self, iterations: int | None = None) -> Status | None:
        """Return the limit or interruption that ends the run now, if any.

        iterations: their number, where not every iteration is recorded.
        """
        if self.stop is not None and self.stop.set:
            return INTERRUPTED
        if self.work >= self._ends:
            return self._end
        done = self.iterations - 1 if iterations is None else iterations
        if self.max_iter is not None and done >= self.max_iter:
            return ITERATIONS
        now = time.perf_counter()
        if self.stop is not None and now > self.stop.ends:
            return TIME
        if self.max_seconds is not None and now - self.started > self.max_seconds:
            return TIME
        return None

    def spend(self, work: float) -> None:
        """Count work that the run has done."""
        self.work += work
        if self._outer is not None:
            self._outer.spend(work)

    def liblinear_ends(self, status: Status = RULE) -> None:
        """Note that LIBLINEAR would end here: when the budget is spent, `limit` gives this status."""
        if self.budget is not None and self._ends == math.inf:
            self._end, self._ends = status, (1.0 + self.budget) * self.work

    @property
    def work_left(self) -> float:
        """Most work that the budget still allows."""
        return self._ends - self.work

    def ended(self) -> bool:
        """Return whether a limit or interruption ends the run now; for inner loops."""
        return self.limit() is not None

    def end(self) -> Status:
        """Return why a computation within the run was ended (limits.EndedError)."""
        return self.limit() or TIME

    def child(self, gap: float | None, max_iter: int | None = None) -> Monitor:
        """Return the Monitor of a run within this one: own gap and iterations, shared time limit and interruption."""
        progress = None if self.progress is None else Progress(self.progress.first)
        inner = Monitor(gap, max_iter, self.max_seconds, None, self.stop, self.started, progress)
        inner._outer = self
        return inner


def bias_only(monitor: Monitor, w: np.ndarray, alpha: np.ndarray | None = None) -> Result:
    """Return w, whose free bias alone makes every loss 0 (Task.bias_only_solution): no gap is relative to f = 0."""
    monitor.step(0.0, 0.0, gradient=0.0, active=0, cg=0, step=0.0)
    return Result(w, OPTIMAL, monitor.iterations, monitor.history, alpha)


class Rule(NamedTuple):
    """LIBLINEAR's stopping rule of a number, or none: the solver then continues to the exact minimiser.

    A run ends once it holds, with a small certified gap where that is cheap (the solver's text says when), and at the
    latest when its budget is spent (`Monitor.liblinear_ends`).

    gradient  |grad f(w)| <= gradient |grad f(0)|; with |w|_1: of subgradients, in the 1-norm
    range     the projected gradients of the dual lie within a range of this width, which includes zero except where the
              dual variables have a fixed sum (-s 21)
    late      share of |grad f(0)| that may end a run, too, once `epochs` epochs have not (LIBLINEAR continues -s 1 with
              -s 2 then, -s 12 with -s 11), or with `range` where Newton steps are ahead of them
    sums      the sum of absolute projected gradients of an epoch, relative to the first (-s 12 and 13)
    gap       certified gap that ends a run at once, whatever else; negative: none
    epochs    LIBLINEAR's limit on epochs
    """

    gradient: float | None = None
    range: float | None = None
    late: float | None = None
    sums: float | None = None
    gap: float = -1.0
    epochs: float = LATE_EPOCHS


class Tolerance(NamedTuple):
    """The rule of a paper's algorithm: its own tolerance, the value of -e.

    seeded: whether a start is the solution at another C, or where an earlier turn of this run ended: no mere guess.
    """

    eps: float
    seeded: bool = False
