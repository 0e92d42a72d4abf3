"""Arguments that no loop may see: sparse indices outside of a shape, masked values, models that were changed.

Each is a ValueError or TypeError of one sentence, in every entry point.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from naming import case_of
from scipy import sparse

from svmtool import api, liblinearutil, svmutil

RNG = np.random.default_rng(3)
X = RNG.integers(-1, 3, (12, 4)).astype(float)
Y = np.where(X[:, 0] > X[:, 1], 1.0, -1.0)


def malformed() -> list:
    """Sparse matrices with an index outside of the shape (every format and fault: test_sparse_checks.py)."""
    csr, lil = sparse.csr_matrix(X), sparse.lil_matrix(X)
    csr.indices[-1] = 2**31 - 1
    lil.rows[0], lil.data[0] = [-1], [1.0]
    return [csr, lil]


def test_malformed_sparse_matrices_reach_no_conversion():
    linear, kernel = api.fit(X, Y, 2), api.fit(X, Y, 0, kernel="rbf")
    theirs = liblinearutil.train(Y.tolist(), X.tolist(), "-q"), svmutil.svm_train(Y.tolist(), X.tolist(), "-q")
    calls = {
        "fit": lambda m: api.fit(m, Y, 2), "kernel": lambda m: api.fit(m, Y, 0, kernel="rbf"),
        "predict": lambda m: api.predict(linear, m), "decision_values": lambda m: api.decision_values(kernel, m),
        "cross_validate": lambda m: api.cross_validate(m, Y, 2), "search_C": lambda m: api.search_C(m, Y),
        "write": lambda m: api.write_svmlight(m, Y, "never"),
        "train": lambda m: liblinearutil.train(Y, m, "-q"), "svm_train": lambda m: svmutil.svm_train(Y, m, "-q -t 0"),
        "of a kernel": lambda m: svmutil.svm_train(Y, m, "-q -t 4"),
        "their predict": lambda m: liblinearutil.predict([], m, theirs[0], "-q"),
        "svm_predict": lambda m: svmutil.svm_predict([], m, theirs[1], "-q"),
        "scale": liblinearutil.csr_find_scale_param,
    }  # fmt: skip
    for m in malformed():
        for name, call in calls.items():
            with case_of(m.format, name), pytest.raises(ValueError, match=f"not a valid {m.format.upper()} matrix"):
                call(m)


def test_masked_values_and_dates_are_no_numbers():
    masked = np.ma.masked_array(X, X > 1)
    calls = {
        "X": lambda: api.fit(masked, Y),
        "y": lambda: api.fit(X, np.ma.masked_array(Y, Y > 0), 11),
        "sample_weight": lambda: api.fit(X, Y, sample_weight=np.ma.masked_array(Y + 2, Y > 0)),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"^Input {name} has masked values"):
            call()
    assert api.fit(np.ma.masked_array(X), Y).converged  # nothing is masked
    for kind in ("M8[s]", "m8[s]"):
        with pytest.raises(TypeError, match="^Input X: dates and durations"):
            api.fit(X.astype(kind), Y)


@pytest.mark.parametrize(("solver", "kernel"), [(4, None), (71, None), (0, "rbf")])
def test_fits_are_copied_and_pickled_after_predictions(solver, kernel):
    done = api.fit(X, Y, solver, kernel=kernel)
    wanted = api.predict(done, X)
    for given in (done, done.model, api.loads(api.dumps(done))):
        api.predict(given, X)
        for made in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
            np.testing.assert_array_equal(api.predict(made, X), wanted)


@pytest.mark.parametrize("kernel", [None, "linear", "rbf", "precomputed"])
def test_changed_models_reach_no_loop(kernel):
    done = api.fit(X @ X.T if kernel == "precomputed" else X, Y, 2 if kernel is None else 0, kernel=kernel)
    rows = RNG.normal(size=(3, 12))
    for name, value in vars(done.model).items():
        wrong: list[object] = ["x", 10**9, -(10**9), np.zeros((3, 3)), [1]]
        if isinstance(value, np.ndarray):
            wrong += [value[:-1], value.astype(np.float32), np.concatenate([value, value])]
            wrong += [np.full_like(value, -7)] if name in ("indices", "indptr") else []
        for one in wrong:
            if name in ("bias", "rho") and isinstance(one, int) and not isinstance(value, np.ndarray):
                continue  # any number will do
            with case_of(name, one):
                model = copy.deepcopy(done.model)
                setattr(model, name, one)
                for call in (api.predict, api.decision_values, lambda m, _: api.dumps(m)):
                    with pytest.raises(ValueError, match="do not fit each other"):
                        call(model, rows)
