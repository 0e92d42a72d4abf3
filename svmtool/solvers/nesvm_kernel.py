"""NESVM's problems with a kernel: K in place of X, the answer in coefficients c of K's columns, |w|^2 = c'Kc.

Zhou, Tao and Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010, "Kernel SVMs".
LS-SVM (53-56) is one quadratic: there is nothing to smooth, and conjugate gradients take the place of the optimal
gradient's momentum, as they do for the linear one in many features.
"""

from __future__ import annotations

from svmtool.problem.kernel_conjugate import Conjugate
from svmtool.problem.kernel_problem import KernelResult, LeastSquaresSvc
from svmtool.solvers.base import Monitor
from svmtool.solvers.residual import rounds, without_rows


def ls_svm(problem: LeastSquaresSvc, monitor: Monitor, eps: float = 0.0, cache_mb: float = 100.0) -> KernelResult:
    """Least squares of the margins, to residuals of eps (0: until the monitor's gap is reached)."""
    if problem.n == 0:
        return without_rows(problem, monitor)
    return rounds(Conjugate(problem, cache_mb), monitor, eps)
