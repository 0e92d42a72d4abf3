"""-s 4 from the command line: LIBLINEAR's lines and models, folds, weights, unusual input, errors."""

from __future__ import annotations

import os
import re
import subprocess

import numpy as np
import pytest
from class_problems import GAP, PROBLEMS, Solved, every_row, random_problem
from naming import case_of
from reference import text_of

from svmtool.formats.models import linear
from svmtool.training.validation import folds


@every_row
def test_lines_model_and_predictions(row, svm_train, command):
    p = PROBLEMS["tall-bias"]._replace(cost=np.ones(60))
    status, out, err = svm_train("-s", row.number, "-B", 2, "d", "m", data=text_of(p.X, p.y))
    assert (status, err) == (0, "")
    form = r"\noptimization finished, #iter = (\d+)\nObjective value = (\S+)\nnSV = (\d+)\nCertified .*\n"
    iterations, objective, support = re.fullmatch(form, out).groups()
    best = Solved(row, p)
    assert float(objective) == pytest.approx(-best.f, rel=2e-6)
    assert int(support) == pytest.approx(np.count_nonzero(best.result.alpha), abs=12)
    m = linear.read("m")
    assert (m.word, m.nr_class, m.bias, m.W.shape) == ("MCSVM_CS", 3, 2.0, (6, 3))
    command("predict", "d", "m", "o")
    assert np.array_equal(np.loadtxt("o"), np.array(m.labels)[np.argmax(p.A @ m.W, axis=1)])


@pytest.mark.parametrize("name", ["tall", "two"])
@every_row
def test_liblinears_predict_reads_the_model(row, name, reference, svm_train, command, tmp_path):
    p = PROBLEMS[name]
    assert svm_train("-q", "-s", row.number, "d", "m", data=text_of(p.X, p.y))[0] == 0
    assert command("predict", "d", "m", "ours").returncode == 0
    subprocess.run([reference["predict"], "d", "m", "theirs"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert linear.read("m").W.shape == (5, p.k)


@pytest.mark.parametrize("options", [[], ["-B", "1"], ["-c", "0.01"], ["-c", "100"], ["-w2", "5"]], ids=str)
@pytest.mark.parametrize("k", [2, 4])
@every_row
def test_never_worse_than_liblinear(row, k, options, reference, svm_train, tmp_path):
    p = random_problem(21, 300, 6, k, bias=1.0 if "-B" in options else -1.0)
    cost = np.full(300, float(options[1]) if "-c" in options else 1.0)
    p = p._replace(cost=np.where((p.y == 2) & ("-w2" in options), 5.0, 1.0) * cost)
    assert svm_train("-q", "-s", row.number, *options, "d", "m", data=text_of(p.X, p.y))[0] == 0
    theirs = [reference["train"], "-q", "-s", str(row.number), "-e", "1e-6", *options, "d", "theirs"]
    subprocess.run(theirs, cwd=tmp_path, check=True, capture_output=True)
    ours, best = (p.value(linear.read(name).W) for name in ("m", "theirs"))
    assert ours <= best * (1 + 1e-6)


@every_row
def test_cross_validation_is_a_loop_over_folds(row, svm_train):
    p = PROBLEMS["tall-bias"]._replace(cost=np.ones(60))
    order, starts = folds.liblinear_folds(60, 4)
    right = 0
    for k in range(4):
        inside, outside = folds.fold_rows(order, starts, k)
        part = Solved(row, p._replace(X=p.X[inside], y=p.y[inside], cost=p.cost[inside]))
        right += np.sum(np.array(part.model.labels)[np.argmax(p.A[outside] @ part.W, axis=1)] == p.y[outside])
    asked = ("-s", row.number, "-q", "--gap", 1e-10, "-B", 2, "-v", 4)
    runs = [svm_train(*asked, "--threads", k, "d", data=text_of(p.X, p.y)) for k in (1, 2)]
    assert runs[0] == runs[1] == (0, f"Cross Validation Accuracy = {100 * right / 60:g}%\n", "")
    assert svm_train(*asked, "--stratified", "d")[0] == 0


@pytest.mark.parametrize("name", ["tall", "two"])
@every_row
def test_row_weights_class_weights_and_start(row, name, svm_train, tmp_path):
    p = PROBLEMS[name]
    cost = p.cost * np.arange(60).clip(0, 1)  # the first row takes no part
    (tmp_path / "weights").write_text("".join(f"{c:g}\n" for c in cost))
    asked = ("-q", "-s", row.number, "--gap", GAP, "--weights", "weights", "-w-1", 3, "-w-1", 2)
    assert svm_train(*asked, "d", "m", data=text_of(p.X, p.y)) == (0, "", "")
    m = linear.read("m")
    p = p._replace(X=p.X[1:], y=p.y[1:], cost=(cost * np.where(p.y == -1, 6.0, 1.0))[1:])
    s = Solved(row, p)
    assert np.linalg.norm(m.W - s.W) <= 2 * s.radius
    assert svm_train(*asked, "-i", "m", "d", "again") == (0, "", "")
    assert np.linalg.norm(linear.read("again").W - s.W) <= 2 * s.radius
    silent = svm_train("-q", "-s", row.number, "--gap", GAP, "-w-1", 0, "d", "silent")
    assert silent == (0, "", "") and linear.read("silent").W.shape == (5, p.k)


ODD = {
    "empty": "",
    "one-class": "7 1:1\n7 2:1\n",
    "one-row": "7 1:1\n",
    "no-features": "1\n2\n3\n",
    "empty-rows": "1 1:1\n2\n3 1:-1\n1\n",
    "twins": "1 1:1\n2 1:1\n3 1:1\n",
    "two-twins": "1 1:1\n2 1:1\n",
    "far-index": "1 200000:1\n2 7:1\n3 1:1\n",
    "huge": "1 1:1e300\n2 1:1\n3 1:2\n",
    "large": "1 1:1e100\n2 1:1\n3 1:-1e90\n",
    "tiny": "1 1:1e-300\n2 1:-1e-300\n3 1:0\n",
}


OPTIONS = [], ["-B", 1], ["-c", "1e10"], ["-c", "1e-12"], ["--gap", 1e-6]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("turn", [0, *(pytest.param(k, marks=pytest.mark.exhaustive) for k in range(1, len(OPTIONS)))])
@every_row
def test_odd_data_end_well_or_in_one_sentence(row, turn, svm_train, tmp_path):
    """Each set has one of the options in a commit, all in turn."""
    for k, name in enumerate(ODD):
        options = OPTIONS[(k + turn) % len(OPTIONS)]
        with case_of(name, options):
            check_odd(row, name, options, svm_train)
        (tmp_path / "m").unlink(missing_ok=True)


def check_odd(row, name, options, svm_train) -> None:
    status, out, err = svm_train("-s", row.number, "--max-iter", 3000, *options, "d", "m", data=ODD[name])
    if status:
        assert (status, err.count("\n"), os.path.exists("m")) == (1, 1, False)
        assert name == "huge" and "overflow" in err, err
        return
    assert "nan" not in out and "inf" not in out, out
    m = linear.read("m")
    assert np.all(np.isfinite(m.W))
    assert m.columns == len({line.split()[0] for line in ODD[name].splitlines()})
    if name == "empty":
        assert err == "WARNING: the training file has no rows: the model has no classes\n"
    else:
        assert err == "" or "not converged" in err
    if name in ("empty", "one-class", "one-row"):
        assert out.startswith("\noptimization finished, #iter = 1\nObjective value = 0.000000\nnSV = 0\n")
        assert not np.any(m.W)


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["-i", "plain"], "the initial model has labels [1, 2], the data [1, 2, 3]: they must agree"),
        (["-B", 1, "-i", "own"], "the initial model has bias -1, this run -B 1"),
        (["-B", 1, "-R"], "ERROR: -R option supported only for solver "),
        (["-C"], "Warm-start parameter search only available for "),
    ],
    ids=str,
)
def test_what_is_refused(argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "plain", data="1 1:1\n2 1:-1\n")
    svm_train("-q", "-s", 4, "d", "own", data="1 1:1\n2 1:-1\n3 2:1\n")
    status, _, err = svm_train("-s", 4, *argv, "d", "m")
    assert status == 1 and err.startswith(sentence), err
    assert not (tmp_path / "m").exists()
