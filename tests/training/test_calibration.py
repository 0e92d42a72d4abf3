"""svm-train -b 1 and svm-predict -b 1: held-out folds, the commands, real sets, Ctrl-C and time limits."""

from __future__ import annotations

import math
import signal
import subprocess
import time

import numpy as np
import pytest
from engine import engine
from reference import random_rows, table_of, text_of
from sampling import pairs_in_turn
from test_odd_data import ODD

from svmtool import registry
from svmtool.formats.models import linear
from svmtool.formats.svmlight import table as svmlight
from svmtool.models.linear import LOGISTIC_WORDS, LinearModel, sigmoids_of
from svmtool.params import Settings
from svmtool.solvers.shared.base import StopFlag
from svmtool.training import calibration
from svmtool.training.calibration import NotCalibratedError, fit_sigmoid
from svmtool.training.interruption import KEEPS_MODEL
from svmtool.training.linear import train
from svmtool.training.validation import cross_validation, folds

CLASSIFIERS = [row for row in registry.SOLVERS if row.kind in ("classification", "all classes")]
PLATT = [row for row in CLASSIFIERS if row.word not in LOGISTIC_WORDS]
OTHERS = [row for row in registry.SOLVERS if row not in CLASSIFIERS]


# The folds


def calibrate(table, settings, labels, stop=None):
    return cross_validation.calibrate(table, settings, labels, stop or StopFlag())


def made(labels=(1, -1), n: int = 90, d: int = 5, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    number = np.argmax(X @ rng.normal(size=(d, len(labels))) + rng.normal(size=(n, len(labels))), axis=1)
    return X, np.array(labels, dtype=float)[number]


@pytest.mark.parametrize(("row", "labels"), pairs_in_turn(PLATT, [(1, -1), (4, 2, 9), (7, 3)]))
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


def test_row_weights_count_and_rows_of_weight_zero_take_no_part():
    X, y = made(n=100)
    table, half = table_of(X, y), np.repeat((2.0, 0.0), 50)
    settings = Settings.of(solver=2)
    weighted = calibrate(table.replace(weights=half), settings, (1, -1))
    alone = calibrate(table_of(X[:50], y[:50], np.full(50, 2.0)), settings, (1, -1))
    assert weighted == alone
    assert weighted != calibrate(table_of(X[:50], y[:50]), settings.replace(C=2.0), (1, -1)), "they count twice"


def test_class_that_a_fold_lacks_is_left_out():
    X, y = made((4, 2), n=40)
    y[3] = 9.0  # the only row of its class: only models trained on it have this class
    settings = Settings.of(solver=2)
    labels = train(table_of(X, y), settings).model.labels
    found = calibrate(table_of(X, y), settings, labels)
    assert found.warnings == [f"WARNING: class label 9: rough probabilities: {calibration.FEW}"]
    sigmoids = dict(zip(labels, found.pairs, strict=True))
    A, B = sigmoids[9]
    order, starts = folds.stratified_folds(y, 5)
    parts = [folds.fold_rows(order, starts, k)[1] for k in range(5)]
    others = sum(len(part) for part in parts if 3 not in part)  # the folds whose models have class 9
    assert 1 / (1 + math.exp(B)) == pytest.approx(1 / (others + 2)) and abs(A) < 1e-6


def test_classes_trained_as_one_are_measured_against_the_best_other():
    d = np.array([[1.0, 3.0, 2.5], [0.0, 0.0, -1.0]])
    joint = LinearModel("MCSVM_CS", (4, 2, 9), 1, -1.0, np.zeros((1, 3)))
    assert joint.class_values(d).tolist() == [[-2.0, 0.5, -0.5], [0.0, 0.0, -1.0]]
    assert LinearModel("L2R_L2LOSS_SVC", (4, 2, 9), 1, -1.0, np.zeros((1, 3))).class_values(d) is d


def test_decision_values_of_other_labels():
    model = LinearModel("L2R_L2LOSS_SVC", (2, 4), 1, -1.0, [[1.0]])
    d = np.array([[0.5], [-2.0]])
    assert calibration.by_label(model, d, (4, 2)).tolist() == [[-0.5], [2.0]]
    found = calibration.by_label(model, d, (4, 9, 2))
    assert found[:, [0, 2]].tolist() == [[-0.5, 0.5], [2.0, -2.0]] and np.isnan(found[:, 1]).all()
    alone = LinearModel("L2R_L2LOSS_SVC", (2,), 1, -1.0, [[1.0]])
    assert np.isnan(calibration.by_label(alone, d, (2, 4))).all()
    assert calibration.by_label(alone, d, (2,)).tolist() == d.tolist()


@pytest.mark.parametrize("change", [{}, {"seed": 5}, {"max_iter": 1}, {"class_weights": ((1, 3.0),)}], ids=str)
def test_settings_reach_the_folds(change):
    X, y = made(n=60)
    plain = Settings.of(solver=40)
    usual = calibrate(table_of(X, y), plain, (1, -1))
    assert (calibrate(table_of(X, y), plain.replace(**change), (1, -1)) == usual) == (change == {})


# The commands


@pytest.mark.parametrize(("row", "labels"), pairs_in_turn(CLASSIFIERS, [(4, 2, 9), (1, -1), (6,), (5, 8)], 2))
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


@pytest.mark.parametrize("solver", [row.number for row in PLATT if row.number < 30] or [40])
def test_reference_reads_models_with_sigmoids(solver, reference, command, data, tmp_path):
    assert command("train", "-q", "-b", 1, "-s", solver, data / "digits", "m").returncode == 0
    theirs = subprocess.run([reference["predict"], data / "digits.t", "m", "o1"], cwd=tmp_path, capture_output=True)
    ours = command("predict", data / "digits.t", "m", "o2")
    assert (theirs.returncode, theirs.stdout) == (0, ours.stdout)
    assert (tmp_path / "o1").read_bytes() == (tmp_path / "o2").read_bytes()


def log_loss(p: np.ndarray) -> float:
    return float(-np.mean(np.log(p)))


def sets_of_classifiers():
    """Both sets for each classifier; in a commit every other one has the larger set."""
    for k, row in enumerate(CLASSIFIERS):
        yield pytest.param(row, "breast_cancer", id=f"{row.name}-breast_cancer")
        yield pytest.param(row, "digits", id=f"{row.name}-digits", marks=[pytest.mark.exhaustive] * (k % 2))


@pytest.mark.parametrize(("row", "name"), list(sets_of_classifiers()))
def test_probabilities_of_unseen_rows_tell_more_than_the_base_rate(row, name, data):
    """And sigmoids are calibrated: where they say p, about a share p of the rows is right."""
    whole = (svmlight.read(str(data / file)) for file in (name, name + ".t"))
    train_set, test_set = (table.take(np.flatnonzero(table.labels <= 4)) for table in whole)  # five of the ten digits
    train_y = np.array(train_set.labels)
    largest = np.zeros(train_set.n_features)
    np.maximum.at(largest, train_set.indices, np.abs(train_set.values))
    for table in (train_set, test_set):
        table.values /= np.maximum(largest, 1e-300)[table.indices]
    settings = Settings.of(solver=row.number, bias=1.0, probability=True)
    model = train(train_set, settings).model
    p = model.probabilities(model.decision_values(test_set))
    place = np.array([model.labels.index(int(label)) for label in test_set.labels])
    base = np.array([np.mean(train_y == label) for label in model.labels])
    assert log_loss(p[np.arange(len(p)), place]) < 0.35 * log_loss(base[place])
    hit, said = p.argmax(axis=1) == place, p.max(axis=1)
    if row not in PLATT and len(model.labels) > 2:  # LIBLINEAR's rule: one logistic model a class, over their sum
        return
    if not row.optimal:  # the models of the folds, which sigmoids are fitted to, may differ much from that of all rows
        return
    error = abs(hit.mean() - said.mean())
    assert error < 4 * math.sqrt(np.mean(said * (1 - said)) / len(p)) + 0.02, "as sure as it is right"


def test_cross_validation_does_not_change(svm_train):
    X, y = made()
    data = text_of(X, y)
    assert svm_train("-s", 2, "-v", 4, "-b", 1, "d", data=data) == svm_train("-s", 2, "-v", 4, "d", data=data)


def test_warm_start_moves_the_sigmoids_no_further_than_the_weights(svm_train, tmp_path):
    """Folds start from nothing, so that they are the same with -i."""
    X, y = made()
    svm_train("-s", 2, "-c", 4, "d", "first", data=text_of(X, y))
    assert (
        svm_train("-s", 2, "-b", 1, "d", "cold")[0] == svm_train("-s", 2, "-b", 1, "-i", "first", "d", "warm")[0] == 0
    )
    cold, warm = (sigmoids_of(linear.read(str(tmp_path / name))) for name in ("cold", "warm"))
    assert cold == warm
    assert svm_train("-s", 2, "-i", "cold", "d", "plain")[0] == 0
    assert sigmoids_of(linear.read(str(tmp_path / "plain"))) == [], "they are not handed on"


@pytest.mark.parametrize("row", OTHERS, ids=lambda row: row.name)
def test_other_tasks_are_refused(row, svm_train, tmp_path):
    able = registry.in_words(CLASSIFIERS)
    printed = registry.default_method(row.number) == "paper"
    for words, argv in {" --method paper" * printed: ("-s", row.number), "": engine(row.number)}.items():
        status, out, err = svm_train(*argv, "-b", 1, "d", "m", data="1 1:1\n-1 1:-1\n")
        assert (status, out) == (1, "")
        assert err == f"ERROR: solver {row.number} ({row.name}){words} does not support --probability: use -s {able}\n"
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "text, reason",
    [
        ("1 1:1\n-1 1:-1\n", "class label 1 has too few rows to hold some of them out"),
        ("1 1:1\n", "at least two rows are needed"),
        ("", "at least two rows are needed"),
    ],
    ids=["two", "one", "none"],
)
def test_too_few_rows_give_a_model_without(text, reason, svm_train, tmp_path):
    status, _, err = svm_train("-s", 2, "-b", 1, "d", "m", data=text)
    assert status == 0
    assert err.splitlines()[-1] == f"WARNING: m holds no probabilities (-b 1): {reason}"
    assert sigmoids_of(linear.read(str(tmp_path / "m"))) == []
    if text:
        assert svm_train("-s", 2, "-b", 1, "--strict", "d", "m")[0] == 2


@pytest.mark.parametrize("name", ODD)
def test_odd_data_end_well_or_in_one_sentence(name, svm_train, tmp_path):
    """As without -b; what is added is a model's sigmoids, or one sentence why it has none."""
    plain = svm_train("-q", "-s", 2, "d", "m", data=ODD[name])
    status, out, err = svm_train("-q", "-s", 2, "-b", 1, "d", "m")
    assert (status, out) == plain[:2]
    if status == 0:
        sigmoids = sigmoids_of(linear.read(str(tmp_path / "m")))
        more = err.removeprefix(plain[2])
        assert err.startswith(plain[2]) and more.count("\n") <= 1 and (sigmoids or more)
        assert not more or ("holds no probabilities" in more) == (not sigmoids)


@pytest.mark.parametrize("C", [1e-12, 1e10])
def test_extreme_costs(C, svm_train, tmp_path, capsys):
    from svmtool.cli.predict.command import main

    X, y = made()
    svm_train("-q", "-s", 2, "-b", 1, "-c", C, "d", "m", data=text_of(X, y))
    assert main(["-b", "1", "d", "m", "o"]) == 0
    capsys.readouterr()
    p = np.array([[float(x) for x in line.split()[1:]] for line in (tmp_path / "o").read_text().splitlines()[1:]])
    assert np.all((0 <= p) & (p <= 1))
    assert log_loss(np.where(y == 1, p[:, 0], p[:, 1])) < math.log(2), "better than a coin"


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


@pytest.mark.parametrize("calls", [1, 3])
def test_stop_within_the_folds(calls):
    """Interrupted once the first fold, or the third, is drawn."""
    X, y = made()
    stop = StopFlag()
    real, seen = folds.fold_rows, []

    def counting(*arguments):
        seen.append(1)
        stop.set = len(seen) == calls
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folds, "fold_rows", counting)
        with pytest.raises(NotCalibratedError, match="interrupted"):
            calibrate(table_of(X, y), Settings.of(solver=2), (1, -1), stop)
    assert calls <= len(seen) <= calls + 1


def test_time_limit_covers_the_folds(svm_train, out_of_time, tmp_path):
    rng = np.random.default_rng(1)
    X, y = random_rows(rng, 600, 500, 0.1) * np.exp(rng.normal(size=500) * 3), rng.choice([1.0, -1.0], 600)
    endless = Settings.of(solver=2, bias=1.0, regularize_bias=False, C=1e9, gap=1e-300)
    for left in (-1.0, 0.2):
        began = time.perf_counter()
        with pytest.raises(NotCalibratedError, match="time limit reached: raise --max-seconds"):
            calibrate(table_of(X, y), endless, (1, -1), StopFlag(left))
        assert time.perf_counter() - began < 20
    out_of_time()
    status, _, err = svm_train("-s", 2, "-b", 1, "--strict", "d", "m", data=text_of(X, y))
    assert status == 2
    assert "WARNING: m holds no probabilities (-b 1): time limit reached: raise --max-seconds\n" in err
    assert sigmoids_of(linear.read(str(tmp_path / "m"))) == []
