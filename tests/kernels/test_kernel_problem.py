"""The five kernel problems: their forms, and the certifier's bound."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import kernel_matrix, run

from svmtool import registry
from svmtool.certify.kernel import certificate_of, certify, gap_of
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import CSvc, EpsilonSvr, NuSvc, NuSvr, OneClass, Points
from svmtool.models.kernel_functions import Kernel
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import Monitor

LINEAR, RBF = Kernel(0, 0.0, 3, 0.0), Kernel(2, 0.3, 3, 0.0)
N, D = 24, 3
NAMES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")
C, NU, TUBE = 1.7, 0.4, 0.2


class Data:
    """Random rows X, signs y, targets t and costs."""

    def __init__(self, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((N, D))
        self.y = np.where(self.X[:, 0] + 0.7 * rng.standard_normal(N) > 0.0, 1.0, -1.0)
        self.X[:, 1] += 1.5  # so that a plane parts most rows from the origin
        self.t = self.X @ rng.standard_normal(D) + 0.5 + 0.3 * rng.standard_normal(N)
        self.cost = np.where(self.y > 0, C, 0.5 * C)

    def problem(self, name: str, kernel: Kernel = RBF):
        points = Points(kernel, DenseRows(self.X), None)
        return {
            "c_svc": lambda: CSvc(points, self.y, self.cost),
            "nu_svc": lambda: NuSvc(points, self.y, NU),
            "one_class": lambda: OneClass(points, NU),
            "epsilon_svr": lambda: EpsilonSvr(points, self.t, C, TUBE),
            "nu_svr": lambda: NuSvr(points, self.t, C, NU),
        }[name]()

    def primal(self, name: str, w: np.ndarray, rho: float, r: float) -> float:
        """The primal value of w, rho (and r) as the papers write it, unscaled for nu-SVC."""
        f = self.X @ w - rho
        half = 0.5 * float(w @ w)
        if name == "c_svc":
            return half + float(self.cost @ np.maximum(0.0, 1.0 - self.y * f))
        if name == "nu_svc":
            return half - NU * N * r + float(np.sum(np.maximum(0.0, r - self.y * f)))
        if name == "one_class":
            return half - NU * N * rho + float(np.sum(np.maximum(0.0, -f)))
        if name == "epsilon_svr":
            return half + C * float(np.sum(np.maximum(0.0, np.abs(self.t - f) - TUBE)))
        tube = -r
        return half + C * (NU * N * tube + float(np.sum(np.maximum(0.0, np.abs(self.t - f) - tube))))


def gradient(problem, a: np.ndarray) -> np.ndarray:
    Q = kernel_matrix(problem)[np.ix_(problem.row, problem.row)] * np.outer(problem.y, problem.y)
    return Q @ a + problem.p


def feasible(problem, rng) -> np.ndarray:
    """A random point of the box with the sums of `start`."""
    a = problem.start.copy()
    for _ in range(40):
        i, j = rng.choice(len(a), 2, replace=False)
        if problem.two_sums and problem.y[i] != problem.y[j]:
            continue
        way = -problem.y[i] * problem.y[j]  # a_i grows by s, a_j by way * s
        most = min(problem.upper[i] - a[i], problem.upper[j] - a[j] if way > 0 else a[j])
        step = most * rng.random()
        a[i] += step
        a[j] += way * step
    return a


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_the_gap_is_primal_minus_dual(name, seed):
    """With the linear kernel w is at hand; any feasible a and any rho, r."""
    data, rng = Data(seed), np.random.default_rng(seed)
    problem = data.problem(name, LINEAR)
    a = feasible(problem, rng)
    rho, r = rng.standard_normal(), (-abs(rng.standard_normal()) if name == "nu_svr" else rng.standard_normal())
    r = r if problem.two_sums else 0.0
    G = gradient(problem, a)
    w = data.X.T @ problem.coefficients(a)
    dual = -0.5 * float(a @ (G + problem.p))
    middle = problem.middle if name.endswith("svr") else 0.0  # which the program's targets are taken from
    primal = data.primal(name, w, rho - middle, r)
    assert gap_of(problem, a, G, rho, r) == pytest.approx(primal - dual, rel=1e-9, abs=1e-9)
    found = certify(problem, a, G, rho, r)
    known = dual if problem.floor > 0.0 else max(dual, 0.0)  # P is not below 0
    assert (found.primal, found.dual) == pytest.approx((primal, known))
    assert primal >= known


SAMPLING = {"min_rows": N // 3, "max_values": 0}  # the certifier computes every third row alone


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_of_the_values_is_computed_again_and_all_where_one_is_wrong(name):
    """A solver that is wrong about all rows by the same, or about all but the sample's neighbours, changes nothing."""
    problem = Data(2).problem(name)
    result = run(registry.solver_of(alfpgm), problem, Monitor(), 1e-3)
    G = gradient(problem, result.alpha)
    truth = certificate_of(problem, result.alpha, G, result.rho, result.r)
    found = certify(problem, result.alpha, G, result.rho, result.r, **SAMPLING)
    assert found.sampled.startswith(f"decision values of {N // 3} of {N} rows computed again: within ")
    assert found.sampled in found.line() and found.gap == pytest.approx(truth.gap, rel=1e-6)
    for wrong in (G + 1e-2, np.zeros(len(G)), np.full(len(G), np.nan), G * np.where(np.arange(len(G)) % 2, 1.0, 1.5)):
        found = certify(problem, result.alpha, wrong, result.rho, result.r, **SAMPLING)
        assert found.sampled == ""
        assert (found.primal, found.dual, found.violation) == pytest.approx(
            (truth.primal, truth.dual, truth.violation), rel=1e-6, abs=1e-9
        )
