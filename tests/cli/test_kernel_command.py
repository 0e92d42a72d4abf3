"""svm-train with kernels: LIBSVM's lines, models, folds, probabilities, errors and warnings."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
from compat_cases import NUMBER, same_text, without_notes, without_path
from conftest import libsvm_program
from reference import text_of
from sampling import pairs_in_turn

from svmtool.formats.svmlight import table
from svmtool.params import Settings
from svmtool.solvers.shared.base import INTERRUPTED, StopFlag
from svmtool.training import calibration
from svmtool.training.kernel.dataset import kernel_set
from svmtool.training.kernel.fit import Fitting
from svmtool.training.kernel.train import one_vs_one
from svmtool.training.validation.folds import GlibcRand

LINE = re.compile(r"^Certified relative gap = (\S+) \(primal \S+, dual \S+, KKT violation \S+\)\n", re.MULTILINE)


@pytest.fixture
def sets(tmp_path):
    """Files of random rows: four classes, two classes, numbers as labels, and kernel values of the first."""
    rng = np.random.default_rng(5)

    X = rng.standard_normal((72, 5)) * (rng.random((72, 5)) < 0.8)
    y = np.array([3, 1, 7, -2])[np.arange(72) % 4]
    for k, label in enumerate((3, 1, 7, -2)):
        X[y == label, k] += 1.5
    X = X.round(5)
    two = np.where(X[:, 0] + 0.8 * rng.standard_normal(72) > 0.5, 1, -1)
    numbers = np.round(2 * X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.standard_normal(72), 5)
    for name, labels in (("four", y), ("two", two), ("numbers", numbers)):
        (tmp_path / name).write_text(text_of(X, labels))
    K = np.exp(-0.3 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    values = (" ".join(f"{j + 1}:{v:.12g}" for j, v in enumerate(row)) for row in K)
    (tmp_path / "kernel").write_text("".join(f"{y[i]} 0:{i + 1} {row}\n" for i, row in enumerate(values)))
    return tmp_path


def parts(model: str) -> tuple[str, np.ndarray]:
    """Header and the coefficients of a model's text."""
    head, _, body = without_notes(model).partition("SV\n")
    width = max(1, int(re.search(r"nr_class (\d+)", head)[1]) - 1)
    return head, np.array([[float(c) for c in line.split()[:width]] for line in body.splitlines()])


KERNELS = ["-t 0", "-t 1 -d 2 -r 1 -g 0.5", "-t 2", "-t 2 -g 1 -c 10", "-t 3 -g 0.05 -r 0.1"]


@pytest.mark.parametrize(("svm_type", "kernel"), pairs_in_turn(range(5), KERNELS, 2))
def test_lines_and_model_are_libsvms(svm_type, kernel, sets, svm_train):
    """At a tight tolerance: the same form, objectives within 1e-5, the same support vectors."""
    reference = libsvm_program("svm-train")
    file = "numbers" if svm_type > 2 else "four"
    argv = f"-s {svm_type} {kernel} -n 0.5 -e 1e-5 {file}".split()
    theirs = subprocess.run([reference, *argv, "theirs"], cwd=sets, capture_output=True, text=True, timeout=60)
    status, out, err = svm_train(*argv, "ours")
    assert (status, theirs.returncode, theirs.stderr) == (0, 0, "")
    assert not err or re.fullmatch(r"WARNING: -s [0123] \(\w+\) ignores -[nc]\n", err), "options without effect"
    ours = without_path(LINE.sub("", out))
    if "-t 3" in kernel:  # it is not positive semi-definite: there is more than one end, and each has its own numbers
        assert NUMBER.sub("#", ours) == NUMBER.sub("#", without_path(theirs.stdout))
        return
    same_text(ours, without_path(theirs.stdout), 1e-4)
    for line in (r"^obj = (\S+),", r"nSV = (\d+)"):
        found, wanted = ([float(v) for v in re.findall(line, t, re.MULTILINE)] for t in (ours, theirs.stdout))
        assert found == pytest.approx(wanted, rel=1e-5, abs=1.1e-6), "they are printed to 1e-6"
    assert float(LINE.search(out)[1]) < 1e-3
    (head, coef), (their_head, their_coef) = (parts((sets / name).read_text()) for name in ("ours", "theirs"))
    same_text(head, their_head, 1e-4)
    assert coef == pytest.approx(their_coef, abs=2e-3 * np.abs(their_coef).max())


@pytest.mark.parametrize("svm_type", [3, 4])
def test_scale_of_errors_is_libsvms(svm_type, sets, svm_train):
    reference = libsvm_program("svm-train")
    line = f"-s {svm_type} -t 2 -b 1 -e 1e-5 numbers".split()
    theirs = subprocess.run([reference, *line, "theirs"], cwd=sets, capture_output=True, text=True, timeout=60)
    out = svm_train(*line, "ours")[1]
    folds, scale, model = re.split(r"(^Prob\. model.*\n.*\n)", without_path(theirs.stdout), flags=re.MULTILINE)
    same_text(without_path(LINE.sub("", out)), model + folds + scale, 1e-3)  # Debian's 3.24 reports the folds first
    width = re.search(r"^probA (\S+)$", (sets / "ours").read_text(), re.M)[1]
    assert re.search(r"sigma= (\S+)\n", out)[1][:5] == width[:5]


def test_one_class_with_too_few_rows_for_marks(svm_train, tmp_path):
    line = ["-s", "2", "-t", "2", "-b", "1", "d", "m"]
    status, _, err = svm_train(*line, data="1 1:1\n1 1:2\n1 1:3\n")
    assert (status, err) == (0, calibration.TOO_FEW + "\n")
    assert "prob_density_marks" not in (tmp_path / "m").read_text()
    assert svm_train("--strict", *line)[0] == 2


def test_gamma_is_one_over_the_largest_index(svm_train, tmp_path):
    for argv, gamma in (([], "0.125"), (["-g", "0"], "0.125"), (["-g", "0.5"], "0.5")):
        svm_train("-q", "-t", "2", *argv, "d", "m", data="1 1:1\n-1 8:2\n")
        assert f"\ngamma {gamma}\n" in (tmp_path / "m").read_text()


def test_precomputed_is_the_kernel_it_was_computed_from(sets, svm_train):
    outs = []
    for argv in (["-t", "2", "-g", "0.3", "four"], ["-t", "4", "kernel"]):
        status, out, _ = svm_train("-e", "1e-6", *argv, argv[-1] + ".m")
        assert status == 0
        outs.append(without_path(LINE.sub("", out)))
    same_text(outs[1], outs[0], 1e-4)
    model = (sets / "kernel.m").read_text()
    assert "kernel_type precomputed\nnr_class 4\n" in model and "gamma" not in model
    assert re.search(r"^SV\n(?:\S+ \S+ \S+ 0:\d+ \n)+#", model, re.MULTILINE)
    rates = [svm_train("-q", "-v", "5", *argv)[1] for argv in (["-t", "2", "-g", "0.3", "four"], ["-t", "4", "kernel"])]
    assert rates[0] == rates[1]


@pytest.mark.parametrize(
    "data, sentence",
    [
        ("1 0:1 1:1 2:.5\n-1 1:.5\n", "Wrong input format: first column must be 0:sample_serial_number: d, line 2: "),
        ("1 0:0 1:1 2:.5\n-1 0:2 1:.5 2:1\n", "Wrong input format: sample_serial_number out of range: d, line 1: "),
        ("1 0:1 1:1 2:.5\n-1 0:1.5 1:.5 2:1\n", "Wrong input format: sample_serial_number out of range: d, line 2: "),
        ("1 0:1 1:1 2:.5\n-1 0:2 2:1\n", "Wrong input format: d, line 2: -t 4 needs all kernel values from 1: to 2:"),
        ("1 0:1 1:1 2:.5\n-1 0:2 1:.1 2:1\n", "Wrong input format: d, line 1: the kernel values are not symmetric"),
        ("1 0:1 0:1\n", "Wrong input format at line 1: d: token '0:1': the index appears twice"),
        ("1 -1:1 0:1\n", "Wrong input format at line 1: d: token '-1:1': indices start at 0"),
    ],
)
def test_malformed_kernel_values(data, sentence, svm_train, tmp_path):
    status, out, err = svm_train("-t", "4", "d", "m", data=data)
    assert (status, out) == (1, "") and err.startswith(sentence) and err.count("\n") == 1
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("limit", ["--max-iter", "--max-seconds"])
def test_limits_are_reported(limit, sets, svm_train, out_of_time):
    argv = ["-t", "2", "-q", "-c", "1000", "-g", "3", "-e", "1e-12", limit, "1000" if "sec" in limit else "1"]
    if "sec" in limit:
        out_of_time()
    status, _, err = svm_train(*argv, "two", "m")
    assert status == 0 and err.startswith("WARNING: not converged: ") and (sets / "m").exists()
    assert svm_train(*argv, "--strict", "two", "m")[0] == 2
    status, out, err = svm_train(*argv, "-v", "3", "--strict", "two")
    assert status == 2 and out.startswith("Cross Validation") and err.startswith("WARNING: 3 of 3 folds did not ")


def test_ctrl_c_leaves_a_model(sets):
    """The first record sets the stop flag: no other pair is solved, and there is no calibration."""
    s, stop = Settings.of_kernel(probability=1, eps=1e-9), StopFlag()
    data = kernel_set(table.read(str(sets / "four")), s, "four")
    fitting = Fitting(s, lambda **_: setattr(stop, "set", True), stop, together=0)
    done = one_vs_one(data, fitting, GlibcRand())
    assert done.status is INTERRUPTED and done.lacking == "interrupted"
    assert done.model.labels == (3, 1, 7, -2) and done.model.probA is None
    assert [f.result.iterations for f in done.solved] == [0] * 6


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


def test_too_many_folds_are_reported(svm_train):
    assert svm_train("-t", "2", "-q", "-v", "5", "d", data="1 1:1\n-1 1:2\n1 1:1.5\n")[2] == (
        "WARNING: # folds (5) > # data (3). Will use # folds = # data instead (i.e., leave-one-out cross validation)\n"
    )
