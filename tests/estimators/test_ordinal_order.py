"""The order of ranks: that of an ordered pandas Categorical; names without one are shown as they are taken."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from naming import case_of

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")
pd = pytest.importorskip("pandas")

from sklearn.base import clone  # noqa: E402

from svmtool import api, registry  # noqa: E402
from svmtool.sklearn import OrdinalSVM  # noqa: E402

RNG = np.random.default_rng(4)
X = RNG.normal(size=(150, 3))
RANK = np.digitize(X[:, 0] + 0.2 * RNG.normal(size=150), [-0.8, 0.0, 0.8])
FORMS = [
    lambda c: c, pd.CategoricalIndex, lambda c: pd.DataFrame({"grade": c}),
    lambda c: pd.Series(c, index=range(150, 300)),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_an_ordered_categorical_has_its_own_order(form):
    """Whatever its categories are: the model is that of the codes."""
    wanted = OrdinalSVM(C=2.0).fit(X, RANK)
    for order in (["low", "mid", "high", "top"], [7, -1, 30, 2], pd.IntervalIndex.from_breaks([-9, -0.8, 0, 0.8, 9])):
        categories = pd.Index(["never", *order] if isinstance(order, list) else order)
        y = pd.Categorical.from_codes(RANK + (len(categories) - 4), categories, ordered=True)
        weight = dict(zip(order, (1.0, 2.0, 1.0, 1.0), strict=True))
        with case_of(order), warnings.catch_warnings():
            warnings.simplefilter("error")
            made = OrdinalSVM(C=2.0).fit(X, form(y))
            assert list(made.classes_) == list(order)
            assert np.array_equal(made.coef_, wanted.coef_) and np.array_equal(made.thresholds_, wanted.thresholds_)
            found = made.predict(X)
            assert isinstance(found, np.ndarray) and list(found) == [order[k] for k in wanted.predict(X)]
            assert list(pickle.loads(pickle.dumps(made)).predict(X)) == list(found)
            again = clone(made).set_params(class_weight=weight).fit(X, form(y))
            assert again.class_weight_.tolist() == list(weight.values())


def test_names_without_an_order_are_shown_in_theirs():
    names = np.array(["low", "mid", "high", "top"])[RANK]
    for y in (names, names.astype(object), pd.Series(pd.Categorical(names))):
        with pytest.warns(UserWarning, match="'high' < 'low' < 'mid' < 'top'. For another order give an ordered"):
            OrdinalSVM().fit(X, y)
    with warnings.catch_warnings():  # two names, and numbers
        warnings.simplefilter("error")
        OrdinalSVM().fit(X, np.where(RANK > 1, "low", "high"))
        OrdinalSVM().fit(X, pd.Series(pd.Categorical(RANK)))


def test_missing_ranks_are_refused():
    with pytest.raises(ValueError, match="Input y contains NaN"):
        OrdinalSVM().fit(X[:3], pd.Series(pd.Categorical(["a", None, "b"], ["b", "a"], ordered=True)))


@pytest.mark.parametrize("call", [api.fit, api.cross_validate])
def test_functions_rank_by_number_and_refuse_another_order(call):
    solver = next(row.name for row in registry.SOLVERS if row.kind == "ordinal")
    for order in ((1, 2, 4), (4, 1, 2)):
        y = pd.Series(pd.Categorical(np.array([1, 2, 4])[np.minimum(RANK, 2)], order, ordered=True))
        with case_of(order):
            if order == (1, 2, 4):
                call(X, y, solver)
            else:
                with pytest.raises(ValueError, match=f"order of y, {order[0]} < {order[1]} < {order[2]}, is not"):
                    call(X, y, solver)
            call(X, y, 2)  # classes have no order
