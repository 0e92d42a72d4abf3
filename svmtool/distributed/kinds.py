"""Which kind of problems the rows of a training set make."""

from __future__ import annotations

from svmtool.distributed.one_class import DistributedOneClass
from svmtool.distributed.problems import DistributedOneVsRest, DistributedReduction, DistributedRegression
from svmtool.params import Settings


def kind_of(settings: Settings) -> type[DistributedReduction]:
    """What makes problems of the rows."""
    if settings.row.task == "one-class":
        return DistributedOneClass
    return DistributedRegression if settings.row.task == "regression" else DistributedOneVsRest
