"""Estimators against scikit-learn's of the same problem, solved there to a tight tolerance."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

import scipy.sparse as sp  # noqa: E402
from naming import case_of  # noqa: E402
from sklearn import linear_model, svm  # noqa: E402
from sklearn.datasets import load_iris, make_classification, make_regression  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import svmtool.sklearn as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


def two_classes(n=120, d=6, seed=0):
    X, y = make_classification(n, d, n_informative=4, random_state=seed)
    return X, np.where(y == 1, "yes", "no")


def iris():
    X, y = load_iris(return_X_y=True)
    X, y = np.delete(X, 101, axis=0), np.delete(y, 101)  # a row that stands twice: its dual variables are not unique
    return StandardScaler().fit_transform(X), np.array(["c", "a", "b"])[y]  # labels in another order


def same(a, b, rtol=1e-3):
    scale = max(float(np.max(np.abs(b))), 1e-12)
    assert np.max(np.abs(np.asarray(a) - np.asarray(b))) <= rtol * scale


EXACT = {"tol": 1e-10}


@pytest.mark.parametrize("data", [two_classes, iris])
@pytest.mark.parametrize("options", [
    {"loss": "hinge"}, {"C": 0.05, "class_weight": "balanced"}, {"fit_intercept": False}, {"intercept_scaling": 10.0},
    {"penalty": "l1", "dual": False},
], ids=str)  # fmt: skip
def test_linear_svc(data, options):
    (X, y), sparse = data(), data is iris
    given = sp.csr_matrix(X) if sparse else X
    a = ours.LinearSVC(**EXACT, **options).fit(given, y)
    b = svm.LinearSVC(**{"dual": True, **options}, tol=1e-9, max_iter=1000000).fit(X, y)
    assert a.coef_.shape == b.coef_.shape and np.shape(a.intercept_) == np.shape(b.intercept_)
    assert (a.classes_ == b.classes_).all() and a.gap_ <= 1e-8
    same(a.coef_, b.coef_)
    same(a.intercept_, b.intercept_) if np.any(b.intercept_) else None
    same(a.decision_function(given), b.decision_function(X))
    assert (a.predict(given) == b.predict(X)).mean() > 0.99


@pytest.mark.parametrize("solver", ["lbfgs", "liblinear"])
@pytest.mark.parametrize("weights", [False, True])
def test_logistic_regression(solver, weights):
    X, y = two_classes()
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weights else None
    a = ours.LogisticRegression(solver=solver, C=0.7, **EXACT).fit(X, y, w)
    b = linear_model.LogisticRegression(solver=solver, C=0.7, tol=1e-9, max_iter=10000).fit(X, y, w)
    same(a.coef_, b.coef_)
    same(a.intercept_, b.intercept_)
    same(a.predict_proba(X), b.predict_proba(X))
    assert np.allclose(np.exp(a.predict_log_proba(X)), a.predict_proba(X))


KERNELS = [{"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}, {"gamma": "auto", "C": 10.0}]


@pytest.mark.parametrize("data", [two_classes, iris])
@pytest.mark.parametrize("options", KERNELS, ids=str)
def test_svc(data, options):
    (X, y), sparse = data(), data is iris
    given = sp.csr_matrix(X) if sparse else X
    a, b = ours.SVC(tol=1e-8, **options).fit(given, y), svm.SVC(tol=1e-8, **options).fit(X, y)
    same(a.intercept_, b.intercept_)
    same(a.decision_function(given), b.decision_function(X))
    assert (a.predict(given) == b.predict(X)).all()
    assert sp.issparse(a.dual_coef_) == sp.issparse(a.support_vectors_) == sparse
    dual_coef = a.dual_coef_.toarray() if sparse else a.dual_coef_
    assert dual_coef.shape[0] == b.dual_coef_.shape[0]
    assert set(b.support_) <= set(a.support_) | set(b.support_[np.all(np.abs(b.dual_coef_) < 1e-6, axis=0)])
    both = np.intersect1d(a.support_, b.support_)
    mine = dual_coef[:, [list(a.support_).index(i) for i in both]]
    theirs = b.dual_coef_[:, [list(b.support_).index(i) for i in both]]
    same(mine, theirs, 1e-2)
    if options.get("kernel") == "linear":
        assert sp.issparse(a.coef_) == sparse
        same(a.coef_.toarray() if sparse else a.coef_, b.coef_)
    ovo = a.set_params(decision_function_shape="ovo").decision_function(given)
    same(ovo, b.set_params(decision_function_shape="ovo").decision_function(X))


@pytest.mark.parametrize("options", KERNELS, ids=str)
def test_regression_and_novelty(options):
    X, y = make_regression(90, 5, noise=3.0, random_state=0)
    y /= np.std(y)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive") if options == KERNELS[0] else ():
        a = ours.LinearSVR(loss=loss, epsilon=0.1, **EXACT).fit(X, y)
        b = svm.LinearSVR(loss=loss, epsilon=0.1, tol=1e-9, max_iter=1000000, dual=True).fit(X, y)
        same(a.coef_, b.coef_)
        same(a.predict(X), b.predict(X))
        assert a.coef_.shape == b.coef_.shape
    for mine, theirs in ((ours.SVR, svm.SVR), (ours.NuSVR, svm.NuSVR)):
        a, b = mine(tol=1e-8, **options).fit(X, y), theirs(tol=1e-8, **options).fit(X, y)
        same(a.predict(X), b.predict(X))
        same(a.intercept_, b.intercept_, 1e-2)
    kernel, X = {k: v for k, v in options.items() if k != "C"}, X + 2.0  # the origin lies outside
    a, b = ours.OneClassSVM(nu=0.3, tol=1e-8, **kernel).fit(X), svm.OneClassSVM(nu=0.3, tol=1e-8, **kernel).fit(X)
    same(a.decision_function(X), b.decision_function(X), 1e-2)
    same(a.offset_, b.offset_, 1e-2)


def test_adding_and_forgetting_is_fitting_the_rest():
    X, y = iris()
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    options = {"C": 2.0, "intercept_scaling": 3.0}
    model = ours.AdaptableLSSVC(**options).partial_fit(X[:70], y[:70], classes=np.unique(y)).partial_fit(X[70:], y[70:])
    model.forget(X[:40], y[:40])
    same(model.coef_, ours.LSSVC(**options, tol=1e-12, loo=False).fit(X[40:], y[40:]).coef_, 1e-6)
    assert model.n_samples_seen_ == len(y) - 40
    with pytest.raises(ValueError, match="row 0 of X.*not in the model"):
        model.forget(X[:5], y[:5])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[:40], y[:40])
    same(again.coef_, ours.AdaptableLSSVC(**options).fit(X, y).coef_, 1e-8)


@pytest.mark.parametrize("name", ["LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"])
def test_parameters_methods_and_attributes(name):
    """All that scikit-learn's class has, with its defaults, shapes and types."""
    X, y = two_classes()
    y = X[:, 0] if "SVR" in name else y
    theirs, mine = getattr(svm, name), getattr(ours, name)
    wanted, found = inspect.signature(theirs).parameters, inspect.signature(mine).parameters
    for parameter, text in wanted.items():
        with case_of(parameter):
            older = parameter == "probability" and text.default is False  # before scikit-learn 1.9
            assert found[parameter].kind == text.kind and (older or found[parameter].default == text.default)
    fitted, other = theirs().fit(X, y), mine().fit(X, y)
    for public in dir(fitted):
        learned = public.endswith("_")
        if not public.startswith("_") and (learned or callable(getattr(theirs, public, None))):
            with case_of(public), warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                if getattr(fitted, public, None) is None:
                    continue
                a, b = getattr(fitted, public), getattr(other, public)
                if learned and public != "offset_":  # a float here
                    assert type(a) is type(b) and np.ndim(a) == np.ndim(b)
                    assert getattr(a, "dtype", None) == getattr(b, "dtype", None)
                elif not learned and not public.startswith("set_"):
                    assert list(inspect.signature(a).parameters) == list(inspect.signature(b).parameters)
