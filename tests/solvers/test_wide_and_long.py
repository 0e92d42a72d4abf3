"""More rows and features than a matrix is factorised for, features of many scales: where -e ends a run.

LIBLINEAR's rules say little of such objectives, which may differ by a factor where they hold.
"""

from __future__ import annotations

import functools

import numpy as np
import reference

from svmtool.params import Settings
from svmtool.tolerances import GRAM_BELOW, LATE_EPOCHS, SLOW_MIN_GAP
from svmtool.training.reductions.base import problems_of

SIZE = GRAM_BELOW + 100  # rows, and features


@functools.cache
def uneven() -> tuple[np.ndarray, np.ndarray]:
    """Ten features a row, on scales from 0.01 to 1000, and a sum of them with noise."""
    rng = np.random.default_rng(2)
    X = np.zeros((SIZE, SIZE))
    columns = (SIZE * rng.random((SIZE, 10)) ** 2).astype(int)
    np.put_along_axis(X, columns, rng.uniform(1.0, 2.0, columns.shape), axis=1)
    t = X @ rng.normal(size=SIZE) + rng.normal(size=SIZE)
    return X * 10.0 ** rng.uniform(-2.0, 3.0, SIZE), t


def solved(solver: int, C: float):
    X, t = uneven()
    y = t if solver > 10 else np.where(t > 0.0, 1.0, -1.0)
    problems = problems_of(reference.table_of(X, y), Settings.of(solver=solver, C=C))
    [result], certificate = problems.fit_and_certify()
    return result, certificate


def test_the_rule_of_the_gradient_goes_on_to_a_gap_that_needs_no_warning():
    result, certificate = solved(11, 100.0)
    assert result.status.converged and certificate.gap <= SLOW_MIN_GAP


def test_steps_are_at_most_1_and_have_the_rest_of_the_budget_where_the_rule_of_the_gradient_ends_the_run():
    result, _ = solved(2, 100.0)
    X, t = uneven()
    y = np.where(t > 0.0, 1.0, -1.0)
    at_zero = np.linalg.norm(200.0 * X.T @ y)
    tol = 0.01 * min(np.mean(y > 0.0), np.mean(y < 0.0)) * at_zero
    history = result.history
    assert max(h.get("step", 0.0) for h in history) <= 1.0
    held = next(k for k, h in enumerate(history) if h.get("gradient", np.inf) <= tol)
    assert not any("epochs" in h for h in history[held + 1 :])


def test_epochs_come_first_where_a_matrix_of_the_features_costs_ten_whatever_the_rule():
    rng = np.random.default_rng(3)
    for d, method in ((400, "epochs"), (40, "primal")):
        table = reference.table_of(rng.normal(size=(2000, d)), np.where(rng.random(2000) > 0.5, 1.0, -1.0))
        for solver in (1, 2):
            problems = problems_of(table, Settings.of(solver=solver))
            problems.prepare()
            assert problems.plan(0).method == method


def test_two_classes_of_crammer_and_singer_have_their_own_limit_of_epochs():
    result, _ = solved(4, 0.01)
    assert result.status.converged and result.iterations > LATE_EPOCHS


def test_limits_of_epochs_are_followed_by_the_rule_that_follows_in_liblinear():
    """The primal's for the squared losses, after as many epochs; none for a hinge."""
    X, t = uneven()
    for solver, late in ((12, 1e-4), (13, None)):
        rule = problems_of(reference.table_of(X[:9], t[:9]), Settings.of(solver=solver)).rule(0)
        assert rule.late == late
