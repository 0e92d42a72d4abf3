"""Direct solution of a kernel machine's dual by the cheaper of two methods, if steps of pairs make little progress.

kernels/interior.py solves systems of the variables, for any kernel; kernels/linear_direct.py solves systems of the
features, for the linear kernel.  With a linear kernel steps on the face of the solution follow.
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
EVALUATIONS = 1.5  # factor of the work between two estimates of the remaining cost of pairs


class Slower:
    """Decides whether steps of pairs are slower than a direct solution.

    They count as slower once they have cost as much and are expected to cost as much again.

    wanted: the violation of optimality, or the gap, that ends them.
    """

    def __init__(self, problem: KernelProblem, wanted: float):
        self.cost, self._wanted = cost(problem), wanted
        self._next, self._work, self._left = 0.5 * self.cost, 0.0, np.inf

    def shown(self, work: float, left: float) -> bool:
        """Return the decision after `work` values, which have led to a violation or gap of `left`."""
        if not work > self._next:
            return False
        ahead = still_needed([self._left, left], [self._work, work], self._wanted, 1) if self._work else np.inf
        self._work, self._left, self._next = work, left, max(EVALUATIONS * work, self.cost)
        return work > self.cost and ahead > self.cost


def cost(problem: KernelProblem) -> float:
    """The cost of a direct solution, in values of kernel rows read by steps of pairs; inf if there is none."""
    return min(interior.cost(problem), _by_features(problem))


def _by_features(problem: KernelProblem) -> float:
    return linear_direct.cost(problem) if linear_direct.possible(problem) else np.inf


def go_to_minimum(state: Decomposition, method: str | None = None) -> tuple[bool, bool]:
    """Set the state to the best of the direct solutions if it is better.

    method: one of METHODS; None: the cheapest, or another if that fails.

    Returns whether the state has changed, and whether it is the minimum to within round-off.
    EndedError leaves the state unchanged.
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
