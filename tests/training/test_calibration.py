"""svm-train -b 1 and svm-predict -b 1: held-out folds, the commands, real sets, Ctrl-C and time limits."""

from __future__ import annotations

import math
import signal

import numpy as np
import pytest
from engine import engine
from reference import table_of, text_of
from sampling import pairs_in_turn
from test_scores import made

from svmtool import registry
from svmtool.formats.models import linear
from svmtool.formats.svmlight import table as svmlight
from svmtool.models.linear import LOGISTIC_WORDS, sigmoids_of
from svmtool.params import Settings
from svmtool.training import calibration
from svmtool.training.calibration import fit_sigmoid
from svmtool.training.interruption import KEEPS_MODEL
from svmtool.training.linear import train
from svmtool.training.validation import folds

CLASSIFIERS = [row for row in registry.SOLVERS if row.kind in ("classification", "all classes")]
PLATT = [row for row in CLASSIFIERS if row.word not in LOGISTIC_WORDS]
# The folds

@pytest.mark.parametrize(("row", "labels"), pairs_in_turn(PLATT[::5], [(1, -1), (4, 2, 9), (7, 3)]))
def test_values_come_from_models_that_have_not_seen_the_row(row, labels):
    """Fold by fold in a loop, with the decision values of each model for the rows that it was not trained on."""
    X, y = made(labels)
    settings = Settings.of(solver=row.number, bias=1.0)
    model = train(table_of(X, y), settings).model
    order, starts = folds.stratified_folds(y, 5)
    values = np.empty((len(y), model.columns))
    for k in range(5):
        inside, outside = folds.fold_rows(order, starts, k)
        part = train(table_of(X[inside], y[inside]), settings).model
        decisions = part.class_values(part.decision_values(table_of(X[outside], y[outside])))
        if part.columns == 1:
            values[outside] = decisions if part.labels == model.labels else -decisions
        else:
            values[outside] = decisions[:, [part.labels.index(label) for label in model.labels]]
    count = 1 if len(labels) == 2 else len(labels)
    wanted = [fit_sigmoid(values[:, k], y == model.labels[k], np.ones(len(y))) for k in range(count)]
    got = train(table_of(X, y), settings.replace(probability=True))
    assert got.lacking == ""
    assert np.array(sigmoids_of(got.model)) == pytest.approx(np.array(wanted), rel=1e-6, abs=1e-6)
    assert np.array_equal(got.model.W, model.W), "the weights are those without -b"


def test_class_that_a_fold_lacks_is_left_out(svm_train, tmp_path):
    X, y = made((4, 2), n=40)
    y[3] = 9.0  # the only row of its class: only models trained on it have this class
    status, _, err = svm_train("-q", "-s", 2, "-b", 1, "d", "m", data=text_of(X, y))
    assert (status, err) == (0, f"WARNING: class label 9: rough probabilities: {calibration.FEW}\n")
    A, B = sigmoids_of(linear.read(str(tmp_path / "m")))[2]
    order, starts = folds.stratified_folds(y, 5)
    parts = [folds.fold_rows(order, starts, k)[1] for k in range(5)]
    others = sum(len(part) for part in parts if 3 not in part)  # the folds whose models have class 9
    assert 1 / (1 + math.exp(B)) == pytest.approx(1 / (others + 2)) and abs(A) < 1e-6


# The commands


@pytest.mark.parametrize(("row", "labels"), pairs_in_turn(CLASSIFIERS[::3], [(4, 2, 9), (1, -1), (6,), (5, 8)]))
def test_every_classifier_trains_and_predicts_with_probabilities(row, labels, svm_train, tmp_path, capsys):
    from svmtool.cli.predict.command import main

    X, y = made(labels)
    text = text_of(X, y)
    models = []
    for threads in (1, 2):
        status, _, err = svm_train(*engine(row.number), "-b", 1, "--threads", threads, "d", "m", data=text)
        assert (status, err) == (0, "")
        models.append((tmp_path / "m").read_bytes())
    assert models[0] == models[1]
    assert main(["d", "m", "plain"]) == 0 and main(["-b", "1", "d", "m", "o"]) == 0
    capsys.readouterr()
    model = linear.read(str(tmp_path / "m"))
    header, *lines = (tmp_path / "o").read_text().splitlines()
    assert header == " ".join(["labels", *map(str, model.labels)])
    rows = np.array([[float(x) for x in line.split()] for line in lines])
    assert [f"{label:g}" for label in rows[:, 0]] == (tmp_path / "plain").read_text().split(), "labels as without -b"
    assert rows[:, 1:].sum(axis=1) == pytest.approx(np.ones(len(y)), abs=1e-5) and rows[:, 1:].min() >= 0
    if row in PLATT:
        d = model.decision_values(svmlight.read(str(tmp_path / "d")))
        A, B = np.array(sigmoids_of(model)).T
        p = 1 / (1 + np.exp(A * model.class_values(d)[:, : len(A)] + B))
        p = np.column_stack([p, 1 - p]) if len(labels) == 2 else p / p.sum(axis=1, keepdims=True)
        assert rows[:, 1:] == pytest.approx(p, rel=1e-5, abs=1e-12)
        assert model.probabilities(d) == pytest.approx(p, rel=1e-12)
    else:
        assert sigmoids_of(model) == [], "a logistic model gives probabilities of its own"


def test_too_few_rows_give_a_model_without(svm_train, tmp_path):
    few, none = "class label 1 has too few rows to hold some of them out", "at least two rows are needed"
    for text, reason in (("1 1:1\n-1 1:-1\n", few), ("1 1:1\n", none), ("", none)):
        status, _, err = svm_train("-s", 2, "-b", 1, "d", "m", data=text)
        assert status == 0
        assert err.splitlines()[-1] == f"WARNING: m holds no probabilities (-b 1): {reason}"
        assert sigmoids_of(linear.read(str(tmp_path / "m"))) == []
        assert not text or svm_train("-s", 2, "-b", 1, "--strict", "d", "m")[0] == 2


# Ctrl-C and time


def test_ctrl_c_during_calibration_saves_the_model_without(svm_train, tmp_path, monkeypatch):
    X, y = made()
    svm_train("-s", 2, "d", "whole", data=text_of(X, y))
    draw = folds.drawn_folds

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return draw(*arguments)

    monkeypatch.setattr(folds, "drawn_folds", interrupted)
    status, _, err = svm_train("-s", 2, "-b", 1, "d", "m")
    assert (status, err) == (130, f"{KEEPS_MODEL}\nWARNING: m holds no probabilities (-b 1): interrupted\n")
    whole, kept = (linear.read(str(tmp_path / name)) for name in ("whole", "m"))
    assert np.array_equal(whole.W, kept.W) and sigmoids_of(kept) == []


def test_time_limit_covers_the_folds(svm_train, out_of_time, tmp_path):
    out_of_time()
    status, _, err = svm_train("-s", 2, "-b", 1, "--strict", "d", "m", data=text_of(*made()))
    assert status == 2 and sigmoids_of(linear.read(str(tmp_path / "m"))) == []
    assert "WARNING: m holds no probabilities (-b 1): time limit reached: raise --max-seconds\n" in err
