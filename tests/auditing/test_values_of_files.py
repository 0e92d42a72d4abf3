"""Objective values of models in files are the primal values of their own certificates."""

from __future__ import annotations

import re

import pytest

from svmtool.auditing.value import objective
from svmtool.cli.arguments import linear
from svmtool.formats.models import read
from svmtool.formats.svmlight import table
from svmtool.inspection.facts import certificate_of

LINES = [
    ["-s", "0", "-B", "1"], ["-s", "1"], ["-s", "2", "-c", "0.3"], ["-s", "3", "-B", "1"], ["-s", "5"], ["-s", "6"],
    ["-s", "7"], ["-s", "11"], ["-s", "12", "-p", "5"], ["-s", "13", "-B", "1"], ["-t", "2", "-g", "0.001"],
    ["-s", "3", "-t", "2", "-c", "5"], ["-s", "4"], ["-s", "2", "-w1", "3", "-w0", ".5"], ["-s", "0", "-B", "1", "-R"],
    ["-s", "4", "-t", "2", "-g", "0.001"], ["-s", "2", "-t", "0"], ["-s", "52", "--method", "fast"], ["-s", "21"],
    ["-s", "73", "-t", "2", "-g", "0.001", "--method", "fast", "-e", "1e-6"], ["-t", "0", "-w1", "2"],
]  # fmt: skip
CASES = [(line, name) for line in LINES for name in ("digits", "breast_cancer")]
CASES += [(["-t", "1", "-g", "0.01", "-r", "1"], "digits")]


@pytest.mark.parametrize("line, name", CASES, ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_objective_of_our_model_is_the_primal_value_of_its_certificate(svm_train, data, line, name):
    rows = "".join((data / name).read_text().splitlines(keepends=True)[:200])
    assert svm_train("-q", *line, "d", "m", data=rows)[0] == 0
    value = objective(linear.parse([*line, "d"]).settings, read("m"), table.read("d"))
    primal = float(re.search(r"primal (\S+?),", certificate_of(read("m"))[1])[1])
    assert value == pytest.approx(primal, rel=1e-6)  # of nine digits, and eight in the files of support vectors
