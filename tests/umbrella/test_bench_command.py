"""`svmtool bench`: objective values by definition, and runs of other programs (times are not tested)."""

from __future__ import annotations

import os
import re

import pytest
from shell_commands import put_script

from svmtool.auditing.value import objective
from svmtool.cli.arguments import linear
from svmtool.comparison import programs
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


def test_runs_each_program_and_prints_a_table(command, tmp_path, data):
    copy = tmp_path / "other-train"
    assert command("train", "-q", "-s", 2, "-c", 0.001, data / "breast_cancer", "poor").returncode == 0
    put_script(copy, f'while [ $# -gt 2 ]; do shift; done\n/bin/cp "{tmp_path}/poor" "$2"')
    put_script(tmp_path / "broken", 'echo "no such option" >&2\nexit 1')
    done = command(
        "bench", "--runs", 1, "--program", copy, "--program", tmp_path / "broken", "-s", 2, data / "breast_cancer",
        env={"PATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    _, ours, other, broken = done.stdout.decode().splitlines()
    above = [float(re.search(r"(\S+) %$", line)[1]) for line in (ours, other)]
    assert ours.startswith("svmtool train") and above[0] < 0.1 < above[1]
    assert broken.endswith("failed: no such option")


def test_our_own_scripts_are_no_other_programs(tmp_path, monkeypatch):
    put_script(tmp_path / "svm-train", "exec svmtool train")
    put_script(tmp_path / "liblinear-train", "exec something else")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{tmp_path}")
    assert programs.others(True, ()) == []
    assert [p.name for p in programs.others(False, ())] == [str(tmp_path / "liblinear-train")]


@pytest.mark.parametrize(
    "argv, sentence",
    [
        ([], "name a data file"),
        (["-s", 21, "d"], "compares linear models of -s 0, 1, 2"),
        (["-s", 1, "-t", 2, "d"], "compares kernel models of -s 0, 3, not 1"),
        (["d", "m"], "the last argument must be the data file"),
        (["absent"], "can't open input file absent"),
        (["--program", "absent-program", "d"], "there is no such program"),
        (["--runs", 0, "d"], "--runs"),
    ],
)
def test_errors(command, tmp_path, argv, sentence):
    (tmp_path / "d").write_text("1 1:1\n-1 1:-1\n")
    done = command("bench", *argv)
    assert done.returncode == 1 and sentence in done.stderr.decode()
    assert b"Traceback" not in done.stderr and done.stdout == b""
