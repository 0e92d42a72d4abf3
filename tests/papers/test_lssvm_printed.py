"""-s 70, 71 and 72 as printed: against a transcription, the engine's optimum, laws, limits, and the commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from adapt_suite import draw, text_of_rows, weights_in
from lssvm_transcribed import alsvm, falsvm, lls_svm, removal
from reference import random_rows

from svmtool import api
from svmtool.errors import SvmtoolError
from svmtool.limits import until
from svmtool.papers import lssvm
from svmtool.papers.running import run
from svmtool.solvers.shared.base import INTERRUPTED, Monitor, StopFlag

EXACT = {"rtol": 1e-10, "atol": 1e-13}
LAYOUTS = {"dense": np.asarray, "sparse": scipy.sparse.csr_array}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
numbers = pytest.mark.parametrize("number", [70, 71, 72])


def made(n=10, d=4, seed=0):
    """X with a column of ones, and y."""
    rng = np.random.default_rng(seed)
    X = np.hstack([random_rows(rng, n, d), np.ones((n, 1))])
    return X, np.where(X @ rng.normal(size=d + 1) + rng.normal(size=n) > 0, 1.0, -1.0)


def last(steps):
    """The last iterate of an algorithm."""
    *_, point = steps
    return point


# The paper's variables


@layouts
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_system_is_section_3(layout, C):
    X, y = made()
    first, point = lssvm.system(layout(X), y, np.full(10, C))
    assert not first.w.any()
    np.testing.assert_allclose(point.w, lls_svm(X.T, y, C), **EXACT)


@layouts
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_each_row_is_added_as_in_algorithm_1(layout, C):
    X, y = made()
    start, *points = lssvm.algorithm_1(layout(X), y, np.full(10, C))
    np.testing.assert_array_equal(start.w, 0.0)
    count = 0
    for point, (P, w) in zip(
        lssvm.algorithm_1(layout(X), y, np.full(10, C)), [(None, None), *alsvm(X.T, y, C)], strict=True
    ):
        if w is not None:  # P is changed in place
            np.testing.assert_allclose(point.P, P, **EXACT)
            np.testing.assert_allclose(point.w, w, **EXACT)
            count += 1
            assert point.number == point.record["active"] == count
    assert count == 10 == len(points)


@layouts
def test_rows_are_chosen_as_in_algorithm_2(layout):
    X, y = made(30, seed=3)
    order = np.random.default_rng(5).permutation(30)
    steps, added = lssvm.algorithm_2(layout(X), y, np.full(30, 2.0), [order]), 0
    next(steps)
    for point, k, (P, w, wrong) in zip(steps, order, falsvm(X.T, y, 2.0, order), strict=True):
        np.testing.assert_allclose(point.P, P, **EXACT)
        np.testing.assert_allclose(point.w, w, **EXACT)
        added += wrong
        assert point.taken[k] == wrong and point.record["active"] == added
    assert 2 < added < 30


@layouts
def test_rows_are_removed_as_in_equations_8_to_10(layout):
    X, y = made(20)
    point = last(lssvm.algorithm_1(layout(X), y, np.full(20, 3.0)))
    P, w = point.P.copy(order="F"), point.w
    for k in (4, 0, 19, 7):
        wanted = removal(P.copy(), w, X[k], y[k])
        P, w = lssvm.remove(P, w, *lssvm.row(layout(X), k), y[k])
        np.testing.assert_allclose(P, wanted[0], **EXACT)
        np.testing.assert_allclose(w, wanted[1], **EXACT)
    kept = np.setdiff1d(np.arange(20), (4, 0, 19, 7))
    np.testing.assert_allclose(w, lls_svm(X[kept].T, y[kept], 3.0), rtol=1e-9, atol=1e-12)


def test_one_p_serves_several_problems():
    X, y = made()
    Y = np.column_stack([y, -y, np.sign(X[:, 0] + 0.1)])
    P, W = np.asfortranarray(np.eye(5) * 2.0), np.zeros((5, 3))
    for k in range(10):
        P, W = lssvm.add(P, W, slice(None), X[k], Y[k])
    for k in range(3):
        np.testing.assert_allclose(W[:, k], lls_svm(X.T, Y[:, k], 1.0), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(W[:, 0], -W[:, 1])


def test_a_removal_that_would_lose_the_digits_is_refused():
    x, nu = np.array([1e5, 1.0]), 0.5
    P = np.linalg.inv(np.outer(x, x) + nu * np.eye(2)).copy(order="F")
    with pytest.raises(SvmtoolError, match="Eq. 8 divides by 1 - x'Px"):
        lssvm.remove(P, np.zeros(2), slice(None), x, 1.0)
    with pytest.raises(SvmtoolError, match="rounding has left P without digits"):
        lssvm.add(-np.eye(2, order="F"), np.zeros(2), slice(None), x, 1.0)


# The optimum, and laws


@numbers
@layouts
@pytest.mark.parametrize("n, d, C", [(60, 5, 1.0), (40, 60, 0.1), (300, 3, 10.0), (20, 1, 1e-3)])
def test_the_engine_agrees(number, layout, n, d, C):
    """Within both certified gaps; FALSVM, which has no optimum, adds the same rows in the same order."""
    X, y = made(n, d, seed=n)
    asked = {"solver": number, "C": C, "bias": 1.0, "seed": 3}
    paper, fast = (api.fit(layout(X[:, :-1]), y, method=method, **asked) for method in ("paper", "fast"))
    a, b = paper.certificate, fast.certificate
    if number == 72:
        np.testing.assert_allclose(paper.model.W, fast.model.W, rtol=1e-8, atol=1e-10)
    else:
        assert a.gap < 1e-9 and abs(a.primal - b.primal) <= (a.gap + b.gap + 1e-12) * a.primal
    assert paper.converged


def fitted(number, X, y, **asked):
    return api.fit(X, y, solver=number, method="paper", **asked).model.W[:, 0]


@numbers
def test_laws(number):
    """Rows twice at half the cost; a column of zeros; the labels exchanged; weights of rows; sparse rows."""
    X, y = made(50, 4)
    X = X[:, :-1]
    w = fitted(number, X, y, C=2.0)
    np.testing.assert_allclose(fitted(number, scipy.sparse.csr_array(X), y, C=2.0), w, rtol=1e-10, atol=1e-13)
    assert fitted(number, np.hstack([X, np.zeros((50, 1))]), y, C=2.0)[4] == 0.0
    np.testing.assert_allclose(fitted(number, X, -y, C=2.0), -w, rtol=1e-10, atol=1e-13)
    if number < 72:  # FALSVM visits other rows in another order
        twice = fitted(number, np.repeat(X, 2, axis=0), np.repeat(y, 2), C=1.0)
        np.testing.assert_allclose(twice, w, rtol=1e-9, atol=1e-12)
        weighted = fitted(number, X, y, C=1.0, sample_weight=np.full(50, 2.0))
        np.testing.assert_allclose(weighted, w, rtol=1e-9, atol=1e-12)
    r = np.random.default_rng(1).integers(0, 3, 50)
    if number < 72:
        one, many = fitted(number, X, y, sample_weight=r), fitted(number, np.repeat(X, r, axis=0), np.repeat(y, r))
        np.testing.assert_allclose(one, many, rtol=1e-9, atol=1e-12)


@numbers
def test_classes_and_class_weights(number):
    """Each class against the rest, with its own factor: within the gaps of the engine."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(90, 5)), rng.integers(0, 4, 90)
    for weights in ({}, {1: 3.0}, {0: 0.0, 2: 0.5}):
        asked = {"solver": number, "class_weight": weights or None}
        paper, fast = (api.fit(X, y, method=method, **asked) for method in ("paper", "fast"))
        np.testing.assert_allclose(paper.model.W, fast.model.W, rtol=1e-7, atol=1e-9)


# Limits and odd data


@numbers
def test_a_time_limit_ends_it_with_the_last_iterate(number, svm_train):
    X, y = made(4000, 60)
    done = api.fit(X, y, solver=number, method="paper", max_seconds=1e-9)
    assert not done.converged and np.all(np.isfinite(done.model.W))
    status, out, err = svm_train("-s", number, "--max-iter", 3, "d", data="1 1:1\n-1 1:2\n")
    if number == 70:  # one iteration
        assert (status, err) == (0, "")
        return
    assert status == 1 and "--method paper does not support --max-iter: use" in err


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
    np.testing.assert_allclose(point.w, lls_svm(X[:k].T, y[:k], 1.0), rtol=1e-8, atol=1e-10)


@numbers
@pytest.mark.parametrize("options", [(), ("-B", -1), ("-w1", 0), ("-c", 1e-12), ("-c", 1e12)], ids=str)
@pytest.mark.parametrize(
    "data", ["", "1\n-1\n1\n", "2 1:1\n2 1:3\n", "0 1:1\n", "1 1:1e-30 2:5\n-1 1:1e30\n", "1 9:1\n-1 3:2\n2 1:1\n"]
)
def test_odd_data(number, options, data, svm_train):
    """No traceback; finite weights; a loss of digits is reported."""
    status, out, err = svm_train("-s", number, *options, "d", "m", data=data)
    assert status == 0 and "Certified relative gap" in out
    assert all(np.all(np.isfinite(w)) for w in weights_in("m").values())
    gap = out.rpartition("gap = ")[2].split()[0]
    if number < 72 and not float(gap if gap != "none:" else "inf") <= 1e-2:
        assert "--method fast" in err or "not converged" in err


def test_many_features_are_refused_in_a_sentence(svm_train, monkeypatch):
    for number in (71, 72):
        status, _, err = svm_train("-s", number, "d", data="1 1:1\n-1 6000:1\n")
        assert status == 1 and "5001 are too many (use -s 70)" in err or "6001 are too many (use -s 70)" in err
    monkeypatch.setattr(lssvm.limits, "memory", lambda: 1000)
    assert svm_train("-s", 70, "d", data="1 1:1\n-1 2:1\n")[0] == 0
    status, _, err = svm_train("-s", 70, "d", data="".join(f"{k % 2} {k + 1}:1\n" for k in range(9)))
    assert status == 1 and "are beyond the memory: use --method fast" in err


# The command


@numbers
def test_command(number, svm_train):
    rows = text_of_rows(draw(np.random.default_rng(1), 60, 5))
    status, out, err = svm_train("-s", number, "--solver-log", "log", "d", "m", data=rows)
    assert (status, err) == (0, "") and " iterations: " in out
    records = [json.loads(line) for line in Path("log").read_text().splitlines()]
    words = lssvm.METHODS[{70: "system", 71: "algorithm 1", 72: "algorithm 2"}[number]]
    assert {record["method"] for record in records} == {words}
    before = weights_in("m")[1]
    status, _, err = svm_train("-q", "-s", number, "-e", 0.01, "d", "m")
    assert status == 0 and f"-s {number} (" in err and "ignores -e" in err
    np.testing.assert_array_equal(weights_in("m")[1], before)
    status, out, err = svm_train("-s", number, "--method", "fast", "d", "m")
    assert (status, err) == (0, "") and " iterations: " not in out
    np.testing.assert_allclose(weights_in("m")[1], before, rtol=1e-8, atol=1e-10)


@numbers
def test_explain(number, svm_train):
    status, out, err = svm_train("--explain", "-s", number)
    about = lssvm.ABOUT[number]
    assert (status, err) == (0, "") and about.algorithm in out and about.fast in out and about.iteration in out
    assert all(text in out for text in about.differs) and "module       svmtool.papers.lssvm" in out
    status, out, err = svm_train("--explain", "-s", number, "d", data="1 1:1\n-1 2:1\n")
    assert status == 0 and out.rstrip().splitlines()[-1].startswith("method ")
    assert about.algorithm not in svm_train("--explain", "-s", number, "--method", "fast")[1]


def test_gap_is_compared_and_ends_nothing(svm_train):
    rows = text_of_rows(draw(np.random.default_rng(1), 60, 5))
    for number in (70, 71):
        assert svm_train("-s", number, "--gap", 1e-6, "d", "m", data=rows)[2] == ""
        status, _, err = svm_train("-s", number, "--strict", "--gap", 1e-30, "d", "m")
        assert status == 2 and "use --method fast" in err
    assert "does not support --gap" in svm_train("-s", 72, "--gap", 0.1, "d")[2]


@pytest.mark.parametrize("number", [70, 71])
def test_searches_for_c(number, svm_train):
    rows = text_of_rows(draw(np.random.default_rng(1), 60, 5))
    assert svm_train("-q", "-s", number, "--grid", "C=0.1,1,10", "d", data=rows)[0] == 0
    assert svm_train("-q", "-s", number, "-C", "d")[0] == 0
    assert svm_train("-q", "-s", number, "-v", 3, "d")[0] == 0
