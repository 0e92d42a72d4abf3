"""Small kernel problems by steps among all their variables, over the kernel rows that those ask for."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import KERNELS, random_data

from svmtool import registry
from svmtool.kernels import pair_descent
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.pair_descent import WholeDescent

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def problem_of(kernel, word="c_svc", n=300, sparse=False):
    row = next(r for r in registry.KERNEL_SOLVERS if r.word == word)
    return random_data(n, seed=3).problem(row, kernel, sparse)


@pytest.mark.parametrize("word", ["c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"])
@every_kernel
def test_steps_end_where_no_pair_violates(word, kernel):
    """Each kind of problem, from its start; rows come in several calls."""
    problem = problem_of(kernel, word)
    state = Decomposition(problem, 10.0)
    state.certify()
    whole = WholeDescent(state, 10.0)
    first = whole.run(1e-4), whole.count
    for _ in range(100):
        if not whole.hard:
            break
        state.certify()
        whole.run(1e-4)
    assert first[0] and not whole.hard and 0 < first[1] <= whole.count
    state.refresh()
    assert state.certify()[0] <= 1.1e-4
    assert np.all((state.a >= 0.0) & (state.a <= problem.upper))
    for system in state.signs:
        assert np.sum((problem.y * state.a)[system]) == pytest.approx(
            np.sum((problem.y * problem.start)[system]), abs=1e-9
        )


@every_kernel
def test_uninitialised_memory_is_not_read(kernel):
    """Results do not depend on uninitialised memory, nan and inf included."""
    answers = []
    for junk in (0.0, np.nan, np.inf):
        pair_descent._buffer(1 << 18, np.dtype(np.float32))[:] = junk  # the thread's next problem takes this memory
        state = Decomposition(problem_of(kernel), 10.0)
        state.certify()
        WholeDescent(state, 10.0).run(1e-4)
        answers.append(state.a)
    assert np.array_equal(answers[0], answers[1]) and np.array_equal(answers[0], answers[2])


@pytest.mark.parametrize("cut", [64, 128])
@pytest.mark.parametrize("F", [np.inf, np.nan, -1e301])
def test_steps_end_without_a_candidate(F, cut):
    """No place is searched beyond the arrays, whatever the sums have become."""
    n, rng = 128, np.random.default_rng(1)
    K = np.eye(n, dtype=np.float32)
    for some in (slice(None), rng.random(n) < 0.5):
        part = pair_descent._Subproblem(
            cut, np.where(np.arange(n) < 64, 1.0, -1.0), np.ones(n), np.full(n, 0.5), np.zeros(n)
        )
        part.F[some] = F
        steps = pair_descent.Steps(part, np.ones(n, np.float32))
        assert steps(K, np.arange(n) * n, 1e-3, 1000) <= 1000
