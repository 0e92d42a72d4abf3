"""Weights of rows: in commands as in Python, in folds, in balanced class weights and in the notes of a model."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import text_of

import svmtool
from svmtool import api


def made(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, noisy labels 1 and -1, and weights 0 to 3."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(3)
    return X, np.where(X @ [1.0, -1.0, 0.5] + rng.normal(size=n) > 0, 1.0, -1.0), rng.integers(0, 4, n)


@pytest.mark.parametrize(
    ("argv", "asked"),
    [
        ("-t 2 -g 0.4", {"solver": 0, "kernel": "rbf", "gamma": 0.4}), ("-s 2", {"solver": 2}),
        ("-s 1 -t 2 -n 0.3", {"solver": "nu_svc", "kernel": "rbf", "nu": 0.3}),
        ("-t 2 -b 1", {"solver": 0, "kernel": "rbf", "probability": True}),
    ],
)  # fmt: skip
def test_commands_take_them(argv, asked, svm_train, tmp_path):
    """The command's model is that of `fit`, also after a cross-validation, where rows of weight 0 are predicted too."""
    X, y, w = made(7, 120)
    w = w - 1.0  # some negative ones
    (tmp_path / "w").write_text("\n".join(map(str, w)))
    status, _, err = svm_train("-q", *argv.split(), "--weights", "w", "d", "m", data=text_of(X, y))
    line = f"WARNING: w: {np.sum(w < 0)} of 120 weights are negative (the first is weight {np.argmax(w < 0) + 1}, -1): "
    assert (status, err) == (0, line + "their rows are left out\n")
    done = api.fit(X, y, sample_weight=w, **asked)
    assert np.array_equal(api.decision_values(api.load_model(str(tmp_path / "m")), X), api.decision_values(done, X))
    sentence = line.removeprefix("WARNING: w: ") + "their rows are left out"
    assert done.warnings == (f"sample_weight: {sentence}",)
    status, out, err = svm_train("-q", *argv.split(), "-v", 4, "-W", "w", "d")
    assert status == 0 and out.startswith("Cross Validation") and err.startswith(line)


def test_a_fold_without_any_weight(svm_train, tmp_path):
    (tmp_path / "w").write_text("0 1 0 0")
    for argv in ("-t 2", "-s 3 -t 2", "-t 4"):
        data = "".join(f"{1 - 2 * (k % 2)} 0:{k + 1} 1:1 2:1 3:1 4:1\n" for k in range(4))
        data = data if argv == "-t 4" else "1 1:1\n-1 1:2\n1 1:3\n-1 1:4\n"
        status, out, err = svm_train("-q", *argv.split(), "-v", 4, "-W", "w", "d", data=data)
        assert (status, out) == (1, "") and "only rows of weight 0 or below" in err and err.count("\n") == 1, argv


def test_balanced_classes_count_them(svm_train, tmp_path):
    X, y, w = made(7)
    w = np.where(y > 0, 3 * w, w)
    text = text_of(X, y)
    (tmp_path / "w").write_text(" ".join(str(v if v else -1) for v in w))
    (tmp_path / "many").write_text(text_of(np.repeat(X, w, axis=0), np.repeat(y, w)))
    for argv in ("-s 2", "-s 4", "-t 2", "-s 2 -w1 3"):  # the API's tests have the factors
        asked = ("-q", *argv.split(), "--gap", 1e-9, "--balanced")
        assert svm_train(*asked, "-W", "w", "d", "m", data=text)[0] == svm_train(*asked, "many", "n")[0] == 0
        one, many = (api.decision_values(api.load_model(str(tmp_path / name)), X) for name in ("m", "n"))
        assert one == pytest.approx(many, abs=1e-3), argv


@pytest.mark.parametrize(
    ("argv", "weights"), [("-s 2", "0 0"), ("-s 71", "-1 -2"), ("-s 2 -v 2", "0 -1"), ("-t 2", "0 0")]
)
def test_weights_that_leave_no_row(argv, weights, svm_train, tmp_path):
    (tmp_path / "w").write_text(weights)
    status, out, err = svm_train(*argv.split(), "-W", "w", "d", "m", data="1 1:1\n-1 1:2\n")
    assert (status, out, err) == (1, "", "w: all weights are 0 or negative: they leave out every row\n")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("argv", "noted"),
    [
        ("-w1 5 -w1 2 -w-1 0.5", " -B -1 -w1 5 -w1 2 -w-1 0.5\n"), ("-t 2 -w1 5", " -w1 5\n"),
        ("-s 11 -w1 5", " -p 0.10000000000000001\n"),
        ("-W w,x --values float32", " --weights w\\x20x --values float32\n"),
    ],
)  # fmt: skip
def test_notes_of_a_model_have_what_its_costs_and_values_were(argv, noted, svm_train, tmp_path):
    (tmp_path / "w x").write_text("1 1 1 1")
    words = [word.replace(",", " ") for word in argv.split()]
    assert svm_train("-q", *words, "d", "m", data="1 1:1\n-1 1:-1\n1 2:1\n-1 2:-1\n")[0] == 0
    note = next(line for line in (tmp_path / "m").read_text().splitlines(True) if line.startswith("# svmtool"))
    assert note.endswith(noted)


def test_notes_have_the_factors_of_balanced_classes_and_an_audit_reads_them(svm_train, tmp_path):
    X, y, _ = made(3)
    y[:25] = 1.0
    data = text_of(X, y)
    for argv in (("--balanced", "-w1", 3), ("-w1", 5), ("-t", 2, "-w1", 5)):
        assert svm_train("-q", "--gap", 1e-8, *argv, "d", "m", data=data)[0] == 0
        assert svmtool.audit(str(tmp_path / "m"), X, y).excess < 1e-6, argv
        if "-t" not in argv:  # no coefficient is at its bound
            assert svmtool.audit(str(tmp_path / "m"), X, y, class_weight={1: 40.0}).excess > 1e-4
    assert svm_train("-q", "--balanced", "d", "m", data=data)[0] == 0
    factors = dict(re.findall(r" -w(-?\d+) (\S+)", (tmp_path / "m").read_text()))
    assert {k: float(v) for k, v in factors.items()} == {f"{k:g}": len(y) / (2 * (y == k).sum()) for k in np.unique(y)}
