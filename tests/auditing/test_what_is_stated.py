"""What objects state, and what an audit refuses."""

from __future__ import annotations

import numpy as np
import pytest

import svmtool

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.svm import LinearSVC

RNG = np.random.default_rng(1)
X = RNG.normal(size=(120, 4))
Y = np.where(X[:, 0] + RNG.normal(size=120) > 0, 1, -1)
CLASSES = RNG.integers(0, 3, 120)
WEIGHTS = {0: 5.0, 1: 1.0, 2: 1.0}


def several(**more) -> LogisticRegression:
    return LogisticRegression(tol=1e-9, max_iter=1000, **more).fit(X, CLASSES)


def test_rows_of_weight_0_count_where_a_package_divides_by_the_rows():
    w = np.repeat([0.0, 1.0], 60)
    model = SGDClassifier(loss="log_loss", average=True, tol=None, max_iter=1000, alpha=0.01, random_state=0)
    assert svmtool.audit(model.fit(X, Y, sample_weight=w), X, Y, sample_weight=w).excess < 1e-4


def test_labels_may_be_truth_values():
    assert svmtool.audit(LinearSVC(tol=1e-8).fit(X, Y > 0), X, Y > 0).excess < 1e-5


def test_weights_of_classes_are_stated_again_in_multinomial_models():
    model = several(class_weight=WEIGHTS)
    assert svmtool.audit(model, X, CLASSES).excess < 1e-6
    assert svmtool.audit(model, X, CLASSES, class_weight=WEIGHTS).excess < 1e-6
    assert svmtool.audit(several(), X, CLASSES, class_weight=WEIGHTS).excess > 1e-3


def test_a_limit_that_ends_the_engine_is_in_the_sentence():
    model = svmtool.fit(X, Y, solver=3, gap=1e-8)
    assert "at most" in str(svmtool.audit(model, X, Y, max_seconds=1e-9))
    assert "at most" not in str(svmtool.audit(model, X, Y))


@pytest.mark.parametrize(
    "model, options, says",
    [
        (several, {"nu": 0.3}, "nu cannot be stated"),
        (several, {"C": -1}, "C must be above 0 and finite"),
        (several, {"test": 5}, "a tuple of rows and labels"),
        (lambda: LogisticRegressionCV().fit(X, CLASSES), {}, "no model that can be read"),
        (lambda: (np.ones(4), [1, 2, 3]), {"solver": 2, "C": 1.0}, "3 intercepts"),
        (lambda: fake("skglm", "SparseLogisticRegression", alpha=0.1, l1_ratio=0.5), {}, "that each have a problem"),
    ],
)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_is_refused(model, options, says):
    with pytest.raises((TypeError, ValueError), match=says):
        svmtool.audit(model(), X, CLASSES, **options)


def fake(package: str, name: str, **fields):
    """An object with what a class of another package has."""
    fields |= {"coef_": np.ones((3, 4)), "intercept_": np.zeros(3), "classes_": np.arange(3), "fit_intercept": True}
    return type(name, (), {**fields, "__module__": package})()
