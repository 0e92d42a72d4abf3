"""Values of given weights by their definition, and bounds beside optima that scipy finds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from naming import case_of

import svmtool

LOSSES = {
    "hinge": lambda xi: np.maximum(xi, 0.0), "square": lambda xi: np.maximum(xi, 0.0) ** 2,
    "logistic": lambda xi: np.logaddexp(0.0, xi - 1.0), "least": lambda xi: xi**2,
    "huber": lambda xi: np.where(xi <= 0, 0.0, np.where(xi < 2, xi**2 / 2, 2 * (xi - 1))),
}  # fmt: skip
# number, loss, whether |w|_1
BINARY = [
    (0, "logistic", False), (1, "square", False), (2, "square", False), (3, "hinge", False), (5, "square", True),
    (6, "logistic", True), (7, "logistic", False), (41, "huber", False), (42, "hinge", False), (50, "hinge", False),
    (51, "hinge", True), (52, "least", False), (70, "least", False),
]  # fmt: skip


def rows(k: int = 2, n: int = 40, d: int = 3):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, d))
    return X, (np.argsort(np.argsort(X[:, 0] + 0.7 * rng.normal(size=n))) * k) // n


def by_definition(X, y, w, b, loss, l1, C, bias):
    """P of one two-class problem; y of +-1; bias: value of the constant feature, None: free."""
    regular = np.abs(w).sum() if l1 else 0.5 * w @ w
    if bias is not None:
        regular += np.abs(b / bias) if l1 else 0.5 * (b / bias) ** 2
    return regular + float(np.sum(C * LOSSES[loss](1.0 - y * (X @ w + b))))


def test_binary_values_are_those_of_the_definition():
    X, y = rows()
    w, sign = np.array([0.4, -0.2, 0.1]), np.where(y == 1, 1.0, -1.0)
    for number, loss, l1 in BINARY:
        for bias in (2.0, None, -1.0):
            if bias is None and number in (1, 3, 7, 70):
                continue
            b = 0.0 if bias == -1.0 else 0.3
            free = {"bias": 1.0, "regularize_bias": False} if bias is None else {"bias": bias}
            weight = np.where(y == 1, 3.0, 1.0)
            done = svmtool.audit((w, b), X, y, solver=number, C=0.7, class_weight={1: 3.0}, gap=1e-7, **free)
            with case_of(number, bias):
                expected = by_definition(X, sign, w, b, loss, l1, 0.7 * weight, None if not b else bias)
                assert done.primal == pytest.approx(expected, rel=1e-12)
                assert done.bound <= done.optimum <= done.primal
                assert done.gap <= 1e-7


@pytest.mark.parametrize("k", [2, 3])
def test_crammer_singer(k):
    X, y = rows(k, 60)
    W = np.random.default_rng(1).normal(size=(k, 3))
    Z = X @ W.T
    own = Z[np.arange(len(y)), y][:, None]
    loss = (Z - own + (np.arange(k) != y[:, None])).max(axis=1).sum()
    if k == 2:  # arrays of two classes have their difference in one column: weights of the mean 0
        W = np.outer((-0.5, 0.5), W[1] - W[0])
    done = svmtool.audit(W[1] - W[0] if k == 2 else W, X, y, solver=4, C=0.3)
    assert done.primal == pytest.approx(0.5 * np.sum(W**2) + 0.3 * loss, rel=1e-12)


def test_regressions():
    X, _ = rows()
    t, w = X[:, 0] * 3.0 + X[:, 1], np.array([2.0, 0.0, 0.1])
    off = np.maximum(np.abs(X @ w - t) - 0.2, 0.0)
    for number, power in ((11, 2), (12, 2), (13, 1)):
        done = svmtool.audit(w, X, t, solver=number, C=0.4, p=0.2)
        assert done.primal == pytest.approx(0.5 * w @ w + 0.4 * np.sum(off**power), rel=1e-12)
        assert done.differ is None and done.distance > 0.0
        assert "root mean square" in str(done)


def test_words_numbers_and_table():
    X, y = rows()
    names = np.array(["no", "yes"])[y]
    done = svmtool.audit({"a": [10.0, 0, 0], "b": [-10.0, 0, 0]}, X, names, solver=2, C=1.0, test=(X[:7], None))
    assert str(done).splitlines()[0].split()[:2] == ["model", "objective"]
    assert len(str(done).splitlines()) == 3
    worse = done[1]
    assert f"{worse.ratio:.3g} times the minimum (certified within" in str(worse)
    assert f"and {worse.test_differ} of 7 test labels differ" in str(worse)
    assert worse.differ + done[0].differ >= 40 - 2 * done[0].differ
    assert json.loads(done.json())[1]["primal"] == worse.primal
    assert json.loads(worse.json())["ratio"] == worse.ratio


BAD = [
    (dict(model=[1.0, 2.0], solver=2, C=1.0), "weights of 2 features, the data have 3"),
    (dict(model=np.ones(3)), "state solver"),
    (dict(model=np.ones(3), solver=2), "state C"),
    (dict(model=([1.0, 2, 3], 0.5), solver=2, C=1.0), "has an intercept, but the stated problem has no bias"),
    (dict(model=[np.nan, 2, 3], solver=2, C=1.0), "not finite"),
    (dict(model=np.ones((5, 3)), solver=2, C=1.0), "5 columns of weights, the problem 1"),
    (dict(model=np.ones(3), solver=21, nu=0.1), "rho"),
    (dict(model=np.ones(3), solver=72, C=1.0), "does not minimise one objective"),
    (dict(model=np.ones(3), solver=2, C=1.0, kernel="rbf"), "the model has no kernel, stated is rbf"),
]


@pytest.mark.parametrize("keywords, sentence", BAD, ids=lambda part: part if isinstance(part, str) else "")
def test_problems_that_are_not_the_models(keywords, sentence):
    X, y = rows()
    with pytest.raises(ValueError, match=sentence):
        svmtool.audit(X=X, y=y, **keywords)


def test_labels_and_objects_that_do_not_fit():
    X, y = rows()
    model = svmtool.fit(X, y, solver=2)
    with pytest.raises(ValueError, match="labels 0, 1, the data 0, 2"):
        svmtool.audit(model, X, 2 * y)
    with pytest.raises(TypeError, match="no model that can be read"):
        svmtool.audit(object(), X, y)
    with pytest.raises(TypeError, match="several models are given as a dict"):
        svmtool.audit([model, model], X, y)
    with pytest.raises(TypeError, match="max_seconds"):
        svmtool.audit(model, X, y, max_second=3)
    with pytest.raises(ValueError, match="several labels"):
        svmtool.audit(model, X, np.eye(40)[:, :2].astype(int))
