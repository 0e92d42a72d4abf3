"""Values of kernel models by their definition from dense kernel matrices, beside the engine's optimum."""

from __future__ import annotations

import numpy as np
import pytest
from naming import case_of

import svmtool
from svmtool.models.kernel import KernelModel
from svmtool.models.kernel_functions import RBF, Kernel

GAMMA = 0.4


def rows(n: int = 40):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] ** 2 + 0.8 * rng.normal(size=n) > 0.6, 1, 0)


def dense(model: KernelModel, X: np.ndarray):
    """1/2 |w|^2 and decision values of a model of one problem."""
    S = np.zeros((model.total_sv, X.shape[1]))
    S[np.repeat(np.arange(model.total_sv), np.diff(model.indptr)), model.indices] = model.values
    square = lambda A, B: ((A[:, None] - B[None]) ** 2).sum(axis=2)  # noqa: E731
    a = model.coef[0]
    return 0.5 * a @ np.exp(-GAMMA * square(S, S)) @ a, np.exp(-GAMMA * square(X, S)) @ a - model.rho[0]


def some_model(word: str, X: np.ndarray, scale: float = 1.0) -> KernelModel:
    """A model of some rows with arbitrary coefficients."""
    rng = np.random.default_rng(5)
    labels, nr_sv = ((1, 0), (3, 3)) if word in ("c_svc", "nu_svc") else (None, None)
    coef = scale * (np.array([[1.0, 0.3, 0.2, -0.5, -0.2, -0.8]]) if labels else rng.random((1, 6)))
    return KernelModel(
        word, Kernel(RBF, GAMMA), labels, 2, np.array([0.1 * scale]), coef, nr_sv, np.arange(0, 13, 2),
        np.tile(np.arange(2, dtype=np.int32), 6), X[:6].reshape(-1).copy(),
    )  # fmt: skip


def expected(word: str, norm: float, f: np.ndarray, y: np.ndarray, given: dict) -> float:
    """P by its definition; what the model does not state by trying all breakpoints."""
    C, nu, n = given.get("C", 0.0), given.get("nu", 0.0), len(y)
    if word == "c_svc":
        cost = C * np.where(y == 1, given["class_weight"][1], 1.0)
        return norm + cost @ np.maximum(1.0 - np.where(y == 1, f, -f), 0.0)
    if word == "epsilon_svr":
        return norm + C * np.maximum(np.abs(f - y) - given["p"], 0.0).sum()
    if word == "nu_svr":
        tubes = [0.0, *np.abs(f - y)]
        return norm + C * min(nu * n * p + np.maximum(np.abs(f - y) - p, 0.0).sum() for p in tubes)
    if word == "one_class":
        rho = 0.1
        return norm - nu * n * rho + np.maximum(-f, 0.0).sum()
    m = np.where(y == 1, f, -f)
    found = [0.0]
    for q in m:
        for r in np.linspace(0.0, 3.0, 301):
            found.append(r * r * norm - r * (nu * n * q - np.maximum(q - m, 0.0).sum()))
    return min(found)


CASES = [
    ("c_svc", {"solver": "svc", "C": 2.0, "class_weight": {1: 3.0}}), ("nu_svc", {"solver": "nu-svc", "nu": 0.6}),
    ("one_class", {"solver": "one-class", "nu": 0.3}), ("epsilon_svr", {"solver": "epsilon-svr", "C": 2.0, "p": 0.2}),
    ("nu_svr", {"solver": "nu-svr", "C": 2.0, "nu": 0.4}),
]  # fmt: skip


@pytest.mark.parametrize("word, given", CASES, ids=[word for word, _ in CASES])
def test_values_are_those_of_the_definition(word, given):
    X, y = rows()
    y = y.astype(float) + 0.1 * X[:, 1] if "svr" in word else y
    model = some_model(word, X)
    norm, f = dense(model, X)
    done = svmtool.audit(model, X, y, **given)
    wanted = expected(word, norm, f, y, given)
    rel = 1e-4 if word == "nu_svc" else 1e-10  # there the reference has a grid of lengths
    assert done.primal == pytest.approx(wanted, rel=rel) and done.primal <= wanted * (1 + 1e-10 * np.sign(wanted))
    assert done.bound <= done.optimum < done.primal and done.gap <= 1e-6
    assert done.optimum - done.bound <= 1.1e-6 * abs(done.bound)


def test_nu_svc_of_a_few_rows_or_with_weights():
    """Of nu n / 2 below 1, where no multiplier reaches its bound, and of three classes."""
    X, y = rows()
    for nu, weights in ((0.02, None), (0.4, np.where(y == 1, 2.0, 0.5)), (0.01, None)):
        for labels in (y, (np.arange(40) + y) % 3):
            done = svmtool.fit(X, labels, "nu-svc", kernel="rbf", gamma=30.0, nu=nu, gap=1e-8, sample_weight=weights)
            found = svmtool.audit(done, X, labels, gap=1e-8, sample_weight=weights)
            with case_of(nu, weights is None, len(set(labels.tolist()))):
                assert 0.0 <= found.primal - found.bound <= 3e-8 * abs(found.bound)


def test_least_squares():
    X, y = rows()
    model = some_model("c_svc", X)
    norm, f = dense(model, X)
    xi = 1.0 - np.where(y == 1, f, -f)
    for solver, more in ((52, 0.0), (73, 0.5 * 0.1**2)):
        with case_of(solver):
            done = svmtool.audit(model, X, y, solver=solver, C=0.7)
            assert done.primal == pytest.approx(norm + more + 0.7 * np.sum(xi**2), rel=1e-12)
            assert done.bound <= done.optimum <= done.primal


BAD = [
    ({"gamma": 0.7}, "the model has gamma 0.4, stated is 0.7"),
    ({"kernel": "linear"}, "the model has kernel rbf, stated is linear"),
    ({"solver": 51}, "no objective values are computed"),
    ({"solver": "svr"}, "unknown solver"),
    ({"solver": "epsilon-svr", "p": 0.1}, "the model is of classification"),
]


@pytest.mark.parametrize("given, sentence", BAD, ids=[sentence for _, sentence in BAD])
def test_other_problems(given, sentence):
    X, y = rows()
    with pytest.raises(ValueError, match=sentence):
        svmtool.audit(some_model("c_svc", X), X, y, **{"C": 1.0, **given})
