"""Warnings where a line or its data are probably another problem's; stdout, exit status and model stay the same."""

from __future__ import annotations

import pytest

from svmtool import params, registry

LINES = "1 1:1 2:0.5\n-1 1:-1\n1 1:0.5\n-1 2:-1\n"
REAL = "1.5 1:1\n-2.5 1:-1\n0 2:1\n"
REGRESSION = "use -s 11 for regression\n"
SVR = "use -t 2 for LIBSVM's -s 3 (epsilon-SVR), -s 11 for linear regression\n"


@pytest.mark.parametrize(
    "argv, beginning, advice",
    [
        ("-s 3 -p 0.1", "WARNING: -s 3 (l1svc-dual, linear) ignores -p: ", SVR),
        ("-s 4 -p 0.5", "WARNING: -s 4 (crammer-singer, linear) ignores -p: ", "-s 11 for linear regression\n"),
        ("-s 1 -n 0.5", "WARNING: -s 1 (l2svc-dual, linear) ignores -n: ", "use -t 2 for LIBSVM's -s 1 (nu-SVC)\n"),
        ("-s 2 -n 0.5", "WARNING: -s 2 (l2svc, linear) ignores -n: ", "-t 2 for LIBSVM's -s 2 (one-class SVM)\n"),
    ],
)
def test_options_of_libsvms_problem(argv, beginning, advice, svm_train):
    status, _, err = svm_train("-q", *argv.split(), "d", "m", data=LINES)  # -q silences stdout only
    assert status == 0 and err.startswith(beginning) and err.endswith(advice) and err.count("\n") == 1


@pytest.mark.parametrize(
    "argv, advice",
    [("-s 3", SVR), ("-s 1", REGRESSION), ("-s 40", REGRESSION), ("-t 2", "use -s 3 for regression\n"),
     ("-s 4", "use -t 2 for LIBSVM's -s 4 (nu-SVR), -s 11 for linear regression\n")],
)  # fmt: skip
def test_labels_that_are_targets(argv, advice, svm_train, out_of_time):
    status, _, err = svm_train("-q", *argv.split(), "d", "m", data=REAL)
    assert status == 0 and err.count("\n") == 1
    assert err.startswith("WARNING: d has the label 1.5, which is not a whole number, and -s ") and err.endswith(advice)
    if argv == "-s 3":
        many = "".join(f"{k} 1:{k}\n" for k in range(101))
        out_of_time()  # the warning comes before training
        status, _, err = svm_train("-q", *argv.split(), "d", "m", data=many)
        err = err.partition("\n")[0] + "\n"
        assert status == 0 and err.endswith(advice)
        assert err.startswith("WARNING: d has 101 different labels, and -s ") and " makes each label a class: " in err
        twice = "".join(f"{k % 101} 1:{k}\n" for k in range(202))
        assert "different labels" not in svm_train("-q", *argv.split(), "d", "m", data=twice)[2]
    status, _, err = svm_train(*argv.split(), "d", "m", data="1.2 1:1\n1.9 1:2\n")
    merged = "d: labels 1.2 and 1.9 would both become class 1: use whole numbers as labels, or "
    assert (status, err) == (1, merged + advice.removeprefix("use "))


def test_labels_of_added_rows(svm_train, tmp_path):
    svm_train("-q", "-s", 71, "d", "m", data=LINES)
    (tmp_path / "more").write_text(REAL)
    status, _, err = svm_train("-q", "-s", 71, "--add", "more", "-i", "m")
    assert (status, err.count("\n")) == (0, 1)
    assert err.startswith("WARNING: more has the label 1.5, ") and err.endswith(REGRESSION)


def test_several_costs(svm_train, tmp_path):
    """The last is used, as in LIBLINEAR and LIBSVM."""
    last = svm_train("-c", 10, "d", "m", data=LINES)
    written = (tmp_path / "m").read_bytes()
    warning = "WARNING: several -c: the last one, 10, is used; to compare them use --grid C=0.1,1,10\n"
    assert svm_train("-c", 1, "-c", 0.1, "-c", 10, "d", "m") == (*last[:2], warning)
    assert (tmp_path / "m").read_bytes() == written
    assert svm_train("-c", 10, "-c", 10, "d", "m") == last
    without = "WARNING: several -c: the last one, 10, is used\n"
    assert svm_train("-q", "-t", 2, "-c", 1, "-c", 10, "d", "m")[2] == without


@pytest.mark.parametrize("argv", ["-s 11", "-s 21", "-t 2 -s 4", "-t 2 -s 2", "-s auto"])
def test_other_problems_take_any_labels(argv, svm_train):
    status, _, err = svm_train("-q", *argv.split(), "-c", 0.1, "d", "m", data=REAL)
    assert status == 0 and "makes each label a class" not in err


ROWS = "".join(f"{k % 5 - 2 or 3} 1:{(k * 7) % 11 + 1} 2:{(k * k) % 13 + 1} 3:{k % 3} 4:{k % 5}\n" for k in range(25))
NUMBERS = [("", row) for row in registry.SOLVERS if row.number < 30]
NUMBERS = NUMBERS[::2] + [("-t 2", row) for row in registry.KERNEL_SOLVERS if row.number < 30]


@pytest.mark.parametrize("kernel, row", NUMBERS, ids=lambda x: getattr(x, "name", x))
def test_an_option_that_changes_no_model_is_named(kernel, row, svm_train, tmp_path):
    """And no other: of those that LIBLINEAR and LIBSVM take for every number."""
    asked = ("-q", "--plain-model", *kernel.split(), "-s", row.number)
    assert svm_train(*asked, "d", "m", data=ROWS)[::2] == (0, "")
    plain = (tmp_path / "m").read_bytes()
    for option in ("-c 0.01", "-n 0.3", "-p 0.5", "-w3 0.1"):
        status, _, err = svm_train(*asked, *option.split(), "d", "m")
        ignored = f" ({row.name}{'' if kernel else ', linear'}) ignores {option[:2]}"
        assert status == 0 and err.count("\n") == (ignored in err), option
        assert ((tmp_path / "m").read_bytes() == plain) == (ignored in err), option
    if kernel:
        named = svm_train(*asked, *"-w3 2 -n 0.3 -p 0.5 -c 2".split(), "d", "m")[2]
        assert named.count("\n") == bool(registry.without_effect(row)), "one line for all"


@pytest.mark.parametrize("number, used", [(0, ""), (1, "gdr"), (2, "g"), (3, "gr")])
def test_kernel_options_without_effect_are_named(number, used, svm_train, tmp_path):
    asked = ("-q", "--plain-model", "-t", number)
    svm_train(*asked, "d", "m", data=ROWS)
    plain = (tmp_path / "m").read_text()
    for option in ("-g 0.2", "-d 2", "-r 0.5"):
        status, _, err = svm_train(*asked, *option.split(), "d", "m")
        ignored = f"WARNING: -t {number} ({params.KERNEL_NAMES[number]}) ignores {option[:2]}\n"
        assert status == 0 and (ignored in err) == ("ignores" in err) == (option[1] not in used)
        assert ((tmp_path / "m").read_text() == plain) == (option[1] not in used)
