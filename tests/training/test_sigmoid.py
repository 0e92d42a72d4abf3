"""Platt's sigmoids by themselves: the fit against its definition, and how model files keep them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from svmtool.cli.predict.command import main as predict
from svmtool.formats.models import linear
from svmtool.models.linear import LinearModel
from svmtool.training.calibration import fit_sigmoid


def slow_value(A: float, B: float, f, of_class, weights) -> float:
    """Minus the log-likelihood at Platt's targets, in the form of the definition."""
    positive, negative = weights[of_class].sum(), weights[~of_class].sum()
    t = np.where(of_class, (positive + 1) / (positive + 2), 1 / (negative + 2))
    z = A * f + B
    return float(np.sum(weights * (t * np.logaddexp(0, z) + (1 - t) * np.logaddexp(0, -z))))


VALUES = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 1e-300, -1e100])


@examples(deadline=None, max_examples=25)
@given(st.lists(st.tuples(VALUES, st.booleans(), st.floats(0.01, 9)), min_size=1, max_size=30))
def test_any_values_end_at_zero_gradient(rows):
    f, of_class, weights = map(np.array, zip(*rows, strict=True))
    A, B = fit_sigmoid(f, of_class, weights)
    assert math.isfinite(A) and math.isfinite(B)
    value, reach = slow_value(A, B, f, of_class, weights), max(1.0, abs(A))
    for step in (1e-3, -1e-3):
        slack = 1e-9 * value
        assert slow_value(A * (1 + step), B, f, of_class, weights) >= value - slack
        assert slow_value(A, B + step * reach, f, of_class, weights) >= value - slack


@pytest.mark.parametrize(
    "notes",
    [["# Sigmoid: 1"], ["# Sigmoid: 1 x"], ["# Sigmoid: nan 1"], ["# Sigmoid: 1 2", "# Sigmoid: 1 2"]],
    ids=lambda notes: "; ".join(note[10:] for note in notes),
)  # fmt: skip
def test_damaged_sigmoids_are_refused(notes, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    linear.write("m", LinearModel("L2R_L2LOSS_SVC", (0, 1), 1, -1.0, np.ones((1, 1))))
    (tmp_path / "d").write_text("1 1:1\n")
    assert predict(["-b", "1", "d", "m", "o"]) == 1 and "svm-train -b 1" in capsys.readouterr().err
    with open("m", "a") as file:  # no such model is ever written
        file.writelines(note + "\n" for note in notes)
    assert predict(["-b", "1", "d", "m", "o"]) == 1 and not (tmp_path / "o").exists()
    refusal = "ERROR: the model must have 1 lines '# Sigmoid: A B', A and B finite numbers"
    assert capsys.readouterr().err.startswith(refusal)
    assert predict(["d", "m", "o"]) == 0, "without -b they do not matter"
