"""Certificates against objectives in 60 digits: P is the model's, D no larger than any primal value.

Problems are small and hard: values of 1e-8 to 1e8 and C of 1e-6 to 1e12, with features of different sizes, far from 0,
whole numbers or repeated ones.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from exact import CONTEXT, Exact
from naming import case_of
from reference import table_of

import svmtool
from svmtool import registry
from svmtool.certify.linear import Certificate
from svmtool.params import Settings
from svmtool.training.reductions.base import problems_of

DIGITS = Decimal("5e-10")  # P is printed with nine
KINDS = "classification", "regression", "ordinal"
ROWS = [row for row in registry.SOLVERS if row.kind in KINDS and row.optimal]
POWERS = 1.0, 1.2, 1.5, 2.0


def drawn(rng: np.random.Generator, kind: str) -> tuple[np.ndarray, np.ndarray]:
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8)
    some = rng.random(4)
    X = X * 10.0 ** rng.uniform(-3, 3, d) if some[0] < 0.3 else X
    X = X + 10.0 ** rng.uniform(-2, 8) if some[1] < 0.3 else X
    X = np.round(X) if some[2] < 0.4 else X
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[[0, -1]] = 1.0, -1.0
    if kind == "regression":
        y = np.round(rng.normal(size=n) * 10.0 ** rng.uniform(-3, 6), 2 if some[3] < 0.5 else 17)
    return X, rng.integers(1, 4, n).astype(float) if kind == "ordinal" else y


def keywords(rng: np.random.Generator, row: registry.Solver) -> dict:
    found: dict = {"solver": row.number, "C": 10.0 ** rng.uniform(-6, 12)}
    if row.kind != "ordinal" and rng.random() < 0.5:
        found["bias"] = 1.0
    if row.kind == "regression":
        found["p"] = float(rng.choice([0.0, 0.1, 1.0]))
    if row.loss == "Lp hinge":
        found["loss_power"] = float(rng.choice(POWERS))
    if rng.random() < 0.5:
        found["gap"] = float(rng.choice([1e-6, 1e-9, 1e-12]))
    return found


def exact(problems, y: np.ndarray) -> Exact:
    task, row, s = problems.task(0), problems.solver, problems.settings.problem
    rows = task.rows.dense_of(np.arange(task.rows.n))
    regular = np.ones(rows.shape[1], bool)
    regular[-1] = not task.free_bias
    target = [Decimal(problems.loss.target)] * len(rows)
    if row.kind == "regression":
        with localcontext(CONTEXT):
            target = [sign * Decimal(t) - Decimal(s.p) for sign in (1, -1) for t in y.tolist()]
    power = s.loss_power if row.loss == "Lp hinge" else problems.loss.power
    return Exact(rows, task.y, task.cost, target, row.loss, power, regular, row.regulariser == "|w|_1")


def check(row: registry.Solver, seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng([seed, row.number])
        (X, y), given = drawn(rng, row.kind), keywords(rng, row)
        s = Settings.of(**given, max_iter=1000)
        problems = problems_of(table_of(X, y), s if "bias" in given else s.with_default_bias())
        [result], found = problems.fit_and_certify()
        problem, w = exact(problems, y), [Decimal(v) for v in result.w.tolist()]
        value, best = problem.primal(w), problem.below(w)
        with localcontext(CONTEXT), case_of(f"-s {row.number}, seed {seed}: {given}"):
            assert np.isfinite(found.gap)
            assert abs(Decimal(found.primal) - value) <= DIGITS * value
            assert Decimal(found.dual) <= best
            assert value - best <= Decimal(found.gap) * value
            assert Decimal(found.line().partition("dual ")[2].partition(",")[0]) <= best


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 400), marks=pytest.mark.exhaustive)], ids=str)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_certificates_are_true_in_60_digits(row, seeds):
    check(row, seeds)


@pytest.mark.parametrize("solver", [0, 7])
def test_two_rows_at_a_large_cost(solver):
    """The logistic optimum in 60 digits; the entropy of multipliers far below C once lost all its digits."""
    X = np.array([[15357.0, 5930, -10492], [-5147, -21473, 2140]])
    found = svmtool.fit(X, np.array([1, -1]), solver=solver, C=1e6).certificate
    assert found.dual <= 1.53847116825e-06 <= found.primal * (1 + 1e-9)
    assert found.gap <= 1e-9


def test_a_dual_value_above_the_primal_one_is_no_certificate():
    assert Certificate(1.0, 1.0 + 1e-9, 0.0, (1e-8, 0.0)).gap >= 0.89e-8
    found = Certificate(1.0, 1.0 + 1e-9, 0.0, (1e-10, 1e-10))
    assert found.gap == np.inf and "none: the dual value is above" in found.line()
    assert Certificate(0.0, 0.0, 0.0).gap == 0.0
    assert Certificate(1.0, 1.0, 0.0, (1e-12, 1e-12)).gap == pytest.approx(2e-12)


@pytest.mark.parametrize(
    ("solver", "kernel"),
    [("epsilon-svr", "linear"), ("epsilon-svr", "rbf"), ("nu-svr", "rbf"), (13, None), (11, None), (12, None)],
)
def test_a_minimum_of_0_is_reached(solver, kernel):
    """A tube that holds all targets, or equal targets of nu-SVR: w = 0 with P = D = 0 is a converged run."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, scale = rng.normal(size=(6, 2)), 10.0 ** rng.integers(-3, 4)
        y = np.round(rng.normal(size=6) * scale, 3) + 1000.0 * (seed % 2)
        if solver == "nu-svr":
            given: dict = {"nu": 0.5}
            y[:] = y[0]
        else:
            given = {"p": float(np.ptp(y)) * (0.500001 if seed % 3 else 2.0) if kernel else float(np.abs(y).max())}
        done = svmtool.fit(X, y, solver=solver, kernel=kernel, **given)
        with case_of(f"seed {seed}"):
            found = done.certificate
            assert done.converged and (found.primal, found.dual, found.gap) == (0.0, 0.0, 0.0)
