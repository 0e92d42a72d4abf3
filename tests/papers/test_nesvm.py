"""NESVM as printed: iterates against a transcription of the paper, optima, laws, limits and the command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from kernel_suite import KERNELS
from reference import random_rows, table_of, text_of

from svmtool import api, registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels.interior import kernel_matrix
from svmtool.kernels.problems import Points
from svmtool.papers import nesvm, nesvm_kernel
from svmtool.papers.running import Tolerance, matrix
from svmtool.params import Options, Settings
from svmtool.solvers.shared.base import ITERATIONS, TIME, Monitor
from svmtool.training.kernel.dataset import pair_problem
from svmtool.training.kernel.verify import as_printed
from svmtool.training.reductions.base import problems_of

KINDS = {50: "c-svm", 51: "lp-svm", 52: "ls-svm"}
every_number = pytest.mark.parametrize("number", KINDS)


def printed(number, X, y, C, mu, eps, stages, steps, K=None):
    """The paper's Algorithms 1 and 2 for a free bias (37), as its text has them with the slips corrected.

    Yields w, y and z of each iteration.  K: the kernel matrix, in place of X.
    """
    n = len(y)
    A = np.column_stack((X if K is None else K, np.ones(n)))
    p = A.shape[1]
    E = np.diag(np.append(np.ones(p - 1), 0.0))  # |w|^2 = w'Ew without b
    if K is not None and number != 51:
        E = np.zeros((p, p))
        E[:n, :n] = K
    size = np.array([max(abs(v) for v in row) for row in A])
    first = 1.0 if K is None else max(np.sum(np.abs(K), axis=1))
    YX = np.diag(y) @ A

    def dual(w, m):
        xi = 1.0 - YX @ w
        if number == 52:
            return 2.0 * xi
        return np.array([np.median([xi[i] / (m * size[i]), 0.0, 1.0]) for i in range(n)])  # (6)

    def norm(w, m):
        return np.array([np.median([v / m, -1.0, 1.0]) for v in w[:-1]] + [0.0])  # (24)

    def F(w, m):
        total = 0.0
        for i in range(n):
            t = YX[i] @ w
            if number == 52:
                total += C * (1.0 - t) ** 2  # (54)
            elif t < 1.0 - m * size[i]:
                total += C * (1.0 - t - m / 2.0 * size[i])  # (10)
            elif t <= 1.0:
                total += C * (1.0 - t) ** 2 / (2.0 * m * size[i])
        if number != 51:
            return total + 0.5 * w @ E @ w
        for v in w[:-1]:
            total += abs(v) - m / 2.0 if abs(v) > m else v * v / (2.0 * m)  # (28)
        return total

    def gradient(w, m):  # (47), (51), (55)
        return (norm(w, m) if number == 51 else E @ w) - C * YX.T @ dual(w, m)

    w = np.zeros(p)
    for t in range(stages):
        m = mu / (t + 1)  # (44)
        if number == 52:
            L = first + 2.0 * C * n * max(np.linalg.norm(row) ** 2 for row in A)  # (56) with the sum
        else:
            worst = max(np.linalg.norm(np.outer(row, row), 2) / s for row, s in zip(A, size, strict=True))
            L = (1.0 / m if number == 51 else first) + C * n / m * worst  # (48), (52)
        guess, past = w, np.zeros(p)
        for k in range(steps):
            g = gradient(w, m)
            past = past + (k + 1) / 2 * g
            y_k = w - g / L  # (33)
            z_k = guess - past / L  # (34)
            new = 2 / (k + 3) * z_k + (k + 1) / (k + 3) * y_k  # (35)
            yield new, y_k, z_k
            done = abs(F(new, m) - F(w, m)) < eps
            w = new
            if done:
                break


def ten_rows():
    rng = np.random.default_rng(3)
    y = np.repeat((1.0, -1.0), 5)
    return np.round(rng.standard_normal((10, 3)) + 0.5 * y[:, None], 3), y


@every_number
@pytest.mark.parametrize("kernel", [False, True], ids=["linear", "kernel"])
@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_iterates_are_the_papers(number, kernel, eps):
    X, y = ten_rows()
    C, mu = 0.7, 5.0
    K = np.exp(-0.4 * np.sum((X[:, None] - X[None]) ** 2, axis=2)) if kernel else None
    A = np.column_stack((X if K is None else K, np.ones(10)))
    models = nesvm_kernel.MODELS if kernel else nesvm.MODELS
    svm = models[KINDS[number]](A, y, np.full(10, C), True)
    ours = nesvm.algorithm_2(svm, np.zeros(A.shape[1]), mu, 1e-3, eps)
    next(ours)
    many = 0
    for wanted in printed(number, X, y, C, mu, eps, 50, 50, K):
        point = next(ours)
        for a, b in zip((point.w, point.y, point.z), wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10 * np.abs(b).max())
        many += 1
        if many == 30:
            break
    assert many == 30


def test_stages_and_the_rule_end_where_the_paper_says():
    X, y = ten_rows()
    svm = nesvm.CSvm(np.column_stack((X, np.ones(10))), y, np.ones(10), True)
    points = list(nesvm.algorithm_2(svm, np.zeros(4), 5.0, 1.0, 1e-3))
    mus = [p.record["mu"] for p in points]
    assert list(dict.fromkeys(mus)) == [5.0, 2.5, 5.0 / 3.0, 1.25, 1.0]
    last = [i for i in range(1, len(mus)) if i + 1 == len(mus) or mus[i + 1] != mus[i]]
    changes = [abs(points[i].F_mu - points[i - 1].F_mu) for i in range(1, len(points)) if mus[i] == mus[i - 1]]
    ends = [abs(points[i].F_mu - points[i - 1].F_mu) for i in last if mus[i] == mus[i - 1]]
    assert all(end < 1e-3 for end in ends) and sum(c < 1e-3 for c in changes) == len(ends)
    one = nesvm.steps(svm, np.zeros(4), 1e-3, Options(homotopy=False, mu=2.0))
    assert {p.record["mu"] for p in one} == {2.0}


PROBLEMS = {
    "tall": (120, 4, 1.0), "wide": (20, 45, 0.3), "costly": (60, 5, 20.0), "cheap": (60, 5, 0.02),
}  # fmt: skip


def data_of(name):
    n, d, C = PROBLEMS[name]
    rng = np.random.default_rng(len(name))
    X = random_rows(rng, n, d)
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0.1, 1.0, -1.0)
    return X, y, C


@every_number
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_objective_is_the_engines_within_the_certified_gap(number, name, kernel):
    X, y, C = data_of(name)
    best = api.fit(X, y, number, kernel=kernel, C=C, gap=1e-6, method="fast").certificate
    for eps in (None, 1e-5):
        more = {} if eps is None else {"eps": eps}
        done = api.fit(X, y, number, kernel=kernel, C=C, method="paper", max_iter=10000, **more)
        c = done.certificate
        assert c.primal >= best.dual * (1 - 1e-9) and c.dual <= best.primal * (1 + 1e-9)
        assert 0.0 <= c.primal - best.primal + 1e-9 * best.primal <= c.gap * c.primal * (1 + 1e-6) + 1e-6 * c.primal
    assert c.gap <= 1.0


@every_number
def test_smaller_eps_and_mu_end_come_nearer(number):
    X, y, C = data_of("tall")
    best = api.fit(X, y, number, C=C, gap=1e-7, method="fast").certificate.primal
    more = {} if number == 52 else {"mu_end": 0.002}
    first = api.fit(X, y, number, C=C, method="paper").certificate.primal
    second = api.fit(X, y, number, C=C, method="paper", eps=1e-6, **more).certificate.primal
    assert best <= second * (1 + 1e-6) and second - best < 0.5 * (first - best) + 1e-6 * best


@every_number
@pytest.mark.parametrize("kind", list(KERNELS))
def test_primal_value_with_a_kernel_is_that_of_the_coefficients(number, kind):
    X, y, C = data_of("tall")
    order = np.argsort(-y, kind="stable")
    X, y = X[order], y[order]
    counts = int(np.sum(y > 0)), int(np.sum(y < 0))
    s = Settings.of_kernel(solver=number, C=C, method="paper")
    problem = pair_problem(Points(KERNELS[kind], DenseRows(X), None), s, counts, (C, C))
    row = registry.find_kernel(number, "paper")
    result = registry.entry(row)(problem, Monitor(max_iter=200), Tolerance(1e-3))
    w, b = y * result.alpha, -result.rho
    K = kernel_matrix(problem.points)
    xi = 1.0 - y * (K @ w + b)
    loss = C * float(np.sum(xi * xi if number == 52 else np.maximum(xi, 0.0)))
    direct = loss + (float(np.sum(np.abs(w))) if number == 51 else 0.5 * float(w @ K @ w))
    function, result, certificate = as_printed(problem, result, None)
    assert certificate.primal == pytest.approx(direct, rel=1e-9)
    assert result.history[-1]["objective"] == pytest.approx(direct, rel=1e-9)
    assert 0.0 <= certificate.dual <= certificate.primal
    np.testing.assert_allclose(function.coef, w)


def problem_of(number, X, y, C, sparse=False, free=True):
    options = {"bias": 1.0, "regularize_bias": False} if free else {"bias": -1.0}
    s = Settings.of(solver=number, C=C, method="paper", **options)
    task = problems_of(table_of(X, y), s).task(0)
    if sparse:
        table = table_of(X, y)
        bias = 1.0 if free else -1.0
        task.rows = CsrRows(table.indptr, table.indices, table.values, X.shape[1], bias)
    return task


def iterates(number, task, count=40):
    svm = nesvm.MODELS[KINDS[number]](matrix(task.rows), task.y, task.cost, task.free_bias)
    points = nesvm.steps(svm, np.zeros(task.rows.d), 0.0, Options())
    return [next(points).w for _ in range(count)]


@every_number
def test_laws(number):
    X, y, C = data_of("tall")
    X[:, 1] = 0.0
    y = y * y[0]  # the first row's label is class 1
    base = iterates(number, problem_of(number, X, y, C))
    twice = iterates(number, problem_of(number, np.vstack((X, X)), np.tile(y, 2), C / 2))
    np.testing.assert_allclose(twice, base, rtol=1e-9, atol=1e-12)
    turned = problem_of(number, X, y, C)
    turned.y = -turned.y
    np.testing.assert_allclose(iterates(number, turned), -np.array(base), rtol=1e-9, atol=1e-12)
    assert not np.any(np.array(base)[:, 1])
    sparse = iterates(number, problem_of(number, X, y, C, sparse=True))
    np.testing.assert_allclose(sparse, base, rtol=1e-9, atol=1e-12)


@every_number
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_limits(number, kernel):
    X, y, C = data_of("tall")
    done = api.fit(X, y, number, kernel=kernel, C=C, method="paper", max_iter=3)
    assert done.status is ITERATIONS and not done.converged
    done = api.fit(X, y, number, kernel=kernel, C=C, method="paper", max_seconds=1e-9)
    assert done.status is TIME and not done.converged and np.isfinite(done.certificate.primal)


ODD = {
    "zeros": (np.zeros((6, 3)), [1, 1, 1, -1, -1, -1]),
    "one row each": (np.array([[1.0], [-1.0]]), [1, -1]),
    "huge": (1e80 * np.array([[1.0, 2.0], [-1.0, 3.0], [2.0, -1.0]]), [1, -1, 1]),
    "tiny": (1e-80 * np.array([[1.0, 2.0], [-1.0, 3.0], [2.0, -1.0]]), [1, -1, 1]),
    "same": (np.ones((6, 2)), [1, -1, 1, -1, 1, -1]),
    "wide": (np.eye(4, 30), [1, 1, -1, -1]),
}


@every_number
@pytest.mark.parametrize("kernel", [None, "rbf", "linear"])
@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("error")
def test_odd_data(number, kernel, name):
    X, y = ODD[name]
    for C in (1e-6, 1.0, 1e6):
        try:
            done = api.fit(X, y, number, kernel=kernel, C=C, method="paper", max_iter=300)
        except ValueError as e:
            assert "overflow" in str(e)
            continue
        assert np.isfinite(done.certificate.primal)
        assert done.certificate.gap < np.inf or not done.converged


@pytest.mark.parametrize("number", (50, 52))
def test_a_run_that_diverges_is_no_result(number):
    """1/2 w'Kw has no minimum where K is not positive semidefinite."""
    X = np.array([[2.0], [3.0], [0.0], [0.0], [3.0], [-1.0], [0.0], [-2.0], [-1.0], [-1.0]])
    y = np.array([0, 1, 1, 1, 0, 0, 0, 1, 1, 0])
    done = api.fit(X, y, number, kernel="sigmoid", method="paper")
    assert np.isfinite(done.certificate.primal) and not done.converged


@every_number
@pytest.mark.parametrize("options", ["", "-B -1", "-B 2", "--mu 1 --no-homotopy", "-w1 0", "-w1 3"])
def test_empty_sets_and_one_class(number, options, svm_train):
    if number == 52 and "--mu" in options:
        options = ""
    for data in ("", "1 1:2\n1 1:3\n", "1\n-1\n", "1 1:1\n-1 1:1\n2 2:1\n"):
        status, _, error = svm_train("-s", str(number), "--max-iter", "300", *options.split(), "d", "m", data=data)
        assert status == 0 and "Traceback" not in error


@every_number
@pytest.mark.parametrize("kernel", ["", "-t 2"])
def test_command(number, kernel, svm_train):
    X, y, _ = data_of("tall")
    data, options = text_of(X, y), kernel.split()
    status, out, error = svm_train("-s", str(number), *options, "--solver-log", "log", "d", "m", data=data)
    assert status == 0 and ("--method fast" in error or error == "")
    with open("log") as file:
        records = [json.loads(line) for line in file]
    assert {r["method"] for r in records} == {nesvm.METHODS[KINDS[number]]}
    loose = svm_train("-s", str(number), *options, "-e", "1", "--solver-log", "loose", "d", "m")
    assert loose[0] == 0
    with open("loose") as file:
        assert sum(1 for _ in file) < len(records)
    explained = svm_train("-s", str(number), *options, "--explain")[1]
    for line in ("algorithm", "not as printed", "an iteration", "--method fast"):
        assert f"\n{line}" in explained
    status, out, error = svm_train("-s", str(number), *options, "--method", "fast", "d", "m")
    assert status == 0 and error == "" and float(out.split("relative gap = ")[1].split()[0]) <= 1e-3
    strict = svm_train("-s", str(number), *options, "--gap", "1e-12", "--strict", "-e", "10", "d", "m")
    assert strict[0] == 2 and "--method fast" in strict[2]


def test_options_that_the_paper_lacks(svm_train):
    X, y, _ = data_of("tall")
    data = text_of(X, y)
    assert "--method paper does not support --mu" in svm_train("-s", "52", "--mu", "3", "d", data=data)[2]
    assert "use --method fast" in svm_train("-s", "50", "-t", "2", "-m", "3", "d", data=data)[2]
    assert svm_train("-s", "50", "--mu-end", "0", "d", data=data)[0] == 1


def test_a_kernel_matrix_that_does_not_fit_is_refused(svm_train, monkeypatch):
    X, y, _ = data_of("tall")
    monkeypatch.setattr("svmtool.kernels.whole.available", lambda: 1000)
    for number in (50, 51, 52):
        status, _, error = svm_train("-s", str(number), "-t", "2", "d", data=text_of(X, y))
        assert status == 1 and "the kernel matrix of 120 rows needs 0.00023 GB of memory" in error


@every_number
@pytest.mark.parametrize("method", ["paper", "fast"])
@pytest.mark.parametrize("bias", [[], ["-B", "2"], ["-B", "-1"]], ids=["free", "regularised", "none"])
def test_one_vs_one(number, method, bias, svm_train):
    """Each pair's weights are those of a problem of its rows alone; the model votes."""
    rng = np.random.default_rng(8)
    X, labels = random_rows(rng, 60, 5), rng.permutation(np.repeat((3, 7, 5), 20))
    X[:, 0] += 0.8 * labels
    ends = ["--max-iter", "2000"] if method == "paper" else ["--gap", "1e-10"]
    base = ["-s", str(number), "--method", method, *ends, *bias]
    assert svm_train(*base, "--one-vs-one", "d", "m", data=text_of(X, labels))[0] == 0
    model = api.load_model("m")
    names, pairs = list(model.labels), [(0, 1), (0, 2), (1, 2)]
    assert names == list(dict.fromkeys(labels)) and model.nr_sv == (2, 1, 0)
    decisions = api.decision_values(model, X)
    votes = np.zeros((60, 3))
    for k, (i, j) in enumerate(pairs):
        inside = (labels == names[i]) | (labels == names[j])
        y = np.where(labels == names[i], 1, -1)[inside]
        order = np.argsort(-y, kind="stable")  # class 1 first, as in LIBLINEAR
        with open("one", "w") as file:
            file.write(text_of(X[inside][order], y[order]))
        svm_train(*base, "one", "alone")
        alone = api.load_model("alone")
        b = float(alone.W[-1, 0]) * alone.bias if alone.bias >= 0 else 0.0
        f = X @ alone.W[:5, 0] + b
        np.testing.assert_allclose(decisions[:, k], f, rtol=1e-4, atol=1e-4 * np.abs(f).max())
        votes[np.arange(60), np.where(f > 0, i, j)] += 1
    wanted = np.array(names)[np.argmax(votes, axis=1)]
    assert np.mean(api.predict(model, X) == wanted) > 0.97


def test_one_vs_one_in_python(svm_train):
    rng = np.random.default_rng(2)
    X, y = random_rows(rng, 60, 4), rng.integers(0, 3, 60)
    done = api.fit(X, y, 50, one_vs_one=True)
    assert done.model.nr_class == 3 and done.certificate.gap < np.inf
    assert api.cross_validate(X, y, 50, folds=3, one_vs_one=True) is not None
    with pytest.raises(ValueError, match="one_vs_one and probability"):
        api.fit(X, y, 50, one_vs_one=True, probability=True)
    with pytest.raises(ValueError, match="start for pairs"):
        api.fit(X, y, 50, one_vs_one=True, init=api.fit(X, y, 50, method="fast"))
    data = text_of(X, y)
    for more in (["-b", "1"], ["--grid", "C=1,2"], ["--metrics", "-v", "3"]):
        assert "--one-vs-one cannot be combined with" in svm_train("-s", "50", "--one-vs-one", *more, "d", data=data)[2]


@pytest.mark.parametrize("method", ["paper", "fast"])
def test_pairs_of_classes_with_a_kernel_are_solved_alone(method, svm_train):
    """Pairs that other rows solve many in one call are LP-SVMs here, and steps of the paper."""
    rng = np.random.default_rng(4)
    X, y = random_rows(rng, 45, 3), np.arange(45) % 3
    done = api.fit(X, y, 51, kernel="rbf", method=method, max_iter=500)
    total = 0.0
    for i, j in ((0, 1), (0, 2), (1, 2)):
        inside = (y == i) | (y == j)
        gamma = 1.0 / X.shape[1]
        total += api.fit(
            X[inside], y[inside], 51, kernel="rbf", gamma=gamma, method=method, max_iter=500
        ).certificate.primal
    assert done.certificate.primal == pytest.approx(total, rel=1e-9 if method == "paper" else 2e-3)
    explained = svm_train("--explain", "-s", "51", "-t", "2", "--method", method, "d", data=text_of(X, y))[1]
    assert "3 of 3 pairs of classes" in explained.splitlines()[-1] and "one compiled call" not in explained
