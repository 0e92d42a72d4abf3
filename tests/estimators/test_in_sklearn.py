"""Estimators in scikit-learn's tools: pickles, pipelines, searches, calibration and callbacks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

from joblib import parallel_backend  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from test_against_sklearn import iris, two_classes  # noqa: E402

import svmtool.sklearn as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
ALL = [getattr(ours, name) for name in ours.__all__]


@pytest.mark.parametrize("make", ALL)
def test_pickles_hold_no_object_of_ours_but_text_and_arrays(make):
    X, y = iris()
    X = np.abs(X) + 0.1
    model = make().fit(X, np.searchsorted(["a", "b", "c"], y))
    state = model.__getstate__()
    model_part = state.get("_model")
    parts = model_part.values() if isinstance(model_part, dict) else [model_part]
    assert {type(part) for part in parts} <= {type(None), str, int, tuple, np.ndarray}
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()


def test_meta_estimators():
    X, y = two_classes(80)
    pipeline = make_pipeline(StandardScaler(), ours.LinearSVC())
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1.0]}, n_jobs=2, cv=3)
    with parallel_backend("multiprocessing"):  # estimators come as pickles, and processes start at once
        assert search.fit(X, y).best_score_ > 0.7
    assert CalibratedClassifierCV(ours.LinearSVC(), cv=3).fit(X, y).predict_proba(X).shape == (80, 2)


def test_l1_hinge_names_the_estimator_that_has_it():
    with pytest.raises(ValueError, match="LPSVC"):
        ours.LinearSVC(penalty="l1", loss="hinge").fit(*two_classes())


def test_a_refused_change_leaves_an_adaptable_model_as_it_was():
    X, y = iris()
    y = np.searchsorted(["a", "b", "c"], y)
    model = ours.AdaptableLSSVC()
    with pytest.raises(ValueError, match="2 classes"):
        model.partial_fit(X[:2], [1, 1])
    assert model.partial_fit(X[:2], [1, 1], classes=[0, 1]).n_samples_seen_ == 2
    model.fit(X, y)
    before = model.coef_.copy()
    for change in (lambda: model.fit(X[:2], [1, 1]), lambda: model.partial_fit(1e200 * X, y)):
        with pytest.raises(ValueError):
            change()
    with pytest.raises(ValueError, match="all strings or all numbers"):
        model.partial_fit(X[:2], ["a", "b"])
    assert (model.coef_ == before).all() and model.n_samples_seen_ == len(y)


class Counting:
    """A callback of scikit-learn 1.9 that counts its calls."""

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        assert len(X) > 0
        self.calls.append(f"{context.task_name} begins")

    def on_fit_task_end(self, estimator, context, *, X=None):
        self.calls.append(f"{context.task_name} ends")


@pytest.mark.filterwarnings("ignore:.*w = 0")
@pytest.mark.parametrize("make", ALL)
def test_callbacks_hear_of_each_iteration(make):
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    X, y = two_classes()
    y = X[:, 0] if "SVR" in make.__name__ else (y == "yes").astype(int)
    told = Counting()
    make().set_callbacks(told).fit(X, y)
    count = told.calls.count("iteration begins")
    iterations = ["iteration begins", "iteration ends"] * count
    assert told.calls == ["setup", "fit begins", *iterations, "fit ends", "teardown"]
    assert (count > 0) == (make is not ours.AdaptableLSSVC), "only a model by sums has no iterations"
