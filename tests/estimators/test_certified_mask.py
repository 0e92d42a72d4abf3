"""`certified_mask` of estimators: the class of no certified row is another at a much smaller gap."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from svmtool.sklearn import LinearSVC, LogisticRegression, LpSVC

MAKES = {
    "hinge": lambda tol: LinearSVC(tol=tol, loss="hinge"),
    "joint": lambda tol: LinearSVC(tol=tol, multi_class="crammer_singer"),
    "scaled intercept": lambda tol: LinearSVC(tol=tol, intercept_scaling=30.0),
    "power": lambda tol: LpSVC(tol=tol),
}
SENTENCE = "no class is certified: the gap bounds no decision values: this needs an L2 penalty, and weights of float64"


def rows_of(classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    scores = X @ rng.normal(size=(4, classes)) + 0.5 * rng.normal(size=(80, classes))
    return X, np.array(["c", "a", "b"])[np.argmax(scores, axis=1)]


@pytest.mark.parametrize(("name", "classes"), [(name, 2 + k % 2) for k, name in enumerate(MAKES)])
def test_certified_classes_are_those_of_the_optimum(name, classes):
    sure = 0
    for seed in range(3):
        X, y = rows_of(classes, seed)
        tests = 30.0 * np.random.default_rng(seed).normal(size=(200, 4))
        rough, best = MAKES[name](3e-2).fit(X, y), MAKES[name](1e-11).fit(X, y)
        certain, same = rough.certified_mask(tests), rough.predict(tests) == best.predict(tests)
        assert certain.dtype == bool and certain.shape == (200,)
        assert np.all(same[certain])
        assert np.array_equal(certain, rough.certified_mask(sp.csr_matrix(tests)))
        sure += int(certain.sum())
    assert sure > 30


@pytest.mark.parametrize(
    "model",
    [LinearSVC(penalty="l1"), LogisticRegression(C=np.inf), LogisticRegression(l1_ratio=0.5)],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_without_a_bound_there_is_a_sentence(model):
    X, y = rows_of(3, 1)
    with pytest.raises(ValueError, match=SENTENCE):
        model.fit(X, y).certified_mask(X)
