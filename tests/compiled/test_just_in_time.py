"""Without compiled loops a model predicts the same bytes: numba compiles the loops of a prediction when it runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from reference import random_problem, text_of

from svmtool.compiled import ahead_of_time


@pytest.mark.process
def test_prediction_gives_the_same_bytes(svm_train, tmp_path):
    assert ahead_of_time(), "loops are not compiled for these sources: python -m svmtool.compiled.build says why"
    p = random_problem(1, 40, 4)
    assert svm_train("-q", "-s", 2, "d", "m", data=text_of(p.X, p.y))[0] == 0
    for mode in ("auto", "jit"):
        argv = [sys.executable, "-m", "svmtool", "predict", "d", "m", mode]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, env={**os.environ, "SVMTOOL_LOOPS": mode})
        assert done.returncode == 0 and b"Accuracy = " in done.stdout, done.stderr
    assert (tmp_path / "auto").read_bytes() == (tmp_path / "jit").read_bytes()
