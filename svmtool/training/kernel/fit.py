"""Solves kernel problems, one or several side by side, and verifies and certifies each result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from svmtool import limits, registry
from svmtool.compiled import threads
from svmtool.kernels.problems import AnyProblem, HardOneClass, LeastSquaresSvc
from svmtool.kernels.results import KernelResult
from svmtool.limits import EndedError, StopFlag, TimeShares
from svmtool.params import NO_OPTIONS, Settings, tolerance
from svmtool.progress import doing
from svmtool.solvers.shared import kernel_least_squares
from svmtool.solvers.shared.base import TIME, Monitor, Rule, Tolerance
from svmtool.tolerances import CONFIRMED_GAP, MIB
from svmtool.training.kernel.solutions import Solved
from svmtool.training.kernel.verify import as_printed, verify, zero
from svmtool.training.lines import Sink, SolverLines, sink_of
from svmtool.training.notices import asked_gap

SOUND_SOLVER = 60  # number of the solver that takes over from others
MIN_CONCURRENT = 2  # problems that share -m at least, if there are several


class Fitting:
    """What the problems of a run share.

    report: called with each record of a solver, of several problems from several threads.
    stop: ends the run; None: settings.stopping.max_seconds count from now on.
    lines: prints records once in a while.
    together: rows of a pair of classes up to which pairs are solved many in one call; None: the measured limit.
    """

    def __init__(
        self, settings: Settings, report: Sink = None, stop: StopFlag | None = None, together: int | None = None,
        lines: SolverLines | None = None,
    ):  # fmt: skip
        self.settings, self.report, self.together, self.lines = settings, report, together, lines
        self.stop = StopFlag(settings.stopping.max_seconds) if stop is None else stop
        self.started = time.perf_counter()

    def solve(
        self, problem: AnyProblem, label: str | None = None, cache_mb: float | None = None,
        stop: StopFlag | None = None, start: np.ndarray | None = None,
    ) -> Solved:  # fmt: skip
        """Solve, verify and certify one problem.

        label: marks the records of one of several problems.  cache_mb: its share of -m, None: all.  stop: what ends
        this problem, None: what ends the run.  start: feasible alpha to begin at, f8[m].
        """
        s, stop = self.settings, self.stop if stop is None else stop
        problem.cache_mb, problem.options = s.run.cache_mb if cache_mb is None else cache_mb, s.run.options
        if stop.ended():  # thousands of remaining problems must end at no cost
            result = zero(problem, Monitor(stop=stop, started=self.started).end())
        else:
            gap = None if s.row.printed else s.target
            result = self._run(registry.entry(s.row), problem, gap, tolerance(s), label, stop, start)
        return self.verified(problem, result, label, stop)

    def verified(
        self, problem: AnyProblem, result: KernelResult, label: str | None = None, stop: StopFlag | None = None
    ) -> Solved:
        """Verify and certify a solver's result; a second method replaces it where needed."""
        s, stop = self.settings, self.stop if stop is None else stop
        if s.row.printed:
            return Solved(*as_printed(problem, result, asked_gap(s)))
        sound = registry.find_kernel(SOUND_SOLVER)

        def other() -> KernelResult | None:
            if isinstance(problem, HardOneClass) or s.row.module == sound.module:
                return None
            if isinstance(problem, LeastSquaresSvc):
                return self._run(kernel_least_squares.directly, problem, s.target, 0.0, label, stop)
            problem.options = NO_OPTIONS
            gap = CONFIRMED_GAP if s.target is None else s.target
            return self._run(registry.entry(sound), problem, gap, 0.0, label, stop)

        return Solved(*verify(problem, result, s.target, other))

    def _run(
        self, solver: Callable[..., Any], problem: AnyProblem, gap: float | None,
        eps: float, label: str | None, stop: StopFlag, start: np.ndarray | None = None,
    ) -> KernelResult:  # fmt: skip
        """Run one solver; w = 0 if the run ends before there is a result."""
        s = self.settings
        sink, rule = sink_of(self.report, self.lines, 0, label), Tolerance(eps) if s.row.printed else rule_of(eps)
        monitor = Monitor(gap, s.stopping.max_iter, None, sink, stop, self.started)
        try:
            with limits.until(monitor.ended), np.errstate(all="ignore"):  # the certifier finds nan and inf
                return solver(problem, monitor, rule, start, 1 if s.run.seed is None else s.run.seed)
        except EndedError:
            return zero(problem, monitor.end())

    def solve_several(
        self, problem: Callable[[int], AnyProblem], sizes: list[int], labels: list[str | None], row_mb: float
    ) -> list[Solved]:
        """Solve problem(k), of sizes[k] rows, for each k, side by side as far as -m allows, the largest first.

        The share of -m of a problem depends on its size only, so that any number of threads gives the same bits.  If
        there are several problems the copy of a problem's rows, of row_mb MB a row, is taken from its share, up to half
        of it.  Each problem gets an equal share of the time; those that need more continue with what others leave.  A
        paper's algorithm begins anew then: continued it would be another one, whose model depends on the clock.
        """
        whole, printed = self.settings.run.cache_mb, self.settings.row.printed
        if len(sizes) == 1:
            return [self.solve(problem(0), labels[0], whole)]
        needed, shares = shares_of(whole, sizes, row_mb)
        solved: list[Any] = [None] * len(sizes)
        open_ = list(range(len(sizes)))

        def one(k: int, stop: StopFlag) -> None:
            before: Solved | None = solved[k]
            if before is not None and stop.ended():
                return
            start = None if before is None or printed else before.result.alpha
            part_of_run = problem(k)
            part_of_run.beside = len(sizes)
            found = self.solve(part_of_run, labels[k], shares[k], stop, start)
            ended = printed and found.result.status is not TIME
            if before is None or ended or not before.certificate.gap <= found.certificate.gap:
                solved[k] = found
            part.step()

        while open_:
            groups = packed(sorted(open_, key=lambda k: -needed[k]), needed.__getitem__, whole)
            count = threads.count()  # few problems: the threads work on one of them
            beside = [min(count, len(group)) if count < MIN_CONCURRENT * len(group) else 1 for group in groups]
            turns = TimeShares(self.stop, len(open_), max(beside))
            with doing("pair of classes", len(open_)) as part:
                for group, at_once in zip(groups, beside, strict=True):

                    def work(b: int, group: list[int] = group, turns: TimeShares = turns) -> None:
                        one(group[b], turns.next())

                    (threads.run_blocks if at_once > 1 else limits.in_turn)(work, len(group))
            open_ = [k for k in open_ if solved[k].result.status is TIME]
            if self.stop.seconds_left <= limits.MIN_SECONDS:
                break
        return solved

    def changed(self, told: bool, **changes: Any) -> Fitting:
        """A Fitting with changed settings for a run within this one, which ends with it; told: it reports records."""
        report, lines = (self.report, self.lines) if told else (None, None)
        inner = Fitting(self.settings.replace(**changes), report, self.stop, self.together, lines)
        inner.started = self.started
        return inner


def rule_of(eps: float) -> Rule:
    """The rule that stops at a violation of eps; 0: no rule."""
    return Rule(range=eps if eps > 0.0 else None)


def shares_of(whole: float, sizes: list[int], row_mb: float) -> tuple[list[float], list[float]]:
    """Shares of `whole` MB for problems, and the part of each for kernel rows: see solve_several."""
    if len(sizes) == 1:
        return [whole], [whole]
    enough = ((8 * n * n + 64 * n) / MIB for n in sizes)  # for all kernel values and a working set of all rows
    taken = [min(whole / MIN_CONCURRENT, mb + n * row_mb) for mb, n in zip(enough, sizes, strict=True)]
    return taken, [max(mb / 2, mb - n * row_mb) for mb, n in zip(taken, sizes, strict=True)]


def packed(items: Iterable[int], needed: Callable[[int], float], whole: float) -> list[list[int]]:
    """Items, in their order, in groups that need at most `whole` together."""
    found: list[list[int]] = []
    unused = 0.0
    for item in items:
        if not found or needed(item) > unused:
            found.append([])
            unused = whole
        found[-1].append(item)
        unused -= needed(item)
    return found
