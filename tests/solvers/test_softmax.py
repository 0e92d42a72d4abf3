"""Multinomial logistic regression: the optimum, and certificates that no weights contradict."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from naming import case_of

from svmtool.certify.softmax import SoftmaxCertifier
from svmtool.solvers import softmax
from svmtool.solvers.shared.base import GAP, ITERATIONS, Monitor

RNG = np.random.default_rng(5)


def problem(classes: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, half of whose values are zero, their classes, and costs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) * (rng.random((60, d)) < 0.5)
    number = (X[:, : max(classes - 1, 1)].cumsum(axis=1) + rng.normal(size=(60, 1)) > 0).sum(axis=1) % classes
    number[:classes] = np.arange(classes)
    return X, number, rng.uniform(0.2, 3.0, 60)


def value(V, X, number, classes, cost, share) -> float:
    """P with a penalty of 1, in a loop over rows."""
    W, total = V[:, :-1], 0.0
    for x, y, c in zip(X, number, cost, strict=True):
        z = W @ x + V[:, -1]
        z = np.append(0.0, z) if classes == 2 else z
        total += c * (np.logaddexp.reduce(z) - z[y])
    return total + 0.5 * (1.0 - share) * np.sum(W * W) + share * np.abs(W).sum()


CASES = list(itertools.product((2, 3, 5), (4, 90), (0.0, 0.4, 1.0), (True, False)))


@pytest.mark.parametrize(("classes", "d", "share", "free"), CASES)
def test_the_optimum_and_its_certificate(classes, d, share, free):
    X, number, cost = problem(classes, d)
    given, columns = sp.csr_matrix(X) if d == 90 else X, 1 if classes == 2 else classes
    V, status, found = softmax.solve(given, number, columns, cost, 1.0, share, free, 1e-9, Monitor(None, 500))
    assert status is GAP and found.gap <= 1e-9 and (free or not V[:, -1].any())
    assert found.primal == pytest.approx(value(V, X, number, classes, cost, share), rel=1e-12)
    certifier = SoftmaxCertifier(X, number, columns, cost, 1.0, share, free)
    assert certifier.certify(V[:, :-1], V[:, -1]).gap <= 1e-9
    for scale in (0.0, 1e-3, 1.0, 100.0):  # no weights have a smaller value than any dual value
        U = V + scale * RNG.normal(size=V.shape)
        U[:, -1] *= free
        there = certifier.certify(U[:, :-1], U[:, -1])
        assert there.dual <= found.primal and there.primal >= found.dual
        assert there.primal == pytest.approx(value(U, X, number, classes, cost, share), rel=1e-12)


def test_without_a_penalty_the_gradient_ends_the_run():
    X, number, cost = problem(3, 3)
    V, status, found = softmax.solve(X, number, 3, cost, 0.0, 0.0, True, 1e-8, Monitor(None, 500))
    o = softmax.Softmax(X, number, 3, cost, 0.0, 0.0, True)
    G = o.expand(V, o.scores(V))
    assert status is GAP and np.abs(G).max() <= 1e-8 * cost.sum() and found.gap == 1.0 and found.dual <= 0.0


def test_limits_and_a_start():
    X, number, cost = problem(3, 4)
    for limit in (0, 1, 2):
        with case_of(limit):
            monitor = Monitor(None, limit)
            V, status, found = softmax.solve(X, number, 3, cost, 1.0, 0.0, True, 1e-12, monitor)
            assert status is ITERATIONS and monitor.iterations == limit + 1 and (limit > 0) == bool(V.any())
            assert found.primal >= found.dual
    V, _, _ = softmax.solve(X, number, 3, cost, 1.0, 0.0, True, 1e-10, Monitor(None, 100))
    monitor = Monitor(None, 100)
    again, status, _ = softmax.solve(X, number, 3, cost, 1.0, 0.0, True, 1e-9, monitor, V)
    assert status is GAP and monitor.iterations == 1 and (again == V).all()


@pytest.mark.parametrize("size", [1e-200, 1e-8, 1e8, 1e100])
def test_odd_sizes_end_with_a_bound(size):
    X, number, cost = problem(3, 4)
    with np.errstate(all="ignore"):
        V, _, found = softmax.solve(size * X, number, 3, cost, 1.0, 0.0, True, 1e-6, Monitor(None, 50))
    assert found.dual <= found.primal and np.isfinite(V).all() and found.primal <= np.log(3.0) * cost.sum() * (1 + 1e-9)
