"""-s 4, 11 to 13 and 21 from the command line: LIBLINEAR's lines and models, folds, weights, unusual input, errors."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from naming import case_of
from reference import random_rows, text_of

from svmtool import registry
from svmtool.formats.models import linear
from svmtool.formats.svmlight import table

ROWS = [row for row in registry.SOLVERS if row.kind in ("all classes", "regression", "one-class")]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
HEAD = r"\noptimization finished, #iter = \d+\nObjective value = (\S+)\nnSV = (\d+)\n"
FORMS = {"all classes": HEAD, "regression": HEAD, "one-class": HEAD + r"rho = (\S+)\n"}
PRIMAL = r"init f (\S+) \|g\| (\S+)\n(?:iter +\d+ f \S+ \|g\| \S+ CG +\d+ step_size \S+ \n)*"


def made(row: registry.Solver, n: int = 60, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels, or targets, of a noisy problem of this kind."""
    rng = np.random.default_rng(row.number)
    X = random_rows(rng, n, d) + (1.0 if row.kind == "one-class" else 0.0)
    f = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    y = {"regression": np.round(f, 3), "all classes": np.digitize(f, [-0.5, 0.5]) * 3.0 - 4.0}
    return X, y.get(row.kind, rng.choice([-1.0, 1.0], n))


def certified(out: str) -> float:
    """The primal value of the certificate."""
    return float(re.search(r"\(primal ([^,]+),", out)[1])


@every_row
def test_lines_model_and_predictions(row, svm_train, command):
    (X, y), bias = made(row), -1.0 if row.kind == "one-class" else 2.0
    options = () if bias < 0 else ("-B", 2)
    status, out, err = svm_train("-s", row.number, *options, "d", "m", data=text_of(X, y))
    found = re.fullmatch((PRIMAL if row.space == "primal" else FORMS[row.kind]) + "Certified .*\n", out)
    assert (status, err) == (0, "") and found, out
    m = linear.read("m")
    assert (m.word, m.bias, m.nr_class) == (row.word, bias, 3 if row.kind == "all classes" else 2)
    assert m.labels is None or len(m.labels) == 3
    if row.space == "dual":
        assert -float(found[1]) == pytest.approx(certified(out), rel=2e-3)
        assert 0 < int(found[2]) <= len(y) * m.W.shape[1]
    if row.kind == "one-class":
        assert float(found[3]) == pytest.approx(m.rho, rel=1e-6)
    done = command("predict", "d", "m", "o")
    values = (X if bias < 0 else np.c_[X, np.full(len(X), bias)]) @ m.W - (m.rho or 0.0)
    wanted = {"regression": values[:, 0], "one-class": np.where(values[:, 0] > 0.0, 1.0, -1.0)}
    wanted = wanted[row.kind] if m.labels is None else np.array(m.labels)[np.argmax(values, axis=1)]
    np.testing.assert_allclose(np.loadtxt("o"), wanted, rtol=1e-12)
    mean = np.mean((wanted - y) ** 2)
    shown = "Mean squared error" if row.kind == "regression" else f"Accuracy = {100 * np.mean(wanted == y):g}% ("
    assert done.stdout.decode().startswith(shown)
    if row.kind == "regression":
        assert float(re.search(r" error = (\S+) \(reg", done.stdout.decode())[1]) == pytest.approx(mean, rel=1e-5)


@pytest.mark.parametrize("nu, w, rho", [(0, [0.0, 0.0], -np.inf), (1, [3.0, 4.0], np.inf)])
def test_the_edges_of_nu(nu, w, rho, svm_train):
    """No outliers, or only outliers, as in LIBLINEAR, whose inf is written as the largest number."""
    X = np.array([[1.0, 3.0], [2.0, 0.0], [0.0, 1.0]])
    status, out, err = svm_train("-s", 21, "-n", nu, "d", "m", data=text_of(X, np.ones(3)))
    assert (status, err) == (0, "") and f"\nrho = {rho:f}\n" in out
    m = linear.read("m")
    assert m.W[:, 0].tolist() == w and m.rho == rho
    assert f"\nrho {np.sign(rho) * sys.float_info.max:.17g}\n" in Path("m").read_text()
    assert svm_train("-s", 21, "-n", nu, "-i", "m", "d", "m")[0] == 0 and linear.read("m").W[:, 0].tolist() == w


ODD = {
    "empty": "", "one-row": "7 1:2\n", "no-features": "1\n2\n3\n", "constant": "7 1:1\n7 1:1\n7 1:1\n",
    "twins": "1 1:1\n2 1:1\n3 1:1\n", "opposite": "1 1:1\n-1 1:-1\n", "empty-rows": "1 1:1\n2\n3 1:-1\n1\n",
    "huge-labels": "1e9 1:1\n-1e9 2:1\n", "huge-features": "1 1:1e120\n2 1:-3e119\n", "overflow": "1 1:1e300\n2 1:1\n",
    "tiny-features": "1 1:1e-120\n2 1:3e-119\n", "far-index": "1 200000:1\n-1 7:1\n",
}  # fmt: skip
OPTIONS = [], ["-B", 1], ["-c", "1e10"], ["-c", "1e-12"], ["-p", 0], ["--gap", 1e-6]
EMPTY = {"all classes": "the model has no classes", "regression": "the model predicts 0"}


@pytest.mark.filterwarnings("error")
@every_row
def test_odd_data_end_well_or_in_one_sentence(row, svm_train, tmp_path):
    """Each number and set has one of the options, all in turn."""
    for k, name in enumerate(ODD):
        options = OPTIONS[(row.number + k + k // len(OPTIONS)) % len(OPTIONS)]
        if row.kind == "one-class" and "-B" in options:
            options = ["-n", 1e-12]
        with case_of(name, options):
            check_odd(row, name, *svm_train("-q", "-s", row.number, *options, "d", "m", data=ODD[name]))
        (tmp_path / "m").unlink(missing_ok=True)


def check_odd(row, name: str, status: int, out: str, err: str) -> None:
    err = re.sub(r"WARNING: -s .* ignores -\w.*\n", "", err)
    if status:
        assert (status, err.count("\n"), os.path.exists("m")) == (1, 1, False) and "overflow" in err, err
        assert name in ("overflow", "huge-features", "huge-labels")
        return
    m = linear.read("m")
    assert out == "" and err.count("\n") == bool(err)
    assert np.all(np.isfinite(m.W)) and np.isfinite(m.rho or 0.0) and m.n_features == table.read("d").n_features
    if name == "empty":
        wanted = EMPTY.get(row.kind, "the model predicts -1")
        assert err == f"WARNING: the training file has no rows: {wanted}\n"
    elif row.kind == "one-class":
        assert err.startswith("WARNING: w = 0: ") == (not np.any(m.W))
    else:
        assert err == "" or "not converged" in err


NO_SEARCH, NO_R = "Warm-start parameter search only available for ", "ERROR: -R option supported only for solver "
NO_BIAS = "ERROR: prob->bias >=0, but this is ignored in ONECLASS_SVM\n"
REFUSED = [
    ("-s 21 -n -0.1", "ERROR: -n is -0.1: the share of rows left out lies between 0 and 1\n"),
    ("-s 21 -n nan", "ERROR: -n is nan"), ("-s 21 -B 0", NO_BIAS), ("-s 21 -B 1 -R", NO_BIAS),
    ("-s 21 -C", NO_SEARCH), ("-s 12 -C", NO_SEARCH), ("-s 4 -C", NO_SEARCH), ("-s 21 -c 0", "ERROR: C <= 0\n"),
    ("-s 21 -i two", "the initial model is of L2R_L2LOSS_SVC: a one-class SVM starts from a one-class model"),
    ("-s 11 -i two", "the initial model is of L2R_L2LOSS_SVC: a regression starts from a regression\n"),
    ("-s 4 -i two", "the initial model has labels [1, 2], the data [1, 2, 3]: they must agree"),
    ("-s 4 -B 1 -i own", "the initial model has bias -1, this run -B 1"), ("-s 4 -B 1 -R", NO_R),
    ("-s 12 -B 1 -R", NO_R), ("-s 11 -p -0.1", "ERROR: p < 0\n"), ("-s 13 -p nan", "ERROR: -p is nan"),
    *((f"-s {row.number} --stratified -v 2", f"ERROR: solver {row.number} ({row.name}) does not support --stratified")
      for row in ROWS if row.kind != "all classes"),
]  # fmt: skip


@pytest.mark.parametrize("argv, sentence", REFUSED)
def test_what_is_refused(argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "two", data="1 1:1\n2 1:-1\n")
    svm_train("-q", "-s", 4, "d", "own", data="1 1:1\n2 1:-1\n3 2:1\n")
    status, _, err = svm_train(*argv.split(), "d", "m")
    assert status == 1 and err.startswith(sentence), err
    assert not (tmp_path / "m").exists()
