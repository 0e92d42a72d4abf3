"""FOSVM as printed: its iterates are the paper's, its plane is that of the engine, its rule holds on all rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from fosvm_problems import KERNELS, cloud, optimum, values
from fosvm_transcribed import algorithm
from reference import text_of

from svmtool.api import decision_values, fit
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import HardOneClass, Points
from svmtool.papers import fosvm
from svmtool.registry.row import gap_of_theta
from svmtool.solvers.shared.base import ITERATIONS, OPTIMAL, PRECISION, RULE, TIME, Monitor

both = pytest.mark.parametrize("number", [80, 81])
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
THETA = 1e-3
WIDE = {name: kernel for name, kernel in KERNELS.items() if name != "narrow"}  # whose scores have no ties
WORDS = {0: "linear", 1: "poly", 2: "rbf"}
PARAMETERS = {0: (), 1: ("gamma", "degree", "coef0"), 2: ("gamma",)}  # by the kernel's kind


def parameters(kernel) -> dict:
    """The keywords of `fit` for a kernel."""
    return {name: getattr(kernel, name) for name in PARAMETERS[kernel.kind]}


def rows_of(X: np.ndarray, kernel, sparse: bool = False):
    """The rows of a problem in the form that the algorithm takes."""
    if kernel is None:
        return fosvm.Linear(scipy.sparse.csr_array(X) if sparse else X)
    S = scipy.sparse.csr_array(X)
    rows = (
        CsrRows(S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data, X.shape[1]) if sparse else DenseRows(X)
    )
    return fosvm.WithKernel(HardOneClass(Points(kernel, rows, None)))


def points_of(steps) -> tuple[list, object]:
    """All iterates after the start, and the status."""
    found = [next(steps)]
    while True:
        try:
            found.append(next(steps))
        except StopIteration as end:
            return found[1:], end.value


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("m", [None, 3], ids=["algorithm-2", "algorithm-3"])
@pytest.mark.parametrize("kernel", [None, *WIDE.values()], ids=["none", *WIDE])
def test_iterates_are_those_of_the_paper(kernel, m, sparse):
    X = cloud(10, 5, 4, shift=1.0)
    K = values(X, KERNELS["linear"] if kernel is None else kernel)
    rows = rows_of(X, kernel, sparse)
    steps = fosvm.algorithm_2(rows, THETA) if m is None else fosvm.algorithm_3(rows, THETA, m, 7)
    points, status = points_of(steps)
    theirs = algorithm(K, THETA, [p.B for p in points[:10]])
    assert len(points) == len(theirs) and len(points) >= 3
    for p, q in zip(points, theirs, strict=True):
        assert p.A.tolist() == q["A"]
        assert p.rho == pytest.approx(q["rho"], rel=1e-10)
        np.testing.assert_allclose(p.alpha, q["alpha"], rtol=1e-10, atol=1e-10)
        if "i" in q:
            assert p.i == q["i"] and p.o == pytest.approx(q["o"], rel=1e-10, abs=1e-10 * q["rho"])
        if kernel is None:
            np.testing.assert_allclose(p.w, X[p.A].T @ q["alpha"], rtol=1e-10, atol=1e-12)
    assert status in (RULE, OPTIMAL) or status.name == "sample"


@every_kernel
@pytest.mark.parametrize("theta", [0.3, 0.1, 0.01])
def test_rule_holds_on_all_rows_and_the_optimum_is_the_engines(kernel, theta):
    X = cloud(80, 4, 2)
    done = fit(X, None, solver=80, kernel=WORDS[kernel.kind], theta=theta, **parameters(kernel))
    c = done.certificate
    assert done.converged and c.gap <= gap_of_theta(theta) * (1 + 1e-9)
    best = -0.5 * optimum(values(X, kernel))
    assert c.dual <= best + 1e-9 * abs(best) and best <= c.primal + 1e-9 * abs(best)
    assert np.all(decision_values(done.model, X) > 0.0), "all training rows are inside"


@both
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_methods_agree_within_their_gaps(number, kernel):
    X = cloud(300, 4, 3)
    more = {} if kernel is None else {"kernel": kernel, "gamma": 0.3}
    paper, fast = (fit(X, None, solver=number, method=m, theta=0.02, seed=3, **more) for m in ("paper", "fast"))
    assert paper.status.name in ("rule", "sample") and paper.converged and fast.converged
    if number == 80:  # after samples each certificate is of other rows
        a, b = paper.certificate, fast.certificate
        assert max(a.dual, b.dual) <= min(a.primal, b.primal) + 1e-9 * abs(a.dual)


@both
def test_samples_repeat_and_end_by_their_rule(number):
    X = cloud(500, 3, 5)
    more = {"sample": 20} if number == 81 else {}
    a, b = (fit(X, None, solver=number, seed=4, **more) for _ in "ab")
    assert a.model.W.tobytes() == b.model.W.tobytes() and a.certificate.line() == b.certificate.line()
    assert a.status.name == ("sample" if number == 81 else "rule")


def test_a_sample_of_all_rows_is_algorithm_2():
    X = cloud(50, 3, 6)
    a, b = fit(X, None, solver=80, theta=0.01), fit(X, None, solver=81, sample=50, theta=0.01)
    assert a.certificate.line() == b.certificate.line() and b.status is RULE


def test_laws_of_the_geometry():
    X = cloud(60, 3, 7)
    plain = points_of(fosvm.algorithm_2(fosvm.Linear(X), 0.01))[0][-1]
    doubled = points_of(fosvm.algorithm_2(fosvm.Linear(2.0 * X), 0.01))[0][-1]
    wide = points_of(fosvm.algorithm_2(fosvm.Linear(np.insert(X, 1, 0.0, axis=1)), 0.01))[0][-1]
    repeated = points_of(fosvm.algorithm_2(fosvm.Linear(np.vstack((X, X))), 0.01))[0][-1]
    turned = points_of(fosvm.algorithm_2(fosvm.Linear(-X), 0.01))[0][-1]
    assert doubled.rho == pytest.approx(4.0 * plain.rho, rel=1e-12) and doubled.A.tolist() == plain.A.tolist()
    assert wide.w[1] == 0.0 and np.delete(wide.w, 1) == pytest.approx(plain.w, rel=1e-12)
    assert repeated.w == pytest.approx(plain.w, rel=1e-10) and turned.w == pytest.approx(-plain.w, rel=1e-12)


@both
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_limits_keep_the_last_plane(number, kernel):
    X = cloud(400, 6, 8)
    more = {} if kernel is None else {"kernel": kernel, "gamma": 2.0}
    short = fit(X, None, solver=number, theta=1e-6, max_iter=3, **more)
    assert not short.converged and short.status is ITERATIONS and short.n_iter.tolist() == [3]
    late = fit(X, None, solver=number, theta=1e-6, max_seconds=1e-9, **more)
    assert not late.converged and late.status is TIME and np.isfinite(late.certificate.dual)


@pytest.mark.parametrize("kernel", [None, *KERNELS.values()], ids=["none", *KERNELS])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_odd_rows(kernel, sparse):
    rng = np.random.default_rng(0)
    sets = {
        "one row": np.ones((1, 2)),
        "zeros": np.zeros((5, 2)),
        "the same": np.ones((6, 3)),
        "around the origin": rng.standard_normal((40, 3)),
        "more features": rng.standard_normal((5, 20)) + 1.0,
        "large": 1e6 * (rng.standard_normal((20, 3)) + 3.0),
        "small": 1e-6 * (rng.standard_normal((20, 3)) + 3.0),
        "no features": np.zeros((4, 0)),
    }
    for name, X in sets.items():
        if name == "no features" and kernel is not None:
            continue
        for m in (None, 2):
            rows = rows_of(X, kernel, sparse)
            steps = fosvm.algorithm_2(rows, 0.1) if m is None else fosvm.algorithm_3(rows, 0.1, m, 1)
            points, status = points_of(steps)
            assert len(points) <= len(X) and np.isfinite(points[-1].rho), name
            assert status in (RULE, OPTIMAL, PRECISION) or status.name == "sample", name
            assert np.sum(points[-1].alpha) == pytest.approx(1.0) and np.all(points[-1].alpha >= 0.0), name


def test_a_monitor_sees_each_iterate():
    monitor = Monitor()
    problem = HardOneClass(Points(KERNELS["rbf"], DenseRows(cloud(60, 3, 9)), None))
    result = fosvm.solve(problem, monitor, fosvm.Tolerance(0.1), None, 1, "paper")
    bounds = [record["bound"] for record in monitor.history]
    assert bounds == sorted(bounds) and result.iterations == len(bounds) - 1
    assert [record["active"] for record in monitor.history[1:]] == list(range(2, len(bounds) + 1))


@both
@pytest.mark.parametrize("kernel", [[], ["-g", "0.2"]])
def test_command(number, kernel, svm_train):
    data = text_of(cloud(400, 3, 1), np.ones(400))
    for more in ([], ["-e", "0.01"], ["--theta", "0.01"], ["--boundary", "rho"], ["--gap", "0.5"]):
        status, out, err = svm_train("-s", number, *kernel, *more, "--solver-log", "log", "d", "m", data=data)
        assert (status, err) == (0, ""), err
        assert "Training rows outside: " in out
        if number == 80 and "rho" not in more:
            assert "Training rows outside: 0 of 400" in out
        methods = {json.loads(line)["method"] for line in Path("log").read_text().splitlines()}
        assert methods == {fosvm.METHODS["paper" if number == 80 else "sampling"]}
        assert f" -e {0.01 if '0.01' in more else 0.1:g}" in Path("m").read_text()
    status, _, err = svm_train("-s", number, *kernel, "-e", "0.9", "--gap", "1e-9", "--strict", "d", "m", data=data)
    assert status == 2 and err.count("\n") == 1 and "use --method fast" in err
    status, out, _ = svm_train("-s", number, *kernel, "--explain")
    assert status == 0 and f"Algorithm {number - 78} (" in out and "not as printed" in out and "--method fast" in out


REFUSED = {
    "-e 1": "ERROR: -e is 1: of -s {} it is theta, which lies between 0 and 1",
    "-e 0": "ERROR: eps <= 0",
    "-e 0.1 --theta 0.1": "ERROR: -e and --theta are both stopping rules: give one of them",
    "-c 2": "does not support -c",
}


@both
@pytest.mark.parametrize("kernel", ["", "-t 2"])
@pytest.mark.parametrize("line", REFUSED)
def test_refusals(number, kernel, line, svm_train):
    data = text_of(cloud(20), np.ones(20))
    status, _, err = svm_train("-s", number, *kernel.split(), *line.split(), "d", "m", data=data)
    assert status == 1 and REFUSED[line].format(number) in err and err.count("\n") == 1


def test_refused_keywords():
    X = cloud(20)
    for given, sentence in (
        ({"eps": 1.5}, "theta"),
        ({"eps": 0.1, "theta": 0.1}, "eps and theta both decide when to stop: give one of them"),
        ({"theta": 1.0}, "theta == 1, must be a number between 0 and 1."),
        ({"theta": 0.1, "gap": 0.1, "method": "fast"}, "theta and gap both decide when to stop: give one of them"),
    ):
        with pytest.raises(ValueError, match=sentence):
            fit(X, None, solver=80, **given)
    assert fit(X, None, solver=80, theta=0.2, gap=0.1).converged in (True, False)
