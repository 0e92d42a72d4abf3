"""-v and -C: the folds, the lines on the screen, the ties and the end of the search."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from reference import table_of, text_of
from solver_suite import TWO_CLASS
from test_scores import made

from svmtool import registry
from svmtool.limits import StopFlag
from svmtool.params import Request, Settings
from svmtool.training.linear import train
from svmtool.training.validation import cross_validation, folds, report


def validate(table, settings, request, console, stop=None):
    """-v or -C of a table; stop: None: max_seconds count from now on."""
    stop = StopFlag(settings.stopping.max_seconds) if stop is None else stop
    return report.validate(lambda n: cross_validation.Folds(table, settings, n), request, console, stop)


SEARCHING = [row.number for row in TWO_CLASS if "-C" in row.supported][::2]


def by_hand(X, y, settings: Settings, drawn, weights=None) -> float:
    """Train on all rows of weight 1 but a fold, predict the fold; the share of right labels."""
    order, starts = drawn
    right = 0
    for k in range(len(starts) - 1):
        inside, outside = folds.fold_rows(order, starts, k)
        inside = inside if weights is None else inside[weights[inside] > 0]
        model = train(table_of(X[inside], y[inside]), settings).model
        held_out = table_of(X[outside], y[outside])
        right += int(np.count_nonzero(model.predict(held_out) == y[outside]))
    return right / len(y)


def accuracy(out: str) -> float:
    assert out.startswith("Cross Validation Accuracy = ") and out.endswith("%\n") and out.count("\n") == 1
    return float(out[len("Cross Validation Accuracy = ") : -2])


def test_stratified_and_seed(svm_train):
    X, y = made()
    data, settings = text_of(X, y), Settings.of(solver=2)
    found = {}
    for options, drawn in [
        ((), folds.liblinear_folds(90, 4)),
        (("--seed", 7), folds.liblinear_folds(90, 4, folds.GlibcRand(7))),
        (("--stratified",), folds.stratified_folds(y, 4)),
        (("--stratified", "--seed", 7), folds.stratified_folds(y, 4, folds.GlibcRand(7))),
    ]:
        status, out, err = svm_train("-s", 2, "-v", 4, *options, "d", data=data)
        assert (status, err) == (0, "")
        found[options] = accuracy(out)
        assert found[options] == pytest.approx(100 * by_hand(X, y, settings, drawn), rel=1e-5), options
    assert len(set(found.values())) > 1, "other draws, other accuracies on noisy rows"


def test_weights_of_rows_and_classes_act_inside_the_folds(svm_train, tmp_path):
    X, y = made()
    (tmp_path / "w").write_text("1 " * 45 + "0 " * 45)
    plain = svm_train("-s", 2, "-v", 3, "d", data=text_of(X, y))
    weighted = svm_train("-s", 2, "-v", 3, "-W", "w", "d")
    tilted = svm_train("-s", 2, "-v", 3, "-w1", 1000, "d")
    assert plain[0] == weighted[0] == tilted[0] == 0
    assert accuracy(tilted[1]) < accuracy(plain[1])
    wanted = by_hand(X, y, Settings.of(solver=2), folds.liblinear_folds(90, 3), np.repeat((1, 0), 45))
    assert accuracy(weighted[1]) == pytest.approx(100 * wanted, rel=1e-5)


def test_one_class_and_leave_one_out(svm_train):
    status, out, err = svm_train("-v", 2, "d", data="5 1:1\n5 1:2\n5 1:3\n")
    assert (status, accuracy(out), err) == (0, 100.0, "")
    X, y = made(n=12)
    status, out, err = svm_train("-s", 2, "-v", 50, "d", data=text_of(X, y))
    assert status == 0 and err == cross_validation.Folds.too_many + "\n"
    wanted = by_hand(X, y, Settings.of(solver=2), folds.liblinear_folds(12, 12))
    assert accuracy(out) == pytest.approx(100 * wanted, rel=1e-5)


class Lines:
    """A console that keeps what is printed."""

    def __init__(self):
        self.liblinear_log, self.text, self.warnings = "", "", []

    def solver(self, text):
        self.liblinear_log += text

    def out(self, text):
        self.text += text

    def warn(self, *lines):
        self.warnings += lines

    def still(self, text, error=False):
        """Ignore messages about steps that take long on a slow machine."""


def search(X, y, folds=None, given=(), **settings) -> Lines:
    console = Lines()
    request = Request(given=given, folds=folds, find_C=True)
    assert validate(table_of(X, y), Settings.of(**settings), request, console) == 0
    return console


@pytest.mark.parametrize("number", SEARCHING)
def test_search_prints_what_a_loop_over_C_gives(number):
    X, y = made()
    console = search(X, y, solver=number, folds=3)
    lines = console.liblinear_log.splitlines()
    largest = np.max(np.sum(X**2, axis=1)) * (2 if registry.find(number).loss != "logistic" else 1)
    start = np.floor(np.log2(1.0 / (len(y) * largest)))
    rates, drawn = {}, folds.liblinear_folds(len(y), 3)
    for k, line in enumerate(lines[: len(lines) - lines.count("WARNING: maximum C reached.")]):
        log2c, _, rate = line.partition("\trate=")
        assert line.startswith("log2c=") and float(log2c[6:]) == start + k and len(log2c) == 13
        rates[start + k] = float(rate)
        if k % 4 == 0:
            settings = Settings.of(solver=number, C=2.0 ** (start + k))
            assert float(rate) == pytest.approx(100 * by_hand(X, y, settings, drawn), abs=100.01 / 90)
    best = max(rates.values())
    first = 2.0 ** min(c for c, rate in rates.items() if rate == best)
    assert console.text == (
        f"Doing parameter search with 3-fold cross validation.\nBest C = {first:g}  CV accuracy = {best:g}%\n"
    )


@pytest.mark.parametrize(
    "moves, rounds",
    [("-----", 5), ("-x-----", 7), ("----x-----", 10), ("-xx----x-----", 13), ("-" + "x" * 14, 15)],
)
def test_search_counts_as_liblinear_does(moves, rounds, monkeypatch):
    """find_parameter_C of its linear.cpp: after a move (x) the count of unmoved rounds begins at 0.  15: the cap."""
    came = iter(moves)
    monkeypatch.setattr(cross_validation.Folds, "evaluate", lambda self, *a, **k: (np.ones(4), next(came) == "x"))
    lines = search(np.ones((4, 1)), np.ones(4), solver=2, C=0.0625, given=("-c",), folds=2).liblinear_log.splitlines()
    assert len(lines) - lines.count("WARNING: maximum C reached.") == rounds


@pytest.mark.parametrize("number, eps", [("0", "0.1"), ("2", "0.01")])
def test_search_ends_where_liblinears_ends(number, eps, reference, svm_train, tmp_path):
    """One feature of +-1 and labels at random: the larger C, the sooner the last w satisfies -e as it is."""
    signs = np.random.default_rng(3).choice([-1.0, 1.0], (40, 2))
    asked = ["-s", number, "-C", "-e", eps, "d"]
    status, out, err = svm_train(*asked, data=text_of(signs[:, :1], signs[:, 1]))
    assert (status, err) == (0, "")
    theirs = subprocess.run([reference["train"], *asked], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert out == theirs.stdout and "maximum C" not in out


def test_search_is_the_same_for_any_number_of_threads_and_quiet(svm_train):
    data, warning = text_of(*made((1, 2, 3))), "Solver not specified. Using -s 2\n"
    runs = ("--threads", 1), ("--threads", 2), ("-s", 2)
    outs = [svm_train("-C", "-c", 64, *more, "d", data=data) for more in runs]
    assert outs[0] == outs[1] == (0, outs[2][1], warning) and outs[2][2] == ""
    lines = outs[0][1].splitlines()
    assert svm_train("-C", "-c", 64, "-s", 2, "-q", "d")[1].splitlines() == [lines[0], lines[-1]]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as the commands do
@pytest.mark.parametrize("options", ["-s 72 -c 1e6", "-s 2 -c 1e200", "-s 3 -c 1e200"])
def test_folds_that_do_not_converge_are_reported(options, svm_train):
    data = "".join(f"{1 if k % 2 else -1} 1:{1000000 + k}\n" for k in range(9))
    status, out, err = svm_train(*options.split(), "--strict", "-v", 3, "d", data=data)
    assert status == 2 and out.startswith("Cross Validation Accuracy = ") and "nan" not in out
    assert err.startswith("WARNING: ") and " of 3 folds did not converge: rounding stops further progress" in err


@pytest.mark.parametrize("options", [("-t", 0), ("-t", 2, "-s", 73), ("-s", 2, "--stratified")], ids=str)
def test_classes_of_one_row_make_one_fold_of_all_rows(options, svm_train):
    """LIBSVM divides each class separately: rows of a class with fewer rows than folds go into the last folds."""
    data = "".join(f"{k} 1:{k * k}\n" for k in range(6))
    status, out, err = svm_train(*options, "-q", "-v", 3, "d", data=data)
    assert (status, out) == (1, "") and "one of 3 folds would hold all rows" in err and "-v 6" in err
    assert svm_train(*options, "-q", "-v", 6, "d")[0] == 0
