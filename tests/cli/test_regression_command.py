"""-s 11, 12 and 13 from the command line: LIBLINEAR's lines, files and predictions, unusual data, errors."""

from __future__ import annotations

import os
import re
import subprocess

import numpy as np
import pytest
from naming import case_of
from reference import text_of
from regression_problems import PROBLEMS, ROWS, Solved, every_row, numbers, optimum, random_problem

from svmtool.formats.models import linear
from svmtool.formats.svmlight import table
from svmtool.training.validation import folds


@every_row
def test_lines_model_and_predictions(row, svm_train, command):
    p = PROBLEMS["tall-bias"]
    status, out, err = svm_train("-s", row.number, "-B", 2, "-p", 0.1, "d", "m", data=text_of(p.X, p.t))
    assert (status, err) == (0, "")
    form = r"\noptimization finished, #iter = (\d+)\nObjective value = (\S+)\nnSV = (\d+)\nCertified .*\n"
    if row.space == "primal":
        step = r"iter +\d+ f \S+ \|g\| \S+ CG +\d+ step_size \S+ \n"
        form = rf"init f (\S+) \|g\| (\S+)\n(?:{step})*Certified .*\n"
    assert re.fullmatch(form, out), out
    p = p._replace(cost=np.ones(len(p.t))).of(row)
    if row.space == "primal":
        assert numbers(r".* f (\S+) \|g\| ", out.splitlines()[-2])[0] == pytest.approx(optimum(p), rel=1e-3)
    else:
        assert numbers(r"Objective value = (\S+)", out)[0] == pytest.approx(-optimum(p), rel=2e-6)
    m = linear.read("m")
    assert (m.word, m.nr_class, m.labels, m.bias) == (row.word, 2, None, 2.0)
    if row.space == "dual":
        outside = np.abs(p.t - p.A @ m.W[:, 0]) > 0.1 + 1e-3
        support = numbers(r"nSV = (\d+)", out)[0]
        assert np.count_nonzero(outside) <= support <= np.count_nonzero(outside) + 1 + p.A.shape[1]
    done = command("predict", "d", "m", "o")
    got = np.loadtxt("o")
    np.testing.assert_allclose(got, p.A @ m.W[:, 0], rtol=1e-12)
    mean = np.mean((got - p.t) ** 2)
    assert numbers(r"Mean squared error = (\S+) \(reg", done.stdout.decode())[0] == pytest.approx(mean, rel=1e-5)


@every_row
def test_cross_validation_is_a_loop_over_folds(row, svm_train):
    p = PROBLEMS["tall-bias"]
    p = p._replace(cost=np.ones(len(p.t)))
    order, starts = folds.liblinear_folds(len(p.t), 4)
    got = np.empty(len(p.t))
    for k in range(4):
        inside, outside = folds.fold_rows(order, starts, k)
        got[outside] = p.A[outside] @ Solved(row, p._replace(X=p.X[inside], t=p.t[inside], cost=p.cost[inside])).w
    asked = ("-s", row.number, "-q", "--gap", 1e-10, "-B", 2, "-v", 4)
    runs = [svm_train(*asked, "--threads", k, "d", data=text_of(p.X, p.t)) for k in (1, 2)]
    assert runs[0] == runs[1]
    form = r"Cross Validation Mean squared error = (\S+)\nCross Validation Squared correlation coefficient = (\S+)\n$"
    squares, correlation = numbers(form, runs[0][1])
    assert squares == pytest.approx(np.mean((got - p.t) ** 2), rel=1e-4)
    assert correlation == pytest.approx(np.corrcoef(got, p.t)[0, 1] ** 2, rel=1e-4)


@every_row
def test_row_weights_and_class_weights(row, svm_train, tmp_path):
    """--weights multiply C; -w is for classes and is ignored in a regression, as in LIBLINEAR."""
    p = PROBLEMS["tall"].of(row)
    (tmp_path / "weights").write_text("".join(f"{c:g}\n" for c in p.cost))
    text = text_of(p.X, p.t)
    asked = ("-q", "-s", row.number, "--gap", 1e-11)
    ignored = f"WARNING: -s {row.number} ({row.name}, linear) ignores -w\n"
    assert svm_train(*asked, "--weights", "weights", "-w1", 7, "d", "m", data=text) == (0, "", ignored)
    assert p.value(linear.read("m").W[:, 0]) == pytest.approx(optimum(p), rel=1e-8)
    assert svm_train(*asked, "--weights", "weights", "-i", "m", "d", "again", data=text) == (0, "", "")
    assert p.value(linear.read("again").W[:, 0]) == pytest.approx(optimum(p), rel=1e-8)


NO_FREE_BIAS = "ERROR: -R option supported only for solver "

ODD = {
    "empty": "",
    "one-row": "3.5 1:2\n",
    "no-features": "1\n2.5\n",
    "labels-zero": "0 1:1\n0 1:2\n",
    "constant": "7 1:1\n7 1:1\n7 1:1\n",
    "twins": "1 1:1\n-1 1:1\n",
    "huge-labels": "1e200 1:1\n-1e200 2:1\n",
    "tiny-labels": "1e-200 1:1\n-1e-200 2:1\n",
    "huge-features": "1 1:1e120\n2 1:-3e119\n",
    "far-index": "1.5 200000:1\n-1 7:1\n",
}


OPTIONS = [], ["-B", 1], ["-c", "1e8"], ["-p", 0], ["-B", 1, "-R"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("turn", [0, *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(1, len(OPTIONS)))])
@every_row
def test_odd_data_end_well_or_in_one_sentence(row, turn, svm_train, tmp_path):
    """Each number and set has one of the options in a commit, all in turn."""
    for k, name in enumerate(ODD):
        options = OPTIONS[(row.number + k + k // len(OPTIONS) + turn) % len(OPTIONS)]
        with case_of(name, options):
            check_odd(row, name, options, svm_train)
        (tmp_path / "m").unlink(missing_ok=True)


def check_odd(row, name, options, svm_train) -> None:
    status, out, err = svm_train("-s", row.number, *options, "d", "m", data=ODD[name])
    if "-R" in options and "-R" not in row.supported:
        assert (status, out, os.path.exists("m")) == (1, "", False) and err.startswith(NO_FREE_BIAS), err
        return
    if status:
        assert (status, err.count("\n"), os.path.exists("m")) == (1, 1, False)
        assert name == "huge-labels" and "overflow" in err, err
        return
    assert "nan" not in out and "inf" not in out, out
    assert np.all(np.isfinite(linear.read("m").W))
    assert linear.read("m").n_features == table.read("d").n_features
    if name == "empty":
        assert err == "WARNING: the training file has no rows: the model predicts 0\n"
        beginning = "\noptimization finished, #iter = 1\nObjective value = 0.000000\nnSV = 0\n"
        assert out.startswith(beginning if row.space == "dual" else "init f 0.000e+00 |g| 0.000e+00\n")
    else:
        assert err == "" or "not converged" in err


REFUSED = [  # arguments, an option that only some numbers support, and the error of the others
    (["-p", -0.1], "", "ERROR: p < 0\n"),
    (["-p", "nan"], "", "ERROR: -p is nan"),
    (["--stratified", "-v", 2], "", "ERROR: solver {0.number} ({0.name}) does not support --stratified"),
    (["-i", "classifier"], "", "the initial model is of L2R_L2LOSS_SVC: a regression starts from a regression\n"),
    (["-B", 1, "-R"], "-R", NO_FREE_BIAS),
    (["-C"], "-C", "Warm-start parameter search only available for "),
]


@pytest.mark.parametrize(
    "row, argv, sentence",
    [(row, argv, text) for row in ROWS for argv, option, text in REFUSED if option not in row.supported],
    ids=lambda x: getattr(x, "name", str(x)),
)
def test_what_is_refused(row, argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "classifier", data="1 1:1\n-1 1:-1\n")
    status, _, err = svm_train("-s", row.number, *argv, "d", "m")
    assert status == 1 and err.startswith(sentence.format(row)), err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("options", [[], ["-B", "1"], ["-c", "0.01", "-p", "0.5"]], ids=str)
@every_row
def test_never_worse_than_liblinear(row, options, reference, svm_train, tmp_path):
    p = random_problem(21, 300, 6, bias=1.0 if "-B" in options else -1.0)
    p = p._replace(cost=np.full(300, 0.01 if "-c" in options else 1.0), eps=0.5 if "-p" in options else 0.1).of(row)
    assert svm_train("-q", "-s", row.number, *options, "d", "m", data=text_of(p.X, p.t))[0] == 0
    theirs = [reference["train"], "-q", "-s", str(row.number), "-e", "1e-6", *options, "d", "theirs"]
    subprocess.run(theirs, cwd=tmp_path, check=True, capture_output=True)
    ours, best = (p.value(linear.read(name).W[:, 0]) for name in ("m", "theirs"))
    assert ours <= best * (1 + 1e-6)
