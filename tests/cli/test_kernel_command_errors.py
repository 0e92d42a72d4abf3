"""svm-train with kernels: errors and warnings about data and options."""

from __future__ import annotations

import pytest
from test_kernel_command import LINE


@pytest.mark.parametrize(
    "argv, data, sentence",
    [
        ("-t 2", "", "d has no rows: there is nothing to train on"),
        ("-t 2 -v 2", "1 1:1\n", "cross-validation needs at least two rows of data, here there are 1"),
        ("-t 2", "1.2 1:1\n1.9 1:2\n", "labels 1.2 and 1.9 would both become class 1"),
        ("-t 2", "1 1:1\n-3e9 1:2\n", "label -3000000000 does not fit into 32 bits"),
        ("-t 2", "1 0:1\n", "Wrong input format at line 1: d: token '0:1': indices start at 1"),
        ("-t 2", "1 1:1e200\n-1 1:1\n", "feature values up to 1e+200 at a cost of 1 overflow in the kernel"),
        ("-t 1 -d 300", "1 1:100\n-1 1:1\n", "feature values up to 100 at a cost of 1 overflow in the kernel"),
        ("-t 4", "1 0:1 1:1e300 2:-1.7e308\n-1 0:2 1:-1.7e308 2:1.7e308\n", "feature values up to 1.7e+308 at a cost"),
        ("-t 2 -c 1e200", "1 1:1\n-1 1:1\n", "feature values up to 1 at a cost of 1e+200 overflow in the kernel"),
    ],
)
def test_refusals(argv, data, sentence, svm_train, tmp_path):
    (tmp_path / "m").write_text("as it was")
    status, out, err = svm_train(*argv.split(), "d", "m", data=data)
    assert (status, out) == (1, "") and err.removeprefix("d: ").startswith(sentence)
    assert err.count("\n") == 1 and (tmp_path / "m").read_text() == "as it was"


@pytest.mark.parametrize("argv", ["-s 21", "-s 2", "-s 3", "-s 40"])
def test_weights_that_overflow_are_named(argv, svm_train, tmp_path):
    (tmp_path / "w").write_text("1\n1e300\n")
    status, out, err = svm_train(*argv.split(), "--weights", "w", "d", "m", data="1 1:1e30\n-1 1:-1\n")
    assert (status, out) == (1, "") and "or smaller --weights: the largest is 1e+300" in err and err.count("\n") == 1


def test_a_margin_of_nothing_is_reported(svm_train, tmp_path):
    """LIBSVM writes inf and nan here."""
    status, out, err = svm_train("-t", "2", "-s", "1", "d", "m", data="1 1:1\n-1 1:1\n")
    assert status == 0 and "\nC = inf\n" in out
    assert err.startswith("WARNING: classes 1 and -1: nu-SVC finds no margin between them at -n 0.5 (r = 0): ")
    assert "\nrho 0\n" in (tmp_path / "m").read_text()


def test_warnings_about_pairs_of_classes_name_a_few(svm_train):
    """Five classes with identical rows: no pair has a margin."""
    data = "".join(f"{label} 1:1\n" for label in range(5))
    status, _, err = svm_train("-t", "2", "-s", "1", "d", "m", data=data)
    assert status == 0
    lines = err.splitlines()
    assert len(lines) == 6 and all(line.startswith("WARNING: classes 0 and ") for line in lines[:4])
    assert lines[-1] == "WARNING: 5 other pairs of classes, of 10 in all, have such a warning too"


def test_one_class_of_labels_is_reported(svm_train, tmp_path):
    status, out, err = svm_train("-t", "2", "d", "m", data="4 1:1\n4 1:2\n")
    assert (status, err) == (0, "")
    text = "WARNING: training data in only one class. See README for details.\nTotal nSV = 0\n"
    assert LINE.sub("", out) == text
    assert svm_train("-t", "2", "-q", "d", "m")[1] == ""


def test_labels_without_rows_and_too_many_folds_are_reported(svm_train):
    data = "1 1:1\n-1 1:2\n1 1:1.5\n"
    assert svm_train("-t", "2", "-w7", "2", "d", "m", data=data)[2] == (
        "WARNING: class label 7 specified in weight is not found\n"
    )
    assert svm_train("-t", "2", "-q", "-v", "5", "d")[2] == (
        "WARNING: # folds (5) > # data (3). Will use # folds = # data instead (i.e., leave-one-out cross validation)\n"
    )
