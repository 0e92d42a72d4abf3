"""Chooses the reduction for a training set."""

from __future__ import annotations

from svmtool.distributed.one_class import DistributedOneClass
from svmtool.distributed.reductions import DistributedOneVsRest, DistributedReduction, DistributedRegression
from svmtool.params import Settings


def reduction_of(settings: Settings) -> type[DistributedReduction]:
    """The reduction for the settings' task."""
    if settings.row.task == "one-class":
        return DistributedOneClass
    return DistributedRegression if settings.row.task == "regression" else DistributedOneVsRest
