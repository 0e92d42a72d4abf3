"""A class weight of 0 for the only class: no row has a cost."""

from __future__ import annotations

import pytest

from svmtool import registry

BIAS = {"none": (), "bias": ("-B", 1), "free": ("-B", 1, "-R")}
CASES = [
    pytest.param(row.number, options, id=f"{row.name}-{name}")
    for row in registry.SOLVERS
    for name, options in BIAS.items()
    if row.kind in ("classification", "all classes") and (name != "free" or "-R" in row.supported)
]


@pytest.mark.parametrize("number, bias", CASES)
def test_rows_without_costs_are_no_traceback(number, bias, svm_train):
    status, out, err = svm_train("-s", number, "-w-1", 0, *bias, "d", "m", data="-1 1:1 3:0.5\n-1 2:1\n-1 1:2\n")
    assert status in (0, 1) and "Traceback" not in err
    assert status == 0 or len(err.splitlines()) == 1
