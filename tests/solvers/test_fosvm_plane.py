"""The plane in FOSVM's models: the one that its stopping rule bounds and that its certificate speaks of."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from fosvm_problems import cloud, values
from naming import case_of
from sampling import in_turn

import svmtool
from svmtool.models.kernel_functions import Kernel
from svmtool.registry.row import gap_of_theta

KINDS = {  # keywords of svmtool.fit, and the kernel
    "linear": ({}, Kernel(0)),
    "linear kernel": ({"kernel": "linear"}, Kernel(0)),
    "rbf": ({"kernel": "rbf", "gamma": 0.5}, Kernel(2, 0.5)),
    "narrow": ({"kernel": "rbf", "gamma": 6.0}, Kernel(2, 6.0)),
    "polynomial": ({"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2}, Kernel(1, 0.5, 2, 1.0)),
}
both_methods = pytest.mark.parametrize("method", ["paper", "fast"])
LINE = re.compile(r"Training rows outside: (\d+) of (\d+) \((\S+) %\)")


def data(seed: int) -> np.ndarray:
    """Rows of several kinds: a cloud, a cube, repeated rows, one far row, many features."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(20, 150)), int(rng.integers(1, 6))
    kind = seed % 5
    X = cloud(n, d + 1, seed) if kind == 0 else rng.uniform(0.05, 1.0, (n, d))
    if kind == 2:
        X = X[rng.integers(0, n, 2 * n)]
    if kind == 3:
        X[n // 2] *= 9.0
    return np.hstack([X, rng.uniform(0.0, 1.0, (len(X), 40))]) if kind == 4 else X


def weights_of(done: svmtool.Fit, X: np.ndarray, kernel: Kernel) -> tuple[np.ndarray, float, float]:
    """w.phi(x_i) f8[n], |w|^2 and rho of the model."""
    if not hasattr(done.model, "coef"):
        w = done.model.W[:, 0]
        return X @ w, float(w @ w), float(done.model.rho)
    c = np.zeros(len(X))
    c[done.support] = done.model.coef[0]
    z = values(X, kernel) @ c
    return z, float(c @ z), float(done.model.rho[0])


def outside(done: svmtool.Fit, X: np.ndarray) -> int:
    return int(np.count_nonzero(svmtool.predict(done.model, X) != 1.0))


@both_methods
@pytest.mark.parametrize("kind", KINDS)
def test_no_training_row_is_outside_and_the_model_is_the_certified_point(kind, method):
    """For every theta, and where a limit ends the run early, unless w = 0 is then the best point."""
    keywords, kernel = KINDS[kind]
    all_rows = {}, {"sample": 300}  # of -s 80 and 81
    for seed in in_turn(range(5), list(KINDS).index(kind), 1, 2):
        X = data(seed)
        for theta, more in ((0.5, {}), (0.01, {}), (0.001, {"max_iter": 1 + seed})):
            with case_of(seed, theta, more):
                given = scipy.sparse.csr_matrix(X) if seed % 2 else X
                done = svmtool.fit(
                    given, solver=80 + seed % 2, theta=theta, method=method, **all_rows[seed % 2], **keywords, **more
                )
                z, square, rho = weights_of(done, X, kernel)
                found = done.certificate
                assert outside(done, given) == (0 if square > 0.0 else len(X)) and np.min(z) >= rho
                assert 0.5 * square - rho == pytest.approx(found.primal, rel=1e-9, abs=1e-15)
                assert found.dual <= found.primal * (1.0 - 1e-9) or found.primal == pytest.approx(found.dual, rel=1e-9)
                if done.converged:
                    assert found.gap <= gap_of_theta(theta) * (1.0 + 1e-9)
                    assert rho >= (1.0 - theta) * np.sqrt(-2.0 * found.dual * square) * (1.0 - 1e-9) > 0.0
                assert done.converged or "max_iter" in more


@both_methods
@pytest.mark.parametrize("kind", ["linear", "linear kernel", "rbf"])
def test_the_papers_rho_is_that_of_the_rows_chosen(kind, method):
    keywords, kernel = KINDS[kind]
    keywords = {**keywords, "method": method}
    for seed in range(3):
        X = data(seed)
        with case_of(seed):
            done, default = (svmtool.fit(X, solver=80, theta=0.2, boundary=b, **keywords) for b in ("rho", "theta"))
            z, square, rho = weights_of(done, X, kernel)
            assert rho == pytest.approx(square, rel=0.25) and np.all(z[done.support] > rho)
            assert done.certificate.line() == default.certificate.line()
            assert -2.0 * done.certificate.dual == pytest.approx(square, rel=1e-9)
            if "kernel" in keywords:
                said, n, _ = LINE.search(done.log).groups()
                assert (int(said), int(n)) == (outside(done, X), len(X))


@pytest.mark.parametrize("kernel", ["", "-t 2 -g 2"])
@pytest.mark.parametrize("options", ["-s 80", "-s 80 --boundary rho", "-s 81 --sample 20", "-s 80 --max-iter 1"])
def test_the_printed_share_is_that_of_predictions(options, kernel, svm_train, command):
    text = "".join(f"1 1:{a} 2:{b}\n" for a, b in np.random.default_rng(4).uniform(0.1, 1.0, (300, 2)).round(3))
    _, out, _ = svm_train(*options.split(), *kernel.split(), "d", "m", data=text)
    said, n, share = LINE.search(out).groups()
    command("predict", "d", "m", "o")
    counted = int(np.count_nonzero(np.loadtxt("o") != 1.0))
    assert (int(said), int(n)) == (counted, 300) and float(share) == pytest.approx(counted / 3.0, abs=0.01)
    assert (counted > 0) == ("rho" in options or "the certificate is that of the others" in out)
    assert ("by --boundary rho" in out) == (" --boundary rho" in Path("m").read_text()) == ("rho" in options)


def test_a_limit_before_the_first_round_certifies_no_optimum(svm_train, out_of_time):
    out_of_time()
    _, out, err = svm_train("-s", 80, "d", "m", data="1 1:1 2:3\n1 1:2 2:1\n1 1:1 2:1\n")
    gap, primal, dual = map(float, re.search(r"gap = (\S+) \(primal (\S+), dual (\S+),", out).groups())
    assert dual <= -1.0 <= primal + 1e-9 and "not converged" in err
