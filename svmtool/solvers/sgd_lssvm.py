"""LS-SVM with a kernel and a regularised bias by conjugate gradients: -s 73 with --method fast.

Nguyen et al., Least Square Support Vector Machine for Large-scale Dataset, IJCNN 2015, is the source of the problem,
kernels.problems.LeastSquaresSvc; papers/sgd_lssvm.py has its algorithm.  Here steps use all of the gradient and are
conjugate (kernels/conjugate.py); a direct solution of few rows may end the run.
Stops when: |g|_inf <= -e, or the certified gap is reached.  Memory: the cache, 8 vectors of n.
"""

from __future__ import annotations

from svmtool.solvers.shared import kernel_least_squares
from svmtool.solvers.shared.kernel_least_squares import plan as plan
from svmtool.solvers.shared.kernel_least_squares import solve as solve

METHODS = kernel_least_squares.METHODS
