"""The squared hinge where rows are few or numbers large: ways to the answer that need few steps."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from naming import case_of

from svmtool.objectives.augmented import Augmented
from svmtool.params import Settings
from svmtool.tolerances import CONFIRMED_GAP
from svmtool.training.reductions.one_vs_rest import OneVsRest

WORDS, ROWS = 400, 250


def solved(X, y, C: float, layout: str = "csr", gap: float | None = None, certified: float | None = None, **settings):
    """The result, converged and certified to its gap, or to `certified`."""
    bias = settings.get("bias", -1.0)
    problems = OneVsRest(reference.table_of(X, y, np.full(len(y), C)), Settings.of(gap=gap, **settings))
    problems.rows = reference.rows_in(layout, X, bias)
    [result], certificate = problems.fit_and_certify()
    assert result.status.converged and certificate.gap <= (gap if certified is None else certified)
    return result


def one_among_many() -> tuple[np.ndarray, np.ndarray]:
    """Short rows of words, one in ten of the first class."""
    rng = np.random.default_rng(5)
    X = np.zeros((ROWS, WORDS))
    for row in X:
        row[np.unique((WORDS * rng.random(12) ** 3).astype(int))] = 1.0
    y = np.where(rng.random(ROWS) < 0.1, 1.0, -1.0)
    y[0] = 1.0
    return X, y


@pytest.mark.parametrize("solver", [1, 2, 40])
def test_a_large_cost_takes_few_steps(solver):
    result = solved(*one_among_many(), 1e6, solver=solver, certified=1e-6)
    assert len(result.history) <= 40  # Newton steps from zero are 172


def large_numbers(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of d large numbers that a hyperplane separates: their losses are less than rounding makes of them."""
    rng = np.random.default_rng(7)
    logarithms = 0.5 * rng.normal(size=(50, 4)) @ rng.normal(size=(4, d)) + 0.3 * rng.normal(size=(50, d))
    X = np.round(1e4 * np.exp(logarithms))
    y = np.where(rng.random(50) < 0.3, 1.0, -1.0)
    y[0] = 1.0
    return X, y


@pytest.mark.parametrize("d", [80, 2000])
@pytest.mark.parametrize(("solver", "gap"), [(1, 1e-3), (2, 1e-3), (40, 1e-6)])
def test_few_rows_of_large_numbers_reach_the_minimum(solver, gap, d):
    solved(*large_numbers(d), 1e6, solver=solver, gap=gap)


@pytest.mark.parametrize("cost", [1.0, 100.0])
def test_few_rows_are_certified_at_the_default_rule(cost):
    solved(*large_numbers(2000), cost, "dense", solver=2, certified=CONFIRMED_GAP)


@pytest.mark.parametrize(("solver", "cost"), [(3, 100.0), (42, 100.0), (42, 1e6)])
def test_systems_are_of_rows_where_these_are_fewer(solver, cost, monkeypatch):
    """None of 400 features is factorised for 60 rows."""
    monkeypatch.setattr(Augmented, "hessian", lambda self: pytest.fail("a matrix of all features"))
    X, _ = one_among_many()
    solved(X[:60], np.where(np.arange(60) % 3 == 0, 1.0, -1.0), cost, solver=solver, gap=1e-3)


def sensors(n: int = 200, d: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Measurements of a few causes, in units from 1 to 1e5: inner products lose more digits than the rows have."""
    rng = np.random.default_rng(3)
    causes = np.exp(rng.normal(size=(n, 8))) @ rng.normal(size=(8, d))
    X = (causes + 1e-3 * rng.normal(size=(n, d))) * 10.0 ** rng.uniform(0, 5, d)
    return X, np.where(causes[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(("solver", "bias", "regularize"), [(40, -1.0, True), (2, 1.0, True), (40, 1.0, False)])
def test_digits_that_inner_products_lose_are_in_the_rows(solver, bias, regularize, layout):
    solved(*sensors(), 1e3, layout, solver=solver, gap=1e-9, bias=bias, regularize_bias=regularize)


@pytest.mark.parametrize("solver", [52, 70])
def test_least_squares_of_such_rows_too(solver):
    solved(*sensors(), 1e6, solver=solver, gap=1e-11)


@pytest.mark.parametrize("gap", [None, 1e-9])
@pytest.mark.parametrize("solver", [1, 2, 40])
def test_a_row_of_huge_numbers_among_others_costs_no_steps(solver, gap):
    """The sums of its squares leave no digits of the other rows' in a Gram matrix, which cannot be factorised then."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = np.round(rng.normal(size=(25, 10)), 3), np.where(rng.random(25) < 0.5, 1.0, -1.0)
        X[7] *= 1e9
        certified = CONFIRMED_GAP if gap is None else gap
        with case_of(seed):
            result = solved(X, y, 100.0, solver=solver, bias=1.0, gap=gap, certified=certified)
            assert len(result.history) <= 150  # up to 1026 with a multiple of the identity added
