"""-s 21 from the command line: LIBLINEAR's lines and models, folds, weights, unusual input, errors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import skip_unless_known
from naming import case_of
from one_class_problems import PROBLEMS, Solved, every_row, optimum, random_problem
from reference import text_of

from svmtool.formats.models import linear
from svmtool.training.validation import folds


@every_row
def test_lines_model_and_predictions(row, svm_train, command):
    p = PROBLEMS["tall-equal"]
    status, out, err = svm_train("-s", row.number, "-n", p.nu, "d", "m", data=text_of(p.X, np.ones(40)))
    assert (status, err) == (0, "")
    form = r"\noptimization finished, #iter = \d+\nObjective value = (\S+)\nnSV = (\d+)\nrho = (\S+)\nCertified .*\n"
    found = re.fullmatch(form, out)
    assert found, out
    value, support, rho = map(float, found.groups())
    m = linear.read("m")
    assert value == pytest.approx(-optimum(p), rel=2e-6)
    assert (m.word, m.nr_class, m.labels, m.bias) == (row.word, 2, None, -1.0)
    assert rho == pytest.approx(m.rho, rel=1e-6)
    decisions = p.X @ m.W[:, 0] - m.rho
    assert np.count_nonzero(decisions < -1e-4) <= support <= np.count_nonzero(decisions < 1e-4)
    done = command("predict", "d", "m", "o")
    assert np.array_equal(np.loadtxt("o"), np.where(decisions > 0.0, 1.0, -1.0))
    assert done.stdout.decode().startswith(f"Accuracy = {100 * np.mean(decisions > 0):g}% (")


@every_row
def test_the_edges_of_nu(row, svm_train):
    """No outliers, or only outliers, as in LIBLINEAR, whose inf is written as the largest number."""
    X = np.array([[1.0, 3.0], [2.0, 0.0], [0.0, 1.0]])
    for nu, w, rho in ((0, [0.0, 0.0], -np.inf), (1, [3.0, 4.0], np.inf)):
        status, out, err = svm_train("-s", row.number, "-n", nu, "d", "m", data=text_of(X, np.ones(3)))
        assert (status, err) == (0, "") and f"\nrho = {rho:f}\n" in out
        assert float(re.search("relative gap = (.*) [(]", out)[1]) < 1e-13
        m = linear.read("m")
        assert m.W[:, 0].tolist() == w and m.rho == rho
        assert f"\nrho {np.sign(rho) * sys.float_info.max:.17g}\n" in Path("m").read_text()
        again = svm_train("-s", row.number, "-n", nu, "-i", "m", "d", "m")
        assert again[0] == 0 and linear.read("m").W[:, 0].tolist() == w


@every_row
def test_cross_validation_is_a_loop_over_folds(row, svm_train):
    p = random_problem(12, 60, 3, 0.2, equal=True)
    y = np.random.default_rng(0).choice([-1.0, 1.0], 60)
    order, starts = folds.liblinear_folds(60, 4)
    right = 0
    for k in range(4):
        inside, outside = folds.fold_rows(order, starts, k)
        s = Solved(row, p._replace(X=p.X[inside], cost=p.cost[inside]))
        right += np.count_nonzero(np.where(p.X[outside] @ s.w - s.rho > 0.0, 1.0, -1.0) == y[outside])
    asked = ("-s", row.number, "-q", "-n", p.nu, "--gap", 1e-11, "-v", 4)
    runs = [svm_train(*asked, "--threads", k, "d", data=text_of(p.X, y)) for k in (1, 2)]
    assert runs[0] == runs[1] == (0, f"Cross Validation Accuracy = {100 * right / 60:g}%\n", "")


@every_row
def test_row_weights_class_weights_and_another_model(row, svm_train, tmp_path):
    p = PROBLEMS["tall"]
    cost = np.append(p.cost, 0.0)
    (tmp_path / "weights").write_text("".join(f"{c:g}\n" for c in cost))
    text = text_of(np.vstack([p.X, -9.0 * np.ones(4)]), np.ones(41))
    asked = ("-q", "-s", row.number, "--gap", 1e-11, "--weights", "weights", "-w1", 7, "-w3", 2)
    ignored = f"WARNING: -s {row.number} ({row.name}, linear) ignores -w\n"
    assert svm_train(*asked, "d", "m", data=text) == (0, "", ignored)
    m = linear.read("m")
    assert p.value(m.W[:, 0], m.rho) == pytest.approx(optimum(p), rel=1e-8)
    assert svm_train(*asked, "-i", "m", "d", "again") == (0, "", ignored)
    m = linear.read("again")
    assert p.value(m.W[:, 0], m.rho) == pytest.approx(optimum(p), rel=1e-8)


ODD = {
    "empty": "",
    "one-row": "3.5 1:2\n",
    "no-features": "1\n2.5\n",
    "constant": "7 1:1\n7 1:1\n7 1:1\n",
    "opposite": "1 1:1\n-1 1:-1\n",
    "empty-rows": "1 1:1\n1\n1\n1 2:1\n",
    "huge-features": "1 1:1e120\n2 1:3e119\n",
    "tiny-features": "1 1:1e-120\n2 1:3e-119\n",
    "mixed": "1 1:1e8 2:1\n1 1:2e8 2:3\n1 1:-1e-8 2:1\n",
    "far-index": "1.5 200000:1\n-1 7:1\n",
}


OPTIONS = [], ["-n", 1e-12], ["-n", 0.999999], ["-c", 1e10], ["-n", 0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("turn", [0, *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(1, len(OPTIONS)))])
@every_row
def test_odd_data_end_well(row, turn, svm_train):
    """Each set has one of the options in a commit, all in turn."""
    for k, name in enumerate(ODD):
        options = OPTIONS[(k + k // len(OPTIONS) + turn) % len(OPTIONS)]
        with case_of(name, options):
            check_odd(row, name, options, svm_train)


def check_odd(row, name, options, svm_train) -> None:
    status, out, err = svm_train("-s", row.number, *options, "d", "m", data=ODD[name])
    err = err.removeprefix(f"WARNING: -s {row.number} ({row.name}, linear) ignores -c\n")
    assert status == 0
    m = linear.read("m")
    assert np.all(np.isfinite(m.W))
    if name == "empty":
        assert m.rho == 0.0 and err == "WARNING: the training file has no rows: the model predicts -1\n"
        assert "nSV = 0\nrho = -nan\n" in out
        return
    assert err.startswith("WARNING: w = 0: ") == (not np.any(m.W) and options != ["-n", 0])
    assert err.count("\n") == bool(err) and "nan" not in out and not np.isnan(m.rho)
    assert np.isfinite(m.rho) or options == ["-n", 0]
    assert float(re.search(r"Certified relative gap = (\S+)", out)[1]) <= 1e-6


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["-n", -0.1], "ERROR: -n is -0.1: the share of rows left out lies between 0 and 1\n"),
        (["-n", 1.5], "ERROR: -n is 1.5: the share of rows left out lies between 0 and 1\n"),
        (["-n", "nan"], "ERROR: -n is nan"),
        (["-B", 0], "ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM\n"),
        (["--stratified", "-v", 2], "ERROR: solver 21 (one-class) does not support --stratified"),
        (["-i", "classifier"], "the initial model is of L2R_L2LOSS_SVC: a one-class SVM starts from a one-class model"),
        (["-B", 1, "-R"], "ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM\n"),
        (["-C"], "Warm-start parameter search only available for "),
        (["-c", 0], "ERROR: C <= 0\n"),
    ],
    ids=str,
)
def test_what_is_refused(argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "classifier", data="1 1:1\n-1 1:-1\n")
    status, _, err = svm_train("-s", 21, *argv, "d", "m")
    assert status == 1 and err.startswith(sentence), err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("nu", [0.01, 0.1, 0.5])
@every_row
def test_never_worse_than_liblinear(row, nu, reference, svm_train, tmp_path):
    skip_unless_known(row.number, reference)
    p = random_problem(21, 300, 6, nu, shift=2.0, equal=True)
    assert svm_train("-q", "-s", row.number, "-n", nu, "d", "m", data=text_of(p.X, np.ones(300)))[0] == 0
    theirs = [reference["train"], "-q", "-s", "21", "-n", str(nu), "d", "theirs"]
    subprocess.run(theirs, cwd=tmp_path, check=True, capture_output=True)
    ours, best = (p.least(linear.read(name).W[:, 0]) for name in ("m", "theirs"))
    assert ours <= best + 1e-6 * abs(best)
    done = subprocess.run([reference["predict"], "d", "m", "o"], cwd=tmp_path, check=True, capture_output=True)
    m = linear.read("m")
    assert np.array_equal(np.loadtxt(tmp_path / "o"), np.where(p.X @ m.W[:, 0] - m.rho > 0.0, 1.0, -1.0))
    assert done.stdout.startswith(b"Accuracy = ")
