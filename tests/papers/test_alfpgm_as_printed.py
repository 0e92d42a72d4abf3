"""ALFPGM as printed: a transcription of the paper, the engine's optimum, laws, limits, and the commands."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from kernel_suite import random_data, text

from svmtool import api, registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import CSvc, Points
from svmtool.kernels.rows import KernelRows
from svmtool.kernels.tiles import tiles_of
from svmtool.models.kernel_functions import Kernel
from svmtool.papers import alfpgm
from svmtool.papers.running import Tolerance
from svmtool.params import Options
from svmtool.solvers.shared.base import ITERATIONS, RULE, TIME, Monitor, Rule
from svmtool.training.kernel.verify import as_printed

# --- The paper in numpy: Algorithms 1 and 2, pWSS, MinMaxLimiter; equation numbers are the paper's. ---


def paper_subproblem(Q, chi, G, y, C, a, lam, mu, eps):
    """Algorithm 2 for (3): the least of f(a) = 1/2 a'Qa + chi'a over the box with g(a) = y'a + G = 0."""
    v = y * np.linspace(1.0, 2.0, len(y))
    for _ in range(10):  # the power method
        v = Q @ (v / np.linalg.norm(v))
    L = max(np.linalg.norm(v), np.max(np.diag(Q))) + mu * len(y)  # (16)

    def slope(x):  # of (7)
        return Q @ x + chi - lam * y + mu * (y @ x + G) * y

    while True:
        v, t = a, 1.0
        while True:
            new = np.clip(v - slope(v) / L, 0.0, C)
            after = (1.0 + math.sqrt(1.0 + 4.0 * t * t)) / 2.0
            v, a, t = new + (t - 1.0) / after * (new - a), new, after
            s = slope(a)
            nu = np.where(a <= 0.0, np.maximum(0.0, -s), np.where(a >= C, np.maximum(0.0, s), np.abs(s)))  # (11)
            if np.max(nu) < eps:  # (10)
                break
        g = y @ a + G
        lam = lam - mu * g  # (9)
        if abs(g) <= eps:
            return a, lam


def paper_pairs(K, q, up, low, p, check):
    """(14) and (15) p times, no variable twice; j is sought among the `check` smallest q that are left."""
    up, low, B = set(up), set(low), []
    while len(B) < 2 * p and up:
        i = max(up, key=lambda t: (q[t], -t))
        sorted_low = sorted(low - {i}, key=lambda t: (q[t], t))[:check]
        curve = {t: K[i, i] + K[t, t] - 2.0 * K[i, t] for t in sorted_low if q[t] < q[i]}
        gain = {t: (q[i] - q[t]) ** 2 / (c if c > 0.0 else 1e-12) for t, c in curve.items()}
        if not gain:
            break
        j = max(gain, key=lambda t: (gain[t], -t))
        B += [i, j]
        up -= {i, j}
        low -= {i, j}
    return B


def paper(K, y, C, p, eps, check, delta=1e-6, least=5, most=20, mu=0.1, rounds=10):
    """Algorithm 1: the a, q, lam, B and candidates of the first rounds."""
    n = len(y)
    Q, a, lam = y[:, None] * K * y, np.zeros(n), 0.0
    visits, candidates, found = np.zeros(n, int), set(range(n)), []
    for _ in range(rounds):
        q = -y * (Q @ a - 1.0)
        up = {t for t in range(n) if (a[t] < C[t] if y[t] > 0 else a[t] > 0.0)}
        low = {t for t in range(n) if (a[t] > 0.0 if y[t] > 0 else a[t] < C[t])}
        if max(q[list(up)]) - min(q[list(low)]) <= eps:
            break
        inside = [q[list(s & candidates)] for s in (up, low)]
        if not all(map(len, inside)) or max(inside[0]) - min(inside[1]) <= eps:
            visits[:], candidates = 0, set(range(n))
        B = paper_pairs(K, q, up & candidates, low & candidates, p, check)
        N = [t for t in range(n) if t not in B]
        chi, G = Q[np.ix_(B, N)] @ a[N] - 1.0, a[N] @ y[N]  # of (3)
        within = max(q[t] for t in B if t in up) - min(q[t] for t in B if t in low)
        new, lam = paper_subproblem(Q[np.ix_(B, B)], chi, G, y[B], C[B], a[B], lam, mu, min(eps, within / 4.0))
        for t, value in zip(B, new, strict=True):
            visits[t] += 1
            at_bound = value in (0.0, C[t])
            if abs(value - a[t]) < delta or (at_bound and visits[t] >= least) or visits[t] >= most:
                candidates.discard(t)
            a[t] = value
        found.append((a.copy(), -y * (Q @ a - 1.0), lam, B, sorted(candidates)))
    return found


# --- The file against it ---


def ten_rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, 3))
    y = np.where(rng.random(10) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, np.where(y > 0.0, 3.0, 2.0)


def matrix(X, kernel):
    K = X @ X.T
    squares = np.diag(K)
    return np.exp(-kernel.gamma * (squares[:, None] + squares - 2.0 * K)) if kernel.kind == 2 else K


def problem_of(X, y, C, kernel, sparse=False, **options):
    rows = DenseRows(np.ascontiguousarray(X))
    if sparse:
        indptr = np.concatenate(([0], np.cumsum(np.count_nonzero(X, axis=1))))
        rows = CsrRows(indptr, np.nonzero(X)[1].astype(np.int32), X[X != 0], X.shape[1])
    problem = CSvc(Points(kernel, rows, None), y, C)
    problem.options = Options(**options)
    return problem


def iterates(problem, p, eps, check=math.inf, least=5, most=20):
    """The points after the start, copied."""
    n = problem.n
    rows = KernelRows(tiles_of(problem.rows, problem.kernel, problem.matrix, np.float64), 1.0)
    limiter = alfpgm.MinMaxLimiter(n, 1e-6, least, most)
    args = rows, problem.y, problem.upper, np.zeros(n), problem.y.copy(), eps, p, limiter, check
    found = []
    for point in alfpgm.algorithm_1(*args):
        found.append((point.a.copy(), point.q.copy(), point.lam, point.B.tolist(), np.flatnonzero(point.left).tolist()))
    return found[1:]


@pytest.mark.parametrize("kernel", [Kernel(2, 0.4), Kernel(0)], ids=["rbf", "linear"])
@pytest.mark.parametrize("check", [10, 2])
@pytest.mark.parametrize("least, most", [(5, 20), (2, 3)])
@pytest.mark.parametrize("seed", [0, 1, 3, 4])  # of 2 two free variables have the same q but for rounding
def test_ten_rounds_are_the_papers(kernel, check, least, most, seed):
    """p = 2 on ten rows: the same sets, and every variable to 1e-10."""
    X, y, C = ten_rows(seed)
    expected = paper(matrix(X, kernel), y, C, 2, 1e-5, check, least=least, most=most)
    found = iterates(problem_of(X, y, C, kernel), 2, 1e-5, check, least, most)[:10]
    assert len(found) == len(expected) >= 4
    for (a, q, lam, B, left), (a_, q_, lam_, B_, left_) in zip(found, expected, strict=True):
        assert B == B_
        np.testing.assert_allclose(a, a_, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(q, q_, rtol=1e-10, atol=1e-10)
        assert lam == pytest.approx(lam_, rel=1e-10, abs=1e-10)
        assert left == left_ or len(left) == 10, "those that return are seen with the next set"


def solved(problem, eps=1e-2, **monitor):
    result = registry.solver_of(alfpgm)(problem, Monitor(max_seconds=60, **monitor), Tolerance(eps))
    return as_printed(problem, result, None)


@pytest.mark.parametrize("name", ["rbf", "linear", "polynomial"])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_objective_is_the_engines_within_the_gap(name, C):
    kernel = {"rbf": Kernel(2, 0.3), "linear": Kernel(0), "polynomial": Kernel(1, 0.5, 2, 1.0)}[name]
    data = random_data(120)
    problem = problem_of(data.X, data.y, np.full(120, C), kernel)
    _, result, certificate = solved(problem, 1e-3)
    assert result.status is RULE and 0.0 <= certificate.gap <= 1e-2
    row = registry.find_kernel(60)
    engine = registry.entry(row)(problem, Monitor(1e-9, max_seconds=60), Rule())
    assert -engine.objective <= certificate.primal * (1.0 + 1e-9)
    assert certificate.dual <= -engine.objective * (1.0 + 1e-9)
    assert certificate.violation <= 1e-3 * (1.0 + 1e-9), "within -e of the multipliers, so that the rule holds"
    assert abs(float(problem.y @ result.alpha)) <= 1e-3
    assert np.all(result.alpha >= 0.0) and np.all(result.alpha <= problem.upper)
    there = result.dual_point.alpha
    assert abs(float(problem.y @ there)) <= 1e-12 * np.sum(there)
    assert np.all(there >= 0.0) and np.all(there <= problem.upper) and np.max(np.abs(there - result.alpha)) <= 1e-3


OPTIONS = [
    {"pairs": 1},
    {"pairs": 10**9},
    {"min_alpha_opt": math.inf, "max_alpha_opt": math.inf},
    {"min_alpha_opt": 1, "max_alpha_opt": 1, "min_alpha_check": 1, "pairs": 3},
    {"delta_alpha": 1e3, "pairs": 3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("cache_mb", [100.0, 1e-6])
def test_options_lead_to_the_same_optimum(options, cache_mb):
    """MinMaxLimiter cannot end a run before all variables meet the rule."""
    data = random_data(100)
    truth = solved(problem_of(data.X, data.y, np.full(100, 2.0), Kernel(2, 0.3)), 1e-6)[2]
    problem = problem_of(data.X, data.y, np.full(100, 2.0), Kernel(2, 0.3), **options)
    problem.cache_mb = cache_mb
    _, result, certificate = solved(problem, 1e-4)
    assert result.status is RULE and certificate.primal == pytest.approx(truth.primal, rel=1e-4)


def test_least_recently_used_rows_are_computed_again_and_change_nothing():
    data = random_data(100)
    found = []
    for megabytes in (100.0, 1e-6):
        problem = problem_of(data.X, data.y, np.full(100, 2.0), Kernel(2, 0.3), pairs=3)
        problem.cache_mb = megabytes
        found.append(solved(problem)[1])
    assert found[0].iterations == found[1].iterations
    np.testing.assert_allclose(found[0].alpha, found[1].alpha, rtol=1e-9, atol=1e-9)


def test_sparse_rows_and_a_given_matrix_are_the_same_problem():
    data = random_data(80)
    kernel = Kernel(2, 0.3)
    C = np.full(80, 2.0)
    dense = solved(problem_of(data.X, data.y, C, kernel))[1]
    sparse = solved(problem_of(data.X, data.y, C, kernel, sparse=True))[1]
    given = solved(CSvc(Points(Kernel(4), None, matrix(data.X, kernel)), data.y, C))
    for other in (sparse, given[1]):
        np.testing.assert_allclose(other.alpha, dense.alpha, rtol=1e-6, atol=1e-6)
    assert 0.0 <= given[2].gap <= 1e-2, "its dual value is that of the point with y'a = 0"


def test_signs_and_columns():
    """y -> -y gives the same a and -rho; a zero column changes nothing."""
    X, y, C = ten_rows(3)
    C = np.full(10, 2.0)
    kernel = Kernel(2, 0.4)
    first, wide = (solved(problem_of(Z, y, C, kernel))[1] for Z in (X, np.hstack((X, np.zeros((10, 1))))))
    assert np.array_equal(first.alpha, wide.alpha)
    a, b = (solved(problem_of(X, s * y, C, kernel), 1e-6)[2] for s in (1.0, -1.0))
    assert a.primal == pytest.approx(b.primal, rel=1e-5), "equal candidates are taken in another order"


def test_rows_twice_with_half_the_cost_have_the_same_optimum():
    data = random_data(60)
    once = solved(problem_of(data.X, data.y, np.full(60, 2.0), Kernel(2, 0.3)), 1e-4)[2]
    twice = solved(problem_of(np.repeat(data.X, 2, 0), np.repeat(data.y, 2), np.full(120, 1.0), Kernel(2, 0.3)), 1e-4)[
        2
    ]
    assert once.primal == pytest.approx(twice.primal, rel=once.gap + twice.gap + 1e-12)


def test_a_start_is_gone_on_from():
    data = random_data(60)
    problem = problem_of(data.X, data.y, np.full(60, 2.0), Kernel(2, 0.3))
    first = solved(problem)[1]
    again = registry.solver_of(alfpgm)(problem, Monitor(), Tolerance(2e-2), first.dual_point.alpha)
    assert again.status is RULE and again.iterations <= first.iterations // 2


def test_limits_end_a_run_with_its_last_iterate():
    data = random_data(200)
    problem = problem_of(data.X, data.y, np.full(200, 100.0), Kernel(2, 0.3), pairs=2)
    result = registry.solver_of(alfpgm)(problem, Monitor(max_iter=3), Tolerance(1e-9))
    assert result.status is ITERATIONS and result.iterations == 3 and np.count_nonzero(result.alpha) <= 12
    done = api.fit(data.X, data.y, 60, kernel="rbf", C=100.0, pairs=2, eps=1e-9, max_iter=3)
    assert not done.converged and 0 < len(done.support) <= 12, "the last iterate, not w = 0"
    assert 0.0 < done.certificate.dual < done.certificate.primal
    monitor = Monitor(max_seconds=1e-9)
    assert registry.solver_of(alfpgm)(problem, monitor, Tolerance(1e-9)).status is TIME


ODD = {
    "zero rows": lambda X: np.zeros_like(X),
    "more features than rows": lambda X: np.random.default_rng(2).normal(size=(len(X), 3 * len(X))),
    "huge": lambda X: 1e12 * X,
    "tiny": lambda X: 1e-12 * X,
    "twice": lambda X: np.repeat(X[: len(X) // 2], 2, 0),
    "one row again and again": lambda X: np.repeat(X[:1], len(X), 0),
    "unscaled": lambda X: X * np.array([1e4, 1.0, 1e-3, 1.0]),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "sigmoid", "poly"])
def test_odd_data_end_with_finite_results(name, kernel):
    data = random_data(40)
    X = ODD[name](data.X)
    done = api.fit(X, data.y, 60, kernel=kernel, C=10.0, max_seconds=2)
    assert np.all(np.isfinite(done.model.coef)) and np.all(np.isfinite(done.model.rho))
    assert not done.converged or 0.0 <= done.certificate.gap <= 1e-2


def test_costs_of_zero_and_weights_of_rows():
    data = random_data(60)
    one_sided = api.fit(data.X, data.y, 60, kernel="rbf", class_weight={1: 0.0})
    assert one_sided.certificate.primal == 0.0
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    a = api.fit(data.X, data.y, 60, kernel="rbf", sample_weight=weights, eps=1e-5)
    again = np.repeat(np.arange(60), weights.astype(int))
    b = api.fit(data.X[again], data.y[again], 60, kernel="rbf", eps=1e-5)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=1e-4)
    assert set(a.support) <= set(np.flatnonzero(weights))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_command_runs_the_paper(classes, svm_train):
    data = text(random_data(60).X, np.arange(60) % classes)
    status, out, err = svm_train("-s", 60, "-g", 0.3, "-e", 0.01, "--solver-log", "log", "d", "m", data=data)
    assert status == 0 and err == "" and "Certified relative gap" in out
    with open("log") as file:
        records = [json.loads(line) for line in file]
    assert {r["method"] for r in records} == {alfpgm.METHODS["paper"]}
    assert all(r["violation"] >= 0.0 and 0 <= r["active"] <= 60 for r in records)
    assert svm_train("-s", 60, "-q", "d", "m")[0] == 0
    status, out, err = svm_train("-s", 60, "--method", "fast", "-g", 0.3, "--gap", 1e-8, "d", "m")
    assert status == 0 and err == "" and float(out.partition("relative gap = ")[2].split()[0]) <= 1e-8


def test_explain_tells_what_runs(svm_train):
    status, out, _ = svm_train("--explain", "-s", 60)
    about = alfpgm.ABOUT[60]
    assert status == 0 and "svmtool.papers.alfpgm" in out and "(default 0.01)" in out
    for fact in (about.algorithm, *about.differs, about.iteration, about.fast):
        assert fact in out
    assert "svmtool.solvers.alfpgm" in svm_train("--explain", "-s", 60, "--method", "fast")[1]


def test_a_gap_is_compared_with_the_certificate(svm_train):
    data = text(random_data(60).X, np.arange(60) % 2)
    status, _, err = svm_train("-s", 60, "-g", 0.3, "--gap", 1e-12, "--strict", "d", "m", data=data)
    assert status != 0 and "the paper's algorithm has ended" in err and "--method fast" in err


def test_paper_form_is_another_spelling(svm_train):
    data = text(random_data(60).X, np.arange(60) % 2)
    models = []
    for argv in ([], ["--paper-form"], ["--method", "paper"]):
        assert svm_train("-q", "-s", 60, *argv, "--pairs", 5, "d", "m", data=data)[0] == 0
        with open("m") as file:
            models.append(file.read())
    assert models[0] == models[1] == models[2]
    _, _, err = svm_train("-s", 60, "--method", "fast", "--pairs", 5, "d")
    assert err == "ERROR: solver 60 (alfpgm) does not support --pairs: use --method paper\n"
    assert "does not support --pairs" in svm_train("-s", 0, "-t", 2, "--pairs", 5, "d")[2]
    assert "must be an integer >= 1, or inf" in svm_train("-s", 60, "--max-alpha-opt", "0", "d")[2]
