"""Small kernel problems beside interior points: large C, nearly singular kernels, overlapping classes."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import kernel_matrix, of_interior_points, run
from naming import case_of

from svmtool import api, registry
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import CSvc, EpsilonSvr, NuSvc, NuSvr, OneClass, Points
from svmtool.models.kernel_functions import RBF, Kernel
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import Monitor

EPS = 1e-3
TYPES = ["c-svc", "nu-svc", "one-class", "epsilon-svr", "nu-svr"]


def small(rng, kind: str):
    n, d = int(rng.integers(10, 45)), int(rng.integers(1, 3))
    X = rng.uniform(0, 10, (n, d)) if rng.random() < 0.5 else rng.normal(size=(n, d))
    X = X[rng.integers(0, n, n)] if rng.random() < 0.3 else X
    z, C = X[:, 0], 10.0 ** rng.integers(-2, 8)
    y = np.where(z - np.median(z) + rng.choice([0.0, 1.5]) * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    t = [np.sin(z), z**3, np.round(z), np.full(n, 4.0)][rng.integers(4)]
    points = Points(Kernel(RBF, float(rng.choice([0.05, 0.5, 1.0]))), DenseRows(X), None)
    nu = float(rng.choice([0.1, 0.3, 0.9])) if kind != "nu-svc" else 2.0 * float(rng.choice([0.2, 0.7, 1.0])) * min(
        np.mean(y > 0), np.mean(y < 0)
    )  # fmt: skip
    if kind == "c-svc":
        return CSvc(points, y, np.full(n, C))
    if kind == "nu-svc":
        return NuSvc(points, y, nu)
    if kind == "one-class":
        return OneClass(points, nu)
    return EpsilonSvr(points, t, C, float(rng.choice([0.0, 1e-4, 0.1]))) if kind[0] == "e" else NuSvr(points, t, C, nu)


@pytest.mark.parametrize("kind", TYPES)
def test_every_run_is_near_the_optimum(kind):
    """Of interior points, which such problems leave their digits."""
    rng = np.random.default_rng(TYPES.index(kind))
    for trial in range(5):
        problem = small(rng, kind)
        best, found = of_interior_points(problem), run(registry.solver_of(alfpgm), problem, Monitor(), EPS)
        with case_of(kind, trial, len(problem.y), found.status):
            gradient = problem.gradient(
                found.alpha, kernel_matrix(problem) @ np.bincount(problem.row, problem.y * found.alpha)
            )
            mine, value = (0.5 * float(a @ (g + problem.p)) for a, g in (
                (found.alpha, gradient), (best.alpha, best.gradient)
            ))  # fmt: skip
            rounding = 1e-20 + 1e-13 * float(found.alpha @ (np.abs(gradient) + np.abs(problem.p)))
            by_rule = EPS * float(np.sum(np.abs(found.alpha - best.alpha)))
            assert mine <= value + by_rule + 1e-9 * (abs(value) + problem.floor) + rounding


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_errors_each_row_is_at_its_margin_or_beyond(kernel, scale):
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(80, 3))
    y, gamma = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0), scale**-2
    found = api.fit(X, y, kernel=kernel, C=np.inf, **({} if kernel == "linear" else {"gamma": gamma}))
    margins = y * api.decision_values(found, X).ravel() * (1.0 if found.model.labels[0] > 0 else -1.0)
    assert found.converged and found.certificate.gap < 1e-2 and margins.min() > 1.0 - 1e-2
    targets = np.sin(X[:, 0] / scale)
    tube = api.fit(X, targets, solver="epsilon-svr", kernel="rbf", gamma=gamma, C=np.inf, p=0.05)
    assert tube.converged and np.abs(api.predict(tube, X) - targets).max() < 0.05 + 1e-2


def test_without_errors_rows_that_need_some_do_not_converge():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    found = api.fit(X, y, solver=0, kernel="linear", C=np.inf)
    assert not found.converged and "C = inf" in found.status.advice
    for solver in ("nu-svr", "nesvm"):
        with pytest.raises(ValueError, match="inf"):
            api.fit(X, y, solver=solver, kernel="rbf", C=np.inf)
