"""NESVM's LS-SVM with a kernel: -s 52.

Zhou, Tao and Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010, "Kernel SVMs", Eqs. 53-56.

The problem is one quadratic (kernels.problems.LeastSquaresSvc, its bias free): there is nothing to smooth, and
conjugate gradients (kernels/conjugate.py) take the place of the optimal gradient's momentum.  If few rows take many
steps, the run continues from a direct solution.
Stops when: the certified relative gap is small enough.
"""

from __future__ import annotations

import numpy as np

from svmtool.kernels.conjugate import Conjugate
from svmtool.kernels.problems import LeastSquaresSvc
from svmtool.kernels.results import KernelResult
from svmtool.solvers.shared.base import Monitor, Rule
from svmtool.solvers.shared.residual import METHODS as METHODS
from svmtool.solvers.shared.residual import direct_after, rounds, without_rows
from svmtool.solvers.shared.residual import plan as plan


def solve(
    problem: LeastSquaresSvc, monitor: Monitor, rule: Rule, start: np.ndarray | None, seed: int, method: str
) -> KernelResult:
    """Solve to residuals of rule.dual.most, else to the monitor's gap."""
    if problem.n == 0:
        return without_rows(monitor)
    after = direct_after(problem) if method == "cg" else -1
    return rounds(Conjugate(problem, problem.cache_mb, start), monitor, rule.dual.most if rule.dual else 0.0, after)
