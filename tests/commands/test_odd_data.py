"""svm-train on unusual data and numbers, and its limits: a result or one message, never a traceback."""

from __future__ import annotations

import os

import numpy as np
import pytest
from engine import engine
from naming import case_of
from solver_suite import TWO_CLASS

from svmtool import registry
from svmtool.formats.models import linear
from svmtool.formats.svmlight import table

NUMBERS = [row.number for row in TWO_CLASS]
every_number = pytest.mark.parametrize("number", NUMBERS)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model(path="m") -> linear.LinearModel:
    return linear.read(str(path))


ODD = {
    "empty": "", "no-features": "1\n-1\n1\n", "no-features-three": "1\n2\n3\n", "one-class": "5 1:1 2:2\n5 1:0.5\n",
    "one-class-negative": "-1 1:1 2:2\n-1 1:0.5\n", "one-row": "1 1:1\n", "one-bare-row": "3\n",
    "zeros": "1 1:0 2:0\n-1 1:0\n", "twins": "1 1:1\n-1 1:1\n", "far-index": "1 200000:1\n-1 7:1\n",
    "huge": "1 1:1e300 2:1\n-1 1:-1e300\n1 2:2\n", "huge-far": "1 1:1e300 1999:1\n-1 1:-1e300\n1 2:2\n",
    "square-overflows": "1 1:1e200\n-1 2:1e200\n1 1:1\n",
    "largest": "1 1:1.7976931348623157e308\n-1 1:-1.7976931348623157e308\n", "tiny": "1 1:1e-300\n-1 1:-1e-300\n",
    "mixed": "1 1:1e150 2:1e-150\n-1 1:-1 2:1e10\n1 3:1\n-1 3:-1e5\n",
}  # fmt: skip


OPTIONS = [], ["-B", 1], ["-B", -1], ["-c", "1e10"]


@every_number
def test_odd_data_end_well_or_in_one_sentence(number, svm_train, here):
    """A finite model with a correct certificate, or exit status 1 with a message and no model.

    Each number and set has one of the options in a commit, all in turn.
    """
    for k, name in enumerate(ODD):
        options = OPTIONS[(NUMBERS.index(number) + k) % len(OPTIONS)]
        with case_of(name, options):
            check_odd(number, name, *svm_train(*engine(number), *options, "d", "m", data=ODD[name]))
        (here / "m").unlink(missing_ok=True)


def check_odd(number: int, name: str, status: int, out: str, err: str) -> None:
    if status == 1:
        assert err.count("\n") == 1 and err[-2] not in ".:", err
        assert not os.path.exists("m")
        if name == "far-index" and "--add" in registry.find(number).supported:
            assert "200000 are too many (use -s 70)" in err or "200001 are too many (use -s 70)" in err
            return
        assert "huge" in name or name in ("square-overflows", "largest", "mixed"), "only overflow is refused"
        return
    assert status == 0
    assert "nan" not in out and "inf" not in out, out
    m = model()
    assert np.all(np.isfinite(m.W))
    rows = table.read("d")
    assert m.n_features == rows.n_features
    assert sorted(m.labels) == sorted(set(rows.labels))
    if name == "empty":
        assert err == "WARNING: the training file has no rows: the model has no classes\n"
    elif "not converged" not in err:
        assert err == ""
        gap = float(out.partition("Certified relative gap = ")[2].split()[0])
        assert gap <= 0.3 or name == "mixed", out  # there |f'(0)|, which -e is relative to, is rounding
    if len(m.labels) == 1:
        assert set(m.predict(rows)) == set(rows.labels)


def test_start_that_is_no_number_is_refused(svm_train, here):
    (here / "start").write_text("solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\nnan\n")
    status, out, err = svm_train("-i", "start", "d", "m", data="1 1:1\n-1 1:-1\n")
    assert (status, out) == (1, "") and "weights is nan, which is not finite" in err
    assert not os.path.exists("m")


WEIGHTS = "1e300 1 1 1"
OVERFLOWS = {
    "C": ["-c", "1e308"], "tiny C": ["-c", "1e-300"], "class weight": ["-w1", "1e300"],
    "product of class weights": ["-w1", "1e300", "-w1", "1e300"], "row weight": ["-W", "w"], "bias": ["-B", "1e300"],
    "tiny bias": ["-B", "1e-300"], "start": ["-i", "start"],
}  # fmt: skip


FEATURES = 2, 60, 2000


@every_number
def test_extreme_settings_end_well_or_in_one_sentence(number, svm_train, here):
    """Each number and setting has one number of features, all in turn."""
    (here / "w").write_text(WEIGHTS)
    for k, name in enumerate(OVERFLOWS):
        features = FEATURES[(NUMBERS.index(number) + k) % len(FEATURES)]
        header = f"solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 1 -1\nnr_feature {features}\nbias -1\nw\n"
        (here / "start").write_text(header + "1e200\n" * features)
        data = f"1 1:1 2:0.5\n-1 1:-1 2:0.7\n1 1:0.2 {features}:2\n-1 1:-3\n"
        with case_of(name, f"{features} features"):
            check_extreme(*svm_train(*engine(number), *OVERFLOWS[name], "d", "m", data=data))
        (here / "m").unlink(missing_ok=True)


def check_extreme(status: int, out: str, err: str) -> None:
    assert err.count("\n") <= 1 and "Traceback" not in err
    if status == 1:
        assert err and not os.path.exists("m")
        return
    assert status == 0 and "nan" not in out, out
    assert np.all(np.isfinite(model().W))
    gap = float(out.partition("Certified relative gap = ")[2].split()[0])
    assert 0 <= gap <= 1
