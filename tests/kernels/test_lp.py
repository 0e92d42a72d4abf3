"""LP-SVM with a kernel: another method's optimum, w = 0, and large values with small differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from svmtool import api


def least(K: np.ndarray, y: np.ndarray, C: float) -> float:
    """The optimum by HiGHS; the bias takes the mean of each column."""
    n, K = len(y), K - K.mean(axis=0)
    cost = np.concatenate((np.ones(2 * n), [0.0, 0.0], np.full(n, C)))
    signed = y[:, None] * np.column_stack((K, -K, np.ones(n), -np.ones(n)))
    return linprog(cost, -np.column_stack((signed, np.eye(n))), -np.ones(n)).fun


def made(offset: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    return offset + X, np.where(X[:, 0] + 0.7 * rng.normal(size=40) > 0.3, 1.0, -1.0)


@pytest.mark.parametrize("method", ["fast", "paper"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_certified_interval_holds_the_optimum(kernel, method):
    X, y = made()
    K = X @ X.T if kernel == "linear" else np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    width = {"gamma": 0.5} if kernel == "rbf" else {}
    done = api.fit(X, y, 51, kernel=kernel, C=2.0, method=method, **width)
    optimum, rounding = least(K, y, 2.0), 1e-9
    assert done.certificate.dual <= optimum * (1.0 + rounding)
    assert done.certificate.primal >= optimum * (1.0 - rounding)
    assert method == "paper" or (done.converged and done.certificate.gap <= 1e-3)


def test_the_zero_solution_is_certified():
    """Its bias is the best constant, and the dual value is the run's."""
    X, y = made()
    C = 0.01
    done = api.fit(X, y, 51, kernel="rbf", gamma=0.5, C=C, method="fast")
    assert done.converged and done.certificate.gap <= 1e-3
    assert done.certificate.primal == pytest.approx(2 * C * min(np.sum(y > 0), np.sum(y < 0)), rel=1e-12)
