"""Least squares with a free bias, column generation."""

# ruff: noqa: F811  # fixtures are imported, and used by name
from __future__ import annotations

import numpy as np
import pytest
import reference
from lp_suite import (  # noqa: F401
    LAYOUTS,
    SYSTEMS,
    Solved,
    every_layout,
    every_problem,
    l1_optimum,
    system,
)


@pytest.mark.parametrize("C", [1e-12, 1e10])
def test_extreme_costs_in_many_features(C):
    p = reference.random_problem(9, 40, 60, C, bias=1.0, free=True)
    s = Solved(p, number=52, gap=1e-3, max_seconds=20.0, system=SYSTEMS["rounds"])
    assert s.certificate.primal <= float(np.sum(p.cost)) * (1 + 1e-9), "worse than no weights"
    assert s.status.converged == (s.certificate.gap <= 1e-3 * (1 + 1e-6))


@pytest.mark.parametrize("free", [False, True])
def test_columns_that_cannot_matter_are_left_out(free):
    p, active = reference.random_problem(9, 40, 1600, bias=1.0, free=free), []
    s = Solved(p, system={51: "pdhg"}, gap=1e-6, report=lambda **record: active.append(record["active"]))
    assert s.status.converged and s.f == pytest.approx(l1_optimum(p), rel=2e-6)
    assert 0 < active[-1] < 0.8 * p.X.shape[1]


@pytest.mark.parametrize("number", [52, 70])
def test_few_rows_take_few_steps_whatever_their_costs(number):
    """Costs that differ by ten orders: conjugate gradients alone take many times as many steps as there are rows."""
    rng = np.random.default_rng(1)
    X = rng.poisson(0.1, (26, 1600)) * rng.lognormal(size=(26, 1))
    y = np.where(np.arange(26) % 2 == 0, 1.0, -1.0)
    cost = np.where(y > 0.0, 1e6, 1.0) * 10.0 ** rng.uniform(-2, 2, 26)
    s = Solved(reference.Problem(X, y, cost, loss="least squares"), number=number, gap=1e-9)
    assert s.status.converged
    assert s.certificate.gap <= 1e-9
    assert sum(record["cg"] for record in s.result.history) <= 200
