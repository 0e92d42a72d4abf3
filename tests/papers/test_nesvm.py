"""NESVM as printed: iterates against a transcription of the paper, optima, laws, limits and the command."""

from __future__ import annotations

import numpy as np
import pytest
from reference import random_rows, text_of

from svmtool import api
from svmtool.papers import nesvm, nesvm_kernel
from svmtool.params import Options

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


def test_without_homotopy_mu_stays():
    X, y = ten_rows()
    svm = nesvm.CSvm(np.column_stack((X, np.ones(10))), y, np.ones(10), True)
    assert {p.record["mu"] for p in nesvm.steps(svm, np.zeros(4), 1e-3, Options(homotopy=False, mu=2.0))} == {2.0}


@pytest.mark.parametrize("number", (50, 52))
def test_a_run_that_diverges_is_no_result(number):
    """1/2 w'Kw has no minimum where K is not positive semidefinite."""
    X = np.array([[2.0], [3.0], [0.0], [0.0], [3.0], [-1.0], [0.0], [-2.0], [-1.0], [-1.0]])
    y = np.array([0, 1, 1, 1, 0, 0, 0, 1, 1, 0])
    done = api.fit(X, y, number, kernel="sigmoid", method="paper")
    assert np.isfinite(done.certificate.primal) and not done.converged


def test_a_kernel_matrix_that_does_not_fit_is_refused(svm_train, monkeypatch):
    X, y = random_rows(np.random.default_rng(4), 120, 4), np.tile((1.0, -1.0), 60)
    monkeypatch.setattr("svmtool.kernels.whole.available", lambda: 1000)
    for number in (50, 51, 52):
        status, _, error = svm_train("-s", str(number), "-t", "2", "d", data=text_of(X, y))
        assert status == 1 and "the kernel matrix of 120 rows needs 0.00023 GB of memory" in error


@pytest.mark.parametrize(
    "number, method, bias", [(50, "paper", []), (51, "fast", ["-B", "2"]), (52, "fast", ["-B", "-1"])]
)
def test_one_vs_one(number, method, bias, svm_train):
    """Each pair's weights are those of a problem of its rows alone; the model votes."""
    rng = np.random.default_rng(8)
    X, labels = random_rows(rng, 60, 5), rng.permutation(np.repeat((3, 7, 5), 20))
    X[:, 0] += 0.8 * labels
    ends = ["--max-iter", "300"] if method == "paper" else ["--gap", "1e-10"]
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
