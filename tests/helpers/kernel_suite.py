"""Helpers for tests of kernel solvers: problems for each row of the registry, solving and certifying."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from kernel_models import table_of
from programme import interior_points, l1_programme
from reference import text_of as text  # noqa: F401

from svmtool import registry
from svmtool.certify.kernel import certificate_of, certify_lp
from svmtool.certify.linear import Certificate
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels.lp import LpSvc
from svmtool.kernels.problems import EpsilonSvr, HardOneClass, KernelProblem, LeastSquaresSvc, NuSvr, OneClass, Points
from svmtool.kernels.results import DecisionFunction, KernelResult
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Options, Settings
from svmtool.solvers.shared.base import RULE, Monitor, Rule
from svmtool.training.kernel.dataset import pair_problem

KERNELS = {"rbf": Kernel(2, 0.3), "linear": Kernel(0), "polynomial": Kernel(1, 0.5, 2, 1.0)}
GAP = 1e-9
NU, TUBE = 0.43, 0.1  # NU n is not an integer: each class has a row on its margin
LEAST_SQUARES = [row for row in registry.KERNEL_SOLVERS if row.loss == "least squares"]
WITH_COST = [row for row in registry.KERNEL_SOLVERS if row.word in ("c_svc", "epsilon_svr")]


class Data(NamedTuple):
    """Rows X, those of +1 before those of -1; targets t of a regression; the cost of a row."""

    X: np.ndarray
    y: np.ndarray
    t: np.ndarray
    C: float = 1.3

    def problem(self, row: registry.Solver, kernel: Kernel, sparse: bool = False):
        """The problem of a registry row, as in training."""
        X = self.X + 3.0 * np.eye(self.X.shape[1])[1] * (row.kind == "hard one-class")  # separable
        table = table_of(X)
        rows = CsrRows(table.indptr, table.indices, table.values, X.shape[1]) if sparse else DenseRows(X)
        points = Points(kernel, rows, None)
        if row.kind == "classification":
            s = Settings.of_kernel(solver=row.number, C=self.C, nu=NU)
            counts = int(np.sum(self.y > 0)), int(np.sum(self.y < 0))
            return pair_problem(points, s, counts, (self.C, self.C))
        if row.kind == "one-class":
            return OneClass(points, NU)
        if row.kind == "hard one-class":
            return HardOneClass(points)
        if row.word == "nu_svr":
            return NuSvr(points, self.t, self.C, NU)
        return EpsilonSvr(points, self.t, self.C, TUBE)


def random_data(n: int = 60, d: int = 4, seed: int = 0) -> Data:
    """Two overlapping clouds, a quarter of the features 0; n is even."""
    rng = np.random.default_rng(seed)
    y = np.repeat((1.0, -1.0), n // 2)
    X = np.round(rng.standard_normal((n, d)) + 0.6 * y[:, None], 3) * (rng.random((n, d)) < 0.75)
    X[:, 1] += 1.5  # a plane separates most rows from the origin
    return Data(X, y, X @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n))


class Certified(NamedTuple):
    """A result, its model, its decision values on the training rows, and its certificate.

    The certificate uses alpha and rho only and computes the gradient again.
    """

    result: KernelResult
    function: DecisionFunction
    f: np.ndarray
    certificate: Certificate


def run(
    solver, problem, monitor: Monitor, eps: float = 0.0, cache_mb: float = 100.0, seed: int = 1,
    method: str | None = None, start: np.ndarray | None = None, **options,
) -> KernelResult:  # fmt: skip
    """The result of a kernel solver, called as training calls it; options: fields of Options."""
    problem.cache_mb, problem.options = cache_mb, Options(**options)
    result = solver(problem, monitor, Rule(range=eps if eps > 0.0 else None), start, seed, method)
    result.history = monitor.history
    return result


def solve(
    row: registry.Solver, problem, gap: float = GAP, cache_mb: float = 100.0, max_seconds: float = 60.0, **own
) -> Certified:
    """Solve to a certified gap; own: see `run`."""
    result = run(registry.entry(row), problem, Monitor(gap, max_seconds=max_seconds), 0.0, cache_mb, **own)
    return certified(problem, result)


def certified(problem, result: KernelResult) -> Certified:
    """See the class."""
    K, function = kernel_matrix(problem), problem.decision_function(result)
    if isinstance(problem, LpSvc):
        f = K @ function.coef - function.rho
        alpha = None if result.dual_point is None else result.dual_point.alpha
        found = certify_lp(problem, problem.coefficients(result.alpha), result.rho, alpha)
        return Certified(result, function, f, found)
    if isinstance(problem, LeastSquaresSvc):
        c = problem.y * result.alpha
        gradient = problem.y * (K @ c + c / (2.0 * problem.cost)) - 1.0
        f = K @ c
    else:
        c = np.bincount(problem.row, problem.y * result.alpha, len(K))
        gradient = problem.y * (K @ c)[problem.row] + problem.p
        f = K @ function.coef
    found = certificate_of(problem, result.alpha, gradient, result.rho, result.r)
    found.primal, found.dual = function.scaled(found.primal), function.scaled(found.dual)
    return Certified(result, function, f - function.rho, found)


def kernel_matrix(problem) -> np.ndarray:
    """K of the problem's rows, f8 (n, n)."""
    if problem.matrix is not None:
        return problem.matrix
    X = problem.rows.dense_of(np.arange(problem.n))
    K, norms = X @ X.T, np.sum(X * X, axis=1)
    problem.kernel.finish(K, norms, norms)
    return K


def of_interior_points(problem: KernelProblem) -> KernelResult:
    """The feasible point of the smallest certified gap; of the multipliers of its sums see kernels/problems.py."""
    y, p, upper = problem.y, problem.p, problem.upper
    Q = y[:, None] * kernel_matrix(problem)[np.ix_(problem.row, problem.row)] * y
    E = np.array([y > 0, y < 0], float) if problem.two_sums else y[None]
    best = None
    for a, v in interior_points(
        lambda a: Q @ a + p, lambda a: Q, upper, 0.5 * np.minimum(upper, 1.0), E, E @ problem.start
    ):
        rho, r = (0.5 * (v[1] - v[0]), -0.5 * (v[0] + v[1])) if problem.two_sums else (-v[0], 0.0)
        found = certificate_of(problem, a, Q @ a + p, rho, r)
        if problem.feasible_sums(a) and (best is None or found.gap < best.gap):
            best = KernelResult(a, rho, r, -found.dual, found.gap, 1, RULE, Q @ a + p)
            if found.gap <= 1e-13:
                break
    return best


def of_programme(problem: LpSvc) -> KernelResult:
    """LP-SVM by a linear programme."""
    rows = np.hstack((kernel_matrix(problem), np.ones((problem.n, 1))))
    found = l1_programme(rows, problem.y, problem.upper, np.append(np.ones(problem.n), 0.0))
    return problem.result(*found, 0.0, 1, RULE)


def oracle(row: registry.Solver, problem) -> Certified:
    """The solution by a slow reference method: a linear system, a linear programme, or interior points."""
    if isinstance(problem, LpSvc):
        return certified(problem, of_programme(problem))
    if not isinstance(problem, LeastSquaresSvc):
        return certified(problem, of_interior_points(problem))
    n, y = problem.n, problem.y
    H = kernel_matrix(problem) + np.diag(1.0 / (2.0 * problem.cost))
    if row.free_bias:
        full = np.block([[H, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        *c, b = np.linalg.solve(full, np.append(y, 0.0))
    else:
        c = np.linalg.solve(H + 1.0, y)
        b = np.sum(c)
    alpha = y * np.array(c)
    return certified(problem, KernelResult(alpha, -b, 0.0, -0.5 * float(y @ np.array(c)), 0.0, 1, None, alpha))


NORMAL = np.random.default_rng(5).standard_normal((30, 5))
