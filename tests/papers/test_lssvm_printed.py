"""-s 70, 71 and 72 as printed: against a transcription, the engine's optimum, laws, limits, and the commands."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from adapt_suite import PaperForm
from reference import random_rows

from svmtool.errors import SvmtoolError
from svmtool.limits import until
from svmtool.papers import lssvm
from svmtool.papers.running import run
from svmtool.solvers.shared.base import INTERRUPTED, Monitor, StopFlag

EXACT = {"rtol": 1e-10, "atol": 1e-13}
LAYOUTS = {"dense": np.asarray, "sparse": scipy.sparse.csr_array}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def made(n=10, d=4, seed=0):
    """X with a column of ones, and y."""
    rng = np.random.default_rng(seed)
    X = np.hstack([random_rows(rng, n, d), np.ones((n, 1))])
    return X, np.where(X @ rng.normal(size=d + 1) + rng.normal(size=n) > 0, 1.0, -1.0)


def lls_svm(X, y, C):
    """Section III of the paper (NICS 2015)."""
    return np.linalg.solve(X.T @ X + np.eye(X.shape[1]) / (2.0 * C), X.T @ y)


def is_form(point, form: PaperForm) -> None:
    np.testing.assert_allclose(point.P, form.P, **EXACT)
    np.testing.assert_allclose(point.w, form.w, **EXACT)


@layouts
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_system_is_section_3_and_each_row_is_added_as_in_algorithm_1(layout, C):
    X, y = made()
    first, point = lssvm.system(layout(X), y, np.full(10, C))
    assert not first.w.any()
    np.testing.assert_allclose(point.w, lls_svm(X, y, C), **EXACT)
    steps, form = lssvm.algorithm_1(layout(X), y, np.full(10, C)), PaperForm(5, C)
    assert not next(steps).w.any()
    for count, point in enumerate(steps, 1):  # P is changed in place
        form.add(X[count - 1], y[count - 1])
        is_form(point, form)
        assert point.number == point.record["active"] == count
    assert count == 10


@layouts
def test_rows_are_chosen_as_in_algorithm_2(layout):
    X, y = made(30, seed=3)
    order = np.random.default_rng(5).permutation(30)
    steps, form, added = lssvm.algorithm_2(layout(X), y, np.full(30, 2.0), [order]), PaperForm(5, 2.0), 0
    next(steps)
    for point, k in zip(steps, order, strict=True):
        wrong = not added or y[k] * (form.w @ X[k]) < 0
        if wrong:
            form.add(X[k], y[k])
        is_form(point, form)
        added += wrong
        assert point.taken[k] == wrong and point.record["active"] == added
    assert 2 < added < 30


@layouts
def test_rows_are_removed_as_in_equations_8_to_10(layout):
    X, y = made(20)
    *_, point = lssvm.algorithm_1(layout(X), y, np.full(20, 3.0))
    P, w, form = point.P.copy(order="F"), point.w, PaperForm(5, 3.0)
    form.P, form.w = point.P.copy(), point.w
    for k in (4, 0, 19, 7):
        form.remove(X[k], y[k])
        P, w = lssvm.remove(P, w, *lssvm.row(layout(X), k), y[k])
        np.testing.assert_allclose(P, form.P, **EXACT)
        np.testing.assert_allclose(w, form.w, **EXACT)
    kept = np.setdiff1d(np.arange(20), (4, 0, 19, 7))
    np.testing.assert_allclose(w, lls_svm(X[kept], y[kept], 3.0), rtol=1e-9, atol=1e-12)


def test_a_removal_that_would_lose_the_digits_is_refused():
    x, nu = np.array([1e5, 1.0]), 0.5
    P = np.linalg.inv(np.outer(x, x) + nu * np.eye(2)).copy(order="F")
    with pytest.raises(SvmtoolError, match="Eq. 8 divides by 1 - x'Px"):
        lssvm.remove(P, np.zeros(2), slice(None), x, 1.0)
    with pytest.raises(SvmtoolError, match="rounding has left P without digits"):
        lssvm.add(-np.eye(2, order="F"), np.zeros(2), slice(None), x, 1.0)


def test_a_limit_within_a_pass_keeps_the_rows_so_far():
    X, y = made(200, 3)
    seen: list[dict] = []
    stop = StopFlag()
    monitor = Monitor(stop=stop, sink=lambda **record: seen.append(record))
    steps = lssvm.algorithm_1(X, y, np.ones(200), every=50)

    def stopped():
        stop.set = len(seen) == 3
        return stop.set

    with until(stopped):
        point, status = run(steps, monitor)
    assert status is INTERRUPTED and 100 < point.number <= 102
    k = point.number
    np.testing.assert_allclose(point.w, lls_svm(X[:k], y[:k], 1.0), rtol=1e-8, atol=1e-10)


def test_many_features_are_refused_in_a_sentence(svm_train, monkeypatch):
    for number in (71, 72):
        status, _, err = svm_train("-s", number, "d", data="1 1:1\n-1 6000:1\n")
        assert status == 1 and "5001 are too many (use -s 70)" in err or "6001 are too many (use -s 70)" in err
    monkeypatch.setattr(lssvm.limits, "memory", lambda: 1000)
    assert svm_train("-s", 70, "d", data="1 1:1\n-1 2:1\n")[0] == 0
    status, _, err = svm_train("-s", 70, "d", data="".join(f"{k % 2} {k + 1}:1\n" for k in range(9)))
    assert status == 1 and "are beyond the memory: use --method fast" in err
