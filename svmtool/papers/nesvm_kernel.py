"""NESVM with a kernel, as printed: X becomes K(X, X), |w|_2^2 becomes w'K(X, X)w, w are expansion coefficients.
Paper: T. Zhou, D. Tao, X. Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010, Section II-C.

    f(x) = sum_i w_i K(X_i, x) + b;  X = [K, e], w = [w; b] (37)
-s 50: C-SVM, -s 51: LP-SVM, -s 52: LS-SVM.  The algorithms and letters are those of papers/nesvm.py.
"""

from __future__ import annotations

import numpy as np

from svmtool.certify.points import balanced, shifted
from svmtool.kernels.lp import LpSvc
from svmtool.kernels.problems import CSvc, LeastSquaresSvc
from svmtool.kernels.results import KernelResult
from svmtool.kernels.whole import whole_matrix
from svmtool.papers import nesvm
from svmtool.papers.nesvm import METHODS as METHODS
from svmtool.papers.nesvm import plan as plan
from svmtool.papers.nesvm import plan_lp as plan_lp
from svmtool.papers.nesvm import plan_ls as plan_ls
from svmtool.papers.running import Tolerance, run
from svmtool.registry.row import About
from svmtool.solvers.shared.base import ITERATIONS, Monitor, Status

KERNEL_SLIPS = (
    "print replaces X by K Y and |w|^2 by w'Kw, which are not of one w: here w are the coefficients, with X = K",
    "the 1 of L is the constant of 1/2 |w|^2; that of 1/2 w'Kw is |K|_2, for which the largest sum of a row of |K| "
    "stands, which is no smaller",
)
FIT = "K is held in double precision, n x n, and has to fit in memory"
ABOUT = {
    50: About(
        nesvm.ABOUT[50].algorithm + "; X = K(X, X), w'Kw in place of |w|^2",
        (*nesvm.ABOUT[50].differs, *KERNEL_SLIPS),
        f"two products with the kernel matrix; {FIT}",
        "SMO steps among all variables or within sets, as -s 0 and 60, to a certified gap",
    ),
    51: About(
        nesvm.ABOUT[51].algorithm + "; X = K(X, X)",
        (*nesvm.ABOUT[51].differs, "print replaces X by K Y; here w are the coefficients, with X = K"),
        f"two products with the kernel matrix; {FIT}",
        "on the rows of the kernel matrix: " + nesvm.ABOUT[51].fast,
    ),
    52: About(
        nesvm.ABOUT[52].algorithm + "; X = K(X, X), w'Kw in place of |w|^2",
        (*nesvm.ABOUT[52].differs[:-1], *KERNEL_SLIPS, "the certificate's dual point comes from 2 C (1 - y_i X_i w)"),
        f"two products with the kernel matrix; {FIT}",
        "conjugate gradients, or a direct solution, to a certified gap",
    ),
}


class KernelCSvm(nesvm.CSvm):
    """F_mu of C-SVM with X = [K, e] and R = 1/2 w'Kw."""

    def __init__(self, X: np.ndarray, signs: np.ndarray, C: np.ndarray, free: bool):
        super().__init__(X, signs, C, free)
        self.norm = float(np.max(np.sum(np.abs(X[:, :-1]), axis=1), initial=0.0))  # of K, at least |K|_2

    def lipschitz(self, mu: float) -> float:
        return self.norm - 1.0 + super().lipschitz(mu)

    def regulariser(self, w: np.ndarray, Xw: np.ndarray, mu: float) -> tuple[float, float, np.ndarray]:
        Kw = Xw - w[-1]
        R = 0.5 * float(w[:-1] @ Kw)
        return R, R, np.append(Kw, 0.0)


class KernelLsSvm(KernelCSvm, nesvm.LsSvm):
    """F of LS-SVM with X = [K, e] and R = 1/2 w'Kw."""


MODELS = {"c-svm": KernelCSvm, "lp-svm": nesvm.LpSvm, "ls-svm": KernelLsSvm}


def solve(
    problem: CSvc | LeastSquaresSvc, monitor: Monitor, rule: Tolerance, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve the model `method` from alpha `start` (zeros if None), whose bias is 0."""
    y, n = problem.y, problem.n
    C = problem.cost if isinstance(problem, LeastSquaresSvc) else problem.upper
    w0 = np.append(np.zeros(n) if start is None else y * start, 0.0)
    lp = isinstance(problem, LpSvc)
    K = problem.values.X if lp else whole_matrix(problem.points, "use --method fast, which needs no whole matrix")
    svm = MODELS[method](np.hstack((K, np.ones((n, 1)))), y, C, True)
    last, status = run(nesvm.steps(svm, w0, rule.eps, problem.options), monitor, nesvm.MAX_ITERATIONS, ITERATIONS)
    if lp:
        result = problem.result(last.w, svm.dual(), last.objective, np.inf, monitor.iterations - 1, status)
    else:
        result = _result(problem, K, y * last.w[:n], -float(last.w[n]), monitor.iterations - 1, status)
        if np.all(np.isfinite(last.w)):
            squares = isinstance(problem, LeastSquaresSvc)
            alpha = shifted(C * last.u, y, C)[0] if squares else balanced(svm.dual(), y)
            norm = float((y * alpha) @ K @ (y * alpha)) + (0.5 * float(alpha @ (alpha / C)) if squares else 0.0)
            if norm > 0.0:  # the multiple of the largest dual value
                alpha *= min(float(np.sum(alpha)) / norm, np.inf if squares else 1.0)
            result.dual_point = _result(problem, K, alpha, result.rho, monitor.iterations - 1, status)
    result.history = monitor.history
    return result


def _result(
    problem: CSvc | LeastSquaresSvc, K: np.ndarray, alpha: np.ndarray, rho: float, iterations: int, status: Status
) -> KernelResult:
    """The result with coefficients y alpha and the bias -rho; its objective is 1/2 a'Qa - sum a."""
    gradient = problem.gradient(alpha, K @ problem.coefficients(alpha))
    return KernelResult(alpha, rho, 0.0, 0.5 * float(alpha @ (gradient - 1.0)), np.inf, iterations, status, gradient)
