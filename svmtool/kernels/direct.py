"""Direct solution of a kernel machine's dual by the cheaper of two methods, where pair steps make little progress.

kernels/interior.py: systems of the variables, whatever the kernel; kernels/linear_direct.py: systems of the features,
for the linear kernel.  A linear kernel's solution by either then goes on by steps on its face.
"""

from __future__ import annotations

import numpy as np

from svmtool.coordinate.hinge import still_needed
from svmtool.kernels import interior, linear_direct
from svmtool.kernels.decomposition import Decomposition
from svmtool.kernels.linear_direct import Face
from svmtool.kernels.problems import KernelProblem
from svmtool.limits import EndedError

METHODS = {
    "primal": "interior point steps on the primal problem of a linear kernel",
    "features": "interior point steps on the dual problem, systems of a linear kernel's features",
    "variables": "interior point steps on the dual problem, systems of the variables",
}
EVALUATIONS = 1.5  # times the work at one check of what pairs still need is the next one


class Slower:
    """Whether steps of pairs are slower than a direct solution.

    They count as slower once they have cost as much, and are expected to cost as much again.

    wanted: the violation of optimality, or the gap, that ends them.
    """

    def __init__(self, problem: KernelProblem, wanted: float):
        self.cost, self._wanted = cost(problem), wanted
        self._next, self._work, self._left = 0.5 * self.cost, 0.0, np.inf

    def shown(self, work: float, left: float) -> bool:
        """After so much work that has led to a violation, or a gap, of `left`."""
        if not work > self._next:
            return False
        ahead = still_needed([self._left, left], [self._work, work], self._wanted, 1) if self._work else np.inf
        self._work, self._left, self._next = work, left, max(EVALUATIONS * work, self.cost)
        return work > self.cost and ahead > self.cost


def cost(problem: KernelProblem) -> float:
    """What a direct solution costs, in values of kernel rows that steps of pairs pass over; inf where there is none."""
    return min(interior.cost(problem), _by_features(problem))


def _by_features(problem: KernelProblem) -> float:
    return linear_direct.cost(problem) if linear_direct.possible(problem) else np.inf


def go_to_minimum(state: Decomposition, method: str | None = None) -> tuple[bool, bool]:
    """Take the best of the direct solutions where it is better than the state.

    method: one of METHODS; None: the cheapest, or where it fails another.

    Returns whether the state has moved, and whether no more than rounding is left between it and the minimum.
    EndedError leaves the state as it was.
    """
    start = best = state.kept
    least, settled = state.value(), False
    try:
        for a in _points(state.problem, method):
            state.go_to(a)
            rounded = Face.possible(state.problem) and Face(state).settle()
            if state.value() < least:
                best, least, settled = state.kept, state.value(), rounded
            if settled:
                break
    except EndedError:
        state.restore(start)
        raise
    state.restore(best)
    return best is not start, settled


def _points(problem: KernelProblem, method: str | None) -> list[np.ndarray]:
    """Points near the minimum."""
    by_rows, by_variables = _by_features(problem), interior.cost(problem)
    if method == "primal" or (method is None and by_rows < np.inf and by_rows <= by_variables):
        a = linear_direct.minimum(problem)
        if a is not None:
            return [a]
        if method is not None:
            return []
    if method is not None:
        return interior.minima(problem, method == "features")
    return interior.minima(problem) if by_variables < np.inf else []
