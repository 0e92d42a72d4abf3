"""Small kernel problems by steps among all their variables, over the kernel rows that those ask for."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import KERNELS, random_data
from reference_kernel import kernel_matrix

from svmtool import registry
from svmtool.kernels import pair_descent
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.pair_descent import MISSING, WholeDescent
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import RULE, Monitor
from svmtool.training.kernel.fit import enough_mb

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def problem_of(kernel, word="c_svc", n=300, sparse=False):
    row = next(r for r in registry.KERNEL_SOLVERS if r.word == word)
    return random_data(n, seed=3).problem(row, kernel, sparse)


@pytest.mark.parametrize("word", ["c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"])
@every_kernel
def test_steps_end_where_no_pair_violates(word, kernel, monkeypatch):
    """Each kind of problem, from its start; rows come in several calls."""
    monkeypatch.setattr(pair_descent, "WORTH", 1)
    monkeypatch.setattr(pair_descent, "EASY", 1000)
    problem = problem_of(kernel, word)
    state = Decomposition(problem, 10.0)
    state.certify()
    whole = WholeDescent(state, 10.0)
    assert whole.run(1e-4) and not whole.hard
    state.refresh()
    assert state.certify()[0] <= 1.1e-4
    assert np.all((state.a >= 0.0) & (state.a <= problem.upper))
    for system in state.signs:
        assert np.sum((problem.y * state.a)[system]) == pytest.approx(
            np.sum((problem.y * problem.start)[system]), abs=1e-9
        )


@pytest.mark.parametrize("sparse", [False, True])
@every_kernel
def test_rows_are_the_kernel_matrix(sparse, kernel):
    problem = problem_of(kernel, sparse=sparse)
    state = Decomposition(problem, 10.0)
    state.certify()
    whole = WholeDescent(state, 10.0)
    whole.run(0.1)
    K = kernel_matrix(problem)[np.ix_(whole.points, whole.points)]
    there = np.flatnonzero(whole.places != MISSING)
    assert 0 < len(there)
    for t in there:
        found = whole.room[whole.places[t] :][: whole.l]
        np.testing.assert_allclose(found, K[t], atol=3e-6 * np.abs(K).max())


@every_kernel
def test_without_room_for_more_rows_sets_go_on(kernel, monkeypatch):
    problem = problem_of(kernel)
    best = alfpgm.solve(problem, Monitor(), 1e-6)
    monkeypatch.setattr(pair_descent, "FEW_ROWS", 1)
    monkeypatch.setattr(pair_descent, "LEAST_MB", 0.0)
    monkeypatch.setattr(pair_descent, "WORTH", 1)
    monkeypatch.setattr(pair_descent, "AHEAD", 1000)
    out_of_room = []
    run = WholeDescent.run

    def watched(whole: WholeDescent, tolerance: float) -> bool:
        moved = run(whole, tolerance)
        out_of_room.append(whole.hard)
        return moved

    monkeypatch.setattr(WholeDescent, "run", watched)
    found = alfpgm.solve(problem, Monitor(), 1e-6, 0.03)
    assert found.status is RULE and out_of_room == [True]
    assert found.objective == pytest.approx(best.objective, rel=1e-6)


@pytest.mark.parametrize("n", [2, 120, 260, 600, 700, 1500, 2400])
def test_pairs_of_classes_have_room_for_all_their_rows(n):
    problem = problem_of(KERNELS["rbf"], n=n)
    cache = enough_mb(n)
    assert WholeDescent.fits(problem, cache)
    assert WholeDescent(Decomposition(problem, 0.0), cache).most == n


@every_kernel
def test_uninitialised_memory_is_not_read(kernel, monkeypatch):
    """Results do not depend on uninitialised memory, nan and inf included."""
    plain = pair_descent._room
    answers = []
    for junk in (0.0, np.nan, np.inf):
        monkeypatch.setattr(pair_descent, "_room", lambda size, junk=junk: np.full_like(plain(size), junk))
        state = Decomposition(problem_of(kernel), 10.0)
        state.certify()
        WholeDescent(state, 10.0).run(1e-4)
        answers.append(state.a)
    assert np.array_equal(answers[0], answers[1]) and np.array_equal(answers[0], answers[2])
