"""Cross-validation and the search for C from arrays."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool import api

RNG = np.random.default_rng(4)
X = RNG.normal(size=(120, 5))
Y = np.where(X[:, 0] + 0.4 * RNG.normal(size=120) > 0, 1.0, -1.0)
Y3 = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=120), [-0.5, 0.5]).astype(float)
T = X[:, 0] + 0.3 * RNG.normal(size=120)


@pytest.mark.parametrize(
    ("y", "keywords"),
    [
        (Y, {"solver": 2}), (T, {"solver": 11}), (Y3, {"solver": 43}), (Y3, {"solver": 0, "kernel": "rbf"}),
    ],
)  # fmt: skip
def test_each_row_is_predicted_by_the_model_without_its_fold(y, keywords):
    found = api.cross_validate(X, y, folds=4, **keywords)
    whole = api.fit(X, y, **keywords)
    assert found.decision_values.shape == api.decision_values(whole, X).shape
    for k in range(4):
        outside = found.fold == k
        done = api.fit(X[~outside], y[~outside], **keywords)
        np.testing.assert_allclose(found.predictions[outside], api.predict(done, X[outside]), atol=1e-2)
    if y is Y or y is T:
        np.testing.assert_array_equal(api.loads(api.dumps(whole)).labels_from(found.decision_values), found.predictions)


def test_metrics():
    def share(y, predictions):
        return np.mean(y == predictions)

    found = api.cross_validate(X, Y3, 2, metrics=["accuracy", "f1", "balanced-accuracy", "auc", share]).metrics
    assert found["accuracy"] == found["share"] and all(0.5 < v <= 1.0 for v in found.values())
    found = api.cross_validate(X, T, 11, metrics={"e": "mse"})
    assert found.metrics["e"] == pytest.approx(np.mean((T - found.predictions) ** 2))
    with pytest.raises(ValueError, match="unknown metric 'area': use one of accuracy, balanced-accuracy, f1, auc"):
        api.cross_validate(X, Y, metrics="area")
    with pytest.raises(ValueError, match="^score auc: solver 11 is for regression: use mse, mae, r2"):
        api.cross_validate(X, T, 11, metrics="auc")
    with pytest.raises(ValueError, match="^score log-loss needs probabilities"):
        api.search_C(X, Y, 2, score="log-loss")


def test_search():
    tried = []
    found = api.search_C(X, Y, folds=2, callback=tried.append, seed=2)
    assert found.tried == tried and found.best.score == max(t.score for t in tried)
    score = api.cross_validate(X, Y, 2, C=found.best.C, folds=2, seed=2, metrics="accuracy").metrics["accuracy"]
    assert found.best.score == pytest.approx(score, abs=0.02)
    best = api.search_C(X, Y, 0, folds=2, score="log-loss").best
    value = api.cross_validate(X, Y, 0, C=best.C, folds=2, metrics="log-loss").metrics["log-loss"]
    assert best.score == pytest.approx(-value, abs=0.02)
    assert api.search_C(X, Y, folds=2, C=0.25).tried[0].C == 0.25
    assert api.search_C(X, T, 11, folds=2, C=1e5).best.p >= 0.0
    with pytest.raises(ValueError, match="has no search for C: solver 0, 2"):
        api.search_C(X, Y, 3)
