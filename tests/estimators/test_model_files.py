"""Fitted estimators as model files: svm-predict gives what the estimator gives."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from naming import case_of

pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'svmtool[sklearn]'")

from sklearn.base import is_classifier  # noqa: E402

import svmtool  # noqa: E402
import svmtool.sklearn as ours  # noqa: E402
from svmtool.cli.predict.command import main as svm_predict  # noqa: E402

RNG = np.random.default_rng(9)
X = np.round(RNG.normal(size=(60, 4)), 3) * (RNG.random((60, 4)) < 0.8)
GRADE = np.digitize(X[:, 0] + 0.2 * RNG.normal(size=60), [-0.4, 0.4])
SETTINGS: dict[str, list[dict]] = {
    "LinearSVC": [
        {}, {"loss": "hinge", "fit_intercept": False}, {"penalty": "l1"}, {"multi_class": "crammer_singer"},
        {"probability": True}, {"regularize_intercept": False, "intercept_scaling": 3.0},
    ],
    "LogisticRegression": [{}, {"l1_ratio": 1.0}, {"l1_ratio": 0.5}],
    "SVC": [{}, {"kernel": "linear", "probability": "sigmoid"}, {"kernel": "poly", "coef0": 1.0}],
    "NuSVC": [{"nu": 0.2}], "LinearSVR": [{}, {"loss": "squared_epsilon_insensitive", "fit_intercept": False}],
    "LpSVC": [{"p": 1.2, "probability": True}], "OneClassSVM": [{"nu": 0.2}, {"kernel": "linear"}],
}  # fmt: skip
CLASSES = {
    "strings": (["no", "yes", "maybe"], False), "numbers": ([7, -3, 20], True), "truth": ([False, True, True], True),
    "large": ([2**40, 1, 2], False),
    "odd names": (["a\nb", "ü \u202e", "'"], False),
}  # fmt: skip


def answers(*options) -> list[list[str]]:
    """The words of each line that svm-predict writes for the rows X and the model m."""
    svmtool.write_svmlight(X, np.zeros(len(X)), "d")
    assert svm_predict(["-q", *options, "d", "m", "o"]) == 0
    return [line.split() for line in Path("o").read_text().splitlines()]


@pytest.mark.filterwarnings("ignore:OrdinalSVM ranks the classes by the alphabet")
@pytest.mark.parametrize("name", ours.__all__)
@pytest.mark.filterwarnings("ignore:.*w = 0")
def test_the_command_predicts_what_the_estimator_predicts(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in SETTINGS.get(name, [{}]):
        made = getattr(ours, name)(**given)
        kinds = CLASSES if is_classifier(made) else {"values": ([0.0, 1.0, 2.0], True)}
        for kind, (classes, kept) in list(kinds.items())[: 1 if given else None]:
            for several in (False, True) if kind == "strings" else (True,):
                y = np.array(classes)[GRADE if several else np.minimum(GRADE, 1)]
                made.fit(X, y)
                wanted = made.predict(X)
                with case_of(given, kind, several):
                    svmtool.save_model(made, "m")
                    text = Path("m").read_text()
                    assert text == svmtool.dumps(made) == svmtool.dumps(copy.deepcopy(made))
                    found = np.array([float(line[0]) for line in answers()])
                    if not is_classifier(made):
                        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
                        continue
                    if kept:
                        np.testing.assert_array_equal(found, wanted.astype(float))
                    else:
                        np.testing.assert_array_equal(made.classes_[found.astype(int)], wanted)
                        np.testing.assert_array_equal(svmtool.predict(svmtool.load_model("m"), X), wanted)
                        assert sorted(svmtool.loads(text).classes.tolist()) == sorted(made.classes_.tolist())
                    if not hasattr(made, "predict_proba"):
                        continue
                    lines = answers("-b", "1")
                    labels = [float(word) for word in lines[0][1:]]
                    columns = np.argsort(labels)
                    shares = np.array([[float(word) for word in line[1:]] for line in lines[1:]])[:, columns]
                    np.testing.assert_allclose(shares, made.predict_proba(X), atol=1e-5)


def test_a_precomputed_kernel_is_saved_and_a_function_is_not():
    K = X @ X.T
    made = ours.SVC(kernel="precomputed").fit(K, GRADE)
    np.testing.assert_array_equal(svmtool.predict(svmtool.loads(svmtool.dumps(made)), K), made.predict(K))
    for name in ("SVC", "SVR", "OneClassSVM"):
        with pytest.raises(ValueError, match="cannot hold a kernel that is a function"):
            svmtool.dumps(getattr(ours, name)(kernel=lambda A, B: 1.0 + A @ B.T).fit(X, GRADE))
