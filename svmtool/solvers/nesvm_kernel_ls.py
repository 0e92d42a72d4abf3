"""NESVM's LS-SVM with a kernel: -s 52.

Zhou, Tao and Wu, NESVM: a Fast Gradient Method for Support Vector Machines, ICDM 2010, "Kernel SVMs", Eqs. 53-56.

The problem is one quadratic (kernels.problems.LeastSquaresSvc, its bias free): there is nothing to smooth, and
conjugate gradients (kernels/conjugate.py) take the place of the optimal gradient's momentum.  If few rows take many
steps, the run continues from a direct solution.
Stops when: the certified relative gap is small enough.
"""

from __future__ import annotations

from svmtool.solvers.shared.kernel_least_squares import METHODS as METHODS
from svmtool.solvers.shared.kernel_least_squares import plan as plan
from svmtool.solvers.shared.kernel_least_squares import solve as solve
