"""A linear kernel's problem solved directly in the features: raw features and large costs, to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_suite import run
from reference import csr_of

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels import direct
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.problems import CSvc, EpsilonSvr, NuSvc, NuSvr, OneClass, Points
from svmtool.models.kernel_functions import LINEAR, RBF, Kernel
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import ITERATIONS, Monitor, Rule


def rounding(C: float) -> float:
    """The gap that multipliers of size C leave in double precision on these features.

    On 12 such sets of other seeds, with OpenBLAS's routines for AVX2 and for AVX-512, at most 3.5e-10 C.
    """
    return 1e-9 + 5e-10 * C


def raw(n: int = 150, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Features from 1e-2 to 1e4, as those of houses, and a quantity from 1e4 to 1e6."""
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n, 7))) * 10.0 ** np.array([0, 1, 3, 2, 3, 2, -2])
    X[:, 3] = 0.2 * X[:, 2] + 50.0 * rng.random(n)  # features that nearly depend on each other
    targets = 3e4 * X[:, 0] + 400.0 * X[:, 1] + 5e4 * np.exp(rng.normal(size=n))
    return np.round(X, 3), np.round(targets, -2)


def nearly_singular(kind: str, C: float = 1e5, n: int = 50):
    """Wide Gaussians of one feature: the eigenvalues of their matrix fall below round-off."""
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 10, (n, 1))
    points, y = Points(Kernel(RBF, 0.05), DenseRows(X), None), np.where(X[:, 0] + rng.normal(size=n) > 5, 1.0, -1.0)
    return {
        "c-svc": lambda: CSvc(points, y, np.full(n, C)),
        "epsilon-svr": lambda: EpsilonSvr(points, np.sin(X[:, 0]), C, 1e-3),
        "nu-svc": lambda: NuSvc(points, y, 0.3),
        "nu-svr": lambda: NuSvr(points, np.sin(X[:, 0]), C, 0.5),
        "one-class": lambda: OneClass(points, 0.3),
    }[kind]()


def problem_of(kind: str, C: float, sparse: bool = True, kernel: int = LINEAR, n: int = 150):
    X, targets = raw(n)
    rows = CsrRows(*csr_of(X), X.shape[1]) if sparse else DenseRows(X)
    points, y = Points(Kernel(kernel), rows, None), np.where(targets > np.median(targets), 1.0, -1.0)
    return {
        "c-svc": lambda: CSvc(points, y, np.where(y > 0, C, 2.0 * C)),
        "epsilon-svr": lambda: EpsilonSvr(points, targets, C, 0.1),
        "nu-svc": lambda: NuSvc(points, y, 0.7),
        "nu-svr": lambda: NuSvr(points, targets, C, 0.5),
        "one-class": lambda: OneClass(points, 0.3),
    }[kind]()


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("C", [1.0, 1e6])
@pytest.mark.parametrize("kind", ["c-svc", "epsilon-svr", "nu-svc", "nu-svr", "one-class"])
def test_a_run_takes_few_rounds_whatever_the_cost(kind, C, sparse):
    """Steps of pairs alone take thousands: their number grows with the cost and with the condition of the features."""
    found = run(registry.solver_of(alfpgm), problem_of(kind, C, sparse), Monitor(rounding(C), max_iter=60), 0.0)
    assert found.status is not ITERATIONS and found.gap <= rounding(C)


@pytest.mark.parametrize("kind", ["c-svc", "epsilon-svr", "nu-svc", "nu-svr", "one-class"])
def test_faces_alone_lead_to_the_minimum_of_a_nearly_singular_kernel(kind):
    state = Decomposition(nearly_singular(kind), 10.0)
    state.certify()
    changed, _ = direct.go_to_minimum(state, lambda *_: False)
    _, rho, r = state.certify()
    value, gap = state.value_and_gap(rho, r)
    assert changed and state.problem.relative(gap - value, -value) <= 1e-7


def test_a_problem_begins_directly_once_steps_beside_others_have_cost_as_much():
    problem = problem_of("c-svc", 1.0)
    costs = direct.pair_values(problem.points, 0.0, np.array([problem.n, 2 * problem.n, problem.n]))
    assert costs[0] == costs[2] == pytest.approx(direct.cost(problem)) and costs[1] > costs[0]
    assert np.all(direct.pair_values(problem.points, 0.5, np.array([problem.n])) == np.inf)  # nu has two sums
    for spent, method in (0.0, "whole"), (0.5, "whole"), (1.0, "direct"):
        problem.spent = spent * direct.cost(problem)
        assert alfpgm.plan(problem, Rule()).method == method
