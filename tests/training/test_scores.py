"""Measures of -v --metrics, the scores of -C and --grid, and --balanced."""

from __future__ import annotations

import numpy as np
import pytest
from reference import random_rows, text_of
from sklearn import metrics

import svmtool


def made(labels=(1, -1), n: int = 90, d: int = 5, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = random_rows(rng, n, d)
    number = np.argmax(X @ rng.normal(size=(d, len(labels))) + rng.normal(size=(n, len(labels))), axis=1)
    return X, np.array(labels, dtype=float)[number]


def metrics_of(out: str) -> dict[str, float]:
    """Name to number of the lines `Name = number% (about)`."""
    pairs = (line.partition(" = ")[::2] for line in out.splitlines() if " = " in line)
    return {name: float(value.split()[0].rstrip("%")) / (100 if "%" in value else 1) for name, value in pairs}


@pytest.mark.parametrize(("labels", "solver"), [((1, -1), 0), ((0, 1), 3), ((7, 3, 5), 0)], ids=str)
def test_metrics_of_a_validation_are_those_of_its_models(labels, solver, svm_train):
    X, y = made(labels)
    status, out, err = svm_train("-s", solver, "-v", 5, "--metrics", "d", data=text_of(X, y))
    plain = svm_train("-s", solver, "-v", 5, "d")
    assert (status, err) == (0, "") and out.startswith(plain[1])
    found = metrics_of(out)
    validated, order = svmtool.cross_validate(X, y, solver, folds=5), svmtool.fit(X, y, solver).model.labels
    values, predictions = validated.decision_values, validated.predictions
    values = np.column_stack((values, -values) if len(labels) == 2 else values.T)[:, np.argsort(order)]
    known = sorted(set(labels))
    curves = range(len(known)) if len(known) > 2 else [1]  # the larger of two labels is the positive one
    assert found["Balanced accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, predictions), rel=1e-5)
    f1 = metrics.f1_score(y, predictions, average=None)
    assert found["F1"] == pytest.approx(np.mean([f1[k] for k in curves]), rel=1e-5)
    rankings = ("AUC", metrics.roc_auc_score), ("Average precision", metrics.average_precision_score)
    for name, function in rankings:
        wanted = np.mean([function(y == known[k], values[:, k]) for k in curves])
        assert found[name] == pytest.approx(wanted, rel=1e-5)
    assert ("Log loss" in found) == (solver == 0)
    if labels == (1, -1):
        assert found["Log loss"] == pytest.approx(np.mean(np.logaddexp(0.0, -y * values[:, 1])), rel=1e-5)
    about = f"(label {known[1]})" if len(known) == 2 else "(mean of 3 classes)"
    assert about in next(line for line in out.splitlines() if line.startswith("F1"))


def test_metrics_of_regressions(svm_train):
    X, _ = made()
    t = X @ np.arange(5.0) + np.sin(np.arange(90.0))
    for options in (["-s", 11], ["-s", 3, "-t", 2]):
        status, out, err = svm_train("-q", *options, "-v", 4, "--metrics", "d", data=text_of(X, t))
        found = metrics_of(out)
        assert (status, err) == (0, "") and found["Mean absolute error"] > 0
        assert found["R2"] == pytest.approx(1 - found["Cross Validation Mean squared error"] / np.var(t), rel=1e-4)


def test_search_by_a_score_takes_the_best_of_that_score(svm_train):
    X, y = made(n=60)
    asked = ("-s", 2, "-C", "-c", 16, "-v", 3)
    plain = svm_train(*asked, "d", data=text_of(X, y))
    assert svm_train(*asked, "--score", "accuracy", "d") == plain
    for score, title in (("auc", "AUC"), ("balanced-accuracy", "balanced accuracy")):
        status, out, err = svm_train(*asked, "--score", score, "d")
        assert (status, err) == (0, "")
        rates = [line.rpartition("=")[2] for line in out.splitlines() if line.startswith("log2c")]
        best = max(map(float, rates))
        assert f"  CV {title} = {best:g}" in out.splitlines()[-1]
        C = next(line for line in out.splitlines() if line.endswith(f"={best:g}"))
        assert f"Best C = {2.0 ** float(C.partition('=')[2].split()[0]):g} " in out
    status, out, _ = svm_train("-s", 2, "-C", "-b", 1, "-v", 3, "-c", 16, "--score", "log-loss", "d")
    losses = [float(line.rpartition("=")[2]) for line in out.splitlines() if line.startswith("log2c")]
    assert status == 0 and out.splitlines()[-1].endswith(f"CV log loss = {min(losses):g}")


@pytest.mark.parametrize(
    "line, words",
    [
        ("-s 11 -C --score auc d", "--score auc: -s 11 is for regression: use mse, mae, r2"),
        ("-C --score log-loss d", "--score log-loss needs probabilities: add -b 1"),
        ("-C --score roc d", "--score roc: must be one of accuracy"),
        ("--grid C=1,2 -c 1 d", "-c cannot be combined with --grid"),
        *((f"--grid {value} d", f"--grid {value}: must be C=0.01,0.1,1") for value in ("1,2", "C=0,2", "C=1:2:x")),
        ("-v 5 --plot x.svg d", "--plot cannot be combined with -v"),
    ],
    ids=lambda text: text if " d" in text else "",
)  # fmt: skip
def test_refusals_name_the_way_out(line, words, svm_train):
    X, y = made(n=20)
    status, out, err = svm_train(*line.split(), data=text_of(X, y))
    assert status == 1 and words in err
