"""A class weight of 0 for the only class: no row has a cost."""

from __future__ import annotations

import pytest
from both_methods import arguments_of

from svmtool import registry

BIAS = {"none": (), "bias": ("-B", 1), "free": ("-B", 1, "-R")}
CASES = [
    pytest.param(row, options, id=f"{row.name}{'-printed' * row.printed}-{name}")
    for row in registry.rows_of(kernel=False)
    for name, options in BIAS.items()
    if row.kind in ("classification", "all classes") and (name != "free" or "-R" in row.supported)
]


@pytest.mark.parametrize("row, bias", CASES)
def test_rows_without_costs_are_no_traceback(row, bias, svm_train):
    few = ("--max-iter", 100) if "--max-iter" in row.supported else ()
    data = "-1 1:1 3:0.5\n-1 2:1\n-1 1:2\n"
    status, _, err = svm_train(*arguments_of(row), "-w-1", 0, *bias, *few, "d", "m", data=data)
    assert status in (0, 1) and "Traceback" not in err
    assert status == 0 or len(err.splitlines()) == 1
