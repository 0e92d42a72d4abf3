"""A class weight of 0 for the only class: no row has a cost."""

from __future__ import annotations

import pytest

from svmtool import registry

ROWS = [row for row in registry.SOLVERS if row.task in ("classification", "all classes")]


@pytest.mark.parametrize("bias", [[], ["-B", 1], ["-B", 1, "-R"]], ids=["none", "bias", "free"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows_without_costs_are_no_traceback(row, bias, svm_train):
    if "-R" in bias and "-R" not in row.honours:
        pytest.skip(f"-s {row.number} knows no -R")
    status, out, err = svm_train("-s", row.number, "-w-1", 0, *bias, "d", "m", data="-1 1:1 3:0.5\n-1 2:1\n-1 1:2\n")
    assert status in (0, 1) and "Traceback" not in err
    assert status == 0 or len(err.splitlines()) == 1
