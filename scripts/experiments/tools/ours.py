"""svmtool in memory, as svm-train trains.

Methods are "-s N" (linear) and "kernel -s N" (RBF).  From 30 on they run the paper's algorithm as printed, with the
setting `method` "fast" svmtool's engine.  A step is -e of a paper's algorithm and with kernels (None: its default), of
other linear solvers --gap.  Settings: any of svmtool.params.Settings' by name, and with a kernel theta, of --theta.
There is no bias except the rows' own (Data.bias) unless a setting adds one, so that all tools solve the same problem.
With the setting `path` a fit trains a model for each C of the path, with `seeded` starting from the one before; the
result is the last.
A paper's algorithm records its iterates (the fact `trace`), and ends before the time limit of its cell, so that its
last iterate is known (the fact `cut`).
"""

from __future__ import annotations

import dataclasses
import signal
import time
from typing import Any

import numpy as np

from experiments.problem import SEED, Fitted, Problem
from svmtool import __version__
from svmtool.data.dataset import Dataset
from svmtool.params import Settings
from svmtool.registry.row import gap_of_theta
from svmtool.solvers.shared.base import TIME
from svmtool.training import linear

PAPERS = 30  # the first number that is a paper's
TIME_SHARE = 0.8  # of the time that a cell has left, for one run of a paper's algorithm
KEPT = 500  # points of a trace


def VERSION() -> str:
    return f"svmtool {__version__}"


def table_of(X, y: np.ndarray) -> Dataset:
    """A copy, because training consumes a table."""
    return Dataset(y.copy(), X.indptr.astype("i8"), X.indices.astype("i4"), X.data.copy(), X.shape[1])


def with_limit(asked: Settings) -> Settings:
    """The settings; of a paper's algorithm with a time limit."""
    left = signal.getitimer(signal.ITIMER_REAL)[0]
    limited = asked.row.printed and left and asked.stopping.max_seconds is None
    return asked.replace(max_seconds=TIME_SHARE * left) if limited else asked


class Trace:
    """Collects the iterates of a run that improve on all before, and the last one."""

    def __init__(self) -> None:
        self.started, self.points, self.least = time.perf_counter(), [], float("inf")
        self.last, self.iterations = [0.0, float("inf")], 0

    def __call__(self, objective: float, iteration: int, **others: Any) -> None:
        self.iterations = iteration
        self.last = [time.perf_counter() - self.started, objective]
        if objective < self.least:
            self.points.append(self.last)
            self.least = objective

    def kept(self) -> list[list[float]]:
        """At most KEPT of them, and the last one."""
        points = self.points[:: -(len(self.points) // KEPT + 1)][::-1]
        return points if points[-1:] == [self.last] else [*points, self.last]


def fit(problem: Problem, method: str, step: float | None, settings: dict) -> Fitted:
    kind, number = method.split("-s ")
    given = {"method": "paper" if int(number) >= PAPERS else "fast", "solver": int(number), "seed": SEED}
    if kind:
        return _kernel(problem, step, {**given, **settings})
    settings = {**given, "bias": -1.0, **settings}
    path, seeded = settings.pop("path", (problem.C,)), settings.pop("seeded", False)
    rule = "eps" if settings["method"] == "paper" else "gap"
    asked = with_limit(Settings.of(**{**settings, rule: step}))
    seconds, iterations, done, trace = 0.0, 0, None, None
    for C in path:
        initial = done.model if seeded and done else None
        table, trace = table_of(problem.X, problem.y), Trace() if asked.row.printed else None
        start = time.perf_counter()
        done = linear.train(table, asked.replace(C=C), trace, initial=initial)
        seconds += time.perf_counter() - start
        iterations += max(r.iterations for r in done.results) if trace is None else trace.iterations
    facts = {
        **common(done, trace), "iterations": iterations,
        "added": sum(int(r.taken.sum()) for r in done.results if r.taken is not None),
    }  # fmt: skip
    return dataclasses.replace(Fitted.of(done.model, start, problem.X.shape[1], **facts), seconds=seconds)


def common(done: Any, trace: Trace | None) -> dict[str, Any]:
    """Facts of linear and kernel trainings."""
    return {"gap": done.certificate.gap} | ({"trace": trace.kept(), "cut": done.status is TIME} if trace else {})


def _kernel(problem: Problem, step: float | None, settings: dict) -> Fitted:
    from svmtool.training.kernel.dataset import kernel_set
    from svmtool.training.kernel.fit import Fitting
    from svmtool.training.kernel.train import trainer

    settings = {"gap" if k == "theta" else k: gap_of_theta(v) if k == "theta" else v for k, v in settings.items()}
    asked = with_limit(Settings.of_kernel(**settings, eps=step))
    table, trace = table_of(problem.X, problem.y), Trace() if asked.row.printed else None
    start = time.perf_counter()
    done = trainer(asked)(kernel_set(table, asked, "rows"), Fitting(asked, trace))
    seconds = time.perf_counter() - start
    facts = common(done, trace)
    facts["iterations"] = sum(s.result.iterations for s in done.solved) if trace is None else trace.iterations
    if "--boundary" in asked.row.supported:
        by_rho = asked.replace(boundary="rho")
        [other] = trainer(by_rho)(kernel_set(table_of(problem.X, problem.y), by_rho, "rows"), Fitting(by_rho)).solved
        facts["rejected_by_rho"] = other.result.plane.outside / len(problem.y)
    return dataclasses.replace(Fitted.of(done.model, start, problem.X.shape[1], **facts), seconds=seconds)
