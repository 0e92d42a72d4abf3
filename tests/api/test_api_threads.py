"""Several runs at once, numbers of threads, BLAS, Ctrl-C, and what is left behind."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from svmtool import api
from svmtool.api import blas
from svmtool.compiled import threads as pool

RNG = np.random.default_rng(8)
LARGE = sparse.csr_matrix(RNG.normal(size=(30_000, 20)))
LABELS = np.digitize(LARGE[:, [0]].toarray()[:, 0] + 0.3 * RNG.normal(size=30_000), [-0.5, 0.5]).astype(float)


def test_runs_side_by_side_have_numbers_of_threads_of_their_own():
    wanted = {n: api.dumps(api.fit(LARGE[:2000], LABELS[:2000], n, threads=1)) for n in (1, 2, 3)}
    seen: dict[int, set[int]] = {1: set(), 2: set(), 3: set()}

    def one(k: int) -> bool:
        n = 1 + k % 3
        done = api.fit(LARGE[:2000], LABELS[:2000], n, threads=n, callback=lambda record: seen[n].add(pool.count()))
        return api.dumps(done) == wanted[n]

    with ThreadPoolExecutor(4) as executor:
        assert all(executor.map(one, range(12)))
    assert seen == {1: {1}, 2: {2}, 3: {3}}


def test_blas_has_one_thread_within_a_run_and_then_as_many_as_before():
    if not blas._libraries:
        pytest.skip("numpy's BLAS is not OpenBLAS")
    library, seen = blas._libraries[0], []
    before = library.get()
    try:
        library.set(2)
        X = LARGE[:500].toarray()
        api.fit(X, LABELS[:500], 2, callback=lambda record: seen.append(library.get()))
        assert set(seen) == {1} and library.get() == 2
        with pytest.raises(ValueError, match="C <= 0"):
            api.fit(X, LABELS[:500], C=-1)
        assert library.get() == 2
    finally:
        library.set(before)


SLOW = {"solver": 50, "gap": 1e-300, "max_iter": 10**9}


def interrupted(call) -> None:
    """KeyboardInterrupt out of `call`, to which a callback sends Ctrl-C; handlers and threads are as before."""
    before, alive = signal.getsignal(signal.SIGINT), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        call(lambda *_: signal.raise_signal(signal.SIGINT))
    assert signal.getsignal(signal.SIGINT) is before and pool.count() >= 1
    assert threading.active_count() <= max(alive, 4)
    assert api.fit(LARGE[:100], LABELS[:100], 2).converged


def test_ctrl_c():
    X, y = LARGE[:3000], np.where(LABELS[:3000] > 1, 1.0, -1.0)
    interrupted(lambda send: api.fit(X, y, callback=send, threads=1, **SLOW))
    interrupted(lambda send: api.fit(X[:300], LABELS[:300], 0, kernel="rbf", eps=1e-12, callback=send))
    interrupted(lambda send: api.search_C(X, y, callback=send))
