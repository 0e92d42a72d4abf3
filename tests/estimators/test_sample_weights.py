"""sample_weight in every option: balanced classes as scikit-learn counts them, probabilities, negative weights."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
import sklearn.svm

from svmtool import sklearn as ours

CLASSIFIERS = [
    ours.SVC, ours.NuSVC, ours.LinearSVC, ours.LogisticRegression, ours.LSSVC, ours.LpSVC, ours.LPSVC,
]  # fmt: skip
KERNEL = (ours.SVC, ours.NuSVC)


def made(seed: int, n: int = 120, classes: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.argmax(X[:, :classes] + 0.7 * rng.normal(size=(n, classes)), axis=1)
    return X, np.array(["no", "yes", "maybe"])[y], np.where(y == 0, 5.0, 1.0)


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_balanced_counts_what_scikit_learn_counts(make):
    """Its SVC and NuSVC count rows, its LinearSVC and LogisticRegression weights; so do those that it does not have."""
    X, y, w = made(1, classes=3)
    w[::7] = 0.0
    model = make(class_weight="balanced")
    if make is ours.NuSVC:
        model.set_params(nu=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=w)
        names = np.unique(y)
        if make in KERNEL:
            theirs = getattr(sklearn.svm, make.__name__)(class_weight="balanced")
            theirs.set_params(**({"nu": 0.1} if make is ours.NuSVC else {}))
            wanted = theirs.fit(X, y, sample_weight=w).class_weight_
        else:
            sums = np.array([w[y == name].sum() for name in names])
            wanted = w.sum() / (len(names) * sums)
    assert model.class_weight_ == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("make", "method"), [(ours.NuSVC, "sigmoid"), (ours.LinearSVC, "isotonic"), (ours.LSSVC, "sigmoid")]
)
def test_probabilities_count_weights(make, method):
    """The mean probability of a class is its share of the weights, as it is with repeated rows."""
    X, y, w = made(3, 200)
    model = make(probability=method, **({"nu": 0.25} if make is ours.NuSVC else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p, q = (model.fit(X, y, sample_weight=some).predict_proba(X)[:, 0] @ w / w.sum() for some in (w, None))
    share = w[y == "no"].sum() / w.sum()
    assert abs(p - share) < 0.05 < 0.1 < share - q, (p, q, share)


WEIGHTED = [n for n in ours.__all__ if "sample_weight" in inspect.signature(getattr(ours, n).fit).parameters]


@pytest.mark.parametrize("name", WEIGHTED)
def test_negative_weights_leave_rows_out(name):
    """As with scikit-learn's estimators on LIBSVM and LIBLINEAR; here a warning says how many."""
    make = getattr(ours, name)
    X, y, _ = made(4, 60)
    y = X[:, 0] + 0.1 * X[:, 1] if name.endswith("SVR") else np.where(y == "yes", 1, 0)
    w = np.ones(60)
    w[::5] = -1.0
    answers = []
    for some in (w, np.maximum(w, 0.0)):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            answers.append(make().fit(X, y, sample_weight=some).predict(X))
        told = [str(s.message) for s in seen if "12 of 60 weights are negative" in str(s.message)]
        assert len(told) == (some is w)
    assert np.array_equal(*answers)
    for none in (np.zeros(60), -w * (w < 0) - 1.0):
        with pytest.raises(ValueError, match="zero"):
            make().fit(X, y, sample_weight=none)
