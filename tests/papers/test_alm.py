"""papers/alm.py (-s 30 and 31) against a transcription of the paper, the engine's optimum and the laws of the paper."""

from __future__ import annotations

import itertools

import alm_transcribed
import numpy as np
import pytest
from optima import Problem, optimum

from svmtool import api
from svmtool.papers import alm

NUMBERS, POWERS = (30, 31), (1.0, 1.5, 2.0, 3.0)
STEPS = {30: alm.gradient_step, 31: alm.least_squares}


def ten_rows(d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, d))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(10) + 0.2 > 0.0, 1.0, -1.0)


def many_rows(n=80, d=5, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.3
    return X, np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0.4, 1, -1)


def iterates(number, X, y, p=1.0, C=1.0, mu=0.1, rule="", count=10, w=None, b=0.0, one=1.0):
    """The start and the first `count` iterates, with rules that end no run."""
    costs, start = np.broadcast_to(C, len(y)).astype(float), np.zeros(X.shape[1]) if w is None else w
    steps = alm.svm_alm(STEPS[number], X, y, costs, p, mu, rule, -1.0, -1.0, start, b, one)
    return list(itertools.islice(steps, count + 1))


def close(a, b, rtol):
    return np.max(np.abs(np.asarray(a) - b)) <= rtol * max(np.max(np.abs(b)), 1e-300)


@pytest.mark.parametrize("rule", ["", "merit", "geometric"])
@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("number", NUMBERS)
def test_iterates_are_those_of_the_paper(number, p, rule):
    X, y = ten_rows()
    for C, mu in ((1.0, 0.1), (20.0, 3.0)):
        printed = alm_transcribed.iterates({30: 2, 31: 1}[number], X.T, y, C, p, mu, rule, 10)
        for ours, theirs in zip(iterates(number, X, y, p, C, mu, rule)[1:], printed, strict=True):
            for letter, value in theirs.items():
                assert close(getattr(ours, letter), value, 1e-10), (letter, C)


@pytest.mark.parametrize("p, C", [(2.5, 0.01), (5.0, 100.0)])
def test_certificate_of_a_power_above_2_against_an_independent_optimum(p, C):
    X, y = many_rows(40, 4)

    best = optimum(Problem(X, y.astype(float), np.full(40, C), 1.0, True, "Lp hinge", p)).value
    done = api.fit(X, y, 31, C=C, mu=C, loss_power=p, max_iter=600, objective_change=1e-14, eps=1e-9).certificate
    assert done.gap <= 1e-5 and done.dual <= best * (1.0 + 1e-9) and abs(done.primal - best) <= 1e-5 * best


@pytest.mark.parametrize("number", NUMBERS)
def test_rules_of_the_paper_end_a_run(number):
    X, y = many_rows()
    by_gradient = api.fit(X, y, number, eps=10.0)
    last = by_gradient.log.splitlines()[-1]
    assert by_gradient.status.name == "rule" and "-e" in last
    by_change = api.fit(X, y, number, objective_change=0.5)
    assert by_change.status.name == "change" and by_change.status.converged
    by_limit = api.fit(X, y, number, objective_change=1e-300, eps=1e-300, loss_power=1.0)
    assert by_limit.status.name == "limit" and max(by_limit.n_iter) == 100
    asked = api.fit(X, y, number, max_iter=3)
    assert asked.status.name == "iterations" and max(asked.n_iter) == 3 and not asked.converged


def test_gap_ends_nothing_and_is_compared():
    X, y = many_rows()
    plain, asked = api.fit(X, y, 30, loss_power=1.0), api.fit(X, y, 30, loss_power=1.0, gap=1e-9)
    assert plain.n_iter == asked.n_iter and plain.converged and not asked.converged
    assert any("method" in notice.sentence for notice in asked.notices)


@pytest.mark.parametrize("mu", [0.5, "merit", "geometric"])
@pytest.mark.parametrize("number", NUMBERS)
def test_mu_is_that_of_the_option(number, mu):
    X, y = many_rows()
    records = []
    api.fit(X, y, number, mu=mu, callback=records.append)
    mus = [record["mu"] for record in records]
    assert mus[0] == (0.5 if mu == 0.5 else 0.1)
    assert all(a <= b for a, b in itertools.pairwise(mus)) and (mu == 0.5) == (mus[-1] == mus[0])


def test_powers_of_the_engine_end_at_2():
    X, y = many_rows()
    with pytest.raises(ValueError, match="method"):
        api.fit(X, y, 31, loss_power=2.5, method="fast")
    for p in (0.5, np.inf, np.nan):
        with pytest.raises(ValueError, match="loss_power"):
            api.fit(X, y, 31, loss_power=p)
