"""Problems of the one-class SVM without slack, and our solutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from kernel_suite import run
from reference import table_of
from scipy.spatial.distance import cdist

from svmtool import registry
from svmtool.data.csr import CsrRows
from svmtool.data.dense import DenseRows
from svmtool.kernels.problems import HardOneClass, Points
from svmtool.models.kernel_functions import Kernel
from svmtool.params import Settings
from svmtool.registry.row import gap_of_theta
from svmtool.solvers.shared.base import Monitor
from svmtool.training.reductions.one_class import HardOneClass as LinearSet

KERNELS = {"linear": Kernel(0), "rbf": Kernel(2, 0.7), "narrow": Kernel(2, 8.0), "polynomial": Kernel(1, 0.5, 2, 1.0)}


def cloud(n: int = 50, d: int = 3, seed: int = 0, shift: float = 3.0) -> np.ndarray:
    """Rows around a point away from the origin; a fifth of the other features is 0."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)), 4) * (rng.random((n, d)) < 0.8)
    X[:, 0] += shift + (0.1 - X[:, 0]) * (X[:, 0] + shift < 0.1)
    return X


def values(X: np.ndarray, kernel: Kernel) -> np.ndarray:
    """The kernel matrix, by its definition."""
    if kernel.kind == 2:
        return np.exp(-kernel.gamma * cdist(X, X, "sqeuclidean"))
    P = X @ X.T
    if kernel.kind == 3:
        return np.tanh(kernel.gamma * P + kernel.coef0)
    return P if kernel.kind == 0 else (kernel.gamma * P + kernel.coef0) ** kernel.degree


class Solved(NamedTuple):
    """alpha f8[n], rho = alpha'K alpha and z = K alpha by the kernel matrix itself; the solver's result."""

    alpha: np.ndarray
    rho: float
    z: np.ndarray
    result: object

    @property
    def short(self) -> float:
        """The theta of the solution."""
        return 1.0 - float(np.min(self.z)) / self.rho


def certified(X, kernel, result) -> Solved:
    K = values(X, kernel)
    z = K @ result.alpha
    return Solved(result.alpha, float(result.alpha @ z), z, result)


def solve(X, kernel, theta=None, row=80, sparse=False, gap=None, cache_mb=10.0, stop=None, max_iter=None, sink=None,
          **own):  # fmt: skip
    """Solve by the kernel solver; own: see kernel_suite.run."""
    table = table_of(X, np.ones(len(X)))
    rows = CsrRows(table.indptr, table.indices, table.values, X.shape[1]) if sparse else DenseRows(X.copy())
    monitor = Monitor(gap if theta is None else gap_of_theta(theta), max_iter, 30.0, sink, stop)
    problem = HardOneClass(Points(kernel, rows, None))
    return certified(X, kernel, run(registry.entry(registry.find_kernel(row)), problem, monitor, 0.0, cache_mb, **own))


def solve_linear(X, row=80, theta=None, gap=None, sparse=False, **settings):
    """Solve as svm-train does without kernel options, or with sparse rows; returns result and certificate."""
    s = Settings.of(solver=row, gap=gap if theta is None else gap_of_theta(theta), **settings)
    table = table_of(X, np.ones(len(X)))
    problems = LinearSet(table, s)
    if sparse:
        problems.rows = CsrRows(table.indptr, table.indices, table.values, X.shape[1])
    [result] = problems.fit()
    return certified(X, KERNELS["linear"], result), problems.certify(0, result)
