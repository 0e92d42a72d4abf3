"""The constants beside w in a decision function with a kernel, and the target gap: both as certified."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from kernel_suite import KERNELS, NU, random_data, text
from naming import case_of

import svmtool
from svmtool import registry
from svmtool.formats.models import kernel
from svmtool.kernels.results import KernelResult
from svmtool.params import Settings
from svmtool.solvers.shared.base import GAP, RULE
from svmtool.training.kernel import verify
from svmtool.training.kernel.fit import Fitting


@pytest.mark.parametrize("seed", [1, 4])
def test_one_class_has_the_best_rho_where_its_own_is_worse_than_no_weights(seed, svm_train):
    """Empty rows can hold all the weight: then a rho above 0 costs each row that shares no feature with others."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 4, (60, 200)) * (rng.random((60, 200)) < 0.04)
    X[-3:] = 0
    status, out, err = svm_train("-s", 2, "-n", 0.04, "-t", 0, "-e", 1e-8, "d", "m", data=text(X, np.ones(60)))
    assert status == 0 and err.startswith("WARNING: w = 0: ") and err.count("\n") == 1
    assert float(out.partition("relative gap = ")[2].split()[0]) < 1e-10
    assert abs(kernel.read("m").rho[0]) < 1e-12


@pytest.mark.parametrize("number", [1, 2])
def test_constants_are_the_best_where_w_is_worse_than_none(number):
    problem = random_data().problem(registry.find_kernel(number), KERNELS["rbf"])
    good = Fitting(Settings.of_kernel(solver=number, nu=NU, gap=1e-9)).solve(problem).result
    bad = KernelResult(good.alpha, good.rho + 5.0, good.r, 0.0, 0.0, 1, RULE, good.gradient)
    _, found = verify.certified(problem, bad)
    assert found.gap <= 1e-9 and bad.rho == pytest.approx(good.rho) and bad.r == pytest.approx(good.r, abs=1e-6)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 50, 52, 73])
def test_the_target_gap_is_the_one_certified(number, gap=1e-7):
    problem = random_data(200).problem(registry.find_kernel(number), KERNELS["rbf"])
    found = Fitting(Settings.of_kernel(solver=number, C=30.0, nu=NU, gap=gap)).solve(problem)
    assert found.result.status is GAP and found.certificate.gap <= verify.PRINTED_FACTOR * gap


def test_values_of_a_model_are_reported_where_their_scale_is_no_number(svm_train):
    """Of rows near 1e100 a nu margin is 1e200: its square is infinite, the values divided by it are not."""
    X = np.array([[1e100, 0.0], [2e100, 1e99], [-1e100, 0.0], [-1e100, 1e99]])
    status, out, err = svm_train("-s", 1, "-n", 0.5, "-t", 0, "d", "m", data=text(X, [1, 1, -1, -1]))
    model = kernel.read("m")
    number = np.repeat(np.arange(model.total_sv), np.diff(model.indptr))
    w = np.bincount(model.indices, model.coef[0, number] * model.values, minlength=2)
    half = 0.5 * float(w @ w)
    primal, dual = (float(out.partition(f"{word} ")[2].split(",")[0]) for word in ("(primal", " dual"))
    assert status == 0 and 0.0 < half < 1e-195
    assert primal == pytest.approx(-half, rel=1e-6) and dual == pytest.approx(-half, rel=1e-6)


def test_the_certificate_of_nu_svr_is_that_of_the_best_tube():
    """The model holds w and rho only; P is their least value over all tubes, also where a loose rule ends the run."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, nu, C = rng.uniform(0.0, 1.0, (50, 3)), float(rng.uniform(0.1, 1.0)), 10.0 ** float(rng.uniform(-1.0, 2.0))
        y, weights = X @ rng.standard_normal(3) + 0.2 * rng.standard_normal(50), rng.uniform(0.2, 3.0, 50)
        for cost, eps in itertools.product((None, weights), (0.5, 1e-3)):
            with case_of(seed, cost is None, eps):
                done = svmtool.fit(X, y, "nu-svr", kernel="rbf", gamma=1.0, nu=nu, C=C, eps=eps, sample_weight=cost)
                K = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2))
                c = np.zeros(50)
                c[done.support] = done.model.coef[0]
                miss, cost = np.abs(y - K @ c + done.model.rho[0]), C * (np.ones(50) if cost is None else cost)
                losses = [nu * np.sum(cost) * e + cost @ np.maximum(miss - e, 0.0) for e in (*miss.tolist(), 0.0)]
                assert done.certificate.primal == pytest.approx(0.5 * float(c @ K @ c) + min(losses), rel=1e-9)


def test_the_zero_solution_of_lp_svm_is_certified():
    """Its bias is the best constant, and the dual value is the run's."""
    data, C = random_data(40), 0.01
    y = np.where(np.arange(40) < 15, 1.0, -1.0)
    done = svmtool.fit(data.X, y, 51, kernel="rbf", gamma=0.5, C=C, method="fast")
    assert done.converged and done.certificate.gap <= 1e-3
    assert done.certificate.primal == pytest.approx(2 * C * 15, rel=1e-12)
