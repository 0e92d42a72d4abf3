"""Mistakes with files and their order: named before time is spent or a file is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from svmtool.cli.predict import command
from svmtool.formats.svmlight import inputs

DATA = "1 1:1 2:1\n-1 1:-1 2:0.5\n1 1:2\n-1 2:-1\n"


@pytest.fixture(autouse=True)
def model(svm_train):
    """A folder with the data file d and its model m."""
    assert svm_train("-q", "d", "m", data=DATA) == (0, "", "")


@pytest.fixture
def svm_predict(capsys):
    def run(*argv: str) -> tuple[int, str, str]:
        return command.main(list(argv)), *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    "argv, sentence",
    [
        ("d no/m", "can't save model to file no/m: there is no folder no"),
        ("-s 71 --add d no/m", "can't save model to file no/m: there is no folder no"),
        ("--spark local d no/m", "can't save model to file no/m: there is no folder no"),
        ("d .", "can't save model to file .: it is a directory"),
        ("--solver-log no/l d m", "can't open output file no/l: there is no folder no"),
        ("--plot no/p.svg d m", "can't open output file no/p.svg: there is no folder no"),
    ],
)
def test_outputs_are_checked_before_the_training(argv, sentence, svm_train):
    """Nothing of the solver is printed, and a malformed file is not read."""
    for text in (DATA, "no data\n"):
        assert svm_train(*argv.split(), data=text) == (1, "", sentence + "\n")


def test_a_folder_without_permission(svm_train, monkeypatch):
    os.mkdir("closed")
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "closed" not in str(path) and real(path, mode))
    status, out, err = svm_train("d", "closed/m")
    assert (status, out) == (1, "") and ": no permission to write into /" in err


@pytest.mark.parametrize(
    "argv, warning",
    [
        ("d n -c 5", "WARNING: -c 5 after the model file has no effect\n"),
        ("d -c 5", "WARNING: options come before the data file: -c is taken as the name of the model\n"),
        ("d - x", "WARNING: x after the model file has no effect\n"),
    ],
)
def test_arguments_behind_the_files(argv, warning, svm_train):
    for options in ((), ("-t", "2")):
        status, _, err = svm_train("-q", *options, *argv.split())
        assert (status, err) == (0, warning)


def test_features_that_the_model_does_not_have(svm_predict):
    Path("t").write_text("1 1:1 2:1\n-1 1:-1 9:3 # note\n1 7:1\n")
    warning = "WARNING: t has features up to 9, the model 2: larger indices are ignored\n"
    assert svm_predict("t", "m", "o") == (0, "Accuracy = 66.6667% (2/3)\n", warning)
    assert svm_predict("-q", "t", "m", "o") == (0, "", warning)
    assert svm_predict("-q", "--scores", "s", "t", "m", "o") == (0, "", warning)
    Path("t").write_text("1 2:1\n")
    assert svm_predict("-q", "t", "m", "o") == (0, "", "")


@pytest.mark.parametrize(
    "kernel, effect", [(0, "have no effect"), (1, "have no effect"), (2, "count only as distance")]
)
def test_features_that_no_support_vector_has(kernel, effect, svm_train, svm_predict):
    svm_train("-q", "-t", kernel, "d", "k")
    Path("t").write_text("1 1:1 2:1\n-1 1:-1 9:3\n1 7:1\n")
    warning = f"WARNING: t has features up to 9, the model 2: larger indices {effect}\n"
    assert svm_predict("-q", "t", "k", "o") == (0, "", warning)
    assert svm_predict("-q", "d", "k", "o") == (0, "", "")


def test_a_precomputed_kernel_has_no_features(svm_train, svm_predict):
    Path("gram").write_text("1 0:1 1:2 2:-1\n-1 0:2 1:-1 2:3\n")
    assert svm_train("-q", "-t", 4, "gram", "k")[0] == 0
    assert svm_predict("-q", "gram", "k", "o") == (0, "", "")


@pytest.mark.parametrize("options", [(), ("-t", "2")], ids=str)
def test_swapped_arguments(options, svm_train, svm_predict):
    svm_train("-q", *options, "d", "k")
    status, out, err = svm_predict("k", "d", "o")
    assert (status, out) == (1, "") and not os.path.exists("o")
    assert err.endswith("can't open model file d: k is a model, the order is test_file model_file output_file\n")
    for argv in (("k", "m", "o"), ("k", "k", "o")):
        assert svm_predict(*argv)[2].endswith("a number: this is a model file: the data file comes first\n")
    assert svm_train("k")[2].endswith("this is a model file: the data file comes first\n")


@pytest.mark.parametrize(
    "argv, sentence",
    [
        (["--weights", "absent", "bad"], "Wrong input format at line 1: bad: "),
        (["--weights", "absent", "d"], "can't open input file absent"),
        (["-c", "-1", "--weights", "absent", "d"], "ERROR: C <= 0"),
        (["-c", "-1", "bad"], "Wrong input format at line 1: bad: "),
        (["--initial-model", "absent", "nothing"], "can't open model file absent"),
    ],
)
def test_order_of_faults(argv, sentence, svm_train, tmp_path):
    (tmp_path / "bad").write_text("x\n")
    status, out, err = svm_train(*argv, data="1 1:1\n-1 1:2\n")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(sentence)


@pytest.mark.parametrize(
    "argv",
    [["-s", "99x", "--stratified"], ["-e", "1", "--gap", "1"], ["-t", "2", "-s", "30"], ["-t", "2", "-Z", "1"]]
    + [["-Z", "1"]],
)
def test_a_bad_option_reads_nothing(argv, svm_train, monkeypatch):
    found: list = []
    monkeypatch.setattr(inputs, "read_raw", lambda source, *how: found.append(source.name))
    assert svm_train(*argv, "d", "m", data="1 1:1\n-1 1:2\n")[0] == 1
    assert found == []
