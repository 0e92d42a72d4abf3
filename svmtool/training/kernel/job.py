"""Training with a kernel: what runs for -t."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from svmtool import params, registry
from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel
from svmtool.formats.svmlight.inputs import Reading, weighted
from svmtool.kernels.problems import AnyProblem
from svmtool.limits import StopFlag
from svmtool.params import Request, Settings, tolerance
from svmtool.solvers.shared.base import Plan
from svmtool.training import intent, pipeline
from svmtool.training.kernel.dataset import ClassPairs, KernelSet, kernel_set, refuse_unusable
from svmtool.training.kernel.fit import Fitting, rule_of, shares_of
from svmtool.training.kernel.train import problem_of, trained
from svmtool.training.lines import SolverLines
from svmtool.training.outcome import Training


class Job(pipeline.Job):
    """The training of a command with a kernel."""

    def __init__(self, settings: Settings, request: Request, data: Reading, console: Any):
        rows = checked(settings, request, data, console.warn)
        super().__init__(settings, request, rows, rows.table)

    def folds(self, wanted: int, console: Any) -> Any:
        """See pipeline.Job."""
        from svmtool.training.kernel.validation import KernelFolds

        return KernelFolds(self._rows[0], self.settings, wanted, say=console.solver)

    def train(self, report: Callable[..., None] | None, stop: StopFlag, lines: SolverLines) -> Training:
        """See pipeline.Job."""
        return trained(self._rows.pop(), Fitting(self.settings, report, stop, lines=lines))

    def write(self, path: str, done: Training) -> None:
        """See pipeline.Job."""
        kernel.write(path, done.model)


def checked(
    settings: Settings, request: Request, data: Reading, warn: Callable[[str], None] | None = None
) -> KernelSet:
    """The training set, after the checks in LIBSVM's order; SvmtoolError for the first fault.

    warn: of odd labels and of weights that leave rows out.
    """
    table = data.table()
    if not len(table):
        raise SvmtoolError(f"{data.path} has no rows: there is nothing to train on")
    rows = kernel_set(table, settings, data.path)
    params.check_kernel_after_reading(settings)
    rows = KernelSet(weighted(table, request.weights, warn), rows.kernel)
    refuse_unusable(rows, settings)
    warnings = intent.warnings(settings, request.given, table.labels, data.path)
    if warn is not None:
        warn(*warnings, *intent.unused_queries(settings, table, data.path))
    return rows


def methods(settings: Settings, request: Request, data: Reading) -> tuple[Settings, list[tuple[str, str]]]:
    """--explain: the settings, and a fact for each method with which problems begin; SvmtoolError as in training."""
    with np.errstate(all="ignore"):
        rows, fitting = checked(settings, request, data).in_use()[0], Fitting(settings)
        if settings.row.kind == "classification":
            found = _of_pairs(ClassPairs(rows, settings), fitting)
        else:
            plan = _plan(problem_of(rows, settings), settings, settings.run.cache_mb)
            found = registry.planned(settings.row, [plan])
    return settings, [("method", text) for text in found]


def _plan(problem: AnyProblem, settings: Settings, cache_mb: float) -> Plan:
    """The plan of the settings' solver for one problem, which has cache_mb for kernel rows."""
    problem.cache_mb, problem.options = cache_mb, settings.run.options
    return registry.planner(settings.row)(problem, rule_of(tolerance(settings)))


def _of_pairs(pairs: ClassPairs, fitting: Fitting) -> list[str]:
    """A line for each method; of several pairs of classes with their number, and the reason of the largest."""
    from svmtool.training.kernel import fused_pairs, pair_values

    s, count = fitting.settings, len(pairs.pairs)
    batch, found, together = fused_pairs.batch_of(pairs, fitting), [], set()
    if batch is not None:
        together = {batch.place[i, j] for i, some in enumerate(batch.partners) for j in some}
        found.append(f"{pair_values.METHOD}: {len(together)} of {count}, {batch.why}")
    alone = sorted(set(range(count)) - together, key=lambda k: -sum(pairs.counts[k]))
    sizes = [sum(pairs.counts[k]) for k in alone]
    shares = [s.run.cache_mb] if len(alone) == 1 else shares_of(s.run.cache_mb, sizes, pairs.row_mb)[1]
    plans: dict[str, list[Plan]] = {}
    for k, share in zip(alone, shares, strict=True):
        plan = _plan(pairs.problem(pairs.points.take(pairs.rows(k)), k), s, share)
        plans.setdefault(plan.method, []).append(plan)
    for name, some in plans.items():
        of_several, why = "" if count == 1 else f"{len(some)} of {count} pairs of classes", some[0].why
        facts = filter(None, (of_several, f"the largest: {why}" if of_several and why else why))
        found.append(": ".join(filter(None, (registry.methods(s.row)[name], "; ".join(facts)))))
    return found
