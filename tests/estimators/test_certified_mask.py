"""`certified_mask` of estimators: the class of no certified row is another at a much smaller gap."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import svmtool
from svmtool.sklearn import LSSVC, LinearSVC, LogisticRegression, LpSVC

MAKES = {
    "default": lambda tol: LinearSVC(tol=tol),
    "hinge": lambda tol: LinearSVC(tol=tol, loss="hinge"),
    "joint": lambda tol: LinearSVC(tol=tol, multi_class="crammer_singer"),
    "no intercept": lambda tol: LinearSVC(tol=tol, fit_intercept=False),
    "scaled intercept": lambda tol: LinearSVC(tol=tol, intercept_scaling=30.0),
    "logistic": lambda tol: LogisticRegression(tol=tol),
    "power": lambda tol: LpSVC(tol=tol),
    "free intercept": lambda tol: LinearSVC(tol=tol, regularize_intercept=False),
}
SENTENCE = "no class is certified: the gap bounds no decision values: this needs an L2 penalty, and weights of float64"


def rows_of(classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    scores = X @ rng.normal(size=(4, classes)) + 0.5 * rng.normal(size=(80, classes))
    return X, np.array(["c", "a", "b"])[np.argmax(scores, axis=1)]


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("classes", [2, 3])
def test_certified_classes_are_those_of_the_optimum(name, classes):
    if name == "logistic" and classes == 3:
        return  # one multinomial model: see below
    sure = 0
    for seed in range(20):
        X, y = rows_of(classes, seed)
        tests = 30.0 * np.random.default_rng(seed).normal(size=(200, 4))
        rough, best = MAKES[name](3e-2).fit(X, y), MAKES[name](1e-11).fit(X, y)
        certain, same = rough.certified_mask(tests), rough.predict(tests) == best.predict(tests)
        assert certain.dtype == bool and certain.shape == (200,)
        assert np.all(same[certain])
        assert np.array_equal(certain, rough.certified_mask(sp.csr_matrix(tests)))
        sure += int(certain.sum())
    assert sure > 200


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_estimator_certifies_the_same_rows_or_none(name, classes, tmp_path):
    if name == "logistic" and classes == 3:
        return
    X, y = rows_of(classes, 5)
    model = MAKES[name](1e-2).fit(X, y)
    svmtool.save_model(model, tmp_path / "m")
    saved = svmtool.load_model(tmp_path / "m")
    if name == "scaled intercept":  # the file's feature has the value 1
        with pytest.raises(ValueError, match="no label is certified: its certificate bounds no decision values"):
            svmtool.certified_mask(saved, X)
    else:
        assert np.array_equal(svmtool.certified_mask(saved, X), model.certified_mask(X))


def test_of_a_fit_and_its_model():
    X, y = rows_of(3, 7)
    done = svmtool.fit(X, y, solver=1, bias=2.0, gap=1e-3)
    found = svmtool.certified_mask(done, X)
    assert 0 < found.sum() <= len(X)
    assert np.array_equal(found, svmtool.certified_mask(svmtool.loads(svmtool.dumps(done)), X, threads=1))
    assert len(done.certificate.radii) == 3


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(penalty="l1"), LogisticRegression(),
        LogisticRegression(C=np.inf), LogisticRegression(l1_ratio=0.5),
    ],
    ids=repr,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_without_a_bound_there_is_a_sentence(model):
    X, y = rows_of(3, 1)
    with pytest.raises(ValueError, match=SENTENCE):
        model.fit(X, y).certified_mask(X)


def test_weights_of_float32_are_not_certified():
    X, y = rows_of(2, 1)
    model = LogisticRegression(fit_intercept=False).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    with pytest.raises(ValueError, match=SENTENCE):
        model.certified_mask(X)


@pytest.mark.parametrize(
    "options", [{"solver": "nu-svc", "kernel": "rbf"}, {"solver": 5}, {"solver": 11}]
)
def test_models_without_a_bound(options):
    X, y = rows_of(2, 1)
    with pytest.raises(ValueError, match="no label is certified: "):
        svmtool.certified_mask(svmtool.fit(X, np.where(y == "a", 1.0, 2.0), **options), X)


def test_rows_must_fit(tmp_path):
    X, y = rows_of(2, 1)
    with pytest.raises(ValueError, match="3 features"):
        LSSVC().fit(X, y).certified_mask(X[:, :3])
    with pytest.raises(ValueError, match="3 features"):
        svmtool.certified_mask(svmtool.fit(X, np.where(y == "a", 1, 2)), X[:, :3])
    with pytest.raises(TypeError, match="model must be"):
        svmtool.certified_mask(LinearSVC().fit(X, y), X)
