"""Models of other packages: which problem their parameters state.

A model that is the optimum of the right problem, and of no other, shows that the parameters are read rightly: the
packages train it, or, where they are not installed, an object with their attributes has the engine's weights.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from naming import case_of

import svmtool

sklearn = pytest.importorskip("sklearn")


def rows(k: int = 2, n: int = 90):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, 4)) + 0.3
    return X, (np.argsort(np.argsort(X[:, 0] + 0.8 * rng.normal(size=n))) * k) // n


def excess(model, X, y, **keywords) -> float:
    return svmtool.audit(model, X, y, **keywords).excess


def test_estimators_that_are_solved_well_are_at_the_minimum():
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.svm import SVC, LinearSVC, NuSVC

    tight = {"tol": 1e-10, "max_iter": 200_000}
    weights = {0: 2.0, 1: 0.5, 2: 1.0}
    for k in (2, 3):
        X, y = rows(k)
        chosen = {label: weights[label] for label in range(k)}
        every = [
            LinearSVC(C=0.4, intercept_scaling=3.0, **tight), LinearSVC(C=0.4, loss="hinge", **tight),
            LinearSVC(C=2.0, penalty="l1", dual=False, **tight), LinearSVC(multi_class="crammer_singer", **tight),
            LinearSVC(C=0.4, class_weight=chosen, fit_intercept=False, **tight),
            LogisticRegression(C=0.3, class_weight=chosen, **tight),
            LogisticRegression(C=0.3, class_weight="balanced", fit_intercept=False, **tight),
            LogisticRegression(C=0.3, l1_ratio=0.4, solver="saga", **tight),
            RidgeClassifier(alpha=0.7, class_weight=chosen), RidgeClassifier(alpha=0.7, fit_intercept=False),
            SVC(C=3.0, class_weight=chosen, tol=1e-8), SVC(kernel="poly", degree=2, coef0=0.5, tol=1e-8),
            NuSVC(nu=0.4, tol=1e-8),
        ]  # fmt: skip
        if k == 2:
            every.append(LogisticRegression(C=0.3, solver="liblinear", intercept_scaling=2.0, **tight))
            every.append(LogisticRegression(C=2.0, l1_ratio=1.0, solver="saga", **tight))
        for model in every:
            with case_of(k, model), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert excess(model.fit(X, y), X, y) < 1e-5


def test_gradient_descent():
    from sklearn.linear_model import SGDClassifier

    X, y = rows(3)
    for loss in ("hinge", "log_loss", "squared_hinge", "modified_huber"):
        for penalty in ("l2", "l1") if loss != "modified_huber" else ("l2",):
            model = SGDClassifier(
                loss=loss, penalty=penalty, alpha=0.03, learning_rate="invscaling", eta0=0.1, power_t=0.6,
                max_iter=1000, tol=None, average=penalty == "l2", random_state=0,
            )  # fmt: skip
            with case_of(loss, penalty):
                assert excess(model.fit(X, y), X, y) < 0.02
    with pytest.raises(ValueError, match="penalty='elasticnet' is no problem"):
        svmtool.audit(SGDClassifier(penalty="elasticnet").fit(X, y), X, y)


def test_regressions_and_one_class():
    from sklearn.svm import SVR, LinearSVR, NuSVR, OneClassSVM

    X, _ = rows()
    t = X[:, 0] + 0.3 * np.sin(X[:, 1])
    tight = {"tol": 1e-10, "max_iter": 200_000}
    for model in (
        LinearSVR(C=0.5, epsilon=0.1, intercept_scaling=2.0, **tight), SVR(C=3.0, epsilon=0.2, tol=1e-8),
        LinearSVR(C=0.5, epsilon=0.1, loss="squared_epsilon_insensitive", fit_intercept=False, **tight),
        NuSVR(C=2.0, nu=0.3, tol=1e-8), OneClassSVM(nu=0.3, gamma=0.5, tol=1e-8),
    ):  # fmt: skip
        with case_of(model):
            assert excess(model.fit(X, t), X, t) < 1e-5


def test_estimators_that_cannot_be_audited():
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC, LinearSVC

    X, y = rows()
    with pytest.raises(ValueError, match="LinearSVC cannot be read: is it fitted"):
        svmtool.audit(LinearSVC(), X, y)
    with pytest.raises(ValueError, match="no regulariser"):
        svmtool.audit(LogisticRegression(C=np.inf).fit(X, y), X, y)
    with pytest.raises(ValueError, match="kernel='precomputed'"):
        svmtool.audit(SVC(kernel="precomputed").fit(X @ X.T, y), X, y)
    with pytest.raises(ValueError, match="weights of 4 features, the data have 3"):
        svmtool.audit(LinearSVC().fit(X, y), X[:, :3], y)


def test_estimators_of_svmtool_state_themselves(tmp_path):
    from svmtool.sklearn import SVC, LinearSVC, LogisticRegression

    X, y = rows(3)
    for model in (LinearSVC(C=0.3, tol=1e-8), SVC(C=2.0, tol=1e-6)):
        done = svmtool.audit(model.fit(X, y), X, y)
        assert done.excess < 1e-5 and done.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    several = LogisticRegression(C=0.3, tol=1e-8).fit(X, y)
    assert svmtool.audit(several, X, y).primal == pytest.approx(several.certificate_.primal, rel=1e-9)
    svmtool.save_model(several, tmp_path / "m")
    with pytest.raises(ValueError, match="multinomial model does not state"):
        svmtool.audit(tmp_path / "m", X, y, C=1.0)


def foreign(package: str, name: str, **attributes):
    """An object of a class of this name in this package."""
    kind = type(name, (), {"__module__": f"{package}.estimators"})
    found = kind()
    for key, value in attributes.items():
        setattr(found, key, value)
    return found


def optimum(X, y, solver, C, **more):
    """The engine's coef_ and intercept_ for classes 0 and 1."""
    more = {**more, "method": "fast"} if solver >= 30 else more
    model = svmtool.fit(X, y, solver=solver, C=C, gap=1e-9, **more).model
    sign = 1.0 if model.labels[0] == 1 else -1.0
    W = sign * model.W[:, 0]
    return W[None, : X.shape[1]], (model.bias * W[X.shape[1] :] if model.bias >= 0 else np.zeros(1))


FREE = {"bias": 1.0, "regularize_bias": False}
PACKAGES = [  # class, attributes, and the solver, C and bias of its documented problem
    ("skglm", "LinearSVC", {"C": 0.2, "fit_intercept": True}, (3, 0.2, {})),
    ("skglm", "SparseLogisticRegression", {"alpha": 0.02, "l1_ratio": 1.0, "fit_intercept": True},
     (6, 1 / (0.02 * 90), FREE)),
    ("celer", "LogisticRegression", {"C": 0.9}, (6, 0.9, {})),
    ("snapml", "LogisticRegression", {"regularizer": 4.0, "penalty": "l2", "fit_intercept": True,
     "intercept_scaling": 2.0}, (0, 0.25, {"bias": 2.0})),
    ("snapml", "SupportVectorMachine", {"regularizer": 4.0, "loss": "squared_hinge", "fit_intercept": False},
     (2, 0.25, {})),
]  # fmt: skip


@pytest.mark.parametrize("package, name, attributes, problem", PACKAGES, ids=[f"{p} {n}" for p, n, *_ in PACKAGES])
def test_packages_that_are_not_needed(package, name, attributes, problem):
    X, y = rows()
    solver, C, bias = problem
    coef, intercept = optimum(X, y, solver, C, **bias)
    model = foreign(
        package, name, coef_=coef, intercept_=intercept, classes_=np.array([0, 1]), normalize=False, kernel="linear",
        class_weight=None, **attributes,
    )  # fmt: skip
    assert excess(model, X, y) < 2e-6


class Vector:
    """A vector or matrix of Spark."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def toArray(self):  # noqa: N802  Spark's name
        return self.values


def spark(name: str, coef, intercept, reg: float, standardized: bool = False, share: float = 0.0):
    return foreign(
        "pyspark", name, coefficients=Vector(coef[0]), intercept=float(intercept[0]), coefficientMatrix=Vector(coef),
        interceptVector=Vector(intercept), numClasses=max(2, len(coef)), getRegParam=lambda: reg,
        getStandardization=lambda: standardized, getElasticNetParam=lambda: share, getFitIntercept=lambda: True,
    )  # fmt: skip


def test_spark():
    from sklearn.linear_model import LogisticRegression

    X, y = rows()
    for name, solver in (("LinearSVCModel", 42), ("LogisticRegressionModel", 0)):
        coef, intercept = optimum(X, y, solver, 1 / (0.05 * 90), **FREE)
        assert excess(spark(name, coef, intercept, 0.05), X, y) < 2e-6
        with pytest.raises(ValueError, match="standardization=True is another problem"):
            svmtool.audit(spark(name, coef, intercept, 0.05, True), X, y)
    X, y = rows(3)
    model = LogisticRegression(C=1 / (0.05 * 90), tol=1e-10, max_iter=10_000).fit(X, y)
    assert excess(spark("LogisticRegressionModel", model.coef_, model.intercept_, 0.05), X, y) < 1e-6


VOWPAL = "Version 9.11.9\nId \nMin label:-1\nMax label:1\nbits:18\nlda:0\noptions:\nChecksum: 1\n:0\n"


def test_vowpal_wabbit(tmp_path):
    X, y = rows()
    coef, intercept = optimum(X, y, 0, 2.0, bias=1.0)
    lines = [f"{j}:{w!r}" for j, w in enumerate(coef[0].tolist(), 1)] + [f"116060:{intercept[0].item()!r}"]
    path = tmp_path / "vw"
    stated = {"solver": 0, "C": 2.0, "bias": 1.0}
    for named in (False, True):  # --readable_model, --invert_hash
        path.write_text(VOWPAL + "\n".join(("f" * named) + (":" * named) + line for line in lines) + "\n")
        assert excess(str(path), X, y, **stated) < 2e-6
    for text, sentence in (
        (VOWPAL + "9:1.0\n", "a weight of feature 9, the data have 4"),
        (VOWPAL + "1:x\n", "line 10: not a weight"), (VOWPAL.replace(":0\n", ":1\n") + "1:2\n", "--predict_only_model"),
        (VOWPAL.replace("18", "2") + "1:2\n", "share a table of 2 bits"),
    ):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ValueError, match=sentence):
            svmtool.audit(path, X, y, **stated)
