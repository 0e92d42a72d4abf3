"""-s 80 and -s 81 from the command line: models that LIBLINEAR and LIBSVM can read, errors, metrics."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import skip_unless_known
from fosvm_problems import cloud
from reference import text_of

from svmtool.formats.models import linear

FAST = ("--method", "fast")  # as printed: tests/papers
both = pytest.mark.parametrize("number", [80, 81])


def text(X: np.ndarray) -> str:
    return text_of(X, np.ones(len(X)))


@both
def test_linear_model_is_liblinears(number, svm_train, command, reference):
    skip_unless_known(21, reference)
    status, out, err = svm_train("-s", number, *FAST, "--theta", "0.1", "d", "m", data=text(cloud(400, 3, 1)))
    assert (status, err) == (0, "")
    m = linear.read("m")
    assert (m.word, m.nr_class, m.labels, m.bias) == ("ONECLASS_SVM", 2, None, -1.0) and m.rho > 0.0
    found = re.match(
        r"\noptimization finished, #iter = (\d+)\nObjective value = (\S+)\nnSV = (\d+)\nrho = (\S+)\n", out
    )
    assert found and float(found[4]) == pytest.approx(m.rho, rel=1e-4)
    assert "--theta 0.1" in m.notes[0]
    command("predict", "d", "m", "o")
    subprocess.run([reference["predict"], "d", "m", "theirs"], check=True, capture_output=True)
    assert Path("o").read_text() == Path("theirs").read_text()


@both
def test_what_is_certified_and_what_is_not(number, svm_train):
    for kernel in ([], ["-g", "0.1"]):
        _, out, _ = svm_train("-s", number, *FAST, *kernel, "--theta", "0.2", "d", "m", data=text(cloud(4000, 3, 3)))
        gap = float(re.search(r"Certified relative gap = (\S+)", out)[1])
        if number == 80:
            assert gap <= 0.8**-2 - 1 and "sample" not in out
        else:
            assert "not certified: none of 3000 sampled rows" in out and "exp(-3000 eps)" in out
            assert "# Stopped: not certified: none of" in Path("m").read_text()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("-s 80 --theta 0.1 --gap 0.1", "ERROR: --theta and --gap are both stopping rules: give one of them"),
        ("-s 81 -t 1 -r -1", "-t 1 (polynomial) with -r -1 has none"),
    ],
)
def test_refusals(line, sentence, svm_train, tmp_path):
    status, _, err = svm_train(*line.split(), *FAST, "d", "m", data=text(cloud(20)))
    assert status == 1 and sentence in err and err.count("\n") == 1 and not (tmp_path / "m").exists()


@both
def test_odd_data_end_honestly(number, svm_train):
    for data, kernel, line in (
        ("", [], "the training file has no rows"),
        ("1\n1\n", [], "WARNING: w = 0: the origin is in the convex hull of the rows"),
        ("1 1:1\n1 1:-1\n", [], "WARNING: w = 0: the origin is in the convex hull of the rows"),
        ("1 1:1\n1 1:-1\n", ["-t", "0"], "WARNING: w = 0: the origin is in the convex hull of the rows"),
        ("1 1:1\n1 1:1\n1 1:1\n", [], "(primal -0.5, "),
        ("1\n1\n1 2:1e-9\n", ["-g", "1"], "Certified relative gap = "),
        ("1 1:1e150\n1 1:2e150\n", [], "overflow"),
    ):
        status, out, err = svm_train("-s", number, *FAST, *kernel, "--strict", "d", "m", data=data)
        assert line in out + err and status == (1 if line == "overflow" else 0), (data, out, err)
