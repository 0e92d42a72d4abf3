"""Command lines of svm-train with kernels: how they are recognised and parsed, and errors."""

from __future__ import annotations

import pytest
from command_fields import changed_fields

from svmtool import registry
from svmtool.cli.arguments import linear as options
from svmtool.cli.arguments.linear import parse
from svmtool.cli.train import main
from svmtool.params import Settings


def changed(line: str) -> dict:
    """Settings that differ from the defaults."""
    return changed_fields(parse(line.split()), Settings.of_kernel())


def test_lines_that_are_liblinears_and_libsvms():
    for line in ("d", "-b 1 d", "-s 50 d", "-s 52 d", "d -t 2", "-q d -g 1", "-t", "-c -t d"):
        assert not options.is_kernel_line(line.split()), line
    for line in ("-t 2 d", "-g 1 d", "-d 3 d", "-r 0 d", "-c 1 -q -g 1 d", "--threads 2 -t 0 d", "--threads=2 -t 0 d",
                 "-s 60 d", "-s nu_svr d", "-s 1 -s 60 d", "-C -g 1 d", "-type 2 d", "-s -g -g 1 d"):  # fmt: skip
        assert options.is_kernel_line(line.split()), line


@pytest.mark.parametrize(
    "line, expected",
    [
        ("-g 3.0517578125e-05 -c 32768.0 -v 5 d", {"gamma": 2.0**-15, "C": 32768.0, "folds": 5}),
        ("-t 1 -d 4 -r 1.5 d", {"kernel_type": 1, "degree": 4, "coef0": 1.5}),
        ("-s 1 -g 1 -n 0.2 d", {"solver": 1, "gamma": 1.0, "nu": 0.2}),
        ("-s epsilon_svr -g 1 -p 0.2 d", {"solver": 3, "gamma": 1.0, "p": 0.2}),
        ("-t 2 -m 300 -h 0 -b 1 -e 0.1 -q d", {"cache_mb": 300.0, "shrinking": 0, "probability": 1, "eps": 0.1,
                                               "quiet": True}),
        ("-t 2 -w1 5 -w1 2 -w-1 .5 d", {"class_weights": ((1, 5.0), (1, 2.0), (-1, 0.5))}),
        ("-t 2 --threads 2 --strict --seed 3 --probability 1 d", {"threads": 2, "strict": True, "seed": 3,
                                                                  "probability": True}),
        ("-s 60 d", {"solver": 60, "kernel_type": 0, "method": "paper"}),
        ("-s 60 --method fast -h 0 -m 50 d", {"solver": 60, "kernel_type": 0, "shrinking": 0, "cache_mb": 50.0}),
        ("-s 60 --min-alpha-opt inf d", {"solver": 60, "kernel_type": 0, "method": "paper",
                                         "min_alpha_opt": float("inf")}),
    ],
)  # fmt: skip
def test_options_are_read(line, expected):
    assert changed(line) == expected


# in LIBSVM's order: each error is reported before the following ones
CHECKS = [
    ("-s 7", "ERROR: unknown svm type"), ("-t 5", "ERROR: unknown kernel type"), ("-g -1", "ERROR: gamma < 0"),
    ("-t 1 -d -1", "ERROR: degree of polynomial kernel < 0"), ("-m 0", "ERROR: cache_size <= 0"),
    ("-e 0", "ERROR: eps <= 0"), ("-c 0", "ERROR: C <= 0"), ("-s 1 -n 0", "ERROR: nu <= 0 or nu > 1"),
    ("-s 3 -p -1", "ERROR: p < 0"), ("-h 2", "ERROR: shrinking != 0 and shrinking != 1"),
    ("-b 2", "ERROR: probability != 0 and probability != 1"), ("-s 1 -n 0.9", "ERROR: specified nu is infeasible"),
    ("-c nan", "ERROR: -c is nan: it must be a finite number"),
    ("-g inf", "ERROR: -g is inf: it must be a finite number"),
    ("-w1 -1", "ERROR: -w1 is -1: a class weight must be a finite number >= 0"),
]  # fmt: skip
ROWS = "1 1:1\n-1 1:2\n-1 1:3\n"


@pytest.mark.parametrize("line, sentence", CHECKS, ids=[line for line, _ in CHECKS])
def test_checks_keep_libsvms_sentences(line, sentence, svm_train):
    status, out, err = svm_train("-t", "2", *line.split(), "d", "m", data=ROWS)
    assert (status, out) == (1, "") and err.startswith(sentence) and err.count("\n") == 1


LINEAR_NAMES = [row.name for row in registry.SOLVERS if not registry.find_kernel(row.name) and row.name != "one-class"]


@pytest.mark.parametrize("line", ["", "--help", "--help-all"])
def test_libsvm_train_shows_its_own_solvers_and_options(line, capsys):
    assert main(line.split(), libsvm=True) == (0 if line else 1)
    own = capsys.readouterr().out
    assert main(line.split()) == (0 if line else 1)
    both = capsys.readouterr().out
    assert own.startswith(f"Usage: {'libsvm-train' if line else 'svm-train'} [options] training_set_file ")
    for name in LINEAR_NAMES:
        assert name not in own.split() and (name in both or line == "--help")
    for name in (row.name for row in registry.libsvm.ROWS):
        assert name in own and name in both
    assert "-R" not in own.split() and "(default 1)" not in own.partition("\n  -t")[0], "the default of LIBLINEAR's -s"
