"""Which methods a solver would begin with on a data file, and why: --explain."""

from __future__ import annotations

from svmtool import registry
from svmtool.errors import named
from svmtool.formats.svmlight import weight_file
from svmtool.formats.svmlight.background import Reading
from svmtool.params import Request, Settings, check_after_reading
from svmtool.training.reductions.base import problems_of
from svmtool.training.used_features import on_used, used_features


def methods(settings: Settings, request: Request, data: Reading) -> list[str]:
    """Return a line for each distinct plan of the problems of a data file; none with --spark.

    The lines tell the method and the reason for it.  Raises SvmtoolError where training would refuse the file.
    """
    if request.spark is not None:  # the workers hold the rows
        return []
    with named(data.path):
        table = data.table()
        check_after_reading(settings)
        row_weights = weight_file.read(request.weights, len(table)) if request.weights else None
        used = None if "--add" in settings.row.supported else used_features(table)
        problems = problems_of(table if used is None else on_used(table, used), settings, row_weights)
        problems.prepare()
        return registry.planned(problems.method, (problems.plan(k) for k in range(problems.count)))
