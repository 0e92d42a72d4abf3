"""Several labels a row: files, training, thresholds, pruning, predictions and measures."""

from __future__ import annotations

import sys
import tempfile

import numpy as np
import pytest
from sampling import pairs_in_turn
from scipy import sparse
from sklearn.metrics import f1_score

import svmtool
from svmtool import liblinearutil
from svmtool.cli.predict import command as predict
from svmtool.compiled.loops.text.text_loops import SETS
from svmtool.errors import DataError
from svmtool.formats.models import read
from svmtool.formats.svmlight import table as svmlight
from svmtool.models import weights

TEXT = b"# head\n1,5,7 3:1 9:0.2 # name\n 3:1\n\n2:4 3:5\n5\n1 qid:3 1:2\n-1,1,-1\n"
SETS_OF_TEXT = [{1, 5, 7}, set(), set(), {5}, {1}, {-1, 1}]


def problem(n=240, d=12, labels=6, seed=0):
    """Rows X and the matrix of their labels, of which some rows have none."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 3)
    return X, (X @ rng.normal(size=(d, labels)) + 0.5 * rng.normal(size=(n, labels)) > 1.5).astype(int)


def lines_of(X, Y, first=1):
    return "\n".join(
        ",".join(str(first + k) for k in np.flatnonzero(y)) + " " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x))
        for x, y in zip(X, Y, strict=True)
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The working folder with training rows d and test rows t of `problem`, labels from 1 on."""
    monkeypatch.chdir(tmp_path)
    X, Y = problem()
    (tmp_path / "d").write_text(lines_of(X[:160], Y[:160]) + "\n")
    (tmp_path / "t").write_text(lines_of(X[160:], Y[160:]) + "\n")
    return tmp_path


def sets(found):
    return [set(found.labels[a:z].tolist()) for a, z in zip(found.indptr[:-1], found.indptr[1:], strict=True)]


@pytest.mark.parametrize("chunk", [16, 40, 1 << 20])
def test_files_with_sets(files, chunk):
    (files / "a").write_bytes(TEXT)
    with svmlight.open_source("a") as source:
        found = svmlight.joined(list(svmlight.raw_tables(source, chunk, form=SETS)))
    assert sets(found.sets) == SETS_OF_TEXT and found.n_features == 9
    assert found.indptr.tolist() == [0, 2, 3, 5, 5, 6, 6] and found.values.tolist() == [1.0, 0.2, 1.0, 4.0, 5.0, 2.0]
    assert sets(svmlight.read("a", form=SETS).sets) == SETS_OF_TEXT
    (files / "b").write_bytes(b"1 1:1\n3 2:1\n")
    assert sets(svmlight.read("b", form=SETS).sets) == [{1}, {3}]


@pytest.mark.parametrize("label", [b"1,x", b"1,,2", b"1,2.5", b"1;2", b"1,nan", b"2147483648,1"])
def test_sets_of_anything_else_are_refused(files, label, svm_train):
    (files / "a").write_bytes(b"# c\n2147483647,-2147483647 1:1\n" + label + b" 1:1\n")
    with pytest.raises(DataError, match="whole numbers of 32 bits, separated by commas") as caught:
        svmlight.read("a", form=SETS)
    assert caught.value.line == 3 and caught.value.token == label.decode()
    assert svm_train("-q", "--multilabel", "a")[0] == 1


def test_a_comma_says_how_to_train(files, svm_train):
    assert "1,5,7: " not in svm_train("-q", "d", "m")[2] and "svm-train --multilabel" in svm_train("-q", "d", "m")[2]
    (files / "c").write_text("1,2,3\n")
    assert "this looks like CSV" in svm_train("-q", "c", "m")[2]


@pytest.mark.parametrize(("solver", "labels"), pairs_in_turn([0, 1, 3, 6], [1, 2, 5]))
def test_each_label_is_the_problem_of_its_rows(solver, labels):
    X, Y = problem(labels=max(labels, 2))
    done = svmtool.fit(X, sparse.csr_matrix(Y[:, :labels]), solver, gap=1e-7, bias=1.0)
    assert done.converged and done.model.labels == tuple(range(labels)) and (labels == 1 or done.alpha is None)
    for k in range(labels):
        alone = svmtool.fit(X, np.where(Y[:, k], 1, -1), solver, gap=1e-7, bias=1.0)
        sign = 1 if alone.model.labels[0] == 1 else -1
        assert np.allclose(done.model.W[:, k], sign * alone.model.W[:, 0], atol=2e-3)
    found = svmtool.predict(done, X)
    assert found.shape == (len(X), labels) and np.array_equal(found.toarray(), svmtool.decision_values(done, X) > 0)
    again = svmtool.loads(svmtool.dumps(done))
    assert np.array_equal(svmtool.predict(again, X).toarray(), found.toarray())


def measured(capsys, *argv):
    assert predict.main(list(argv)) == 0
    out = capsys.readouterr().out
    return {name: float(rest.split("%")[0]) for name, rest in (line.split(" = ") for line in out.splitlines())}


@pytest.mark.parametrize("model", ["m", "m.npz"])
def test_predictions_and_measures(files, svm_train, capsys, model):
    X, Y = problem()
    assert svm_train("-q", "--multilabel", "d", model) == (0, "", "")
    found = measured(capsys, "--metrics", "--scores", "s", "t", model, "o")
    values, true = np.loadtxt("s"), Y[160:] > 0
    lines = [line.split(",") for line in (files / "o").read_text().split("\n")[:-1]]
    given = np.array([[str(k + 1) in line for k in range(6)] for line in lines])
    assert np.array_equal(given, values > 0) and np.allclose(values, svmtool.decision_values(read(model), X[160:]))
    assert np.isclose(found["Exact matches"], 100 * (given == true).all(axis=1).mean())
    assert np.isclose(found["Micro F1"], 100 * f1_score(true, given, average="micro"), atol=1e-3)
    assert np.isclose(found["Macro F1"], 100 * f1_score(true, given, average="macro"), atol=1e-3)
    for at in (1, 3, 5):
        best = np.argsort(-values, axis=1)[:, :at]
        share = 100 * np.take_along_axis(true, best, axis=1).mean()
        assert np.isclose(found[f"Precision at {at}"], share, atol=1e-3)
    measured(capsys, "--top", "2", "t", model, "o")
    best = [{str(k + 1) for k in row} for row in np.argsort(-values, axis=1)[:, :2]]
    assert [set(line.split(",")) for line in (files / "o").read_text().split()] == best


def test_labels_that_the_model_lacks_count_as_missed(files, svm_train, capsys):
    svm_train("-q", "--multilabel", "d", "m")
    for label in ("9", "1.5", "1e300"):
        (files / "u").write_text(f"{label} 1:1\n{label} 1:1\n")
        assert predict.main(["--metrics", "u", "m", "o"]) == 0
        out, err = capsys.readouterr()
        assert "Exact matches = 0% (0/2)" in out and "1 label that the model lacks" in err


def test_thresholds_of_folds(files, svm_train, capsys):
    assert svm_train("-q", "--multilabel", "--thresholds", "cv", "d", "m")[0] == 0
    svm_train("-q", "--multilabel", "d", "n")
    chosen = read("m").thresholds
    assert chosen.shape == (6,) and not np.any(chosen == 0.0) and not read("n").thresholds.any()
    found, plain = (measured(capsys, "--metrics", "t", model, "o") for model in ("m", "n"))
    assert found["Precision at 1"] == plain["Precision at 1"] and found["Macro F1"] != plain["Macro F1"]
    done = svmtool.fit(*svmtool_rows("d"), thresholds="cv")
    assert np.array_equal(done.model.thresholds, chosen)


def svmtool_rows(name):
    """X and the matrix of labels 1, .. of a file of `problem`."""
    X, Y = svmtool.read_svmlight(name, multilabel=True)
    return X, Y[:, 1:]


@pytest.mark.parametrize(("kind", "solver"), [("sets", 1), ("classes", 3)])
def test_pruning_moves_no_score_by_more(kind, solver):
    rng = np.random.default_rng(3)
    X, Y = problem(400, 60)
    X = X * rng.random(60) ** 4
    y = Y if kind == "sets" else Y.argmax(axis=1)
    whole, pruned = (svmtool.fit(X, y, solver, eps=1e-3, bias=-1.0, prune=eps) for eps in (None, 0.05))
    gone = (whole.model.W != 0) & (pruned.model.W == 0)
    assert gone.sum() >= 3 and np.array_equal(whole.model.W[~gone], pruned.model.W[~gone])
    moved = np.abs(svmtool.decision_values(whole, X) - svmtool.decision_values(pruned, X))
    assert 0.005 < moved.max() <= 0.05 * (1 + 1e-12)
    assert pruned.certificate.gap >= whole.certificate.gap and pruned.certificate.primal >= whole.certificate.primal
    signs = [np.where(Y[:, k] if kind == "sets" else y == k, 1.0, -1.0) for k in pruned.model.labels]
    margins = np.column_stack(signs) * (X @ pruned.model.W)
    value = 0.5 * np.sum(pruned.model.W**2) + (np.maximum(0.0, 1.0 - margins) ** (2 if solver == 1 else 1)).sum()
    assert np.isclose(value, pruned.certificate.primal)


def test_search_by_f1(files, svm_train):
    status, out, _ = svm_train("-q", "--multilabel", "-C", "-v", 3, "-c", 128, "d")
    best = svmtool.search_C(*svmtool_rows("d"), folds=3, C=128).best
    assert status == 0 and f"Best C = {best.C:g}  CV micro F1 = {100 * best.score:g}%" in out


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda X, Y: svmtool.fit(X, 2 * Y), "must mark the labels"),
        (lambda X, Y: svmtool.fit(X, Y, kernel="rbf"), "has no sets of labels"),
        (lambda X, Y: svmtool.fit(X, Y, probability=True), "no probability"),
        (lambda X, Y: svmtool.fit(X, Y[:, 0], thresholds="cv"), "thresholds is for sets"),
        (lambda X, Y: svmtool.cross_validate(X, Y, metrics="accuracy"), "micro-f1 and macro-f1, not 'accuracy'"),
        (lambda X, Y: svmtool.search_C(X, Y, score="f1"), "micro F1"),
        (lambda X, Y: svmtool.probabilities(svmtool.fit(X, Y, 0), X), "no probabilities"),
        (lambda X, Y: svmtool.export(svmtool.fit(X, Y), "m.c"), "has no form in C"),
    ],
)
def test_what_functions_refuse(files, call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(*problem())


def test_validation_predicts_rows_by_models_that_have_not_seen_them(files, svm_train):
    X, Y = (part[:160] for part in problem())

    def own(y, predictions):
        return f1_score(y, predictions, average="micro")

    asked = {"solver": 1, "gap": 1e-9, "folds": 4, "metrics": ["micro-f1", "macro-f1", own]}
    found = svmtool.cross_validate(X, sparse.csr_matrix(Y), groups=np.arange(160) // 8, **asked)
    for k in range(4):
        done, out = svmtool.fit(X[found.fold != k], Y[found.fold != k], solver=1, gap=1e-9), found.fold == k
        assert np.array_equal(svmtool.predict(done, X[out]).toarray(), found.predictions[out].toarray())
    for name, average in (("micro-f1", "micro"), ("macro-f1", "macro"), ("own", "micro")):
        wanted = f1_score(Y, found.predictions.toarray(), average=average)
        assert found.metrics[name] == pytest.approx(wanted, rel=1e-12)
    found = svmtool.cross_validate(X, Y, solver=1, folds=4, metrics=["micro-f1", "macro-f1"])
    printed = svm_train("-q", "-s", 1, "--multilabel", "-v", 4, "d")[1]
    assert [line.split()[-1] for line in printed.splitlines()] == [f"{100 * v:g}%" for v in found.metrics.values()]


def test_damaged_thresholds(files, svm_train, capsys):
    svm_train("-q", "--multilabel", "d", "m")
    text = (files / "m").read_text()
    for numbers in ("1 2", "1 2 3 4 5 x", "1 2 3 4 5 nan"):
        (files / "m").write_text(f"{text}# Thresholds: {numbers}\n")
        assert predict.main(["t", "m", "o"]) == 1
        assert "must have 6 numbers" in capsys.readouterr().err and not (files / "o").exists()


def test_files_of_sets_from_python(files):
    X, Y = svmtool.read_svmlight("d", multilabel=True)
    _, true = problem()
    assert np.array_equal(Y.toarray()[:, 1:], true[:160]) and X.shape == (160, 12)
    assert svmtool.predict(svmtool.fit(X, Y), X).shape == Y.shape
    (files / "n").write_text("-1,2 1:1\n")
    with pytest.raises(ValueError, match="label -1 has no column"):
        svmtool.read_svmlight("n", multilabel=True)
    (files / "e").write_text("")
    assert svmtool.read_svmlight("e", multilabel=True)[1].shape == (0, 0)


def test_models_without_zeros_are_starts_and_have_coefficients(files, svm_train, monkeypatch):
    X, Y = problem()
    y = Y.argmax(axis=1)
    done = svmtool.fit(X, y)
    svm_train("-q", "--multilabel", "d", "whole")
    monkeypatch.setattr(weights, "PACKED_FROM", 1)
    svmtool.save_model(done, "c.npz")
    found = svmtool.load_model("c.npz")
    assert isinstance(found.W, weights.SparseWeights)
    assert all(svmtool.fit(X, y, solver, init=found).converged for solver in (1, 4))
    assert liblinearutil.load_model("c.npz").get_decfun_coef(1, 0) == done.model.W[0, 0]
    svm_train("-q", "--multilabel", "d", "m.npz")
    assert np.array_equal(read("m.npz").W[:], read("whole").W[:])
    assert svm_train("-q", "--multilabel", "-i", "m.npz", "d", "n") == (0, "", "")
    assert "rows with one label each" in svm_train("-q", "--multilabel", "-i", "c.npz", "d", "n")[2]
    svmtool.write_svmlight(X, y, "y")
    assert "rows with several labels each" in svm_train("-q", "-i", "m.npz", "y", "n")[2]


@pytest.mark.parametrize("full", [False, *[True] * (sys.platform == "linux")])
def test_weights_that_wait_in_a_file_are_the_same(files, svm_train, monkeypatch, full):
    """Where the file has no space, they stay in memory."""
    for name in ("whole", "whole.npz"):
        svm_train("-q", "--multilabel", "d", name)
    monkeypatch.setattr(weights, "PACKED_FROM", 1)
    monkeypatch.setattr(weights, "STORED_FROM", 1)
    if full:
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda prefix: open("/dev/full", "r+b"))
    for name in ("whole", "whole.npz"):
        assert svm_train("-q", "--multilabel", "d", "stored" + name) == (0, "", "")
        assert np.array_equal(read("stored" + name).W[:], read(name).W[:])


def test_a_limit_in_the_folds_leaves_the_model_without_thresholds(files):
    done = svmtool.fit(*svmtool_rows("d"), thresholds="cv", max_seconds=1e-6)
    assert any("no thresholds" in text for text in done.warnings) and not done.model.thresholds.any()


def test_what_pruning_costs_is_said(files, svm_train):
    status, _, err = svm_train("-q", "--multilabel", "--strict", "--prune", 1.5, "d", "m")
    assert status == 2 and "without the weights that --prune leaves out the certified relative gap is" in err
    assert any("--prune 1.5" in note for note in read("m").notes)
    assert "# Stopped: weights were left out (--prune), which the certified gap includes" in read("m").notes
    assert svm_train("-q", "--multilabel", "--strict", "--prune", 1e-3, "d", "m") == (0, "", "")
    for call in (svmtool.search_C, svmtool.cross_validate):
        with pytest.raises(ValueError, match="prune is of one model"):
            call(*problem(), prune=0.1)


def test_rows_without_any_label_are_no_problem(files, svm_train):
    (files / "n").write_text(" 1:1\n 2:1\n")
    status, _, err = svm_train("-q", "--multilabel", "n", "m")
    assert status == 1 and "no row has a label" in err and not (files / "m").exists()
    (files / "n").write_text("1,2 1:1\n")
    assert "at least two rows" in svm_train("-q", "--multilabel", "--thresholds", "cv", "n", "m")[2]
    with pytest.raises(ValueError, match="no row has a label"):
        svmtool.fit(np.eye(3), np.zeros((3, 2), int))
