"""-s 4, 11 to 13 and 21 from the command line: edges of -n, unusual input, errors (lines: test_compat_train.py)."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from naming import case_of
from reference import text_of

from svmtool import registry
from svmtool.formats.models import linear
from svmtool.formats.svmlight import table


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
    "empty": "", "no-features": "1\n2\n3\n", "constant": "7 1:1\n7 1:1\n7 1:1\n", "twins": "1 1:1\n2 1:1\n3 1:1\n",
    "huge-labels": "1e9 1:1\n-1e9 2:1\n", "huge-features": "1 1:1e120\n2 1:-3e119\n", "overflow": "1 1:1e300\n2 1:1\n",
}  # fmt: skip
OPTIONS = [], ["-B", 1], ["-c", "1e10"], ["-c", "1e-12"], ["-p", 0], ["--gap", 1e-6]
EMPTY = {"all classes": "the model has no classes", "regression": "the model predicts 0"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("row", [registry.find(k) for k in (4, 11, 12, 13, 21)], ids=lambda row: row.name)
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
    ("-s 21 -n nan", "ERROR: -n is nan"), ("-s 21 -B 1 -R", NO_BIAS),
    ("-s 21 -C", NO_SEARCH), ("-s 21 -c 0", "ERROR: C <= 0\n"), ("-s 13 -p nan", "ERROR: -p is nan"),
    ("-s 21 -i two", "the initial model is of L2R_L2LOSS_SVC: a one-class SVM starts from a one-class model"),
    ("-s 11 -i two", "the initial model is of L2R_L2LOSS_SVC: a regression starts from a regression\n"),
    ("-s 4 -i two", "the initial model has labels [1, 2], the data [1, 2, 3]: they must agree"),
    ("-s 4 -B 1 -i own", "the initial model has bias -1, this run -B 1"), ("-s 12 -B 1 -R", NO_R),
]  # fmt: skip


@pytest.mark.parametrize("argv, sentence", REFUSED)
def test_what_is_refused(argv, sentence, svm_train, tmp_path):
    svm_train("-q", "-s", 2, "d", "two", data="1 1:1\n2 1:-1\n")
    svm_train("-q", "-s", 4, "d", "own", data="1 1:1\n2 1:-1\n3 2:1\n")
    status, _, err = svm_train(*argv.split(), "d", "m")
    assert status == 1 and err.startswith(sentence), err
    assert not (tmp_path / "m").exists()
