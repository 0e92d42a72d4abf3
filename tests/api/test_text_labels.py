"""Text as labels: models number and name them, predictions give them back; models in other forms and as text."""

from __future__ import annotations

import numpy as np
import pytest

import svmtool
from svmtool.errors import ModelError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
NUMBERS = np.digitize(X[:, 0], [-0.5, 0.5])
NAMES = np.array(["ham", "maybe", "spam"])
Y = NAMES[NUMBERS]
FORMS = {
    "objects": Y.astype(object), "column": Y[:, None], "digits": np.array(["1", "2", "3"])[NUMBERS],
}  # fmt: skip
RUNS = ({}, {"solver": 4}, {"kernel": "rbf", "probability": True}, {"solver": 71})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("run", RUNS, ids=str)
def test_predictions_are_the_labels_that_were_given(run, form, tmp_path):
    y = FORMS[form]
    done, plain = svmtool.fit(X, y, **run), svmtool.fit(X, NUMBERS, **run)
    names = np.unique(np.asarray(y).astype(str))
    found = svmtool.predict(done, X)
    np.testing.assert_array_equal(found, names[svmtool.predict(plain, X).astype(int)])
    assert done.model.classes.tolist() == [names[label] for label in done.model.labels]
    svmtool.save_model(done, tmp_path / "m")
    for model in (svmtool.load_model(tmp_path / "m"), svmtool.loads(svmtool.dumps(done))):
        np.testing.assert_array_equal(svmtool.predict(model, X), found)
        np.testing.assert_array_equal(svmtool.decision_values(model, X), svmtool.decision_values(plain, X))


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"solver": 11}, "y holds text, such as 'ham': solver 11 (l2svr) needs numbers"),
        ({"y": ["no"] * 60}, "contains only one class: 'no'"),
        ({"y": np.stack([Y, Y], axis=1)}, "y should be a 1d array, got an array of shape (60, 2) instead."),
        ({"class_weight": {"eggs": 2.0}}, "class_weight has the label 'eggs', which y does not have"),
        ({"init": svmtool.fit(X, NUMBERS)}, "init has other classes than y"),
        ({"y": [*Y[:-1], None]}, "Input y:"),
    ],
)
def test_what_cannot_be(change, sentence):
    with pytest.raises((TypeError, ValueError)) as e:
        svmtool.fit(**{"X": X, "y": Y, **change})
    assert sentence in str(e.value)


def test_a_damaged_note_is_one_sentence():
    text = svmtool.dumps(svmtool.fit(X, Y))
    for old, new in (('"spam"]', '"spam"'), (', "spam"]', "]"), ('"spam"]', "[]]"), ('"spam"]', "[" * 10**5)):
        model = svmtool.loads(text.replace(old, new))
        with pytest.raises(ModelError, match="must have a JSON list of names, one for each label"):
            svmtool.predict(model, X)


@pytest.mark.parametrize("run", [{}, {"kernel": "rbf"}, {"class_weight": {"ham": 2.0, "maybe": 3.0}}], ids=str)
def test_classes_without_weight_are_not_in_the_model(run):
    weights = np.where(Y == "maybe", 0.0, 1.0)
    done = svmtool.fit(X, Y, sample_weight=weights, **run)
    assert sorted(done.model.classes.tolist()) == ["ham", "spam"]
    known = {keyword: {"ham": 2.0} if keyword == "class_weight" else value for keyword, value in run.items()}
    alone = svmtool.fit(X[Y != "maybe"], Y[Y != "maybe"], **known)
    np.testing.assert_array_equal(svmtool.predict(done, X), svmtool.predict(alone, X))


def test_added_rows_keep_the_names_of_classes(tmp_path, svm_train):
    svmtool.save_model(svmtool.fit(X, Y, 71), tmp_path / "m")
    svmtool.write_svmlight(X[:5], NUMBERS[:5], tmp_path / "new")
    assert svm_train("-q", "-s", 71, "--add", "new", "-i", "m", "n")[0] == 0
    assert svmtool.load_model(tmp_path / "n").class_names == NAMES.tolist()
    svmtool.write_svmlight(X[:5], np.full(5, 9), tmp_path / "new")
    status, _, err = svm_train("-q", "-s", 71, "--add", "new", "-i", "m", "n")
    assert status == 0 and "names of classes are dropped" in err
    assert svmtool.load_model(tmp_path / "n").class_names is None
