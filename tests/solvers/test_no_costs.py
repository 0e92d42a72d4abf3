"""A class weight of 0 for the only class: no row has a cost."""

from __future__ import annotations

import pytest
from both_methods import keyword_of
from naming import case_of

from svmtool import registry

ROWS = [row for row in registry.rows_of(kernel=False) if row.kind in ("classification", "all classes")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}{'-printed' * row.printed}")
def test_rows_without_costs_are_no_traceback(row, svm_train):
    few = ("--max-iter", 100) if "--max-iter" in row.supported else ()
    method = [part for name in keyword_of(row).values() for part in ("--method", name)]
    for bias in ((), ("-B", 1, *(("-R",) if "-R" in row.supported else ()))):
        argv = "-s", row.number, *method, "-w-1", 0, *bias, *few
        with case_of(*argv):
            status, _, err = svm_train(*argv, "d", "m", data="-1 1:1 3:0.5\n-1 2:1\n-1 1:2\n")
            assert status in (0, 1) and "Traceback" not in err
            assert status == 0 or len(err.splitlines()) == 1
