"""Solving one kernel problem: what all problems of a run share, and what each run gives."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from svmtool import registry
from svmtool.compiled import threads
from svmtool.kernel_model import KernelModel
from svmtool.kernel_settings import KernelSettings
from svmtool.problem.certify import Certificate, worst
from svmtool.problem.certify_kernel import certify
from svmtool.problem.kernel_problem import Answer, KernelProblem, KernelResult, LeastSquaresSvc
from svmtool.problem.kernel_rows import MEGABYTE
from svmtool.solvers.base import Monitor, Status, StopFlag
from svmtool.training.outcome import worst_status

AT_ONCE = 2  # problems that -m has room for at least where there are several


class Solved(NamedTuple):
    """One solved problem: the decision function, the solver's result, and the judge's word on it."""

    answer: Answer
    result: KernelResult
    certificate: Certificate

    def text(self) -> str:
        """What LIBSVM prints about it; the star stands where its marks of progress do."""
        a = self.answer
        return (
            f"*\noptimization finished, #iter = {self.result.iterations}\n{a.says}"
            f"obj = {a.objective:f}, rho = {a.rho:f}\n"
            f"nSV = {np.count_nonzero(a.coef)}, nBSV = {a.bounded}\n"
        )


class KernelTraining(NamedTuple):
    """What training gives: the model (without notes), all its solved problems, LIBSVM's text, sentences for stderr,
    and `lacking`: why there are no probabilities although they were asked for, else empty."""

    model: KernelModel
    solved: list[Solved]
    text: str
    warnings: list[str]
    lacking: str = ""

    @property
    def certificate(self) -> Certificate:
        """The judge's word on all problems: values summed, the worst gap and violation."""
        return worst([s.certificate for s in self.solved])

    @property
    def results(self) -> list[KernelResult]:
        """The solvers' results, one a problem."""
        return [s.result for s in self.solved]

    @property
    def status(self) -> Status | None:
        """The status of the problem that fared worst, None where there was none to solve."""
        return worst_status(self.results)


class Fitting:
    """What the problems of a run share: settings, who takes the records, the flag of Ctrl-C, and the clock."""

    def __init__(
        self, settings: KernelSettings, report: Callable[..., None] | None = None, stop: StopFlag | None = None
    ):
        self.settings, self.report, self.stop = settings, report, stop
        self.started = time.perf_counter()
        self.reporting = threading.Lock()

    def solve(
        self, problem: KernelProblem | LeastSquaresSvc, label: str | None = None, cache_mb: float | None = None
    ) -> Solved:
        """Solve and judge; label tells the records of one of several problems, cache_mb is its share of -m."""
        s = self.settings

        def sink(**record: Any) -> None:
            with self.reporting:
                self.report(**record if label is None else {"label": label, **record})

        report = None if self.report is None else sink
        monitor = Monitor(s.target, s.max_iter, s.max_seconds, report, self.stop, self.started)
        room = s.cache_mb if cache_mb is None else cache_mb
        result = registry.entry(s.row)(problem, monitor, s.tolerance, room, **s.for_solver)
        answer = problem.answer(result)
        found = certify(problem, result.alpha, result.gradient, result.rho, result.r, answer.scale)
        result.certified_gap = found.gap
        return Solved(answer, result, found)

    def solve_several(
        self, problem: Callable[[int], KernelProblem | LeastSquaresSvc], sizes: list[int], labels: list[str | None],
        row_mb: float,
    ) -> list[Solved]:  # fmt: skip
        """Solve problem(k), of sizes[k] rows, for each k: side by side as far as -m has room, the largest first.

        How much of -m one is given depends on its size alone, so that any number of threads gives the same bits.  Of
        several each has a copy of its rows, of row_mb MB a row, which comes out of its share, up to half of that.
        """
        whole = self.settings.cache_mb
        if len(sizes) == 1:
            return [self.solve(problem(0), labels[0], whole)]
        room = [min(whole / AT_ONCE, enough_mb(n) + n * row_mb) for n in sizes]
        solved: list[Solved | None] = [None] * len(sizes)
        for group in groups(room, whole):

            def one(b: int, group: list[int] = group) -> None:
                k = group[b]
                solved[k] = self.solve(problem(k), labels[k], max(room[k] / 2, room[k] - sizes[k] * row_mb))

            if threads.count() < AT_ONCE * len(group):
                threads.run_blocks(one, len(group))
            else:  # few problems: the threads serve one better
                for b in range(len(group)):
                    one(b)
        return solved

    def within(self, **changes) -> Fitting:
        """For runs inside this one, with other settings: unreported, by the same clock and flag."""
        inner = Fitting(self.settings._replace(**changes), None, self.stop)
        inner.started = self.started
        return inner


def enough_mb(n: int) -> float:
    """MB with which a solver can keep all rows of a kernel matrix of n rows, and a working set of them all beside."""
    return (8 * n * n + 64 * n) / MEGABYTE


def groups(room: list[float], whole: float) -> list[list[int]]:
    """The places in `room`, largest first, in groups that take no more than `whole` together."""
    found: list[list[int]] = []
    left = 0.0
    for k in sorted(range(len(room)), key=lambda k: -room[k]):
        if not found or room[k] > left:
            found.append([])
            left = whole
        found[-1].append(k)
        left -= room[k]
    return found
