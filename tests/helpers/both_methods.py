"""Helpers for tests of all printed rows of the registry: small problems of every kind, solved by either method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svmtool import registry
from svmtool.api import Fit, fit

PRINTED = registry.PRINTED + registry.KERNEL_PRINTED
KERNELS = {"rbf": {"gamma": 0.4}, "linear": {}, "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0}}
ROUNDING = 1e-9  # of objectives, relative
N, D = 20, 4  # so few rows that a sample of FOSVM2 holds all of them, twice each too


def named(row: registry.Solver) -> str:
    """The name of a row in the name of a test."""
    return f"{row.number}-{'kernel' if row.kernel else 'linear'}"


def keyword_of(row: registry.Solver) -> dict[str, str]:
    """The keyword of `fit` that chooses the row's method."""
    return {"method": "paper" if row.printed else "fast"} if "--method" in row.supported else {}


every_printed = pytest.mark.parametrize("row", PRINTED, ids=named)


def has_costs(row: registry.Solver) -> bool:
    """Whether the problem has C."""
    return "-c" in registry.supported_options(row)


def rows_and_labels(row: registry.Solver, n: int = N, d: int = D, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping classes, or ranks, with a fifth of the features 0; without classes a plane separates all from 0."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)), 3) * (rng.random((n, d)) < 0.8)
    if row.kind == "ordinal":
        return X, np.digitize(X[:, 0] + 0.3 * rng.standard_normal(n), [-0.5, 0.5]) + 1.0
    if row.kind == "hard one-class":
        X[:, 0] = np.abs(X[:, 0]) + 1.0
        return X, np.ones(n)
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def solved(row: registry.Solver, X: Any, y: Any, method: str = "paper", kernel: str = "rbf", **more: Any) -> Fit:
    """A run by one of the methods, at C = 1 where there are costs."""
    if row.kernel:
        more = {"kernel": kernel, **KERNELS.get(kernel, {}), **more}
    if has_costs(row):
        more = {"C": 1.0, **more}
    return fit(X, y, row.number, method=method, one_class=True, **more)


def agree(*runs: Fit) -> None:
    """Their certified intervals of the least objective, from D to P, have a point in common."""
    ends = [(run.certificate.dual, run.certificate.primal) for run in runs]
    for dual, primal in ends:
        assert np.isfinite(primal) and dual <= primal + ROUNDING * abs(primal)
    low, high = max(dual for dual, _ in ends), min(primal for _, primal in ends)
    assert low <= high + ROUNDING * max(abs(low), abs(high)), ends
