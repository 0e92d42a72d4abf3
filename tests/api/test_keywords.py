"""Keywords: what they do, and one sentence for each that cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from svmtool import api

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 4))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=90) > 0, 1.0, -1.0)
Y3 = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=90), [-0.5, 0.5]).astype(float)


def test_unknown_keywords_name_the_closest():
    with pytest.raises(TypeError, match="'los_power'. Did you mean 'loss_power'"):
        api.fit(X, Y, los_power=1.5)
    for call in (api.cross_validate, api.search_C):
        with pytest.raises(TypeError, match="'max_iters'. Did you mean 'max_iter'"):
            call(X, Y, max_iters=3)
    with pytest.raises(TypeError, match="^inner_steps is gone: solver 30 runs the paper's one gradient step$"):
        api.fit(X, Y, solver=30, inner_steps=1)
    with pytest.raises(ValueError, match="^mu='balance' is gone: use mu='merit'$"):
        api.fit(X, Y, solver=30, mu="balance")


@pytest.mark.parametrize(
    ("keywords", "kind", "message"),
    [
        ({"C": 0.0}, ValueError, "^C <= 0"),
        ({"C": np.nan}, ValueError, "^C is nan: it must be a finite number"),
        ({"solver": 1.5}, TypeError, "solver must be a number or a name"),
        ({"eps": 0.1, "gap": 0.1}, ValueError, "eps and gap both decide"),
        ({"solver": 72, "gap": 0.1}, ValueError, r"solver 72 \(falsvm\) has no gap"),
        ({"solver": 1, "regularize_bias": False}, ValueError, r"solver 1 \(l2svc-dual\) has no regularize_bias: "),
        ({"solver": 21, "bias": 1.0}, ValueError, "bias"),
        ({"max_iter": 0}, ValueError, "max_iter == 0, must be >= 1"),
        ({"class_weight": "even"}, ValueError, "class_weight must be a dict, 'balanced' or None"),
        ({"class_weight": {1: -1.0}}, ValueError, "a class weight must be a finite number >= 0"),
        ({"init": "model"}, TypeError, "init must be a Fit or a model of a linear solver"),
        ({"kernel": "cosine"}, ValueError, "kernel must be None or one of"),
        ({"kernel": "rbf", "solver": 40}, ValueError, "unknown solver: 40: with a kernel use alfpgm"),
        ({"kernel": "rbf", "solver": "nu-svc", "nu": 1.5}, ValueError, "nu > 1"),
        ({"kernel": "rbf", "solver": 80, "sample_weight": np.ones(90)}, ValueError, "its problem has no costs"),
        ({"kernel": "precomputed"}, ValueError, "Precomputed matrix must be a square matrix. Input is a 90x4 matrix."),
    ],
)
def test_bad_values(keywords, kind, message):
    keywords = {"solver": 0, **keywords} if "kernel" in keywords else keywords
    with pytest.raises(kind, match=message):
        api.fit(X, Y, **keywords)


def test_start_and_records():
    records = []
    first = api.fit(X, Y, 2, gap=1e-10, callback=records.append)
    assert len(records) == sum(first.n_iter) and records[-1]["gap"] <= 1e-8 and records[0]["iteration"] == 0
    again = api.fit(X, Y, 2, gap=1e-10, init=first)
    assert sum(again.n_iter) < sum(first.n_iter)
    assert api.fit(X, Y, 2, init=first.model).converged
    with pytest.raises(ZeroDivisionError):
        api.fit(X, Y3, 2, callback=lambda record: 1 // 0)


@pytest.mark.parametrize("solver", [0, 1, 5, 70])
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
