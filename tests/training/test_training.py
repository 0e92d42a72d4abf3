"""svm-train from file to model: classes, costs, weights, warm starts, float32 values and reproducible bytes."""

from __future__ import annotations

import json
import os
import re
import subprocess

import numpy as np
import pytest
from engine import engine
from optima import Problem, minimiser
from reference import random_rows, table_of, text_of
from sampling import pairs_in_turn
from solver_suite import TWO_CLASS

import svmtool
from svmtool import registry
from svmtool.formats.models import linear
from svmtool.inspection.facts import certificate_of
from svmtool.params import Settings
from svmtool.training.linear import train

NUMBERS = [row.number for row in TWO_CLASS]


def posed(number: int, p: Problem) -> Problem:
    """The problem with the loss and the regulariser of this -s; --loss-power at its default."""
    row = registry.find(number)
    return p._replace(loss=row.loss, power=2.0, l1=row.regulariser == "|w|_1")


OPTIMAL_GAP = Settings.of(solver=40, gap=1e-12)


def made(seed: int, labels: list[int], n: int = 80, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose class shows in them, with noise; labels appear in the order given."""
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    number = np.argmax(X @ rng.normal(size=(d, len(labels))) + 0.5 * rng.normal(size=(n, len(labels))), axis=1)
    number[: len(labels)] = np.arange(len(labels))
    return X, np.array(labels, dtype=float)[number]


def model(path="m") -> linear.LinearModel:
    return linear.read(str(path))


@pytest.mark.parametrize(
    "labels, wanted",
    [([1, -1], (1, -1)), ([-1, 1], (1, -1)), ([0, 1], (0, 1)), ([-1, 2], (-1, 2)), ([3, 1, 2], (3, 1, 2)), ([7], (7,)),
     (list(range(33, 0, -1)), tuple(range(33, 0, -1)))],
    ids=str,
)  # fmt: skip
def test_labels_in_liblinears_order(labels, wanted):
    X, y = made(1, labels)
    done = train(table_of(X, y), OPTIMAL_GAP)
    assert done.model.labels == wanted
    assert done.model.columns == (1 if len(wanted) == 2 else len(wanted))
    share = np.mean(done.model.predict(table_of(X, y)) == y)
    assert share >= (1.0 if len(wanted) == 1 else 0.7 if len(wanted) < 4 else 0.3)


@pytest.mark.parametrize("number", NUMBERS[::3])
def test_weights_of_classes(number):
    """One against the rest has them for the positives only, two classes on both sides."""
    X, y = made(2, [3, 1, 2])
    settings = OPTIMAL_GAP.replace(solver=number, C=2.0, class_weights=((1, 5.0), (2, 0.25), (2, 2.0)), bias=1.0)
    done = train(table_of(X, y), settings)
    for k, (label, factor) in enumerate([(3, 1.0), (1, 5.0), (2, 0.5)]):
        cost = np.where(y == label, 2.0 * factor, 2.0)
        w = minimiser(posed(number, Problem(X, np.where(y == label, 1.0, -1.0), cost, 1.0)))
        np.testing.assert_allclose(done.model.W[:, k], w, atol=1e-5)
    X, y = made(3, [-1, 1])
    done = train(table_of(X, y), OPTIMAL_GAP.replace(solver=number, class_weights=((1, 3.0), (-1, 0.2))))
    w = minimiser(posed(number, Problem(X, y, np.where(y > 0, 3.0, 0.2))))
    np.testing.assert_allclose(done.model.W[:, 0], w, atol=1e-5)


@pytest.mark.parametrize("text", ["1", "1 1 1", "1 x", "1 nan", "1 inf", ""])
def test_faulty_weight_files_are_refused(text, svm_train, tmp_path):
    (tmp_path / "w").write_text(text)
    status, out, err = svm_train("-W", "w", "d", "m", data="1 1:1\n-1 1:2\n")
    assert (status, out, err.count("\n")) == (1, "", 1) and err.startswith("w: ")
    assert not os.path.exists("m")


@pytest.mark.parametrize(("number", "bias"), pairs_in_turn([0, 2, 5, 30, 40], [-1, 1]))
def test_warm_start_of_the_same_rows_in_another_order_of_labels(number, bias, svm_train, tmp_path):
    X, y = made(7, [4, 2, 7])
    common = [*engine(number), "-B", bias, "--gap", "1e-7"]
    assert svm_train(*common, "d", "first", data=text_of(X, y))[0] == 0
    assert svm_train(*common, "-i", "first", "--solver-log", "log", "d", "m", data=text_of(X[::-1], y[::-1]))[0] == 0
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    for label in {record["label"] for record in log}:
        values = [record["objective"] for record in log if record["label"] == label]
        assert values[0] <= values[-1] * (1 + 2e-7), "the start was the answer"
    for k, label in enumerate(model("m").labels):
        column = model("first").labels.index(label)
        np.testing.assert_allclose(model("m").W[:, k], model("first").W[:, column], atol=1e-2)


@pytest.mark.parametrize("number", [1, 2])
def test_a_run_from_its_own_result_keeps_what_the_rule_of_e_found(number, svm_train, tmp_path):
    """No slow method solves again what LIBLINEAR's rule ends slightly above the start; wide rows of words."""
    rng = np.random.default_rng(3)
    words = [np.unique(rng.zipf(1.3, 60) % 3000) for _ in range(600)]
    y = np.array([(w % 7 == 0).sum() > (w % 7 == 3).sum() for w in words], int)
    text = "".join(
        f"{y[i]} " + " ".join(f"{j + 1}:{1 / np.sqrt(len(w)):.4f}" for j in w) + "\n" for i, w in enumerate(words)
    )
    assert svm_train("-q", "-s", number, "d", "m0", data=text)[0] == 0
    for k in range(2):
        status, _, err = svm_train("-q", "-s", number, "-i", f"m{k}", "--solver-log", "log", "d", f"m{k + 1}")
        assert (status, err) == (0, "")
        first, again = (certificate_of(model(f"m{j}"))[1] for j in (k, k + 1))
        primal, other = (float(re.search("primal ([^,]*),", text)[1]) for text in (first, again))
        assert other <= primal * (1 + 1e-8), (first, again)
        assert "# Stopped: the stopping rule of -e holds" in model(f"m{k + 1}").notes
        assert "epochs of coordinate descent" in (tmp_path / "log").read_text()


def test_warm_start_of_two_classes_named_the_other_way_round(svm_train):
    X, y = made(7, [5, 3])
    assert svm_train("-q", "-s", 2, "--gap", "1e-7", "d", "first", data=text_of(X, y))[0] == 0
    back = np.argsort(y, kind="stable")  # now 3 comes first and counts as +1
    asked = ("-q", "-s", 2, "--gap", "1e-6", "-i", "first", "d", "m")
    assert svm_train(*asked, data=text_of(X[back], y[back]))[0] == 0
    assert model("m").labels == (3, 5) and np.array_equal(model("m").W[:], -model("first").W[:])


@pytest.mark.parametrize(("bias", "kept"), [(-1, 3), (1, 9)])
def test_warm_start_from_another_number_of_features(kept, bias, svm_train):
    X, y = made(8, [1, 2, 3], d=6)
    other = np.hstack([X, X[:, :3] ** 2])[:, :kept]
    common = ["-q", "-s", 2, "-B", bias, "--gap", "1e-12"]
    assert svm_train(*common, "d", "first", data=text_of(other, y))[0] == 0
    assert svm_train(*common, "-i", "first", "d", "m", data=text_of(X, y)) == (0, "", "")
    assert svm_train(*common, "d", "cold")[0] == 0
    np.testing.assert_allclose(model("m").W, model("cold").W, atol=1e-6)


@pytest.mark.parametrize(
    "labels, first, second, part",
    [([1, -1], [], ["-B", 1], "bias"), ([1, -1], ["-B", 1], [], "bias"), ([1, 2], [], [], "labels"),
     ([1, -1, 0], [], [], "labels"), ([1], [], [], "labels")],
    ids=str,
)  # fmt: skip
def test_warm_start_from_another_problem_is_refused(labels, first, second, part, svm_train):
    assert svm_train("-q", *first, "d", "first", data=text_of(*made(9, labels)))[0] == 0
    status, out, err = svm_train(*second, "-i", "first", "d", "m", data=text_of(*made(9, [1, -1])))
    assert (status, out, err.count("\n")) == (1, "", 1) and part in err
    assert not os.path.exists("m")


def test_same_bytes_for_any_number_of_threads(svm_train, data, tmp_path):
    found = set()
    for count in (1, 3):
        done = svm_train("-s", 2, "-B", 1, "--threads", count, data / "digits", "m")
        found.add((*done, (tmp_path / "m").read_bytes()))
    assert len(found) == 1


@pytest.mark.parametrize(("number", "labels"), pairs_in_turn(NUMBERS, [[1, -1], [-1, 1], [3, 1, 2], [6]]))
def test_liblinears_predict_reads_our_models(number, labels, reference, svm_train, tmp_path, capsys):
    from svmtool.cli.predict.command import main as predict

    X, y = made(14, labels)
    assert svm_train("-q", *engine(number), "-B", 1, "d", "m", data=text_of(X, y)) == (0, "", "")
    done = subprocess.run([reference["predict"], "d", "m", "theirs"], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert predict(["d", "m", "ours"]) == 0
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()
    assert capsys.readouterr().out == done.stdout.decode()


@pytest.mark.parametrize("number", [number for number in NUMBERS if number < 30])
def test_never_worse_than_liblinear(number, reference, svm_train, tmp_path):
    """At the default -e of each of LIBLINEAR's numbers our objective is not above its own."""
    X, y = made(15, [1, -1], n=200, d=10)
    for C in (0.01, 1, 100):
        assert svm_train("-q", *engine(number), "-c", C, "d", "m", data=text_of(X, y)) == (0, "", "")
        call = [reference["train"], "-q", "-s", str(number), "-c", str(C), "d", "theirs"]
        subprocess.run(call, cwd=tmp_path, check=True, timeout=60)
        value = posed(number, Problem(X, y, np.full(200, float(C)))).value
        assert value(model("m").W[:, 0]) <= value(model("theirs").W[:, 0]) * (1 + (1e-12 if number in (1, 2) else 1e-6))


def test_data_from_standard_input_and_model_on_standard_output(command, svm_train, tmp_path):
    data = text_of(*made(16, [1, -1]))
    done = command("train", "-q", "-", "-", input=data.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert svm_train("-q", "d", "m2", data=data)[0] == 0
    assert done.stdout == (tmp_path / "m2").read_bytes()


def test_values_float32_is_the_problem_of_the_rounded_values(svm_train, tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 6)), np.where(rng.random(80) < 0.5, 1, -1)
    options = ["-q", "-s", "2", "--gap", "1e-12"]
    status, _, err = svm_train(*options, "--values", "float32", "d", "single", data=text_of(X, y))
    assert status == 0 and not err
    here = svmtool.load_model(tmp_path / "single")
    there = svmtool.fit(X.astype(np.float32).astype(np.float64), y, solver=2, gap=1e-12).model
    assert np.allclose(here.W, there.W, rtol=1e-9, atol=0.0)
    assert not np.allclose(here.W, svmtool.fit(X, y, solver=2, gap=1e-12).model.W, rtol=1e-9, atol=0.0)
