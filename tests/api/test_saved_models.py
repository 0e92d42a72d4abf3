"""Models saved from Python are the command's: adaptable ones with their state, and predictions need all features."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from naming import case_of
from sampling import pairs_in_turn
from scipy import sparse

from svmtool import api, registry

RNG = np.random.default_rng(6)
X = np.round(RNG.normal(size=(40, 5)), 3) * (RNG.random((40, 5)) < 0.7)
X[0] = 1.0
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=40) > 0, 1.0, -1.0)
ADAPTABLE = [row.number for row in registry.SOLVERS if "--add" in row.supported]
FORMS = {"model": lambda done: done.model, "pickle": lambda done: pickle.loads(pickle.dumps(done))}


@pytest.mark.parametrize(("form", "number"), pairs_in_turn(FORMS, ADAPTABLE))
def test_rows_are_added_to_and_removed_from_a_model_of_python(form, number, svm_train):
    weights = RNG.integers(0, 3, 30).astype(float)
    api.write_svmlight(X[:30], Y[:30], "first")
    api.write_svmlight(X[30:], Y[30:], "more")
    Path("w").write_text("".join(f"{w!r}\n" for w in weights.tolist()))
    for rows, more, options in (
        (X[:30], {}, []), (sparse.csr_array(X[:30]), {"sample_weight": weights}, ["--weights", "w"]),
    ):  # fmt: skip
        with case_of(options):
            assert svm_train("-q", "-s", number, "-c", 0.5, *options, "first", "m")[0] == 0
            api.save_model(FORMS[form](api.fit(rows, Y[:30], number, C=0.5, **more)), "ours")
            assert Path("ours").read_text() == Path("m").read_text().replace(" --weights w", "")
            for model in ("m", "ours"):
                assert svm_train("-q", "-s", number, "-i", model, "--add", "more", model + "+")[0] == 0
                assert svm_train("-q", "-s", number, "-i", model + "+", "--remove", "more", model + "-")[0] == 0
            assert Path("ours+").read_text() == Path("m+").read_text()
            assert Path("ours-").read_text() == Path("m-").read_text()


def test_without_a_file_there_is_no_state():
    with pytest.warns(UserWarning, match="/dev/null is not a regular file and has no state beside it"):
        api.save_model(api.fit(X, Y, 71), "/dev/null")


@pytest.mark.parametrize("call", [api.predict, api.decision_values, api.probabilities])
def test_rows_have_the_features_of_the_model(call):
    """A feature that no training row has counts, too; a model from a file ignores others."""
    given = X.copy()
    given[:, -1] = 0.0
    for keywords in ({"solver": 0}, {"kernel": "rbf", "probability": True}):
        done = api.fit(given, Y, **keywords)
        for make in (np.asarray, sparse.csc_matrix):
            call(done.model, make(np.hstack([given, given])))
            for model in (done, done.model, api.loads(api.dumps(done))):
                with case_of(keywords, make, type(model)), pytest.raises(ValueError, match="X has 4 features, but the"):
                    call(model, make(given[:, :4]))
            with pytest.raises(ValueError, match="X has 10 features, but the model is expecting 5 features"):
                call(done, make(np.hstack([given, given])))
