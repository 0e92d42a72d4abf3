"""Values of files read as float32: half the memory, and the problem of the rounded values."""

from __future__ import annotations

import numpy as np
import pytest
from reference import text_of

import svmtool
from svmtool.errors import DataError
from svmtool.formats.svmlight import table


def test_a_value_above_the_range_is_refused_with_its_line(tmp_path):
    (tmp_path / "d").write_text("+1 1:0.1 3:2.5\n+1 2:-4e38\n")
    with pytest.raises(DataError, match=r"line 2: .*d: token '2:.*too large for float32"):
        table.read(str(tmp_path / "d"), dtype="f4")
    assert table.read(str(tmp_path / "d")).values[-1] == -4e38


def test_svm_train_solves_the_problem_of_the_rounded_values(svm_train, tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 6)), np.where(rng.random(80) < 0.5, 1, -1)
    options = ["-q", "-s", "2", "--gap", "1e-12"]
    status, _, err = svm_train(*options, "--values", "float32", "d", "single", data=text_of(X, y))
    assert status == 0 and not err
    here = svmtool.load_model(tmp_path / "single")
    there = svmtool.fit(X.astype(np.float32).astype(np.float64), y, solver=2, gap=1e-12).model
    assert np.allclose(here.W, there.W, rtol=1e-9, atol=0.0)
    assert not np.allclose(here.W, svmtool.fit(X, y, solver=2, gap=1e-12).model.W, rtol=1e-9, atol=0.0)

