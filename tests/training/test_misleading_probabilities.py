"""Warnings about probabilities that run against the decision values, in every face; a class of one row."""

from __future__ import annotations

import re

import numpy as np
import pytest
from reference import text_of

from svmtool import api, liblinearutil, svmutil
from svmtool.models.linear import sigmoids_of
from svmtool.sklearn import SVC, LinearSVC, NuSVC
from svmtool.training import calibration

REVERSED = re.compile(r"class(es|\slabel) .*: reversed probabilities: held-out rows of class (label )?\S+ have ")


def noise(seed: int, n: int = 40, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)).round(3), np.array([1.0, -1.0, 7.0])[np.arange(n) % classes]


@pytest.mark.parametrize("kernel, solver", [("rbf", "svc"), ("rbf", "nu-svc"), (None, 2)])
def test_a_warning_for_each_rising_slope_and_no_other(kernel, solver):
    turned = 0
    for seed in range(6):
        X, y = noise(seed, classes=2 + (solver != "nu-svc" and seed % 2))
        X = X + 0.6 * y[:, None] * (seed % 3 == 0)
        done = api.fit(X, y, solver, kernel=kernel, probability=True)
        slopes = [A for A, _ in sigmoids_of(done.model)] if kernel is None else done.model.probA
        assert sum(bool(REVERSED.search(text)) for text in done.warnings) == np.sum(np.array(slopes) > 0), seed
        turned += np.any(np.array(slopes) > 0)
    assert 0 < turned < 6


def test_every_face_warns(svm_train, tmp_path, capsys):
    X, y = noise(1)  # both the linear and the kernel model have a rising slope
    for argv in (["-s", 2], ["-t", 2]):
        status, _, err = svm_train("-q", "-b", 1, *argv, "d", "m", data=text_of(X, y))
        assert status == 0 and REVERSED.search(err) and err.count("\n") == 1, argv
        assert ("probA" in (tmp_path / "m").read_text()) == (argv[0] == "-t")
    for estimator in (SVC(probability="sigmoid", gamma="auto"), LinearSVC(probability=True)):
        with pytest.warns(UserWarning, match=REVERSED):
            estimator.fit(X, y)
    svmutil.svm_train(y.tolist(), X, "-q -b 1")
    assert REVERSED.search(capsys.readouterr().err)
    liblinearutil.train(y.tolist(), X, "-q -b 1 -s 2")
    assert REVERSED.search(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("make", "method", "counts"),
    [(SVC, "sigmoid", (29, 1)), (SVC, "isotonic", (14, 15, 1)), (LinearSVC, "sigmoid", (1, 29)),
     (LinearSVC, "isotonic", (1, 1, 1)), (NuSVC, "sigmoid", (1, 1))],
)  # fmt: skip
def test_a_class_of_one_row_is_no_error(make, method, counts):
    """Probabilities that are rough, with a warning."""
    X, y = np.random.default_rng(1).normal(size=(30, 2)), np.repeat(["a", "b", "c"][: len(counts)], counts)
    with pytest.warns(UserWarning, match=re.escape(calibration.FEW)):
        model = make(probability=method).fit(X[: len(y)], y)
    p = model.predict_proba(X)
    assert np.all(np.isfinite(p)) and p.sum(axis=1) == pytest.approx(1.0)
