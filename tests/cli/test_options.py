"""The command line of svm-train: parsed as by LIBLINEAR, with our long options."""

from __future__ import annotations

import pytest
from command_fields import changed_fields

from svmtool import registry
from svmtool.cli.arguments.linear import parse
from svmtool.cli.train import BRIEF, main
from svmtool.errors import SvmtoolError, UsageError
from svmtool.params import Settings

NO_FILE = "the training file is missing: it comes after the options"
OF_LIBSVM = "an option of LIBSVM, whose command line needs -t, -g, -d or -r (-t 2: RBF kernel)"


def changed(line: str) -> dict:
    """Settings that differ from the defaults."""
    return changed_fields(parse(line.split()), Settings.of())


@pytest.mark.parametrize(
    "line, expected",
    [
        ("d", {}), ("-s 2 d", {"solver": 2}), ("-s 8 d", {"solver": 8}),
        ("-s mfn d", {"solver": 40, "method": "paper"}),
        ("-cfoo 2 d", {"C": 2.0}), ("-qxyz d", {"quiet": True}), ("-c 1 -c 3 d", {"C": 3.0}), ("-e inf d", {}),
        ("-s 2 -e 1e-3 d", {"solver": 2, "eps": 1e-3}), ("-B abc d", {"bias": 0.0}),
        ("-B 1 -R d", {"bias": 1.0, "regularize_bias": False}),
        ("-w1 5 -w1 2 -w-1 .5 d", {"class_weights": ((1, 5.0), (1, 2.0), (-1, 0.5))}),
        ("-w1.7 5 -w 3 d", {"class_weights": ((1, 5.0), (0, 3.0))}),
        ("-v 5.9 d", {"folds": 5}), ("-C d", {"find_C": True, "solver": 2}), ("-p 0.2 -n 0.3 d", {"p": 0.2, "nu": 0.3}),
        ("-W w --initial-model=m d", {"weights": "w", "initial_model": "m"}),
        ("--gap 1e-4 --max-seconds=2.5 --max-iter 7 d", {"gap": 1e-4, "max_seconds": 2.5, "max_iter": 7}),
        ("-s 31 d", {"solver": 31, "bias": 1.0, "regularize_bias": False, "method": "paper"}),
        ("-s 30 -B -1 d", {"solver": 30, "method": "paper"}), ("-s 30 --method fast -B -1 d", {"solver": 30}),
        ("-b 1 d", {"probability": True}), ("-b 1 -b 0 d", {}), ("-s 13 -b 0 d", {"solver": 13}),
        ("-s nesvm --no-homotopy -B 2 d", {"solver": 50, "method": "paper", "bias": 2.0, "homotopy": False}),
    ],
)  # fmt: skip
def test_settings(line, expected):
    assert changed(line) == expected


@pytest.mark.parametrize(
    "line, data, model",
    [("sub/d", "sub/d", "d.model"), ("d m", "d", "m"), ("d -s 0", "d", "-s"), ("d m extra", "d", "m"),
     ("-q - m", "-", "m"), ("-", "-", "stdin.model"), (".", ".", "..model"), (" ", "", ".model")],
)  # fmt: skip
def test_files(line, data, model):
    """Options after the data file are none."""
    command = parse(line.split() or [""])
    assert (command.data, command.model) == (data, model)


NO_SEARCH = "Warm-start parameter search only available for -s 0, -s 2 and -s 11; here also for " + ", ".join(
    f"-s {row.number}" for row in registry.supporting("-C") if row.number >= 30
)


@pytest.mark.parametrize(
    "line, sentence",
    [
        ("", ""), ("-q", NO_FILE), ("-s 2", NO_FILE), ("-q -s", "-s needs a value"), ("-z d", "unknown option: -z"),
        ("-h d", f"unknown option: -h: {OF_LIBSVM}"), ("-l 0 d", "unknown option: -l: it is an option of svm-scale"),
        ("--foo d", "unknown option: --foo"), ("--cost 10 d", "unknown option: --cost: use -c"),
        ("--max-second 10 d", "unknown option: --max-second: did you mean --max-seconds?"),
        ("--scores s d", "unknown option: --scores: it is an option of svm-predict; did you mean --score?"),
        ("-v x d", "n-fold cross validation: n must >= 2"), ("-v 1 -z d", "n-fold cross validation: n must >= 2"),
        ("-z 1 -v 1 d", "unknown option: -z"), ("-C -s 1 d", f"{NO_SEARCH}; --grid compares values of C with -s 1"),
        ("-C -s 8 d", NO_SEARCH), ("-t 2 -Z 1 d", "Unknown option: -Z"), ("-t 2 -c10 d", NO_FILE),
        ("-t 2 --gama 1 d", "Unknown option: --gama: did you mean -g?"), ("-t 2 -g", "-g needs a value"),
    ],
)  # fmt: skip
def test_usage_is_shown(line, sentence, capsys):
    with pytest.raises(UsageError) as e:
        parse(line.split())
    assert str(e.value) == sentence
    assert main(line.split()) == 1
    out, err = capsys.readouterr()
    assert err == (sentence + "\n" if sentence else "")
    assert out.startswith("Usage: train [options] training_set_file [model_file]\n")
    assert out.count("Usage:") == 1
    assert sentence == "" or out == BRIEF, "the message is not lost behind the usage"


@pytest.mark.parametrize(
    "line, part",
    [
        ("-s 30 --mu balance d", "--mu balance is gone: use --mu merit"),
        ("-s 30 --inner-steps 3 d", "--inner-steps is gone: -s 30 runs the paper's one gradient step"),
        ("-s 30 --method fast --mu 0.5 d", "solver 30 (alm) does not support --mu: use --method paper"),
        ("-s abc d", f"unknown solver type: abc: use -s {registry.in_words(registry.SOLVERS)}"),
        ("-w3000000000 1 d", "not an integer of 32 bits"),
        ("-s mfm d", "unknown solver type: mfm: did you mean mfn (-s 40)?"),
        ("-t 0 -s epsilon-svr d", "has no kernel: did you mean epsilon_svr (-s 3)?"),
        *((f"{words} d", f"{words}: must be a number > 0") for words in ("--gap 0", "--gap nan", "--max-seconds inf")),
        *((f"{words} d", f"{words}: must be an integer >= ") for words in ("--max-iter 1.5", "--seed -1")),
        ("--threads", "--threads needs a value: --threads N"),
        ("--spark= d", "--spark needs a master's URL"),
        ("--strict=1 d", "--strict takes no value"),
        ("--stratified d", "--stratified needs -v or -C"),
        ("d --gap 1", "--gap must come before the data file"),
        ("-t 2 -s 30 d", "-s 30 has no kernel"),
        ("-t 2 --sgd-rows 1 d", "solver 0 (c_svc) does not support --sgd-rows"),
        ("-s 2 --sgd-rows 1 d", "--sgd-rows needs a kernel"),
        ("-t 2 --loss-power 1 d", "--loss-power is for linear models"),
    ],
)  # fmt: skip
def test_one_sentence_refuses(line, part, capsys):
    with pytest.raises(SvmtoolError) as e:
        parse(line.split())
    assert not isinstance(e.value, UsageError)
    assert part in str(e.value)
    assert main(line.split()) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("ERROR: ")


def test_value_that_c_reads_in_part_is_named():
    for number in ("1O", "1_0"):  # Python's int() would accept 1_0
        assert parse(["-c", number, "d"]).notes == (f"WARNING: -c {number}: read as 1",)
    assert parse(["-C", "-v", "3 folds", "d"]).notes == (
        "WARNING: -v 3 folds: read as 3",
        "Solver not specified. Using -s 2",
    )
    assert parse(["-c", " 2", "d"]).notes == ()


@pytest.mark.parametrize(
    "line, beginning",
    [
        ("--help", "Usage: svm-train "), ("--help-all", "Usage: svm-train "), ("-s 2 --help d", "Usage: svm-train "),
        ("--version", "svmtool "), ("--explain", "solver       -s 1, l2svc-dual: "),
        ("-s 40 --explain", "solver       -s 40, mfn: "),
    ],
)  # fmt: skip
def test_answers_that_need_no_data(line, beginning, capsys):
    assert main(line.split()) == 0
    out, err = capsys.readouterr()
    assert out.startswith(beginning) and err == ""


def test_threads_of_multi_core_liblinear(svm_train, tmp_path):
    """-m is --threads, and LIBSVM's cache in its lines."""
    assert svm_train("-q", "-m", 1, "d", "m", data="1 1:1\n-1 1:2\n") == (0, "", "")
    assert svm_train("-q", "d", "n") == (0, "", "")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    status, _, err = svm_train("-q", "-m", 100000, "d", "m")
    assert status == 0 and err.startswith("WARNING: -m 100000: ") and err.count("\n") == 1
    assert svm_train("-q", "-t", 2, "-m", 100000, "d", "m") == (0, "", "")
