"""ALFPGM as printed: a transcription of the paper, the engine's optimum, laws, limits, and the commands."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kernel_suite import kernel_matrix, random_data, text
from naming import case_of

from svmtool import api, registry
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import CSvc, Points
from svmtool.kernels.rows import KernelRows
from svmtool.kernels.tiles import tiles_of
from svmtool.models.kernel_functions import Kernel
from svmtool.papers import alfpgm
from svmtool.papers.running import Tolerance
from svmtool.params import Options
from svmtool.solvers.shared.base import ITERATIONS, RULE, TIME, Monitor
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


def problem_of(X, y, C, kernel, **options):
    problem = CSvc(Points(kernel, DenseRows(np.ascontiguousarray(X)), None), y, C)
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
@pytest.mark.parametrize("seed", [0, 3])  # of 2 two free variables have the same q but for rounding
def test_ten_rounds_are_the_papers(kernel, check, least, most, seed):
    """p = 2 on ten rows: the same sets, and every variable to 1e-10."""
    X, y, C = ten_rows(seed)
    problem = problem_of(X, y, C, kernel)
    expected = paper(kernel_matrix(problem), y, C, 2, 1e-5, check, least=least, most=most)
    found = iterates(problem, 2, 1e-5, check, least, most)[:10]
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


OPTIONS = [
    {"pairs": 1},
    {"pairs": 10**9},
    {"min_alpha_opt": math.inf, "max_alpha_opt": math.inf},
    {"min_alpha_opt": 1, "max_alpha_opt": 1, "min_alpha_check": 1, "pairs": 3},
    {"delta_alpha": 1e3, "pairs": 3},
]


def test_options_lead_to_the_same_optimum():
    """MinMaxLimiter cannot end a run before all variables meet the rule."""
    data = random_data(100)
    truth = solved(problem_of(data.X, data.y, np.full(100, 2.0), Kernel(2, 0.3)), 1e-6)[2]
    for options in OPTIONS:
        problem = problem_of(data.X, data.y, np.full(100, 2.0), Kernel(2, 0.3), **options)
        problem.cache_mb = 1e-6
        with case_of(options):
            _, result, certificate = solved(problem, 1e-4)
            assert result.status is RULE and certificate.primal == pytest.approx(truth.primal, rel=1e-4)


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
