"""Training from arrays: the same models as from files, inputs unchanged, nothing printed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from svmtool import api

RNG = np.random.default_rng(7)
X = RNG.normal(size=(120, 6)) * (RNG.random((120, 6)) < 0.6)
Y = np.sign(X[:, 0] - 0.5 * X[:, 1] + 0.2 * RNG.normal(size=120)) + 0.0
Y[Y == 0.0] = 1.0
LAYOUTS = {
    "dense": lambda: X.copy(), "csr": lambda: sparse.csr_array(X), "csc": lambda: sparse.csc_array(X),
    "coo": lambda: sparse.coo_array((X[X != 0.0], np.nonzero(X)), shape=X.shape),
    "fortran": lambda: np.asfortranarray(X),
}  # fmt: skip


def text_of(X, y) -> str:
    rows = (" ".join(f"{j + 1}:{v:.17g}" for j, v in enumerate(row) if v) for row in X)
    return "".join(f"{label:g} {row}\n" for label, row in zip(y, rows, strict=True))


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_validation_and_search(layout, svm_train):
    given = LAYOUTS[layout]()
    found = api.cross_validate(given, Y, 2, folds=4)
    _, out, _ = svm_train("-q", "-s", 2, "-v", 4, "d", data=text_of(X, Y))
    assert f"{100.0 * np.mean(found.predictions == Y):g}%" in out and found.open_ends == ()
    best = api.search_C(given, Y, folds=4).best
    _, out, _ = svm_train("-q", "-C", "-s", 2, "-v", 4, "d", data=text_of(X, Y))
    assert f"Best C = {best.C:g} " in out


@pytest.mark.parametrize("solver", [0, 1, 3, 5, 12, 70])
def test_callbacks_get_the_weights_so_far(solver):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    records: list[dict] = []
    options = {"method": "fast"} if solver >= 30 else {}
    done = api.fit(X, X[:, 0] + X[:, 1] > 0, solver=solver, bias=1.0, callback=records.append, **options)
    weights = [record["weights"] for record in records]
    np.testing.assert_array_equal(weights[-1], done.model.W[:, 0])  # with the bias's last
    assert len(weights) == 1 or not np.shares_memory(weights[0], weights[-1])
    assert any(not np.array_equal(w, weights[-1]) for w in weights)
