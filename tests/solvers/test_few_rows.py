"""The squared hinge where rows are few or numbers large: ways to the answer that need few steps."""

from __future__ import annotations

import numpy as np
import pytest
import reference

from svmtool.data.dense import DenseRows
from svmtool.objectives.augmented import Augmented
from svmtool.params import Settings
from svmtool.solvers.shared import base, fallback
from svmtool.tolerances import GRAM_BELOW
from svmtool.training import verify
from svmtool.training.reductions.one_vs_rest import OneVsRest

WORDS, ROWS = 400, 250


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
    X, y = one_among_many()
    problems = OneVsRest(reference.table_of(X, y, np.full(ROWS, 1e6)), Settings.of(solver=solver))
    [result] = problems.fit()
    certificate = problems.certify(0, result)
    assert result.status.converged
    assert certificate.gap <= 1e-6
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
    X, y = large_numbers(d)
    problems = OneVsRest(reference.table_of(X, y, np.full(50, 1e6)), Settings.of(solver=solver, gap=gap))
    [result], certificate = problems.fit_and_certify()
    assert result.status.converged
    assert certificate.gap <= gap


@pytest.mark.parametrize(("solver", "cost"), [(3, 100.0), (41, 100.0), (42, 100.0), (42, 1e6)])
def test_systems_are_of_rows_where_these_are_fewer(solver, cost, monkeypatch):
    """None of 400 features is factorised for 60 rows."""
    monkeypatch.setattr(Augmented, "hessian", lambda self: pytest.fail("a matrix of all features"))
    X, y = one_among_many()
    X, y = X[:60], np.where(np.arange(60) % 3 == 0, 1.0, -1.0)
    problems = OneVsRest(reference.table_of(X, y, np.full(60, cost)), Settings.of(solver=solver, gap=1e-3))
    [result], certificate = problems.fit_and_certify()
    assert result.status.converged
    assert certificate.gap <= 1e-3


def test_the_fallback_has_no_system_of_rows_where_the_bias_is_free():
    rng = np.random.default_rng(0)
    d = GRAM_BELOW + 1
    X, y = rng.normal(size=(40, d)) * 10.0 ** np.linspace(-1, 1, d), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    free = Settings.of(solver=31, bias=1.0, regularize_bias=False)
    problems = OneVsRest(reference.table_of(X, y, np.full(40, 1e4)), free)
    begun = problems.zero_weights()
    found = fallback.solve(problems.task(0), problems.loss, False, begun, 1e-4, base.Monitor())
    assert problems.certify(0, found).gap <= 1e-4


@pytest.mark.parametrize(("n", "d", "length"), [(2000, 3000, 30), (2600, 2600, 10)])
def test_epochs_of_the_fallback_reach_the_gap(n, d, length):
    """Early epochs overshoot, so that the gap is large beside the dual's rise; the second problem shrinks too early."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, d)) * (rng.random((n, d)) < length / d), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problems = OneVsRest(reference.table_of(X, y, np.full(n, 100.0)), Settings.of(solver=3))
    found = fallback.solve(problems.task(0), problems.loss, False, problems.zero_weights(), 1e-6, base.Monitor())
    assert problems.certify(0, found).gap <= 1e-6


def test_an_exact_minimiser_must_have_the_target_gap():
    X, y = one_among_many()
    problems = OneVsRest(reference.table_of(X, y), Settings.of(solver=2, gap=1e-9))
    [result] = problems.fit()
    near = base.Result(result.w * (1 + 2e-5), base.OPTIMAL, 1, result.history)
    assert 1e-9 < problems.certify(0, near).gap < base.CONFIRMED_GAP
    answer, certificate = verify.verified(problems, 0, near, base.Monitor())
    assert certificate.gap <= 1e-9
    assert answer.status is base.GAP


def sensors(n: int = 200, d: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Measurements of a few causes, in units from 1 to 1e5: inner products lose more digits than the rows have."""
    rng = np.random.default_rng(3)
    causes = np.exp(rng.normal(size=(n, 8))) @ rng.normal(size=(8, d))
    X = (causes + 1e-3 * rng.normal(size=(n, d))) * 10.0 ** rng.uniform(0, 5, d)
    return X, np.where(causes[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize(("solver", "bias", "regularize"), [(40, -1.0, True), (2, 1.0, True), (40, 1.0, False)])
def test_digits_that_inner_products_lose_are_in_the_rows(solver, bias, regularize, layout):
    X, y = sensors()
    settings = Settings.of(solver=solver, gap=1e-9, bias=bias, regularize_bias=regularize)
    problems = OneVsRest(reference.table_of(X, y, np.full(len(y), 1e3)), settings)
    problems.rows = reference.rows_in(layout, X, bias)
    [result], certificate = problems.fit_and_certify()
    assert result.status.converged
    assert certificate.gap <= 1e-9


@pytest.mark.parametrize("solver", [52, 70])
def test_least_squares_of_such_rows_too(solver):
    X, y = sensors()
    problems = OneVsRest(reference.table_of(X, y, np.full(len(y), 1e6)), Settings.of(solver=solver, gap=1e-11))
    [result], certificate = problems.fit_and_certify()
    assert result.status.converged
    assert certificate.gap <= 1e-11


def test_conjugate_gradients_that_are_dear_do_not_turn_to_systems_of_dense_rows():
    X, y = sensors(1000, 700)  # too many for orthogonal factorisations
    problems = OneVsRest(reference.table_of(X, y, np.full(len(y), 1e3)), Settings.of(solver=40, gap=1e-9))
    assert isinstance(problems.rows, DenseRows) and not fallback.factorisation_possible(problems.rows)
    [result] = problems.fit()
    found = fallback.solve(problems.task(0), problems.loss, False, result.w, 1e-9, base.Monitor())
    assert found.w.shape == result.w.shape and np.all(np.isfinite(found.w))


@pytest.mark.parametrize("gap", [None, 1e-9])
@pytest.mark.parametrize("solver", [1, 2, 40])
def test_a_row_of_huge_numbers_among_others_costs_no_steps(solver, gap):
    """The sums of its squares leave no digits of the other rows' in a Gram matrix, which cannot be factorised then."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = np.round(rng.normal(size=(25, 10)), 3), np.where(rng.random(25) < 0.5, 1.0, -1.0)
        X[7] *= 1e9
        settings = Settings.of(solver=solver, bias=1.0, gap=gap)
        problems = OneVsRest(reference.table_of(X, y, np.full(25, 100.0)), settings)
        [result], certificate = problems.fit_and_certify()
        assert result.status.converged, seed
        assert certificate.gap <= (base.CONFIRMED_GAP if gap is None else gap), seed
        assert len(result.history) <= 150, seed  # up to 1026 with a multiple of the identity added
