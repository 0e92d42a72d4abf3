"""The methods with which training with a kernel would begin on a data file, and the reasons, for --explain."""

from __future__ import annotations

import numpy as np

from svmtool import registry
from svmtool.errors import named
from svmtool.formats.svmlight.background import Reading
from svmtool.kernel_params import tolerance
from svmtool.kernels.problems import KernelProblem, LeastSquaresSvc
from svmtool.params import Settings
from svmtool.solvers.shared.base import Plan
from svmtool.training.kernel import pairs_batch, pairs_together, single
from svmtool.training.kernel.class_pairs import ClassPairs
from svmtool.training.kernel.fit import Fitting, rule_of, shares_of
from svmtool.training.kernel.pipeline import checked


def methods(settings: Settings, data: Reading) -> list[str]:
    """Return a line for each method with which problems of a data file begin; SvmtoolError as in training."""
    with named(data.path), np.errstate(all="ignore"):
        rows, fitting = checked(settings, data), Fitting(settings)
        if settings.row.task == "classification":
            return _of_pairs(ClassPairs(rows, settings), fitting)
        plan = plan_of(single.problem(rows, fitting), settings, settings.run.cache_mb)
        return registry.planned(settings.row, [plan])


def plan_of(problem: KernelProblem | LeastSquaresSvc, settings: Settings, cache_mb: float) -> Plan:
    """The plan of the settings' solver for one problem, which has cache_mb for kernel rows."""
    problem.cache_mb, problem.options = cache_mb, settings.run.options
    return registry.planner(settings.row)(problem, rule_of(tolerance(settings)))


def _of_pairs(pairs: ClassPairs, fitting: Fitting) -> list[str]:
    """A line for each method; of several pairs of classes with their number, and the reason of the largest."""
    s, count = fitting.settings, len(pairs.pairs)
    batch, found, together = pairs_together.batch_of(pairs, fitting), [], set()
    if batch is not None:
        together = {batch.place[i, j] for i, some in enumerate(batch.partners) for j in some}
        found.append(f"{pairs_batch.METHOD}: {len(together)} of {count}, {batch.why}")
    left = sorted(set(range(count)) - together, key=lambda k: -sum(pairs.counts[k]))
    sizes = [sum(pairs.counts[k]) for k in left]
    shares = [s.run.cache_mb] if len(left) == 1 else shares_of(s.run.cache_mb, sizes, pairs.row_mb)[1]
    plans: dict[str, list[Plan]] = {}
    for k, share in zip(left, shares, strict=True):
        plan = plan_of(pairs.problem(pairs.points.take(pairs.rows(k)), k), s, share)
        plans.setdefault(plan.method, []).append(plan)
    for name, some in plans.items():
        of_several = "" if count == 1 else f"{len(some)} of {count} pairs of classes; the largest: "
        found.append(f"{registry.methods(s.row)[name]}: {of_several}{some[0].why}")
    return found
