"""scikit-learn's own checks of estimators, all of them, on every estimator; in a commit on every third, in turn."""

from __future__ import annotations

from collections import Counter
from unittest import SkipTest

import pytest

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

from sklearn.base import clone  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import svmtool.sklearn as estimators  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")


# tol at which decision values agree to 1e-7: their error is the root of the gap, but where steps end exactly
NEAR, NEAREST = 1e-15, {"LogisticRegression": 1e-17}

GRID = parametrize_with_checks([getattr(estimators, name)() for name in estimators.__all__]).mark


def in_turn():
    """The cases of GRID; in a commit each check has every third of its estimators, and its neighbours the others."""
    seen = Counter()
    for case in GRID.args[1]:
        values, marks = (case.values, case.marks) if hasattr(case, "marks") else (case, ())
        name = GRID.kwargs["ids"](values[1])
        seen[name] += 1
        left_out = (seen[name] + list(seen).index(name)) % 3 > 0
        yield pytest.param(*values, marks=[*marks, *[pytest.mark.exhaustive] * left_out])


def skip_outliers(estimator, name: str) -> None:
    """Skip checks that want outliers among the training rows, which a problem without slack does not have."""
    if getattr(estimator, "boundary", "") == "theta" and name.startswith("check_outliers"):
        pytest.skip("no training row is outside")


def run(estimator, check):
    """Check it; that a weight of 2 is a repeated row, to nine digits, of runs that end nearer to the optimum."""
    name = getattr(check, "func", check).__name__
    if name.startswith("check_sample_weight_equivalence") and hasattr(estimator, "tol"):
        estimator = clone(estimator).set_params(tol=NEAREST.get(type(estimator).__name__, NEAR))
    try:
        check(estimator)
    except SkipTest as e:  # a package that the check needs is not installed
        pytest.skip(str(e))


@pytest.mark.parametrize(GRID.args[0], list(in_turn()), ids=GRID.kwargs["ids"])
def test_sklearn_checks(estimator, check):
    skip_outliers(estimator, getattr(check, "func", check).__name__)
    run(estimator, check)


PARAMETERS = [
    estimators.LinearSVC(penalty="l1"), estimators.LinearSVC(multi_class="crammer_singer"),
    estimators.LinearSVC(regularize_intercept=False, probability="sigmoid"),
    estimators.SVC(probability="isotonic", decision_function_shape="ovo"),
    estimators.FastOneClassSVM(kernel="linear", sample=50), estimators.FastOneClassSVM(boundary="rho"),
]  # fmt: skip


@parametrize_with_checks(PARAMETERS)
@pytest.mark.exhaustive
def test_sklearn_checks_with_parameters(estimator, check):
    name = getattr(check, "func", check).__name__
    skip_outliers(estimator, name)
    if getattr(estimator, "probability", False) in (True, "sigmoid", "isotonic"):
        if name.startswith("check_sample_weight"):
            pytest.skip("calibration has folds of rows: two rows can lie in two folds, a row of weight 2 cannot")
        if name == "check_classifiers_train":
            pytest.skip("predict follows decision values, as scikit-learn's SVC does, not calibrated probabilities")
    run(estimator, check)
