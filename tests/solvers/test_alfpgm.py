"""The decomposition solver against the slow oracle, with steps in sets and without; limits, and what it keeps."""

import functools

import numpy as np
import pytest
import reference_kernel
from kernel_suite import run

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels import decomposition
from svmtool.kernels.problems import CSvc, EpsilonSvr, NuSvc, NuSvr, OneClass, Points
from svmtool.models.kernel_functions import LINEAR, POLYNOMIAL, RBF, SIGMOID, Kernel
from svmtool.solvers import alfpgm
from svmtool.solvers.shared.base import GAP, RULE, Monitor

KERNELS = {
    "rbf": Kernel(RBF, 0.5),
    "linear": Kernel(LINEAR),
    "polynomial": Kernel(POLYNOMIAL, 0.3, 2, 1.0),
    "sigmoid": Kernel(SIGMOID, 0.02, 3, 0.1),
}
FORMS = {"whole": {}, "small sets": {"method": "sets"}}


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """Sets are small enough that the problems here need several."""
    monkeypatch.setattr(decomposition, "SET_SIZE", 16)


def rows(n=150, d=5, seed=0, sparse=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    if not sparse:
        return X, DenseRows(X)
    indptr = np.concatenate(([0], np.cumsum(np.count_nonzero(X, axis=1))))
    return X, CsrRows(indptr, np.nonzero(X)[1].astype(np.int32), X[X != 0], d)


def problems(kernel, sparse=True, seed=0, n=150):
    X, held = rows(n, seed=seed, sparse=sparse)
    rng = np.random.default_rng(seed + 1)
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=len(X)) > 0.5, 1.0, -1.0)
    targets = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=len(X))
    points = Points(kernel, held, None)
    return {
        "c-svc": CSvc(points, y, np.where(y > 0, 3.0, 1.0)),
        "nu-svc": NuSvc(points, y, 0.4),
        "one-class": OneClass(points, 0.3),
        "epsilon-svr": EpsilonSvr(points, targets, 2.0, 0.1),
        "nu-svr": NuSvr(points, targets, 2.0, 0.5),
    }


@functools.cache
def truth_of(name: str):
    """The oracle's solution of a problem with the RBF kernel."""
    return reference_kernel.solve(problems(KERNELS["rbf"], n=80)[name], Monitor(), 1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["c-svc", "nu-svc", "one-class", "epsilon-svr", "nu-svr"])
def test_optimum_is_the_oracles(name, form):
    problem = problems(KERNELS["rbf"], n=80)[name]
    found = run(registry.solver_of(alfpgm), problem, Monitor(max_seconds=60), 1e-6, **FORMS[form])
    truth = truth_of(name)
    assert found.status is RULE
    assert found.objective == pytest.approx(truth.objective, rel=1e-7)
    assert found.rho == pytest.approx(truth.rho, abs=1e-4)
    assert found.gap <= 1e-4
    assert np.all(found.alpha >= 0) and np.all(found.alpha <= problem.upper)
    for system in [problem.y > 0, problem.y < 0] if problem.two_sums else [problem.y != 0]:
        kept = float((problem.y * problem.start)[system].sum())
        assert float((problem.y * found.alpha)[system].sum()) == pytest.approx(kept, abs=1e-9)


def test_far_rows_are_computed_in_double():
    """Distances of 1e-3 between rows at 1e4 are lost to products in single precision."""
    X, _ = rows(sparse=False)
    for shift in (0.0, 3e4):
        held = X.copy()
        held[::2] += shift  # two clusters: centring alone does not help
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
        problem = CSvc(Points(Kernel(RBF, 0.5), DenseRows(held), None), y, np.ones(len(y)))
        found = run(registry.solver_of(alfpgm), problem, Monitor(), 1e-5)
        truth = reference_kernel.solve(problem, Monitor(), 1e-9)
        assert found.objective == pytest.approx(truth.objective, rel=1e-6)


@pytest.mark.parametrize("name", ["epsilon-svr", "nu-svr"])
def test_targets_far_from_zero_lose_no_digits(name):
    """The bias is free: targets of 1e7 and more move it, and nothing else."""
    X, held = rows(n=80, d=12)
    points, small = Points(Kernel(RBF, 0.1), held, None), np.random.default_rng(7).integers(-9, 9, 80) / 8.0
    make = EpsilonSvr if name == "epsilon-svr" else NuSvr
    found = []
    for shift in (0.0, 2.0**24):
        problem = make(points, small + shift, 100.0, 0.1)
        result = run(registry.solver_of(alfpgm), problem, Monitor(max_seconds=60), 1e-8)
        assert result.status is RULE
        found.append((result.objective, problem.decision_function(result).rho + shift))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-6)


def test_nu_svc_without_a_margin_ends_where_its_minimum_of_zero_is_known():
    """Rows of both classes in the same places: r and the primal value of alpha are rounding, and -D is as good as 0."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 4, size=(280, 3)) / 1.5 - 1.0
    y = np.where(X[:, 0] + rng.normal(size=280) > 0.0, 1.0, -1.0)
    problem = NuSvc(Points(Kernel(RBF, 0.1), DenseRows(X), None), y, 0.1)
    found = run(registry.solver_of(alfpgm), problem, Monitor(gap=1e-5, max_seconds=60), 0.0)
    assert found.status is GAP and found.iterations < 300
    assert problem.relative(0.0, -found.objective) <= 1e-5
