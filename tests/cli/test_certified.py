"""svm-predict --certified and svm-train --certify-labels: what is printed and written, and what is refused."""

from __future__ import annotations

import compat_cases
import numpy as np
import pytest

from svmtool import api
from svmtool.models.linear import RADIUS_NOTE

THEIRS = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n0.5 \n-0.25 \n"
SEVERAL = "1,2 1:1\n2 2:1\n1 1:1 2:1\n"


@pytest.fixture
def predict(tmp_path, monkeypatch):
    """Run svm-predict in the temporary folder; stdout, or what is printed instead."""

    def run(*argv) -> str:
        done = compat_cases.run_inside({"tool": "predict", "args": [str(a) for a in argv]}, tmp_path, monkeypatch)
        return done.stdout if done.exit == 0 else done.stderr

    return run


def counts(line: str) -> tuple[int, int]:
    """Certain labels and rows in `Certified labels = ..`."""
    certain, rows = line.rpartition("(")[2].rstrip(")\n").split("/")
    return int(certain), int(rows)


@pytest.mark.parametrize(
    ("options", "model"),
    [("-s 2 -B 2", "m.npz"), ("-s 0 -b 1", "m"), ("-s 30 -B 1 --method fast", "m")],
)
def test_the_last_column_of_the_scores_counts(svm_train, predict, data, tmp_path, options, model):
    assert svm_train("-q", *options.split(), "--gap", "1e-3", data / "breast_cancer", model)[0] == 0
    test = data / "breast_cancer.t"
    plain = predict("--scores", "s0", test, model, "o0")
    out = predict("--certified", "--scores", "s", test, model, "o")
    assert out.startswith(plain) and out.count("\n") == plain.count("\n") + 1
    assert (tmp_path / "o").read_bytes() == (tmp_path / "o0").read_bytes()
    scores, known = np.loadtxt(tmp_path / "s"), np.loadtxt(tmp_path / "s0")
    assert np.array_equal(scores[:, 0], known)
    assert set(scores[:, 1]) <= {0.0, 1.0}
    assert counts(out.splitlines()[-1]) == (int(scores[:, 1].sum()), len(scores))
    X, _ = api.read_svmlight(test)[:2]
    assert np.array_equal(api.certified_mask(api.load_model(tmp_path / model), X), scores[:, 1] == 1.0)


def test_several_classes_without_labels_and_in_silence(svm_train, predict, data, tmp_path):
    assert svm_train("-q", "-s", 1, "--gap", "1e-4", data / "digits", "m")[0] == 0
    rows = (data / "digits.t").read_text().splitlines(keepends=True)
    (tmp_path / "t").write_text("".join(row.partition(" ")[2] for row in rows))
    known = predict("--certified", "-q", data / "digits.t", "m", "o")
    assert predict("--certified", "--no-labels", "t", "m", "o") == known
    certain, count = counts(known)
    assert count == len(rows) and 0.5 * count < certain < count


@pytest.mark.parametrize(
    ("options", "rows", "why"),
    [
        ("-s 5", None, "its certificate bounds no decision values: this needs the regulariser 1/2 |w|^2"),
        ("-s 1 -t 2", None, "its certificate bounds no decision values: this needs C-SVC with a linear, polynomial"),
        ("-s 0 -t 2", "1 1:1\n2 1:2\n3 1:3\n", "with a problem for each pair of classes this needs two classes"),
        ("-s 2 --multilabel", SEVERAL, "there is no bound for several labels a row"),
        ("-s 2 --plain-model", None, "the model has no certificate"),
    ],
)
def test_models_without_a_bound(svm_train, predict, data, tmp_path, options, rows, why):
    (tmp_path / "d").write_text(rows or (data / "breast_cancer").read_text())
    assert svm_train("-q", *options.split(), "d", "m")[0] == 0
    assert predict("--certified", "d", "m", "o").startswith(f"m: --certified: {why}")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("text", ["", "nan", "1 2", "x"])
def test_other_programs_models_and_damaged_notes(predict, tmp_path, text):
    (tmp_path / "t").write_text("1 1:1\n")
    (tmp_path / "m").write_text(THEIRS)
    assert predict("--certified", "t", "m", "o") == "m: --certified: the model has no certificate\n"
    (tmp_path / "m").write_text(f"{THEIRS}{RADIUS_NOTE}{text}\n")
    wanted = f"ERROR: the line '{RADIUS_NOTE}' must have 1 numbers of at least 0\ncan't open model file m\n"
    assert predict("--certified", "t", "m", "o") == wanted
    assert predict("t", "m", "o").startswith("Accuracy")  # which does not need it


def test_a_radius_of_infinity_is_read(predict, tmp_path):
    (tmp_path / "t").write_text("1 1:1\n1 1:0\n")
    for text, count in (("inf", 0), ("0", 1), ("0.4", 1), ("0.6", 0)):  # the decision values are 0.5 and 0
        (tmp_path / "m").write_text(f"{THEIRS}{RADIUS_NOTE}{text}\n")
        assert counts(predict("--certified", "t", "m", "o").splitlines()[-1]) == (count, 2)


@pytest.mark.parametrize(("solver", "share"), [(0, ("0.5",)), (2, ())])
def test_training_goes_on_until_the_share_is_certain(svm_train, predict, data, solver, share):
    options = ("-s", solver, "-e", "10", "--max-iter", "1000000")
    status, out, err = svm_train(*options, "--certify-labels", data / "digits.t", *share, data / "digits", "m")
    assert status == 0 and "certify-labels" not in err
    line = out.splitlines()[-1]
    certain, rows = counts(line)
    assert certain >= (float(share[0]) if share else 1.0) * rows
    assert predict("--certified", data / "digits.t", "m", "o").splitlines()[-1] == line


def test_features_that_training_lacks_count_as_in_prediction(svm_train, predict, tmp_path):
    """With few features among very many a run restricts itself to these."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    rows = [f"{1 if x[0] + 0.3 * x[1] > 0 else -1} 7:{x[0]:g} 5000000:{x[1]:g} 9000000:{x[2]:g}\n" for x in X]
    (tmp_path / "d").write_text("".join(rows[:30]))
    (tmp_path / "t").write_text("".join(rows[30:]) + "1 7:1 8:100\n1 9000001:5\n")
    status, out, _ = svm_train("-s", "2", "--certify-labels", "t", "0.9", "d", "m")
    assert status == 0
    assert predict("--certified", "t", "m", "o").splitlines()[-1] == out.splitlines()[-1]
    assert counts(out.splitlines()[-1]) == (11, 12)  # the last row has no feature of the model


def test_labels_that_no_gap_decides_are_reported(svm_train, data, tmp_path):
    (tmp_path / "t").write_text("1 1:0\n1 1:1\n")
    argv = ("-q", "-s", "1", "--certify-labels", "t", data / "breast_cancer", "m")
    status, _, err = svm_train(*argv)
    sentence = "--certify-labels: 50% of the labels of t are certain, not 100%: no smaller gap was reached"
    assert (status, err) == (0, f"WARNING: {sentence}\n")
    assert svm_train("--strict", *argv)[0] == 2
    assert svm_train("-q", "-s", "1", "--certify-labels", "t", "0.5", "--strict", data / "breast_cancer", "m")[0] == 0


def test_a_limit_ends_it(svm_train, data, out_of_time):
    out_of_time()
    status, _, err = svm_train("-q", "-s", "1", "--strict", "--certify-labels", data / "digits.t", data / "digits", "m")
    assert status == 2 and "time limit reached" in err and "not 100%: a limit or Ctrl-C ended the run" in err


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ("--certify-labels t 1.5 d", "--certify-labels: SHARE 1.5: must be a number above 0, at most 1"),
        ("--certify-labels empty d", "--certify-labels: empty holds no rows"),
        ("--certify-labels bad d", "bad"),
        ("--certify-labels t d t", "the model t would overwrite --certify-labels t"),
        ("-s 2 --certify-labels t one", "--certify-labels: its certificate bounds no decision values"),
    ],
)
def test_bad_requests(svm_train, tmp_path, argv, sentence):
    (tmp_path / "t").write_text("1 1:1\n-1 1:-1\n")
    (tmp_path / "d").write_text("1 1:1\n-1 1:-1\n")
    (tmp_path / "one").write_text("")
    (tmp_path / "empty").write_text("")
    (tmp_path / "bad").write_text("1 1:1 x\n")
    status, _, err = svm_train(*argv.split())
    assert status == 1 and sentence in err and "Traceback" not in err
    assert (tmp_path / "t").read_text() == "1 1:1\n-1 1:-1\n"
