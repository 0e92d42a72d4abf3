"""Models with non-finite numbers are not written; errors of range and memory are messages that name the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from svmtool.errors import ModelError
from svmtool.formats.models import kernel, linear
from svmtool.models.linear import LinearModel, sigmoid_notes

SMALL = "1 1:1 2:1\n-1 1:-1 2:0.5\n1 1:2\n-1 2:-1\n"


BAD = {
    "weight": {"W": np.array([[-np.inf]])}, "bias": {"bias": np.inf, "W": np.ones((2, 1))},
    "rho": {"word": "ONECLASS_SVM", "labels": None, "rho": np.nan},
    "sigmoid": {"notes": sigmoid_notes([(np.nan, 1.0)])},
}  # fmt: skip


@pytest.mark.parametrize("place", BAD)
def test_linear(tmp_path, place):
    path, usual = tmp_path / "m", {"word": "L2R_L2LOSS_SVC", "labels": (1, -1), "bias": -1.0, "W": np.ones((1, 1))}
    path.write_text("old")
    with pytest.raises(ModelError):
        linear.write(str(path), LinearModel(**{**usual, "n_features": 1, **BAD[place]}))
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("place", ["coef", "rho", "values", "probA"])
def test_kernel(svm_train, place):
    assert svm_train("-q", "-t", 2, "-b", 1, "d", "m", data=SMALL * 5)[0] == 0
    model, before = kernel.read("m"), Path("m").read_bytes()
    array = getattr(model, place)
    array.reshape(-1)[0] = np.nan
    with pytest.raises(ModelError, match="weights overflowed"):
        kernel.write("m", model)
    assert Path("m").read_bytes() == before


@pytest.mark.parametrize(
    "argv, data",
    [(("-s", 2), "1.5 1:1\n1.2 1:2\n"), (("-s", 2), "1 1:1e200\n-1 1:2\n"), (("-s", 71), "99999999999 1:1\n1 1:2\n"),
     (("-s", 43), "1.5 1:1\n2 1:2\n"), (("-t", 2), "1 1:1e200\n-1 1:2\n")],
)  # fmt: skip
def test_faults_of_the_rows_name_the_file(svm_train, argv, data):
    status, _, err = svm_train("-q", *argv, "d", "m", data=data)
    assert status == 1 and err.startswith("d: ") and err.count("\n") == 1 and not Path("m").exists()
