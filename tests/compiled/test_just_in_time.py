"""Without compiled loops a model predicts the same bytes: numba compiles the loops of a prediction when it runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from svmtool.compiled import ahead_of_time

# Of a model that no loop reads: loops for text take three times as long to compile.
FROM_PYTHON = """
import numpy, svmtool, sys
from svmtool.models.linear import LinearModel
W, X = numpy.random.default_rng(0).normal(size=(2, 40, 40))
sys.stdout.buffer.write(svmtool.decision_values(LinearModel("L2R_LR", tuple(range(40)), 40, -1.0, W), X).tobytes())
"""
COMMAND = pytest.param(["-m", "svmtool", "predict", "d", "m", "-"], marks=pytest.mark.exhaustive)


@pytest.mark.process
@pytest.mark.parametrize("argv", [["-c", FROM_PYTHON], COMMAND], ids=["python", "command"])
def test_prediction_gives_the_same_bytes(argv, svm_train, tmp_path):
    assert ahead_of_time(), "loops are not compiled for these sources: python -m svmtool.compiled.build says why"
    assert svm_train("-q", "-s", 2, "d", "m", data="1 1:0.5 2:-0.25\n-1 1:-1 3:1e-3\n" * 10)[0] == 0
    found = []
    for mode in ("auto", "jit"):
        env = {**os.environ, "SVMTOOL_LOOPS": mode}
        done = subprocess.run([sys.executable, *argv], cwd=tmp_path, capture_output=True, env=env)
        assert done.returncode == 0 and len(done.stdout) > 40, done.stderr
        found.append(done.stdout)
    assert found[0] == found[1]
