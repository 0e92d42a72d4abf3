"""Solving one kernel problem: what all problems of a run share, and what each run gives."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmtool import registry
from svmtool.kernel_model import KernelModel
from svmtool.kernel_settings import KernelSettings
from svmtool.problem.certify import Certificate, worst
from svmtool.problem.certify_kernel import certify
from svmtool.problem.kernel_problem import Answer, KernelProblem, KernelResult, LeastSquaresSvc
from svmtool.solvers.base import Monitor, Status, StopFlag
from svmtool.training.outcome import worst_status


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
    def status(self) -> Status | None:
        """The status of the problem that fared worst, None where there was none to solve."""
        return worst_status([s.result for s in self.solved])


class Fitting:
    """What the problems of a run share: settings, who takes the records, the flag of Ctrl-C, and the clock."""

    def __init__(
        self, settings: KernelSettings, report: Callable[..., None] | None = None, stop: StopFlag | None = None
    ):
        self.settings, self.report, self.stop = settings, report, stop
        self.started = time.perf_counter()

    def solve(self, problem: KernelProblem | LeastSquaresSvc, label: str | None = None) -> Solved:
        """Solve and judge; label tells the records of one of several problems."""
        s, sink = self.settings, self.report
        if sink is not None and label is not None:
            report = sink
            sink = lambda **record: report(label=label, **record)  # noqa: E731
        monitor = Monitor(s.target, s.max_iter, s.max_seconds, sink, self.stop, self.started)
        result = registry.entry(s.row)(problem, monitor, s.tolerance, s.cache_mb, **s.for_solver)
        answer = problem.answer(result)
        found = certify(problem, result.alpha, result.gradient, result.rho, result.r, answer.scale)
        return Solved(answer, result, found)

    def within(self, **changes) -> Fitting:
        """For runs inside this one, with other settings: unreported, by the same clock and flag."""
        inner = Fitting(self.settings._replace(**changes), None, self.stop)
        inner.started = self.started
        return inner
