"""Messages in the words of a Python user: keywords, parameters of the estimator, classes as they were given."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from naming import case_of

import svmtool
from svmtool import api
from svmtool.api.wording import in_keywords, in_parameters

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from stress import fuzz_python  # noqa: E402

RNG = np.random.default_rng(2)
X = RNG.normal(size=(24, 3))
Y = np.where(X[:, 0] > 0, 1, -1)
SENTENCES = {
    "ERROR: -w1 is inf: a class weight must be a finite number >= 0":
        "class_weight of 1 is inf: a class weight must be a finite number >= 0",
    "ERROR: --score log-loss needs probabilities: add -b 1, or use -s 0 or 6":
        "score log-loss needs probabilities: add probability=True, or use solver 0 or 6",
    "rounding stops further progress: scale the features (svm-scale) or lower -c":
        "rounding stops further progress: scale the features or lower C",
    "the initial model has bias 1, this run -B -1": "the initial model has bias 1, this run bias=-1",
    "use --gap 1e-3 to continue": "use gap=1e-3 to continue",
    "-t 3 (sigmoid) has none, use -t 2": "kernel='sigmoid' has none, use kernel='rbf'",
    "WARNING: class label 5 specified in weight is not found": "class_weight has the label 5, which y does not have",
    "no leave-one-out accuracy (--loo): interrupted": "no leave-one-out accuracy (loo=True): interrupted",
}  # fmt: skip


def test_options_become_keywords():
    for given, wanted in SENTENCES.items():
        assert in_keywords(given) == wanted


def test_estimators_have_parameters_and_classes():
    known, classes = ["tol", "nu", "cache_size"], ["maybe", "no", "yes"]
    for given, wanted in {
        "rounding stops further progress: scale the features (svm-scale) or lower -c":
            "rounding stops further progress: scale the features",
        "the stopping rule of -e ended the run too early: lower -e or use --gap":
            "the stopping rule of tol ended the run too early: lower tol",
        "WARNING: classes 0 and 2: nu-SVC finds no margin between them: raise -n, or use -s 0":
            "classes 'maybe' and 'yes': nu-SVC finds no margin between them: raise nu, or use SVC",
        "class label 1 has too few rows": "class 'no' has too few rows",
        "cache_mb == inf, must be a number > 0.": "cache_size == inf, must be a number > 0.",
    }.items():  # fmt: skip
        assert in_parameters(given, known, classes) == wanted


@pytest.mark.parametrize("face", [name for name in fuzz_python.FACES if name != "drop-in"])
def test_no_message_has_words_of_the_commands(face, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz_python, "FACES", {face: fuzz_python.FACES[face]})
    for number in range(60):
        with case_of(number):
            fuzz_python.call(random.Random(number), tmp_path)


def test_a_cost_is_advised_where_the_problem_has_one():
    huge = X * 1e160
    for given, costs in (
        ({"solver": 2}, True), ({"solver": 21}, False), ({"kernel": "rbf"}, True),
        ({"kernel": "rbf", "solver": "one-class"}, False), ({"kernel": "rbf", "solver": "nu-svc"}, False),
    ):  # fmt: skip
        with case_of(given), pytest.raises(ValueError, match="overflow") as e:
            api.fit(huge, Y, **given)
        assert ("smaller C" in str(e.value)) == costs and "gamma" not in str(e.value) and "svm-" not in str(e.value)
    with pytest.raises(ValueError, match="choose a smaller C, gamma or degree$"):
        api.fit(huge, Y, kernel="poly")


def test_classes_of_an_estimator_are_named():
    ours = pytest.importorskip("svmtool.sklearn")
    names = np.where(Y > 0, "yes", "no")
    for name in ("LinearSVC", "SVC", "OrdinalSVM", "LSSVC"):
        made = getattr(ours, name)
        for factor in (np.inf, np.nan, -1.0):
            with pytest.raises(ValueError, match=f"^class_weight of 'yes' is {factor:g}: it must be a finite number"):
                made(class_weight={"yes": factor}).fit(X, names)
        with pytest.raises(ValueError, match="^class_weight names classes that are not in y: 'maybe'$"):
            made(class_weight={"maybe": 2.0}).fit(X, names)


def test_models_that_cannot_be_read_are_one_sentence(tmp_path):
    for text in ("svm_type what\n", "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2\nbias -1\nw\n1\n", ""):
        (tmp_path / "m").write_text(text)
        for call in (lambda text=text: svmtool.loads(text), lambda: svmtool.load_model(tmp_path / "m")):
            with pytest.raises(ValueError, match=r"^can't read (the text|\S+/m) as a model: [^\n]+$") as e:
                call()
            assert "fscanf" not in str(e.value) and "ERROR" not in str(e.value)


def test_what_has_no_probabilities_says_so():
    kinds = (({"solver": 2}, "not logistic"), ({"solver": 11}, "a regression"), ({"kernel": "rbf"}, "=True"))
    for given, words in kinds:
        with pytest.raises(ValueError, match=words):
            svmtool.probabilities(api.fit(X, Y, **given), X)
