"""Messages in the words of a Python user (words of the commands are in none: test_fuzz.py)."""

from __future__ import annotations

import numpy as np
import pytest
from naming import case_of

import svmtool
from svmtool import api

RNG = np.random.default_rng(2)
X = RNG.normal(size=(24, 3))
Y = np.where(X[:, 0] > 0, 1, -1)


def test_a_cost_is_advised_where_the_problem_has_one():
    huge = X * 1e160
    for given, costs in (
        ({"solver": 2}, True), ({"solver": 21}, False), ({"kernel": "rbf"}, True),
        ({"kernel": "rbf", "solver": "one-class"}, False), ({"kernel": "rbf", "solver": "nu-svc"}, False),
    ):  # fmt: skip
        with case_of(given), pytest.raises(ValueError, match="overflow") as e:
            api.fit(huge, Y, **given)
        assert ("smaller C" in str(e.value)) == costs and "gamma" not in str(e.value) and "svm-" not in str(e.value)
    with pytest.raises(ValueError, match="choose a smaller C, gamma or degree$"):
        api.fit(huge, Y, kernel="poly")


def test_models_that_cannot_be_read_are_one_sentence(tmp_path):
    for text in ("svm_type what\n", "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1\n", ""):
        (tmp_path / "m").write_text(text)
        for call in (lambda text=text: svmtool.loads(text), lambda: svmtool.load_model(tmp_path / "m")):
            with pytest.raises(ValueError, match=r"^can't read (the text|\S+/m) as a model: [^\n]+$") as e:
                call()
            assert "fscanf" not in str(e.value) and "ERROR" not in str(e.value)
